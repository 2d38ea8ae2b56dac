"""Replay of rendered pages in pywb: the text that Chromium shows and the text of the archived DOM."""

import sys
import tempfile
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from applications import SHELL, prose
from archive import records
from crawling import Crawl, Goals
from server import NOT_FOUND, Reply, Server, html, script

SHARE = 0.95
# Tries to read the same text, some of which comes after a timer.
READS, BETWEEN_READS = 40, 0.25

KINDS = ["fetch", "XMLHttpRequest", "fetch after a timer", "fetch of another host", "dynamic import", "query", "JSON",
         "a script that is added", "pushState before the text", "three requests in a row"]
# Each page comes to its text in one of these ways, by its number.
APP = """
const number = Number(location.pathname.split('/').pop());
const text = reply => reply.text();
const root = document.getElementById('root');
window.show = said => { root.innerHTML = said; document.title = 'Page ' + number; };
const kinds = [
  () => fetch('/data/' + number).then(text).then(show),
  () => { const r = new XMLHttpRequest(); r.open('GET', '/data/' + number); r.onload = () => show(r.responseText); r.send() },
  () => setTimeout(() => fetch('/data/' + number).then(text).then(show), 300),
  () => fetch('http://api.test:' + location.port + '/data/' + number).then(text).then(show),
  () => import('/part.js').then(part => part.load(number)).then(show),
  () => fetch('/data/' + number + '?page=1&of=' + number).then(text).then(show),
  () => fetch('/json/' + number).then(r => r.json()).then(all => {
    root.append(...all.map(part => Object.assign(document.createElement('p'), { textContent: part }))) }),
  () => { const s = document.createElement('script'); s.src = '/late/' + number + '.js'; document.head.append(s) },
  () => fetch('/data/' + number).then(text).then(said => { history.pushState(null, '', '?shown'); show(said) }),
  async () => { for (const part of [1, 2, 3]) root.insertAdjacentHTML('beforeend',
    await fetch('/part/' + number + '/' + part).then(text)) },
];
kinds[number % kinds.length]();
"""
PART = "export const load = async number => (await fetch('/data/' + number)).text();"


def arguments(parser):
    parser.add_argument("--pages", type=int, default=100)


def site(pages):
    def answer(request):
        path = request.target.partition("?")[0].split("/")
        shared = {"fields": (("access-control-allow-origin", "*"),)}
        match path[1:]:
            case ["app.js"]:
                return script(APP)
            case ["part.js"]:
                return script(PART)
            case ["lib.js"]:
                return script("")
            case ["a.css"]:
                return Reply(b"body{margin:1em}", "text/css")
            case ["page", number] if int(number) < pages:
                return html(SHELL)
            case ["data", number]:
                return html(f"<h1>Subject {number}</h1><p>{prose(int(number), 120)}</p>", **shared)
            case ["json", number]:
                return Reply(f'["{prose(int(number), 60)}", "{prose(int(number) + 7_000, 60)}"]'.encode(), "application/json")
            case ["late", name]:
                return script(f"show('<p>{prose(int(name.split('.')[0]), 120)}</p>')")
            case ["part", number, part]:
                return html(f"<p>{prose(int(number) * 3 + int(part) + 100_000, 40)}</p>")
        return NOT_FOUND

    return answer


class Text(HTMLParser):
    """The words of the body of a document, as a reader sees them."""

    HIDDEN = {"script", "style", "title", "noscript", "template"}

    def __init__(self, markup):
        super().__init__()
        self.hidden, self.parts = 0, []
        self.feed(markup)

    def handle_starttag(self, tag, _):
        self.hidden += tag in self.HIDDEN

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN

    def handle_data(self, text):
        if not self.hidden:
            self.parts.append(text)

    def words(self):
        return " ".join(self.parts).split()


def measure(wish, scratch):
    sys.path.append(str(Path(__file__).resolve().parent.parent / "interop"))
    from devtools import Browser
    from wayback import Wayback

    goals = Goals("replay")
    with Server(site(wish.pages), ["app.test", "api.test"]) as server:
        urls = [server.url("app.test", f"/page/{page}") for page in range(wish.pages)]
        crawl = Crawl(wish, scratch / "replay", urls, ["--render", "shells", *server.resolve()])
        crawl.complete()
    doms = {record.url: Text(record.content.decode()).words() for record in records(crawl.directory)
            if record.kind == "conversion"}
    goals.figure("pages with a DOM in the archive", len(doms), str(wish.pages), len(doms) == wish.pages)
    same, requests, missed = 0, 0, Counter()
    with tempfile.TemporaryDirectory() as pages, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        with Wayback.of_crawls([crawl.directory], pages) as wayback, Browser(home) as browser:
            for url, words in doms.items():
                shown = shows(browser, wayback, url, words)
                same += shown == words
                missed[KINDS[int(url.rpartition("/")[2]) % len(KINDS)]] += shown != words
            requests = sum(event["method"] == "Network.requestWillBeSent" for event in browser.events)
    share = same / max(1, len(doms))
    goals.figure("pages that show the archived text in pywb", f"{same} of {len(doms)}", f">= {SHARE:.0%}",
                 share >= SHARE)
    for kind in KINDS:
        if missed[kind]:
            goals.note(f"{missed[kind]} of the pages that show something else come to their text by: {kind}")
    goals.note(f"{requests} requests of the browser, which reaches loopback only; the server of the site had ended")
    return goals


def shows(browser, wayback, url, words):
    """Returns the words of the page in pywb, once they are the archived ones or patience ends."""
    browser.open(f"http://127.0.0.1:{wayback.port}{wayback.address('', url, 'mp_')}")
    for _ in range(READS):
        shown = browser.run("document.body?.innerText ?? ''").split()
        if shown == words:
            break
        time.sleep(BETWEEN_READS)
    return shown
