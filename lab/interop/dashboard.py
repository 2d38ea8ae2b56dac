"""Uses the dashboard of a running crawl in a real browser: Debian's Chromium, headless.

    dashboard.py WORKDIR --crawler FILE --axe FILE [--screenshots DIR]

Crawls a site on loopback with `--serve`, and does what a person would: watches the counts, pauses,
slows down, excludes, declares a page to be no duplicate, reopens a pattern, searches, reads a page;
with script, and again without, by the keyboard alone. Every effect is looked up in the log of the
server or in the export of the crawl. Each view must fit into 400 pixels, have no finding of axe in
light and in dark, no error in the console, and no request to anybody but the dashboard.
"""

import argparse
import atexit
import hashlib
import json
import re
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

from crawls import Findings
from devtools import Browser

HOST = "field.test"
GUIDES = ("/guide/1", "/guide/2")
ITEMS = 260
PAGES = 40_000
PATIENCE = 60
VIEWS = ("/", "/in-flight", "/hosts", "/duplicates", "/problems", "/skipped", "/search?q=meadow", "/controls")


def prose(name, words):
    """Returns words that depend on the name alone."""
    digest = hashlib.shake_128(name.encode()).hexdigest(words * 4)
    return " ".join("".join(chr(97 + int(digit, 16)) for digit in digest[at : at + 8]) for at in range(0, words * 8, 8))


def body(path):
    """Returns the HTML of a path; none if there is no such page."""
    links = []
    if path == "/":
        links = [*GUIDES, *(f"/item/{number}" for number in range(1, ITEMS + 1)), "/p/1", "/gone", "/meadow"]
        text = prose("front", 120)
    elif path in GUIDES:
        text = f"{prose('guide', 700)} Edition {path[-1]}."
    elif found := re.fullmatch(r"/item/(\d+)", path):
        text = f"{prose('item', 500)} Number {found[1]}."
    elif found := re.fullmatch(r"/p/(\d+)", path):
        links = [f"/p/{number}" for number in (2 * int(found[1]), 2 * int(found[1]) + 1) if number < PAGES]
        text = prose(path, 120)
    elif path == "/meadow":
        text = f"The meadow behind the mill. {prose('meadow', 100)}"
    else:
        return None
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<!DOCTYPE html><title>Page {path}</title><main><p>{text}</p><p>{anchors}</p></main>"


