"""Shows a page of an archive in a real browser: Debian's Chromium, headless, through pywb.

    browser.py --wacz FILE|--crawl DIR [--index FILE] --expected FILE --site URL --served FILE
               --screenshot FILE.png

`--expected` is a file as `demo.py` writes it, `--site` the URL of the site when it was crawled. The
expected texts must be on the page. Every picture must be drawn; pictures of one colour (by the
served bytes), and all elements that the file names, must have that colour in their centre. Every
request of the browser must be answered by pywb, with success: it can reach no other host.
"""

import argparse
import io
import json
import tempfile
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from PIL import Image, UnidentifiedImageError

from crawls import Findings, served
from devtools import PICTURES, Browser
from wayback import Wayback

NEAR = 3


BOX = "(box => [box.x, box.y, box.width, box.height])(%s.getBoundingClientRect())"
DRAWN = f"{PICTURES}.map(image => [image.currentSrc, image.complete && image.naturalWidth, {BOX % 'image'}])"


class Page:
    """A page as the browser shows it."""

    def __init__(self, browser, wayback, findings):
        self.browser, self.wayback, self.findings = browser, wayback, findings
        self.coloured = 0

    def show(self, url):
        self.browser.open(f"http://127.0.0.1:{self.wayback.port}{self.wayback.address('', url, 'mp_')}")
        self.screenshot = self.browser.screenshot()
        self.pixels = Image.open(io.BytesIO(self.screenshot)).convert("RGB")

    def says(self, texts):
        text = self.browser.run("document.body.innerText")
        for wanted in texts:
            if wanted not in text:
                self.findings.add(f"the page does not say {wanted!r}; it says {text[:500]!r}")

    def has_colours(self, colours):
        for selector, colour in colours.items():
            self.has_colour(selector, self.browser.run(BOX % f"document.querySelector({json.dumps(selector)})"), colour)

    def has_pictures(self, answers):
        for source, width, box in self.browser.run(DRAWN):
            if not width:
                self.findings.add(f"the picture {source} was not drawn")
                continue
            # pywb's URL ends with the archived URL.
            _, _, url = source.partition("_/")
            colour = flat_colour(answers.get(url, []))
            if colour and box[2] and box[3]:
                self.has_colour(url, box, colour)

    def has_colour(self, what, box, colour):
        middle = (round(box[0] + box[2] / 2), round(box[1] + box[3] / 2))
        if not (0 <= middle[0] < self.pixels.width and 0 <= middle[1] < self.pixels.height):
            self.findings.add(f"{what} is at {middle}, outside of the screenshot")
            return
        self.coloured += 1
        seen = self.pixels.getpixel(middle)
        if max(abs(a - b) for a, b in zip(seen, colour)) > NEAR:
            self.findings.add(f"{what} is {seen} at {middle}, not {tuple(colour)}")

    def is_whole(self):
        """Returns the number of answers, after checking that all are from the archive."""
        events = self.browser.events
        answers = [event["params"]["response"] for event in events if event["method"] == "Network.responseReceived"]
        for answer in answers:
            # A browser requests the icon of every host, named or not.
            if answer["status"] >= 400 and not urlsplit(answer["url"]).path.endswith("/favicon.ico"):
                self.findings.add(f"{answer['url']}: {answer['status']}")
        for event in events:
            if event["method"] != "Network.requestWillBeSent":
                continue
            asked = urlsplit(event["params"]["request"]["url"])
            if asked.scheme in ("http", "https") and asked.netloc != f"127.0.0.1:{self.wayback.port}":
                self.findings.add(f"the page asks for {asked.geturl()}, which is not pywb's")
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
    findings = Findings("browser")
    expected = json.loads(Path(wish.expected).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as pages, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        if wish.wacz:
            wayback = Wayback.of_wacz(wish.wacz, pages)
        else:
            wayback = Wayback.of_crawls([wish.crawl], pages, wish.index and [wish.index])
        with wayback, Browser(scratch) as browser:
            page = Page(browser, wayback, findings)
            page.show(urljoin(wish.site, expected["path"]))
            page.says(expected["texts"])
            page.has_colours(expected["colours"])
            page.has_pictures(served(wish.served))
            answers = page.is_whole()
    Path(wish.screenshot).write_bytes(page.screenshot)
    findings.finish(
        f"Chromium shows {expected['path']} of {'the WACZ' if wish.wacz else 'the archive'} through pywb: {len(expected['texts'])} texts, "
        f"{page.coloured} colours where they belong, {answers} answers, all of them pywb's; {Path(wish.screenshot).name}"
    )


if __name__ == "__main__":
    main()
