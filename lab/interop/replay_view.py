"""Looks at archived pages in the dashboard with a real browser: Debian's Chromium, headless.

    replay_view.py WORKDIR --crawler FILE --axe FILE [--screenshots DIR]

Crawls a site of 100 pages with pictures and styles and of hostile pages, ends its server, and opens
each page in the replay of the dashboard. Every picture must be drawn and every style must apply.
The hostile pages try to run scripts and to reach a server that listens for them: it must receive no
connection, while the same pages, opened directly, reach it. The browser may request nothing but the
dashboard (by its own log of the network, names that it resolves included), and axe must find
nothing in the views.
"""

import argparse
import json
import re
import socket
import struct
import subprocess
import tempfile
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, urlsplit

from crawls import Findings
from dashboard import Viewer, prose, until
from dashboard import looks_right as views_look_right
from devtools import Browser

HOST = "replay.test"
PAGES = 100
# Chromium itself asks hosts of these domains (accounts, updates, components); no page names one.
OWN = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com")

# Each reaches the trap, or runs, if a browser is not kept from it. {trap} is the trap's URL.
HOSTILE = [
    "<script>fetch('{trap}/script')</script>",
    "<script src='{trap}/script.js'></script>",
    "<script type=module>import '{trap}/module.js'</script>",
    "<img src=/none onerror=\"new Image().src='{trap}/onerror'\">",
    "<body onload=\"location='{trap}/onload'\">",
    "<svg onload=\"fetch('{trap}/svg')\"></svg>",
    "<svg><script>fetch('{trap}/svg-script')</script></svg>",
    "<svg><image href='{trap}/svg-image'/><use href='{trap}/use#a'/><feImage href='{trap}/fe'/></svg>",
    "<svg><image id=i /><set href='#i' attributeName=href to='{trap}/set' begin=0s /></svg>",
    "<svg><rect width=9 height=9 style='fill:url({trap}/fill#a)' filter='url({trap}/filter#a)'/></svg>",
    "<iframe src='{trap}/frame'></iframe>",
    "<iframe srcdoc=\"<img src='{trap}/srcdoc'><script>fetch('{trap}/srcdoc-script')</script>\"></iframe>",
    "<iframe src=\"javascript:parent.location='{trap}/javascript'\"></iframe>",
    "<object data='{trap}/object'></object><embed src='{trap}/embed'>",
    "<meta http-equiv=refresh content=\"0;url={trap}/refresh\">",
    "<meta http-equiv=refresh content=\"0;url=data:text/html,<script>fetch('{trap}/data')</script>\">",
    "<link rel=stylesheet href='{trap}/style'><link rel=preload as=image href='{trap}/preload'>",
    "<link rel=dns-prefetch href='//name.trap.test'><a href='//link.trap.test'>b</a><link rel=preconnect href='{trap}'><link rel=prefetch href='{trap}/prefetch'>",
    "<link rel=modulepreload href='{trap}/modulepreload'><link rel=manifest href='{trap}/manifest'><link rel=icon href='{trap}/icon'>",
    "<style>@import '{trap}/import';p{{background:url({trap}/background)}}</style>",
    "<style>@font-face{{font-family:a;src:url({trap}/font)}}p{{font-family:a;cursor:url({trap}/cursor),auto}}</style>",
    "<style>p::before{{content:image-set('{trap}/image-set' 1x)}}</style>",
    "<p style=\"list-style:url({trap}/list);border-image:url({trap}/border)\">a</p>",
    "<picture><source srcset='{trap}/srcset 1x'><img src='{trap}/picture'></picture><img srcset='{trap}/two 2x, {trap}/one 1x'>",
    "<video autoplay poster='{trap}/poster' src='{trap}/video'><track default src='{trap}/track'></video><audio autoplay src='{trap}/audio'></audio>",
    "<form id=f action='{trap}/form'><input name=a></form><script>f.submit()</script>",
    "<base href='{trap}/base/'><img src=relative><base target=_top>",
    "<table background='{trap}/table'><tr><td background='{trap}/cell'>a</table><input type=image src='{trap}/input'>",
    "<noscript><img src='{trap}/noscript'></noscript><template shadowrootmode=open><img src='{trap}/shadow'></template>",
    "<style>/*</style><img title='--><img src={trap}/comment>'><!--><img src='{trap}/abrupt'>--><textarea></textarea><img src={trap}/unquoted>",
    "<script type=speculationrules>{{\"prefetch\":[{{\"urls\":[\"{trap}/speculation\"]}}]}}</script><a href='{trap}/a' ping='{trap}/ping'>a</a>",
    "<math><mtext><img src='{trap}/math'></mtext></math><xmp><img src='{trap}/xmp'></xmp><plaintext><img src='{trap}/plain'>",
]


