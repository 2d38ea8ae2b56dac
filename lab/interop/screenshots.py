"""Makes the pictures of the report, of a series of crawls and of an archived page in docs/images.

    screenshots.py WORKDIR --crawler FILE --serve FILE [--output docs/images]

Serves three books of the Rust toolchain (the component rust-docs) on loopback, crawls them three
times, and changes pages between the crawls. The pictures of the dashboard are made by dashboard.py.
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from devtools import Browser

HOST, PORT = "docs.test", 8070
BOOKS = ["nomicon", "reference", "rust-by-example"]
WEEKS = ["2026-11-09", "2026-11-16", "2026-11-23"]


def books(directory):
    """Copies the books."""
    root = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, check=True, text=True)
    html = Path(root.stdout.strip()) / "share/doc/rust/html"
    for book in BOOKS:
        shutil.copytree(html / book, directory / book)


def edited(directory, week):
    """Edits, removes and adds pages of the books, as their authors do within a week."""
    pages = sorted(page for page in directory.rglob("*.html") if page.parent.name != "print")
    for number, page in enumerate(pages):
        if number % 40 == week:
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace("</h1>", f"</h1><p>Revised in week {week} for the current edition.</p>", 1), encoding="utf-8")
        elif number % 150 == 10 * week:
            page.unlink()


def crawled(wish, site, out):
    command = [wish.serve, "--dir", f"{HOST}={site}", "--port", str(PORT)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    next(line for line in server.stdout if line.startswith("# ready"))
    command = [
        wish.crawler, "--allow-private", "--delay=40ms", "--delay-factor=0", "--contact=me@example.org", "--quiet", "--page-requisites",
        "--scope=prefix", f"--resolve={HOST}:{PORT}:127.0.0.1", "--out", out, *(url(f"{book}/") for book in BOOKS),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    server.stdin.close()
    server.wait()


def url(path):
    return f"http://{HOST}:{PORT}/{path}"


class Camera:
    """A browser, and the directory of its pictures."""

    def __init__(self, browser, directory):
        self.browser, self.directory = browser, directory

    def take(self, name, url, width, height, scheme):
        call = self.browser.call
        call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.browser.events.clear()
        self.browser.open(url)
        self.browser.run("new Promise(done => setTimeout(() => done(true), 1000))")
        (self.directory / f"{name}.png").write_bytes(self.browser.screenshot())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--crawler", required=True)
    arguments.add_argument("--serve", required=True)
    arguments.add_argument("--output", type=Path, default=Path("docs/images"))
    wish = arguments.parse_args()
    shutil.rmtree(wish.work, ignore_errors=True)
    site, crawls = wish.work / "site", [wish.work / week for week in WEEKS]
    books(site)
    for week, out in enumerate(crawls):
        if week:
            edited(site, week)
        crawled(wish, site, out)
    subprocess.run([wish.crawler, "report", crawls[-1], "--output", wish.work / "report.html"], check=True)
    subprocess.run([wish.crawler, "changes", *crawls, "--html", wish.work / "series.html"], check=True)
    serving = subprocess.Popen([wish.crawler, "serve", crawls[-1]], stderr=subprocess.PIPE, text=True)
    origin, token = next(found.groups() for line in serving.stderr if (found := re.search(r"(http://127\.0\.0\.1:\d+)/(\?token=\w+)", line)))
    report, series = (f"file://{(wish.work / name).absolute()}" for name in ("report.html", "series.html"))
    page = f"{origin}/replay?url={quote(url('nomicon/ownership.html'), safe='')}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, Browser(scratch) as browser:
        camera = Camera(browser, wish.output)
        camera.take("report", report, 1200, 1250, "light")
        camera.take("report-narrow", report, 500, 1200, "dark")
        camera.take("series", series, 1200, 1000, "light")
        browser.open(f"{origin}/{token}")
        camera.take("replay", page, 1200, 1000, "light")
    serving.terminate()
    serving.wait()


if __name__ == "__main__":
    main()
