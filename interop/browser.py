"""Shows a page of an archive in a real browser: Debian's Chromium, headless, through pywb.

    browser.py --wacz FILE|--crawl DIR [--index FILE] --expected FILE --site URL --served FILE
               --screenshot FILE.png

`--expected` is a file as `demo.py` writes it, `--site` the URL of the site when it was crawled. The
expected texts must be on the page. Every picture must be drawn; pictures of one colour (by the
served bytes), and all elements that the file names, must have that colour in their centre. Every
request of the browser must be answered by pywb, with success: it can reach no other host.
"""

import argparse
import base64
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import websocket
from PIL import Image, UnidentifiedImageError

from crawls import Complaints, served
from wayback import MANY_MINUTES, Wayback

NEAR = 3
# High enough for a whole page, so that nothing has to be scrolled into view.
WINDOW = "1000,4000"


class Browser:
    """Chromium with its DevTools on loopback. It can reach loopback only."""

    def __init__(self, scratch):
        self.scratch, self.last, self.events = Path(scratch), 0, []

    def __enter__(self):
        program = shutil.which("chromium")
        if not program:
            sys.exit("chromium is missing (Debian: apt-get install chromium)")
        home = self.scratch / "home"
        home.mkdir()
        command = [
            program, "--headless=new", "--disable-gpu", "--hide-scrollbars", f"--window-size={WINDOW}",
            "--force-device-scale-factor=1", "--force-color-profile=srgb", "--disable-dev-shm-usage",
            "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync",
            "--disable-component-update", "--disable-background-networking", "--disable-default-apps",
            "--disable-domain-reliability", "--metrics-recording-only", "--no-pings", "--no-proxy-server",
            "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={self.scratch / 'profile'}", "--remote-debugging-port=0", "--remote-allow-origins=*",
            *(["--no-sandbox"] if os.getuid() == 0 else []), "about:blank",
        ]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        self.program = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = []
        for line in self.program.stderr:
            said.append(line)
            if line.startswith("DevTools listening on "):
                break
        else:
            sys.exit(f"chromium does not start:\n{''.join(said)}")
        # Nobody reads its further output, and the pipe must not fill up.
        self.drain = subprocess.Popen(["cat"], stdin=self.program.stderr, stdout=subprocess.DEVNULL)
        tools = urlsplit(line.split()[-1]).netloc
        with urllib.request.urlopen(f"http://{tools}/json/list", timeout=MANY_MINUTES) as answer:
            tab = next(tab for tab in json.load(answer) if tab["type"] == "page")
        self.socket = websocket.create_connection(tab["webSocketDebuggerUrl"], timeout=MANY_MINUTES, suppress_origin=True)
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.program.terminate()
        self.program.wait()
        self.drain.wait()

    def call(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url):
        """Opens a page, and waits until it and its resources are loaded and painted."""
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self.socket.recv()))
        # The event does not wait for lazily loaded pictures.
        self.run(f"Promise.all({NAMED}.map(image => image.decode().catch(() => 0))).then(() => true)")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


BOX = "(box => [box.x, box.y, box.width, box.height])(%s.getBoundingClientRect())"
# Pictures with a source in the markup; a script may set that of others.
NAMED = "[...document.images].filter(image => image.getAttribute('src') || image.srcset)"
PICTURES = f"{NAMED}.map(image => [image.currentSrc, image.complete && image.naturalWidth, {BOX % 'image'}])"