class Site(ThreadingHTTPServer):
    """The site, with a log of its requests."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.log, self.lock = [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://{HOST}:{self.server_port}{path}"

    def requests(self):
        with self.lock:
            return list(self.log)


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with self.server.lock:
            self.server.log.append((time.monotonic(), self.path))
        html = body(self.path)
        content = (html or "nothing is here").encode()
        self.send_response(200 if html else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8" if html else "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def handle(self):
        try:
            super().handle()
        except ConnectionResetError:
            # The crawl is over.
            pass

    def log_message(self, *_):
        pass


def until(what, condition):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise SystemExit(f"dashboard: waited {PATIENCE} s in vain: {what}")


class Crawl:
    """A crawl with its dashboard."""

    def __init__(self, crawler, site, directory):
        self.crawler, self.site, self.directory = crawler, site, Path(directory)
        command = [
            crawler, "--allow-private", "--delay", "20ms", "--delay-factor", "0", "--contact", "tests@example.org",
            "--resolve", f"{HOST}:{site.server_port}:127.0.0.1", "--duplicate-text", "on", "--out", directory, "--serve", "127.0.0.1:0", site.url("/"),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.lines, self.heard = [], 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        atexit.register(self.process.kill)

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def address(self):
        return until("the address of the dashboard", lambda: next(
            (found[0] for line in self.lines if (found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", line))), None))

    def says(self, words):
        """Waits for a line behind those that were waited for before."""
        def found():
            for number, line in enumerate(self.lines[self.heard :], self.heard):
                if words in line:
                    self.heard = number + 1
                    return True
        until(f"{words!r} among {self.lines}", found)

    def rows(self):
        exported = subprocess.run([self.crawler, "export", self.directory], capture_output=True, check=True, text=True)
        return {row["url"]: row for row in map(json.loads, exported.stdout.splitlines())}


class Viewer:
    """A person at the keyboard."""

    def __init__(self, browser, address, findings):
        self.browser, self.findings = browser, findings
        parts = urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        browser.call("Log.enable")
        self.open(address)

    def open(self, url):
        self.browser.events.clear()
        self.browser.open(url if url.startswith("http") else self.origin + url)
        self.check()

    def check(self):
        """Reports errors in the console, and of requests to others."""
        for event in self.browser.events:
            name, parameters = event["method"], event["params"]
            if name == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                self.findings.add(f"console: {parameters['entry']}")
            elif name == "Runtime.exceptionThrown":
                self.findings.add(f"console: {parameters['exceptionDetails']}")
            elif name == "Network.requestWillBeSent":
                asked = urlsplit(parameters["request"]["url"])
                if asked.scheme in ("http", "https") and f"{asked.scheme}://{asked.netloc}" != self.origin:
                    self.findings.add(f"the dashboard asks for {asked.geturl()}")

    def sees(self, script):
        return self.browser.run(script)

    def text(self, selector="main"):
        return self.sees(f"document.querySelector({json.dumps(selector)}).innerText")

    def press(self, key, code):
        for kind in ("rawKeyDown", "char", "keyUp") if key == "Enter" else ("keyDown", "keyUp"):
            text = {"text": "\r"} if kind == "char" else {}
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def tab_to(self, script):
        """Presses the tabulator until the element with the focus satisfies a condition."""
        for _ in range(800):
            self.press("Tab", 9)
            if self.sees(f"(here => !!({script}))(document.activeElement)"):
                return
        raise SystemExit(f"dashboard: the keyboard does not reach {script}")

    def fill(self, name, value):
        self.tab_to(f"here.name === {json.dumps(name)}")
        self.sees("document.activeElement.select && document.activeElement.select()")
        self.browser.call("Input.insertText", text=value)

    def submit(self, script):
        """Presses a button that the keyboard reaches, and waits for the page behind it."""
        self.tab_to(script)
        self.browser.events.clear()
        self.press("Enter", 13)
        self.browser.loaded()
        self.check()

    def order(self, view, script, fields=()):
        """Gives an order: fills in a form, reads the preview, writes it. Returns the preview."""
        self.open(view)
        for name, value in fields:
            self.fill(name, value)
        self.submit(script)
        preview = self.text()
        self.submit("here.innerText === 'Write control.toml'")
        if "control.toml is written" not in self.text():
            self.findings.add(f"no word of success: {self.text()[:300]!r}")
        return preview


def looks_right(viewer, axe, views, findings):
    """Checks the width, and what axe finds, of each view in light and dark."""
    for view in views:
        for scheme in ("light", "dark"):
            viewer.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            viewer.open(view)
            viewer.sees(f"{axe}; true")
            found = viewer.sees("axe.run().then(all => all.violations.map(one => [one.id, one.nodes.slice(0, 3).map(node => node.html)]))")
            for violation in found:
                findings.add(f"axe: {view} in {scheme}: {violation}")
        viewer.browser.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        viewer.open(view)
        width = viewer.sees("document.documentElement.scrollWidth")
        if width > 400:
            widest = viewer.sees("[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 401).slice(0, 3).map(e => e.outerHTML.slice(0, 200))")
            findings.add(f"{view} is {width} pixels wide in a window of 400: {widest}")
        viewer.browser.call("Emulation.clearDeviceMetricsOverride")
    viewer.browser.call("Emulation.setEmulatedMedia", features=[])


def paused(crawl, viewer, findings):
    viewer.open("/hosts")
    viewer.submit("here.innerText === 'Pause'")
    crawl.says("applied: ")
    until("a pause in the log of the server", lambda: settled(crawl.site))
    before = len(crawl.site.requests())
    time.sleep(1)
    if len(crawl.site.requests()) != before:
        findings.add("a paused crawl sends requests")
    viewer.open("/hosts")
    viewer.submit("here.innerText === 'Resume'")
    until("requests after the pause", lambda: len(crawl.site.requests()) > before)


def settled(site):
    before = len(site.requests())
    time.sleep(0.5)
    return len(site.requests()) == before


def slowed_down(crawl, viewer, findings):
    preview = viewer.order("/controls", "here.closest('#pace') && here.tagName === 'BUTTON'", [("delay", "400ms")])
    if 'delay = "400ms"' not in preview:
        findings.add(f"the preview does not show the line: {preview!r}")
    crawl.says("delay 400ms")
    first = len(crawl.site.requests()) + 1
    times = until("five slow requests", lambda: (log := crawl.site.requests())[first:][4:] and [at for at, _ in log[first:]])
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    if min(gaps) < 0.39:
        findings.add(f"requests came after {min(gaps):.3f} s in spite of a delay of 400 ms")
    viewer.order("/controls", "here.closest('#pace') && here.tagName === 'BUTTON'", [("delay", "20ms")])
    crawl.says("delay 20ms")


def excluded(crawl, viewer, findings):
    viewer.order("/controls", "here.closest('#exclusions') && here.tagName === 'BUTTON'", [("exclude", "/p/[0-9]*7$")])
    crawl.says('exclude "/p/[0-9]*7$"')
    first = len(crawl.site.requests()) + 1
    log = until("sixty further requests", lambda: (log := crawl.site.requests())[first:][60:] and log)
    if any(re.fullmatch(r"/p/\d*7", path) for _, path in log[first:]):
        findings.add("an excluded URL was requested")


LIVE = "[...document.querySelectorAll('main [data-live]')].map(part => part.innerText).join()"


def counts_move(viewer, findings):
    viewer.open("/")
    born, before = viewer.sees(f"[performance.timeOrigin, {LIVE}]")
    until("counts that move", lambda: viewer.sees(LIVE) != before)
    if viewer.sees("performance.timeOrigin") != born:
        findings.add("the page was loaded again")
    viewer.check()


def declared_distinct(crawl, viewer, findings):
    """Opens the pair of guides, and objects; returns the URL of the page."""
    left_out = until("a guide that is left out", lambda: next(
        (row for path in GUIDES if (row := crawl.rows().get(crawl.site.url(path))) and row["verdict"] == "near-duplicate"), None))
    url = left_out["url"]
    viewer.open(f"/page?url={quote(url, safe='')}")
    for words in ("near-duplicate", "Original", "Archived record"):
        if words not in viewer.text():
            findings.add(f"the view of {url} does not say {words!r}")
    viewer.submit("here.innerText.startsWith('Difference')")
    marked = viewer.sees("[...document.querySelectorAll('mark')].map(mark => mark.innerText.trim())")
    if sorted(marked) != ["1.", "2."]:
        findings.add(f"the difference of the guides is {marked}")
    viewer.submit("here.innerText.startsWith('Not a duplicate')")
    viewer.submit("here.innerText === 'Write control.toml'")
    until("the page in the archive", lambda: crawl.rows().get(url, {}).get("verdict") == "unique")
    return url


def reopened(crawl, viewer, findings):
    pattern = f"{HOST}/item/{{n}}"
    until("a closed pattern", lambda: (viewer.open("/skipped"), "closed" in viewer.text("#patterns"))[1])
    viewer.submit("here.innerText.startsWith('Reopen')")
    if pattern not in viewer.text():
        findings.add(f"the preview does not name {pattern}: {viewer.text()!r}")
    viewer.submit("here.innerText === 'Write control.toml'")
    crawl.says(f"{pattern} is open again")


def searched(crawl, viewer, findings):
    def found():
        viewer.open("/search?q=meadow")
        return "/meadow" in viewer.text()
    until("a hit of the search", found)
    if not viewer.sees("document.querySelectorAll('mark').length"):
        findings.add("the hit has no highlight")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--crawler", required=True)
    arguments.add_argument("--axe", required=True, type=Path)
    arguments.add_argument("--screenshots", type=Path)
    wish = arguments.parse_args()
    findings, site = Findings("dashboard"), Site()
    axe = wish.axe.read_text(encoding="utf-8")
    crawl = Crawl(wish.crawler, site, str(wish.work))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, Browser(scratch) as browser:
        viewer = Viewer(browser, crawl.address(), findings)
        counts_move(viewer, findings)
        paused(crawl, viewer, findings)
        slowed_down(crawl, viewer, findings)
        excluded(crawl, viewer, findings)
        distinct = declared_distinct(crawl, viewer, findings)
        reopened(crawl, viewer, findings)
        searched(crawl, viewer, findings)
        page = f"/page?url={quote(distinct, safe='')}"
        item = next(url for url, row in crawl.rows().items() if row["verdict"] == "near-duplicate")
        views = [*VIEWS, page, f"/difference?url={quote(item, safe='')}"]
        looks_right(viewer, axe, views, findings)
        if wish.screenshots:
            pictures(viewer, wish.screenshots, page)
        # All of it by forms alone.
        browser.without_script()
        paused(crawl, viewer, findings)
        slowed_down(crawl, viewer, findings)
        searched(crawl, viewer, findings)
    crawl.process.kill()
    crawl.process.wait()
    if crawl.rows().get(distinct, {}).get("verdict") != "unique":
        findings.add("a kill has undone that a page is no duplicate")
    findings.finish(
        f"Chromium uses the dashboard by the keyboard, with script and without: {len(views)} views in light, dark and 400 pixels, "
        f"{len(site.requests())} requests of the crawl, no finding of axe"
    )


def pictures(viewer, directory, page):
    directory.mkdir(parents=True, exist_ok=True)
    for name, view, width, scheme in (
        ("dashboard", "/", 1200, "light"),
        ("dashboard-duplicates", "/duplicates", 1200, "light"),
        ("dashboard-narrow", page, 400, "dark"),
    ):
        viewer.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        viewer.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        viewer.open(view)
        (directory / f"{name}.png").write_bytes(viewer.browser.screenshot())
    viewer.browser.call("Emulation.clearDeviceMetricsOverride")
    viewer.browser.call("Emulation.setEmulatedMedia", features=[])


if __name__ == "__main__":
    main()
