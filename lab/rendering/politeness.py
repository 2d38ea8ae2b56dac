"""Requests of scripts by the logs of many hosts: pace, concurrency, robots.txt."""

import json

from applications import SHELL, data, prose
from crawling import Crawl, Goals
from server import NOT_FOUND, Reply, Server, html, json_text, script

DELAY = 0.2
RESPONSE = 0.03

# Each page requests data of its own host and of two others, and data that robots.txt forbids.
APP = """
const [host, page] = [Number(location.hostname.slice(1).split('.')[0]), location.pathname.split('/').pop()];
const of = number => 'http://h' + (number % HOSTS) + '.test:' + location.port;
const urls = ['/data/' + page, of(host + 1) + '/data/' + page + '-' + host, of(host + 7) + '/data/' + page + '-' + host,
  '/hidden/' + page, of(host + 3) + '/hidden/' + page + '-' + host];
Promise.allSettled(urls.map(url => fetch(url).then(reply => reply.json()))).then(all => {
  const parts = all.filter(one => one.value).map(one => one.value);
  document.getElementById('root').innerHTML = parts.map(part => '<h2>' + part.title + '</h2><p>' + part.parts[0] +
    '</p>' + part.links.map(link => '<a href="' + link + '">' + link + '</a>').join(' ')).join('');
});
"""


def arguments(parser):
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=3, help="pages of each host")


def site(hosts, pages):
    def answer(request):
        host, last = int(request.host[1:].split(".")[0]), request.target.rpartition("/")[2]
        more = {"delay": RESPONSE, "fields": (("access-control-allow-origin", "*"),)}
        match request.target.split("/")[1]:
            case "robots.txt":
                return Reply(b"User-agent: *\nDisallow: /hidden/\n", "text/plain", **more)
            case "lib.js":
                return script("", **more)
            case "app.js":
                return script(APP.replace("HOSTS", str(hosts)), **more)
            case "page" if last.isdigit() and int(last) < pages:
                return html(SHELL, **more)
            case "data":
                page, _, asked_by = last.partition("-")
                number = (host * hosts + int(asked_by or host)) * pages + int(page)
                links = [] if asked_by else data(int(page), pages)["links"]
                said = {"title": prose(number, 3), "parts": [prose(number + 5_000_000, 80)], "links": links}
                return json_text(json.dumps(said), **more)
        return NOT_FOUND._replace(**more)

    return answer


def measure(wish, scratch):
    goals = Goals("politeness")
    hosts = [f"h{number}.test" for number in range(wish.hosts)]
    with Server(site(wish.hosts, wish.pages), hosts) as server:
        crawl = Crawl(wish, scratch / "politeness", [server.url(host, "/page/0") for host in hosts],
                      ["--render", "shells", *server.resolve()], ["--delay", f"{DELAY}s", "--delay-factor", "0"])
        summary = crawl.complete()
        early = beside = requests = foreign = 0
        least = float("inf")
        for host in hosts:
            hits = server.hits(host)
            requests += len(hits)
            foreign += sum("-" in hit.target for hit in hits)
            for before, after in zip(hits, hits[1:]):
                pause = after.began - before.ended
                least = min(least, pause)
                early += pause < DELAY
                beside += pause < 0
        forbidden = len(server.hits(begins="/hidden"))
    expected = wish.hosts * wish.pages
    goals.figure(f"pages rendered, {wish.hosts} hosts", summary["rendered"], str(expected),
                 summary["rendered"] == expected)
    goals.figure("requests, of them by pages of other hosts", f"{requests}, {foreign}",
                 f"{2 * expected} of others", foreign == 2 * expected)
    goals.figure(f"requests less than {DELAY} s after the host's last response", early, "0", not early)
    goals.figure("requests at a time beside another of the host", beside, "0", not beside)
    goals.figure("requests of scripts that robots.txt forbids", forbidden, "0", not forbidden)
    goals.note(f"shortest pause of a host: {least:.3f} s")
    code, words = crawl.verify()
    goals.figure("verify", f"code {code}", "0", not code)
    return goals