class Page:
    """A page as the browser shows it."""

    def __init__(self, browser, wayback, complaints):
        self.browser, self.wayback, self.complaints = browser, wayback, complaints
        self.coloured = 0

    def show(self, url):
        self.browser.open(f"http://127.0.0.1:{self.wayback.port}{self.wayback.address('', url, 'mp_')}")
        self.screenshot = self.browser.screenshot()
        self.pixels = Image.open(io.BytesIO(self.screenshot)).convert("RGB")

    def says(self, texts):
        text = self.browser.run("document.body.innerText")
        for wanted in texts:
            if wanted not in text:
                self.complaints.add(f"the page does not say {wanted!r}; it says {text[:500]!r}")

    def has_colours(self, colours):
        for selector, colour in colours.items():
            self.has_colour(selector, self.browser.run(BOX % f"document.querySelector({json.dumps(selector)})"), colour)

    def has_pictures(self, answers):
        for source, width, box in self.browser.run(PICTURES):
            if not width:
                self.complaints.add(f"the picture {source} was not drawn")
                continue
            # pywb's URL ends with the archived URL.
            _, _, url = source.partition("_/")
            colour = flat_colour(answers.get(url, []))
            if colour and box[2] and box[3]:
                self.has_colour(url, box, colour)

    def has_colour(self, what, box, colour):
        middle = (round(box[0] + box[2] / 2), round(box[1] + box[3] / 2))
        if not (0 <= middle[0] < self.pixels.width and 0 <= middle[1] < self.pixels.height):
            self.complaints.add(f"{what} is at {middle}, outside of the screenshot")
            return
        self.coloured += 1
        seen = self.pixels.getpixel(middle)
        if max(abs(a - b) for a, b in zip(seen, colour)) > NEAR:
            self.complaints.add(f"{what} is {seen} at {middle}, not {tuple(colour)}")

    def is_whole(self):
        """Returns the number of answers, after checking that all are from the archive."""
        events = self.browser.events
        answers = [event["params"]["response"] for event in events if event["method"] == "Network.responseReceived"]
        for answer in answers:
            # A browser requests the icon of every host, named or not.
            if answer["status"] >= 400 and not urlsplit(answer["url"]).path.endswith("/favicon.ico"):
                self.complaints.add(f"{answer['url']}: {answer['status']}")
        for event in events:
            if event["method"] != "Network.requestWillBeSent":
                continue
            asked = urlsplit(event["params"]["request"]["url"])
            if asked.scheme in ("http", "https") and asked.netloc != f"127.0.0.1:{self.wayback.port}":
                self.complaints.add(f"the page asks for {asked.geturl()}, which is not pywb's")
        return len(answers)


def flat_colour(answers):
    """Returns the colour of a picture with only one; None for all others."""
    for answer in answers:
        try:
            colours = Image.open(io.BytesIO(answer.body)).convert("RGB").getcolors(maxcolors=1)
        except UnidentifiedImageError:
            continue
        if colours:
            return colours[0][1]
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = arguments.add_mutually_exclusive_group(required=True)
    source.add_argument("--wacz")
    source.add_argument("--crawl")
    arguments.add_argument("--index")
    arguments.add_argument("--expected", required=True)
    arguments.add_argument("--site", required=True)
    arguments.add_argument("--served", required=True)
    arguments.add_argument("--screenshot", required=True)
    wish = arguments.parse_args()
    complaints = Complaints("browser")
    expected = json.loads(Path(wish.expected).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as pages, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        if wish.wacz:
            wayback = Wayback.of_wacz(wish.wacz, pages)
        else:
            wayback = Wayback.of_crawls([wish.crawl], pages, wish.index and [wish.index])
        with wayback, Browser(scratch) as browser:
            page = Page(browser, wayback, complaints)
            page.show(urljoin(wish.site, expected["path"]))
            page.says(expected["texts"])
            page.has_colours(expected["colours"])
            page.has_pictures(served(wish.served))
            answers = page.is_whole()
    Path(wish.screenshot).write_bytes(page.screenshot)
    complaints.finish(
        f"Chromium shows {expected['path']} of {'the WACZ' if wish.wacz else 'the archive'} through pywb: {len(expected['texts'])} texts, "
        f"{page.coloured} colours where they belong, {answers} answers, all of them pywb's; {Path(wish.screenshot).name}"
    )


if __name__ == "__main__":
    main()
