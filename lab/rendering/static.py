"""What `--render shells` costs where nothing needs scripts, and how many pages it renders in vain."""

from applications import prose
from crawling import Crawl, Goals
from processes import Sampler
from server import NOT_FOUND, Server, html, script

RATIO, SHARE = 1.03, 0.01
# Of each pattern of URLs, the first pages are rendered as probes, and then one in many.
FIRST, THEN = 3, 50

SCRIPT = "window.counted = (window.counted || 0) + document.links.length;"


def arguments(parser):
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3, help="the least time of so many crawls counts")


def site(pages, scripts):
    def answer(request):
        last = request.target.rpartition("/")[2]
        match request.target.split("/")[1]:
            case "count.js":
                return script(SCRIPT)
            case "page" if last.isdigit() and int(last) < pages:
                number = int(last)
                links = "".join(f"<a href=/page/{link}>{link}</a> " for link in (2 * number + 1, 2 * number + 2))
                head = "<script src=/count.js></script>" if scripts else ""
                return html(f"<title>{prose(number, 3)}</title>{head}<p>{prose(number + 10_000, 250)}</p>{links}")
        return NOT_FOUND

    return answer


def measure(wish, scratch):
    goals = Goals("static")
    seconds = {"off": [], "shells": []}
    # One after the other, so that both meet the same load of the machine.
    for number in range(wish.rounds):
        for mode in seconds:
            _, used = crawled(wish, scratch / f"plain-{mode}-{number}", mode, False)
            seconds[mode].append(used)
    least = {mode: min(all) for mode, all in seconds.items()}
    ratio = least["shells"] / least["off"]
    goals.figure(f"CPU s, {wish.pages} pages without scripts, off and shells",
                 f"{least['off']:.2f}, {least['shells']:.2f}")
    goals.figure("shells as a multiple of off, CPU of the crawler", f"{ratio:.3f}", f"<= {RATIO}", ratio <= RATIO)
    summary, _ = crawled(wish, scratch / "scripted", "shells", True)
    probes = FIRST + max(0, wish.pages - FIRST) // THEN
    beyond = max(0, summary["rendered"] - probes)
    goals.figure(f"pages rendered of {wish.pages} with scripts in vain", summary["rendered"], f"about {probes}, the probes")
    goals.figure("rendered beyond the probes", beyond, f"<= {SHARE:.0%}", beyond <= SHARE * wish.pages)
    goals.figure("probes were rendered", str(summary["rendered"] >= FIRST), "True", summary["rendered"] >= FIRST)
    return goals


def crawled(wish, directory, mode, scripts):
    """Crawls the site. Returns the summary and the processor seconds of the crawler without its browser."""
    with Server(site(wish.pages, scripts)) as server:
        crawl = Crawl(wish, directory, [server.url("app.test", "/page/0")], ["--render", mode, *server.resolve()])
        sampler = Sampler(crawl.start().pid, 0.02, memory_every=1_000_000)
        code, summary = crawl.finish()
        sampler.stop()
    if code or summary["pages"] != wish.pages:
        raise SystemExit(f"static: code {code}, {summary}")
    return summary, sampler.seconds()["crawler"]
