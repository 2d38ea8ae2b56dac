"""Connections and datagrams of scripts to canaries, which no crawl may reach."""

import random
import re
import socket
import threading
import time

from archive import records
from crawling import Crawl, Goals
from server import NOT_FOUND, Server, html

# A browser trusts names of loopback as it trusts https: WebRTC, WebTransport and service workers exist.
HOST = "app.localhost"

# `--exclude` forbids every request below `/canary/`, so the crawler itself never connects to the canary.
PAGE = """<!DOCTYPE html><html><head><title>Page NUMBER</title>
<link rel=preconnect href=http://127.0.0.1:%TCP%><link rel=preconnect href=https://127.0.0.1:%TCP% crossorigin>
<link rel=dns-prefetch href=//127.0.0.1:%TCP%><link rel=prefetch href=http://127.0.0.1:%TCP%/canary/link-prefetch>
<link rel=preload as=fetch href=http://127.0.0.1:%TCP%/canary/preload><link rel=prerender href=http://127.0.0.1:%TCP%/canary/prerender>
<link rel=modulepreload href=http://127.0.0.1:%TCP%/canary/module><link rel=manifest href=http://127.0.0.1:%TCP%/canary/manifest>
<link rel=icon href=http://127.0.0.1:%TCP%/canary/icon>
<script type=speculationrules>{"prefetch":[{"source":"list","eagerness":"immediate",
"urls":["/canary/rules","http://127.0.0.1:%TCP%/canary/rules"]}],"prerender":[{"source":"list","eagerness":"immediate",
"urls":["/canary/prerender","http://127.0.0.1:%TCP%/canary/prerender"]}]}</script>
</head><body><div id=root></div><iframe src=http://127.0.0.1:%TCP%/canary/frame></iframe>
<a id=ping href=/canary/link ping=http://127.0.0.1:%TCP%/canary/ping>x</a>
<form id=form action=http://127.0.0.1:%TCP%/canary/form method=post><input name=a value=b></form>
<script>
const at = 'http://127.0.0.1:%TCP%/canary/', tried = [];
const attempt = (name, act) => { try { act(); tried.push(name) } catch (fault) { tried.push(name + ' ' + fault.name) } };
attempt('WebSocket', () => new WebSocket('ws://127.0.0.1:%TCP%/canary/socket'));
attempt('WebSocketStream', () => new WebSocketStream('ws://127.0.0.1:%TCP%/canary/stream').opened.catch(() => 0));
attempt('WebRTC', () => { const peer = new RTCPeerConnection({ iceServers: [
  { urls: ['stun:127.0.0.1:%UDP%', 'stun:localhost:%UDP%'] }, { urls: 'turn:127.0.0.1:%TCP%?transport=tcp', username: 'a', credential: 'b' }] });
  peer.createDataChannel('x'); peer.createOffer().then(offer => peer.setLocalDescription(offer)) });
attempt('WebTransport', () => new WebTransport('https://127.0.0.1:%UDP%/canary').ready.catch(() => 0));
attempt('sendBeacon', () => navigator.sendBeacon(at + 'beacon', 'x'));
attempt('keepalive', () => fetch(at + 'keepalive', { method: 'POST', keepalive: true, body: 'x' }).catch(() => 0));
attempt('fetchLater', () => fetchLater(at + 'later', { activateAfter: 0 }));
attempt('fetch', () => fetch(at + 'fetch', { mode: 'no-cors' }).catch(() => 0));
attempt('image', () => new Image().src = at + 'image');
attempt('EventSource', () => new EventSource(at + 'events'));
attempt('service worker', () => navigator.serviceWorker.register('/canary/worker.js').catch(() => 0));
attempt('name', () => fetch('http://canary-NUMBER.localhost:%TCP%/canary/name', { mode: 'no-cors' }).catch(() => 0));
attempt('redirect', () => fetch('/away').catch(() => 0));
attempt('popup', () => open(at + 'window'));
attempt('ping', () => document.getElementById('ping').click());
attempt('form', () => document.getElementById('form').submit());
attempt('worker', () => new Worker(URL.createObjectURL(new Blob([
  "fetch('" + at + "worker',{mode:'no-cors'}).catch(()=>0);new WebSocket('ws://127.0.0.1:%TCP%/canary/worker')"]))));
attempt('report', () => new ReportingObserver(() => 0).observe());
document.getElementById('root').textContent = 'Page NUMBER tried ' + tried.join(', ');
</script></body></html>"""


