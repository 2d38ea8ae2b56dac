"""Verifies the signatures of a crawl's requests with http-message-signatures (RFC 9421).

    signatures.py WORKDIR --crawler PROGRAM

A server on loopback records pages, robots.txt, a sitemap and redirects, on two hosts.
"""

import argparse
import base64
import http.server
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, InvalidSignature
from http_message_signatures.algorithms import ED25519

TAG = "web-bot-auth"
AGENT = "https://bot.test/.well-known/http-message-signatures-directory"
COVERED = ("@authority", '"signature-agent";key="sig1"')
PATHS = {
    "/robots.txt": "User-agent: *\nAllow: /\nSitemap: http://{host}/map.xml\n",
    "/map.xml": '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>http://{host}/mapped</loc></url></urlset>",
    "/": '<p>The first page.</p><a href="/moved">1</a> <a href="/away">2</a>',
    "/one": "<p>Another page, behind a redirect on the same host.</p>",
    "/two": "<p>Third, on a host of its own, behind a redirect as well.</p>",
    "/mapped": "<p>Known from the sitemap of {host} alone.</p>",
}
TYPES = {"/robots.txt": "text/plain", "/map.xml": "application/xml"}


class Keys(HTTPSignatureKeyResolver):
    """The keys of a key directory, by their ids."""

    def __init__(self, directory):
        self.keys = {key["kid"]: key["x"] for key in directory["keys"]}

    def resolve_public_key(self, key_id):
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(self.keys[key_id] + "="))


def serve(requests):
    """Starts a server that appends each request to `requests`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            host = self.headers["Host"]
            requests.append(
                SimpleNamespace(method="GET", url=f"http://{host}{self.path}", headers=dict(self.headers.items()))
            )
            port = host.rpartition(":")[2]
            to = {"/moved": "/one", "/away": f"http://other.test:{port}/two"}.get(self.path)
            text = PATHS.get(self.path, "").format(host=host).encode()
            self.send_response(302 if to else 200 if text else 404)
            if to:
                self.send_header("Location", to)
            self.send_header("Content-Type", TYPES.get(self.path, "text/html"))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def is_valid(verifier, request):
    try:
        found = verifier.verify(request, expect_tag=TAG, require_components=COVERED)
        return len(found) == 1
    except InvalidSignature:
        return False


def changed(request, old, new):
    """Returns the request with another URL and the same fields."""
    return SimpleNamespace(**{**vars(request), "url": request.url.replace(old, new)})


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--crawler", required=True)
    given = arguments.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    key = given.work / "bot.pem"

    def crawler(*options):
        return subprocess.run([given.crawler, *options], check=True, capture_output=True, text=True).stdout

    crawler("keys", "new", str(key))
    verifier = HTTPMessageVerifier(
        signature_algorithm=ED25519, key_resolver=Keys(json.loads(crawler("keys", "directory", str(key))))
    )
    requests = []
    server = serve(requests)
    port = server.server_port
    resolve = [f"--resolve={host}.test:{port}:127.0.0.1" for host in ("own", "other")]
    crawler(
        f"http://own.test:{port}/", "--out", str(given.work / "crawl"), "--contact=tests@example.org",
        "--allow-private", "--delay=0", "--delay-factor=0", "--scope=any", "--quiet", *resolve,
        f"--sign-requests={key}", f"--signature-agent={AGENT}",
    )  # fmt: skip
    server.shutdown()

    findings = [f"not verified: {request.url}" for request in requests if not is_valid(verifier, request)]
    paths = {request.url.partition(f":{port}")[2] for request in requests}
    findings += [f"not requested: {path}" for path in {*PATHS, "/moved", "/away"} - paths]
    nonces = {request.headers["signature-input"].split("nonce=")[1] for request in requests}
    if len(nonces) != len(requests):
        findings.append("a nonce is repeated")
    # The check can fail: the same signatures do not verify for another host.
    if any(is_valid(verifier, changed(request, ".test:", ".example:")) for request in requests):
        findings.append("a signature verifies for another authority")
    print(f"signatures: {len(requests)} requests for {len(paths)} paths, {len(findings)} findings")
    print("\n".join(findings[:20]))
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
