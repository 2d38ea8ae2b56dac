"""Processor time and memory of a rendered page, by kind of process."""

import time

from applications import small
from crawling import Crawl, Goals
from processes import Sampler
from server import Server

SECONDS, MEMORY = 0.35, 450


def arguments(parser):
    parser.add_argument("--pages", type=int, default=100)


def measure(wish, scratch):
    """Crawls one page, and many: the difference is the cost of the others."""
    goals = Goals("cost")
    runs = [run(wish, scratch, pages) for pages in (2, wish.pages + 2)]
    (few, _, _), (many, peak, wall) = runs
    per_page = {kind: (many[kind] - few.get(kind, 0)) / wish.pages for kind in many}
    total = sum(per_page.values())
    goals.figure(f"CPU s per page, {wish.pages} pages of 5 requests", f"{total:.3f}", f"<= {SECONDS}", total <= SECONDS)
    for kind, seconds in sorted(per_page.items(), key=lambda pair: -pair[1]):
        goals.note(f"{kind:<30} {seconds:.3f}")
    goals.figure("CPU s of start, self-test and two pages", f"{sum(few.values()):.2f}")
    goals.figure("wall s per page, one tab", f"{wall / (wish.pages + 2):.3f}")
    mebibytes = peak / 2**20
    goals.figure("PSS of the browser, one tab, MiB, at most", f"{mebibytes:.0f}", f"<= {MEMORY}", mebibytes <= MEMORY)
    return goals


def run(wish, scratch, pages):
    with Server(small(pages)) as server:
        crawl = Crawl(wish, scratch / f"cost-{pages}", [server.url("app.test", "/page/0")],
                      ["--render", "shells", *server.resolve()])
        began = time.monotonic()
        sampler = Sampler(crawl.start().pid, 0.02)
        code, summary = crawl.finish()
        wall = time.monotonic() - began
        sampler.stop()
    if code or summary["rendered"] != pages:
        raise SystemExit(f"cost: code {code}, {summary}")
    return sampler.seconds(), sampler.peak, wall
