"""Runs pywb on loopback, with a collection made of crawls or of an unpacked WACZ.

    with Wayback.of_crawls([DIR…], scratch) as wayback: …     files and index of DIR/archive
    with Wayback.of_wacz(FILE, scratch) as wayback: …         unpacked by pywb's `wb-manager`

`wayback.py serve DIRECTORY` is the server itself: `wayback`, but on a free port, which it prints.
"""

import http.client
import subprocess
import sys
from pathlib import Path

COLLECTION = "crawl"
MANY_MINUTES = 1800


class Replayed:
    """An answer of pywb."""

    def __init__(self, response):
        self.status, self.body = response.status, response.read()
        self.fields = {name.lower(): value for name, value in response.getheaders()}
        # An answer from the archive, not from pywb itself, has the date of the capture.
        self.is_memento = "memento-datetime" in self.fields


class Wayback:
    def __init__(self, directory):
        self.directory, self.index = Path(directory), self.collection(directory) / "indexes"

    @staticmethod
    def collection(directory):
        return Path(directory, "collections", COLLECTION)

    @classmethod
    def of_crawls(cls, crawls, scratch, indexes=None):
        """Makes a collection of crawls, with `indexes` in place of their own."""
        collection = cls.collection(scratch)
        for name in ("archive", "indexes"):
            (collection / name).mkdir(parents=True)
        for number, crawl in enumerate(crawls):
            for file in Path(crawl, "archive").glob("*.warc*"):
                (collection / "archive" / file.name.removesuffix(".open")).symlink_to(file.resolve())
            index = Path(indexes[number]) if indexes else Path(crawl, "archive", "index.cdxj")
            if not index.is_file():
                sys.exit(f"no index {index}")
            (collection / "indexes" / f"{number}.cdxj").symlink_to(index.resolve())
        return cls(scratch)

    @classmethod
    def of_wacz(cls, file, scratch):
        manager = Path(sys.executable).with_name("wb-manager")
        for arguments in (["init", COLLECTION], ["add", "--unpack-wacz", COLLECTION, str(Path(file).resolve())]):
            subprocess.run([manager, *arguments], cwd=scratch, check=True, stdout=sys.stderr, timeout=MANY_MINUTES)
        return cls(scratch)

    def __enter__(self):
        with open(self.directory / "wayback.log", "wb") as log:
            self.server = subprocess.Popen(
                [sys.executable, Path(__file__).resolve(), "serve", self.directory],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )
        # pywb prints other lines there, too.
        port = next((line for line in self.server.stdout if line.startswith(b"port ")), None)
        if port is None:
            sys.exit(f"pywb does not start:\n{(self.directory / 'wayback.log').read_text()}")
        self.port = int(port.split()[1])
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.terminate()
        self.server.wait()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=MANY_MINUTES)

    def address(self, timestamp, url, manner="id_"):
        return f"/{COLLECTION}/{timestamp}{manner}/{url}"

    def ask(self, connection, timestamp, url):
        """Requests a capture as archived: pywb rewrites nothing and decodes no coding."""
        connection.request("GET", self.address(timestamp, url), headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        return Replayed(connection.getresponse())


def serve(directory):
    import os

    os.chdir(directory)
    Path("config.yaml").write_text("framed_replay: false\n")
    from gevent import monkey

    monkey.patch_all()
    from pywb.apps.frontendapp import FrontEndApp
    from pywb.utils.geventserver import GeventServer, RequestURIWSGIHandler

    server = GeventServer(FrontEndApp(), port=0, hostname="127.0.0.1", handler_class=RequestURIWSGIHandler)
    print("port", server.port, flush=True)
    # pywb prints a line for every request, which nobody reads, and the pipe would fill up.
    os.dup2(2, 1)
    server.join()


if __name__ == "__main__" and sys.argv[1] == "serve":
    serve(sys.argv[2])
