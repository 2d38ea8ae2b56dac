"""A server on loopback for many hosts, with a log of its requests.

A site is a function from a `Request` to a `Reply`. It is called in the thread of the server.
"""

import asyncio
import socket
import threading
import time
from typing import NamedTuple

REASONS = {200: "OK", 302: "Found", 404: "Not Found"}
MAX_HEAD = 1 << 16


class Request(NamedTuple):
    """A request as it arrived."""

    host: str
    port: int
    method: str
    target: str
    fields: dict


class Reply(NamedTuple):
    """A response. `parts` is an asynchronous iterator of further bytes, which may never end."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    fields: tuple = ()
    delay: float = 0
    parts: object = None


class Hit(NamedTuple):
    """A line of the log. Times are those of `time.monotonic`; `ended` is when the response was sent."""

    host: str
    method: str
    target: str
    fields: dict
    began: float
    ended: float


def html(text, **more):
    return Reply(text.encode(), **more)


def script(text, **more):
    return Reply(text.encode(), "text/javascript", **more)


def json_text(text, **more):
    return Reply(text.encode(), "application/json", **more)


NOT_FOUND = Reply(b"", status=404)


class Server:
    """A context manager. Each of `hosts` has an address of its own, since addresses have a pace."""

    def __init__(self, site, hosts=("app.test",)):
        self.site, self.log, self.port = site, [], None
        self.addresses = {host: f"127.1.{number >> 8}.{number & 255}" for number, host in enumerate(hosts, 1)}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        # One port of all addresses, so that a URL is of any host.
        self.socket = socket.create_server(("", 0), backlog=1000)
        self.port = self.socket.getsockname()[1]
        self.loop.run_until_complete(asyncio.start_server(self.serve, sock=self.socket, limit=MAX_HEAD))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.socket.close()

    def run(self):
        self.loop.run_forever()

    def url(self, host, path="/"):
        return f"http://{host}:{self.port}{path}"

    def resolve(self):
        """Returns the crawler's options for the names of hosts, which no name server knows."""
        names = (f"{host}:{self.port}:{address}" for host, address in self.addresses.items())
        return [option for name in names for option in ("--resolve", name)]

    async def serve(self, reader, writer):
        try:
            while await self.exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        began = time.monotonic()
        method, target, _ = head[0].split(" ", 2)
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        await reader.readexactly(int(fields.get("content-length", 0)))
        host, _, port = fields.get("host", "").partition(":")
        request = Request(host, int(port or 80), method, target, fields)
        reply = self.site(request)
        if reply.delay:
            await asyncio.sleep(reply.delay)
        ended = time.monotonic()
        try:
            await self.answer(writer, request, reply)
        finally:
            # A body in parts ends with its last part; any other is in the socket at once.
            ended = ended if reply.parts is None else time.monotonic()
            self.log.append(Hit(host, method, target, fields, began, ended))
        return reply.parts is None

    async def answer(self, writer, request, reply):
        length = f"content-length: {len(reply.body)}" if reply.parts is None else "connection: close"
        lines = [f"HTTP/1.1 {reply.status} {REASONS[reply.status]}", f"content-type: {reply.kind}", length]
        lines += [f"{name}: {value}" for name, value in reply.fields]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if request.method != "HEAD":
            writer.write(reply.body)
            if reply.parts is not None:
                async for part in reply.parts:
                    writer.write(part)
                    await writer.drain()
        await writer.drain()

    def hits(self, host=None, begins=""):
        """Returns the hits of a host, or all, whose target begins so, in order of arrival."""
        chosen = (hit for hit in list(self.log) if host in (None, hit.host) and hit.target.startswith(begins))
        return sorted(chosen, key=lambda hit: hit.began)