def png(red, green, blue):
    """Returns a picture of one colour."""
    rows = b"".join(b"\0" + bytes((red, green, blue)) * 24 for _ in range(24))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 24, 24, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    packed = (struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content)) for kind, content in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def page(number):
    """Returns a page with pictures and styles in many forms."""
    links = " ".join(f"<a href=/p/{other}>{other}</a>" for other in (2 * number, 2 * number + 1) if other <= PAGES)
    return f"""<!DOCTYPE html><html lang=en><head><title>Page {number}</title>
<link rel=stylesheet href=/style/main.css?v={number % 3}><style>#own {{ background: url(/img/own-{number}.png); color: rgb(1, 2, {number}) }}</style></head>
<body onload="document.title = 'script ran'"><main><h1>Page {number}</h1><p id=own>{prose(f'page {number}', 150)}</p>
<img src=/img/{number}.png alt=one><img srcset="/img/{number}-1x.png 1x, /img/{number}-2x.png 2x" alt=two>
<picture><source srcset=/img/{number}-wide.png media="(min-width: 1px)"><img src=/img/none.png alt=three></picture>
<img loading=lazy src=../moved/{number} alt=four><noscript><img src=/img/{number}-noscript.png alt=five></noscript>
<iframe title=inner src=/inner/{number % 5}></iframe><p>{links}</p></main></body></html>"""


def answer(path, trap):
    """Returns status, type, body of a target; a redirect has its target as the body."""
    if path == "/":
        links = " ".join(f"<a href=/h/{number}>{number}</a>" for number in range(len(HOSTILE)))
        return 200, "text/html", f"<title>Home</title><p>{prose('home', 150)}</p><a href=/p/1>1</a> <a href=/twin/1>2</a> <a href=/twin/2>3</a> {links}"
    if found := re.fullmatch(r"/p/(\d+)", path):
        return 200, "text/html; charset=utf-8", page(int(found[1]))
    if found := re.fullmatch(r"/h/(\d+)", path):
        attack = HOSTILE[int(found[1])].format(trap=trap)
        return 200, "text/html", f"<!DOCTYPE html><title>Hostile {found[1]}</title><p>{prose(path, 150)}</p>{attack}"
    if found := re.fullmatch(r"/twin/(\d)", path):
        return 200, "text/html", f"<title>Twin</title><h1>Twin</h1><p>{prose('twin', 700)} Edition {found[1]}.</p><img src=/img/twin.png alt=twin>"
    if found := re.fullmatch(r"/inner/(\d+)", path):
        return 200, "text/html", f"<link rel=stylesheet href=/style/main.css?v=0><p>{prose(path, 100)}</p><img src=/img/inner-{found[1]}.png>"
    if found := re.fullmatch(r"/moved/(\d+)", path):
        return 302, "text/plain", f"/img/{found[1]}-moved.png"
    if path.startswith("/style/main.css"):
        return 200, "text/css", "@import 'more.css'; h1 { background-image: url(../img/heading.png) }"
    if path == "/style/more.css":
        return 200, "text/css", "h1 { letter-spacing: 3px }"
    if path.startswith("/img/") and path != "/img/none.png":
        return 200, "image/png", png(*zlib.crc32(path.encode()).to_bytes(4, "big")[:3])
    return 404, "text/plain", "nothing is here"