def arguments(parser):
    parser.add_argument("--pages", type=int, default=10_000)


class Canary:
    """Listeners for TCP and UDP on one address. Hears every connection and every datagram."""

    def __init__(self):
        self.tcp = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.heard = []
        for listen in (self.connections, self.datagrams):
            threading.Thread(target=listen, daemon=True).start()

    def connections(self):
        while True:
            connection, _ = self.tcp.accept()
            connection.settimeout(2)
            try:
                said = connection.recv(300)
            except OSError:
                said = b""
            self.heard.append(f"TCP {said!r}")
            connection.close()

    def datagrams(self):
        while True:
            self.heard.append(f"UDP {self.udp.recv(300)!r}")

    def sings(self):
        """Returns true if it hears a connection and a datagram, and forgets them."""
        port, other = self.tcp.getsockname()[1], self.udp.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"test")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"test", ("127.0.0.1", other))
        for _ in range(200):
            if len(self.heard) == 2:
                self.heard.clear()
                return True
            time.sleep(0.01)
        return False


def site(pages, canary):
    tcp, udp = (str(one.getsockname()[1]) for one in (canary.tcp, canary.udp))

    def answer(request):
        last = request.target.rpartition("/")[2]
        match request.target.split("/")[1]:
            case "page" if last.isdigit() and int(last) < pages:
                return html(PAGE.replace("NUMBER", last).replace("%TCP%", tcp).replace("%UDP%", udp),
                            fields=(("link", f"<http://127.0.0.1:{tcp}/canary/header>; rel=preload; as=fetch"),
                                    ("reporting-endpoints", f'default="http://127.0.0.1:{tcp}/canary/report"'),
                                    ("nel", '{"report_to":"default","max_age":100,"success_fraction":1}')))
            case "away":
                return NOT_FOUND._replace(status=302, fields=(("location", f"http://127.0.0.1:{tcp}/canary/redirect"),))
        return NOT_FOUND

    return answer


def measure(wish, scratch):
    goals, canary = Goals("canaries"), Canary()
    if not canary.sings():
        raise SystemExit("canaries: the canary does not hear")
    with Server(site(wish.pages, canary), [HOST]) as server:
        seeds = scratch / "seeds.txt"
        seeds.write_text("".join(server.url(HOST, f"/page/{page}\n") for page in range(wish.pages)))
        crawl = Crawl(wish, scratch / "canaries", [], ["--seeds", seeds, "--render", "shells",
                      "--exclude", "/canary/", *server.resolve()])
        summary = crawl.complete()
        around = [hit.target for hit in server.hits(begins="/canary/")]
    # Sockets that were opened late have been heard by then.
    heard = list(canary.heard)
    canary.heard.clear()
    hears = canary.sings()
    goals.figure(f"pages whose scripts ran, sandbox {wish.sandbox}", summary["rendered"], str(wish.pages),
                 summary["rendered"] == wish.pages)
    goals.figure("connections and datagrams that a canary heard", len(heard), "0", not heard)
    goals.figure("forbidden requests that the site itself got", len(around), "0", not around)
    goals.figure("the canary hears at the end", str(hears), "True", hears)
    for words in random.sample(heard, min(5, len(heard))) + around[:5]:
        goals.note(words)
    first = next(record for record in records(crawl.directory) if record.kind == "conversion")
    said = re.search(r"tried ([^<]*)", first.content.decode())
    goals.note(f"tried: {said[1] if said else 'nothing'}")
    return goals
