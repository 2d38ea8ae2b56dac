"""Kills of the crawler and of its browser at random moments of a crawl that is continued each time."""

import os
import random
import re
import signal
import time
from collections import Counter

from applications import small
from archive import records
from crawling import Crawl, Goals
from processes import all_processes, command_line, descendants
from server import Server

# A page takes some time, so that kills meet all of its stages.
RESPONSE = 0.05
PROFILE = re.compile(rb"--user-data-dir=([^\0]+)")


def arguments(parser):
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pages", type=int, default=80, help="pages of each crawl")
    parser.add_argument("--seed", type=int, default=1)


def measure(wish, scratch):
    chance, goals, counts = random.Random(wish.seed), Goals("kills"), Counter()
    number = 0
    while counts["crawler"] + counts["browser"] < wish.kills:
        number += 1
        whole_crawl(wish, scratch / f"kills-{number}", chance, counts)
    crawls = counts["crawls"]
    goals.figure("kills of the crawler, of processes of its browser",
                 f"{counts['crawler']}, {counts['browser']}", f">= {wish.kills}")
    for what, key in [
        ("pages lost", "lost"), ("pages twice in the export", "twice"), ("DOMs of a page twice in the archive", "doms"),
        ("archives that do not verify", "unsound"), ("processes left 1 s after a kill of the crawler", "left"),
        ("sessions that failed without a kill", "unexplained"),
    ]:
        goals.figure(f"{what}, {crawls} crawls of {wish.pages} pages", counts[key], "0", not counts[key])
    ended = ", ".join(f"{counts[code]} with {code}" for code in ("code 1", "code 2") if counts[code]) or "none"
    goals.note(f"sessions that a kill of the browser ended: {ended}; they were continued, too")
    goals.note(f"{counts['unrendered']} pages were read without their scripts, since two of their tabs were killed")
    goals.note(f"{counts['directories']} directories of killed browsers were left in the temporary directory")
    return goals


def whole_crawl(wish, directory, chance, counts):
    """Crawls an application to its end, with kills on the way."""
    site = small(wish.pages)
    with Server(lambda request: site(request)._replace(delay=RESPONSE)) as server:
        crawl = Crawl(wish, directory, [server.url("app.test", "/page/0")],
                      ["--render", "shells", *server.resolve()])
        while session(crawl, chance, counts, wish.kills):
            pass
        counts["crawls"] += 1
        check(crawl, [server.url("app.test", f"/page/{page}") for page in range(wish.pages)], counts)


def session(crawl, chance, counts, enough):
    """Runs the crawl until it ends or is killed. Returns true if it must be continued."""
    running, tree = crawl.start(), None
    while counts["crawler"] + counts["browser"] < enough:
        # The browser takes about a second to start.
        patience = time.monotonic() + chance.uniform(0.1, 5)
        while running.poll() is None and time.monotonic() < patience:
            time.sleep(0.01)
        if running.poll() is not None:
            break
        tree = [process for process in descendants(running.pid) if process.id != running.pid]
        if chance.random() < 0.5 and tree:
            kill(chance.choice(tree).id)
            counts["browser"] += 1
            continue
        folders = {found[1] for process in tree if (found := PROFILE.search(command_line(process.id)))}
        kill(running.pid)
        crawl.finish()
        counts["crawler"] += 1
        time.sleep(1)
        counts["left"] += len(left(tree))
        counts["directories"] += sum(map(os.path.exists, folders))
        return True
    code, _ = crawl.finish()
    if code == 0:
        return False
    # A browser that was killed while it started, or whose successor was, ends the session.
    explained = tree is not None and code in (1, 2)
    counts[f"code {code}" if explained else "unexplained"] += 1
    return explained


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def left(tree):
    """Returns the processes that still live; one that nobody waited for has no command line."""
    now = all_processes()
    same = (process for process in tree if process.id in now and now[process.id].begun == process.begun)
    return [process for process in same if command_line(process.id)]


def check(crawl, expected, counts):
    visits = Counter()
    for visit in crawl.visits():
        visits[visit["url"]] += 1
        counts["unrendered"] += visit["rendered"] != "yes"
        counts["lost"] += visit["verdict"] != "unique"
    counts["lost"] += sum(not visits[url] for url in expected)
    counts["twice"] += sum(visits.values()) - len(visits)
    doms = Counter(record.url for record in records(crawl.directory) if record.kind == "conversion")
    counts["doms"] += sum(doms.values()) - len(doms)
    code, words = crawl.verify()
    counts["unsound"] += code != 0
    if code:
        print(words)
