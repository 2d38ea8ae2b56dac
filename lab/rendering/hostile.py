"""Pages that attack the browser, and the pace of an honest host at the same time."""

import asyncio
import re
import time

from applications import prose
from crawling import Crawl, Goals
from server import NOT_FOUND, Reply, Server, html, json_text, script

# The limit of a page, two tabs of it, and the time to close them.
PAGE_LIMIT = 2 * 120 + 30
DELAY = 0.1
PACE = 0.95

# The script of each page. Pages with the most patience last.
PAGES = {
    "timers": "setInterval(()=>document.body.append('x'),0)",
    "nodes": "setInterval(()=>{for(let i=0;i<20000;i++)document.body.append(document.createElement('p'))},0)",
    "nested": "let e=document.body;for(let i=0;i<200000;i++){const d=document.createElement('div');e.append(d);e=d}",
    "text": "setInterval(()=>document.body.append('long '.repeat(1e6)),0)",
    "memory": "const a=[];for(;;)a.push(new Array(1e5).fill(Math.random()))",
    "buffers": "const a=[];for(;;)a.push(new Uint8Array(1<<28).fill(1))",
    "strings": "let s='x';for(;;)s+=s",
    "alerts": "for(;;)alert(1)",
    "prompts": "setInterval(()=>{confirm(1);prompt(2)},0)",
    "leaving": "onbeforeunload=()=>'stay';setInterval(()=>location='/never/'+Math.random(),1)",
    "navigations": "setInterval(()=>location.href='/never/'+Math.random(),1)",
    "reloads": "location.reload()",
    "submits": "setInterval(()=>{const f=document.createElement('form');f.action='/never/f';"
               "document.body.append(f);f.submit()},1)",
    "windows": "setInterval(()=>open('/never/'+Math.random()),1)",
    "history": "setInterval(()=>{for(let i=0;i<1000;i++)history.pushState(0,'','/page/history?'+Math.random())},0)",
    "fragments": "setInterval(()=>location.hash=Math.random(),0)",
    "requests": "setInterval(()=>fetch('/never/'+Math.random()).catch(()=>0),0)",
    "million": "for(let i=0;i<1e6;i++)fetch('/never/'+i).catch(()=>0)",
    "redirects": "fetch('/around/0').catch(()=>0)",
    "huge": "fetch('/huge').then(r=>r.text()).then(t=>document.body.append(t.length))",
    "events": "new EventSource('/endless').onmessage=e=>document.body.append(e.data)",
    "frames": "const f=document.createElement('iframe');f.src='/page/frames?'+Math.random();document.body.append(f)",
    "many-frames": "setInterval(()=>document.body.append(document.createElement('iframe')),0)",
    "workers": "for(let i=0;i<8;i++)new Worker(URL.createObjectURL(new Blob(['for(;;);'])))",
    "console": "setInterval(()=>{for(let i=0;i<1000;i++)console.error('x'.repeat(1e4))},0)",
    "errors": "setInterval(()=>{throw new Error('x'.repeat(1e5))},0)",
    "promises": "(function f(){Promise.resolve().then(f)})()",
    "loop": "for(;;);",
    "pattern": "/^(a+)+$/.test('a'.repeat(40)+'b')",
    "getter": "Object.defineProperty(document,'documentElement',{get(){for(;;);}});for(;;);",
}


def arguments(parser):
    parser.add_argument("--honest-pages", type=int, default=300)
    parser.add_argument("--only", nargs="*", choices=list(PAGES), default=list(PAGES))


async def endless():
    while True:
        yield b"data: tick\n\n"
        await asyncio.sleep(0.05)


def site(honest_pages):
    def answer(request):
        last = re.split("[/?]", request.target)[2:3]
        match request.target.split("/")[1]:
            case "page" if last and last[0] in PAGES:
                return html(f"<!DOCTYPE html><title>{last[0]}</title><p>{last[0]}</p><script>{PAGES[last[0]]}</script>")
            case "honest" if last and int(last[0]) < honest_pages:
                number = int(last[0])
                links = "".join(f"<a href=/honest/{link}>{link}</a> " for link in range(honest_pages))
                return html(f"<title>{number}</title><p>{prose(number, 200)}</p>{links}")
            case "around":
                return Reply(status=302, fields=(("location", f"/around/{int(last[0]) + 1}"),))
            case "huge":
                return json_text("x" * (60 << 20))
            case "endless":
                return Reply(kind="text/event-stream", parts=endless())
        return NOT_FOUND

    return answer


def measure(wish, scratch):
    goals = Goals("hostile")
    _, _, alone, _ = crawled(wish, scratch / "honest", [])
    code, took, beside, visits = crawled(wish, scratch / "hostile", wish.only)
    goals.figure("exit code of the crawl with hostile pages", code, "0", not code)
    missing = [name for name in wish.only if name not in visits]
    goals.figure("hostile pages without an account", len(missing), f"0 of {len(wish.only)}", not missing)
    goals.figure("honest pages", sum(str(page) in visits for page in range(wish.honest_pages)),
                 str(wish.honest_pages), all(str(page) in visits for page in range(wish.honest_pages)))
    limit = PAGE_LIMIT * len(wish.only)
    goals.figure("seconds of the crawl", f"{took:.0f}", f"<= {PAGE_LIMIT} per hostile page", took <= limit)
    goals.figure("pace of the honest host, of its pace alone", f"{alone / beside:.3f}", f">= {PACE}",
                 alone / beside >= PACE)
    for name in wish.only:
        visit = visits.get(name, {})
        goals.note(f"{name:<12} {visit.get('verdict')}, rendered: {visit.get('rendered')}")
    return goals


def crawled(wish, directory, pages):
    """Crawls the honest host and hostile pages. Returns code, seconds, those of the honest host, visits."""
    # A host of its own for each page, so that none waits for another.
    hosts = {f"{name}.hostile.test": name for name in pages}
    with Server(site(wish.honest_pages), ["honest.test", *hosts]) as server:
        urls = [server.url("honest.test", "/honest/0"), *(server.url(host, f"/page/{hosts[host]}") for host in hosts)]
        crawl = Crawl(wish, directory, urls, ["--render", "shells", "--max-depth", 1, *server.resolve()],
                      ["--delay", f"{DELAY}s", "--delay-factor", "0"])
        began = time.monotonic()
        crawl.start()
        code, _ = crawl.finish()
        took = time.monotonic() - began
        honest = server.hits("honest.test", "/honest/")
        seconds = honest[-1].began - honest[0].began
    return code, took, seconds, {visit["url"].partition("?")[0].rpartition("/")[2]: visit for visit in crawl.visits()}