class Site(ThreadingHTTPServer):
    """The site, until it is closed."""

    daemon_threads = True

    def __init__(self, trap):
        self.trap = trap
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://{HOST}:{self.server_port}{path}"

    def close(self):
        self.shutdown()
        self.server_close()


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        status, media, content = answer(self.path, self.server.trap)
        content = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        if status == 302:
            self.send_header("Location", content.decode())
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Trap:
    """A server that counts the connections that it receives, and answers none."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.received = 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            connection, _ = self.socket.accept()
            self.received += 1
            connection.close()


class Replay:
    """The dashboard of a crawl, in a browser."""

    def __init__(self, browser, origin, findings):
        self.browser, self.origin, self.findings = browser, origin, findings
        browser.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def open(self, url):
        """Opens the view of a URL, and returns the session of its frame."""
        self.browser.events.clear()
        self.browser.open(f"{self.origin}/replay?url={quote(url, safe='')}")

        def attached():
            # The events come with answers.
            self.browser.run("true")
            found = [event["params"] for event in self.browser.events if event["method"] == "Target.attachedToTarget"]
            return next((one["sessionId"] for one in found if one["targetInfo"]["type"] == "iframe"), None)
        session = until(f"the frame of {url}", attached)
        until(f"the end of loading of {url}", lambda: self.browser.run("location.pathname.startsWith('/replay/') && document.readyState", session) == "complete")
        return session


PICTURES = "[...document.images].map(image => [image.currentSrc, image.complete, image.naturalWidth])"
STYLES = """(own => [getComputedStyle(document.querySelector('h1')).letterSpacing, getComputedStyle(own).color,
    getComputedStyle(own).backgroundImage.includes('/replay/'), document.title])(document.querySelector('#own'))"""


def looks_right(replay, url, number):
    """Checks the pictures and the styles of a page; returns the number of its pictures."""
    session = replay.open(url)
    until(f"the pictures of {url}", lambda: all(complete for _, complete, _ in replay.browser.run(PICTURES, session)))
    pictures = replay.browser.run(PICTURES, session)
    for source, _, width in pictures:
        if not width:
            replay.findings.add(f"{url}: the picture {source} was not drawn")
    styles = replay.browser.run(STYLES, session)
    if styles != ["3px", f"rgb(1, 2, {number})", True, f"Page {number}"]:
        replay.findings.add(f"{url}: its styles are {styles}")
    return len(pictures)


def requested(log):
    """Returns the places that a browser has requested or resolved, by its log of the network."""
    places = set()
    # The browser does not complete the file when it is ended. An event is a line.
    for event in log.read_text(encoding="utf-8").splitlines():
        for place in re.findall(r'"(?:url|host)":"([^"]+)"', event):
            place = urlsplit(place).netloc or place
            # All names lead nowhere, and are written as `~notfound`; the site that asks remains.
            host = place.partition(":")[0]
            is_own = any(host == domain or host.endswith(f".{domain}") for domain in OWN) or place == "~notfound" and re.search(r'anonymization_key":"(null|https://google.com same_site)"', event)
            if not is_own and not re.match("(data|about|chrome)[:-]", place):
                places.add(place)
    return places


def crawled(crawler, site, directory):
    command = [
        crawler, "--allow-private", "--delay", "0", "--delay-factor", "0", "--contact", "tests@example.org", "--quiet", "--page-requisites", "--on-duplicate", "keep",
        "--resolve", f"{HOST}:{site.server_port}:127.0.0.1", "--out", directory, site.url("/"),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def duplicate(wish):
    """Returns the path of the twin that repeats the other."""
    exported = subprocess.run([wish.crawler, "export", str(wish.work)], capture_output=True, check=True, text=True)
    urls = [row["url"] for row in map(json.loads, exported.stdout.splitlines()) if row["verdict"] == "near-duplicate"]
    return next(urlsplit(url).path for url in urls if "/twin/" in url)


def reached(site, trap):
    """Opens the hostile pages directly, and returns the number of those that reach the trap."""
    count = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, Browser(scratch) as browser:
        for number in range(len(HOSTILE)):
            before, end = trap.received, time.monotonic() + 1
            browser.call("Page.navigate", url=f"http://127.0.0.1:{site.server_port}/h/{number}")
            while trap.received == before and time.monotonic() < end:
                time.sleep(0.05)
            count += trap.received > before
    return count


def attacked(replay, site, trap):
    """Opens the hostile pages in the replay: none may reach the trap, or leave its frame."""
    for number in range(len(HOSTILE)):
        before, url = trap.received, site.url(f"/h/{number}")
        replay.open(url)
        time.sleep(0.5)
        if trap.received > before:
            replay.findings.add(f"{url} reached the trap {trap.received - before} times: {HOSTILE[number]}")
        view = replay.browser.run("location.href")
        if not view.startswith(f"{replay.origin}/replay?url="):
            replay.findings.add(f"{url} left its frame for {view}")


def pictures(viewer, directory, views):
    directory.mkdir(parents=True, exist_ok=True)
    for name, view in views.items():
        for width, scheme in ((1200, "light"), (400, "dark")):
            viewer.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            viewer.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            viewer.browser.open(viewer.origin + view)
            time.sleep(0.5)
            (directory / f"replay-{name}-{width}-{scheme}.png").write_bytes(viewer.browser.screenshot())
    viewer.browser.call("Emulation.clearDeviceMetricsOverride")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--crawler", required=True)
    arguments.add_argument("--axe", required=True, type=Path)
    arguments.add_argument("--screenshots", type=Path)
    wish = arguments.parse_args()
    findings, trap = Findings("replay_view"), Trap()
    site = Site(trap.url)
    crawled(wish.crawler, site, str(wish.work))
    direct = reached(site, trap)
    if direct < len(HOSTILE) * 3 // 4:
        findings.add(f"only {direct} of the hostile pages reach the trap without the replay")
    site.close()
    log = wish.work / "chromium-network.json"
    serving = subprocess.Popen([wish.crawler, "serve", str(wish.work)], stderr=subprocess.PIPE, text=True)
    address = next(found[0] for line in serving.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", line)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, Browser(scratch, f"--log-net-log={log}") as browser:
        viewer = Viewer(browser, address, findings)
        replay = Replay(browser, viewer.origin, findings)
        drawn = sum(looks_right(replay, site.url(f"/p/{number}"), number) for number in range(1, PAGES + 1))
        attacked(replay, site, trap)
        views = {name: f"/replay?url={quote(site.url(path), safe='')}" for name, path in (("page", "/p/1"), ("duplicate", duplicate(wish)), ("absent", "/unknown"))}
        views_look_right(viewer, wish.axe.read_text(encoding="utf-8"), views.values(), findings)
        if wish.screenshots:
            pictures(viewer, wish.screenshots, views)
    serving.terminate()
    serving.wait()
    for place in sorted(requested(log) - {urlsplit(viewer.origin).netloc, "127.0.0.1"}):
        findings.add(f"the browser requested or resolved {place}")
    findings.finish(
        f"Chromium replays {PAGES} of {PAGES} pages without their server, with {drawn} pictures and their styles; {len(HOSTILE)} hostile pages, "
        f"{direct} of which reach the trap when opened directly, reach nothing; no finding of axe in {len(views)} views"
    )


if __name__ == "__main__":
    main()
