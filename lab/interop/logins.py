"""Judges the answers of a crawl to Digest challenges by those of requests (RFC 7616, RFC 2069).

    logins.py WORKDIR --crawler PROGRAM

A server on loopback lets a request in if its answer is the one that requests gives to the same
challenge with the same nonces.
"""

import argparse
import http.server
import itertools
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import requests.auth
from requests.utils import parse_dict_header

USER, PASSWORD = "J\u00e4s\u00f8n", 'open "sesame", \u00fc: \u20ac'
# By the first part of the path; each is a realm of its own.
CHALLENGES = {
    "md5": 'qop="auth"',
    "sess": 'qop="auth,auth-int", algorithm=MD5-sess, opaque="kept"',
    "sha": 'qop="auth", algorithm=SHA-256, charset=UTF-8',
    "old": 'opaque="kept"',
}
PAGES = [f"/{area}/{number}" for number in (1, 2, 3) for area in CHALLENGES]
# Requests that a nonce lets in.
USES = 2


class Fixed(str):
    """A hash that is already known, in place of a random client nonce."""

    def hexdigest(self):
        return self

    def __getitem__(self, _):
        return str(self)


def expected(challenge, target, client_nonce, count):
    """Returns the parameters of the answer of requests."""
    auth = requests.auth.HTTPDigestAuth(USER, PASSWORD)
    auth.init_per_thread_state()
    auth._thread_local.chal = challenge
    auth._thread_local.last_nonce = challenge["nonce"]
    auth._thread_local.nonce_count = count - 1
    known = requests.auth.hashlib
    requests.auth.hashlib = SimpleNamespace(
        md5=known.md5, sha256=known.sha256, sha1=lambda *_, **__: Fixed(client_nonce)
    )
    try:
        answer = auth.build_digest_header("GET", f"http://own.test{target}")
    finally:
        requests.auth.hashlib = known
    return parse_dict_header(answer.removeprefix("Digest "))


class Door:
    """The nonces of a server, and what came to it."""

    def __init__(self):
        self.challenges, self.uses, self.findings, self.let_in = {}, {}, [], []
        self.numbers = itertools.count()

    def challenge(self, target, more=""):
        area = target.split("/")[1]
        nonce = f"nonce {next(self.numbers)}/+="
        text = f'realm="{area}", nonce="{nonce}", {CHALLENGES.get(area, CHALLENGES["md5"])}{more}'
        self.challenges[nonce] = parse_dict_header(text)
        self.uses[nonce] = 0
        return f"Digest {text}"

    def judge(self, target, field):
        """Returns the challenge to send, or None for a request that is let in."""
        if not field:
            return self.challenge(target)
        # Fields are read as Latin-1, and written in UTF-8.
        field = field.encode("latin-1").decode()
        if not field.startswith("Digest "):
            self.findings.append(f"{target}: {field}")
            return self.challenge(target)
        given = parse_dict_header(field.removeprefix("Digest "))
        nonce = given.get("nonce")
        self.uses[nonce] += 1
        challenge, count = self.challenges[nonce], self.uses[nonce]
        if challenge["realm"] != target.split("/")[1] and target != "/robots.txt":
            return self.challenge(target)
        if count > USES:
            return self.challenge(target, ", stale=true")
        wanted = expected(challenge, target, given.get("cnonce", "none"), count)
        if given != wanted:
            self.findings.append(f"{target}: {given} is not {wanted}")
            return self.challenge(target)
        self.let_in.append(target)
        return None


def serve(door):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            challenge = door.judge(self.path, self.headers["Authorization"])
            links = "".join(f'<a href="{page}">{page}</a> ' for page in PAGES)
            text = f"<title>{self.path}</title><p>The page {self.path} is behind a door.</p>{links}"
            text = "" if self.path == "/robots.txt" else text
            self.send_response(401 if challenge else 200)
            if challenge:
                self.send_header("WWW-Authenticate", challenge)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--crawler", required=True)
    given = arguments.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    password = given.work / "password.txt"
    password.write_text(PASSWORD + "\n")

    door = Door()
    server = serve(door)
    port = server.server_port
    command = [
        given.crawler, f"http://own.test:{port}{PAGES[0]}", "--out", str(given.work / "crawl"),
        "--contact=tests@example.org", "--allow-private", "--delay=0", "--delay-factor=0", "--tries=1",
        f"--resolve=own.test:{port}:127.0.0.1", "--on-duplicate=keep", "--duplicate-links=follow",
        f"--http-user={USER}", f"--http-password-file={password}", "--summary=json",
    ]  # fmt: skip
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    server.shutdown()

    findings = door.findings
    findings += [f"not let in once: {page}" for page in PAGES if door.let_in.count(page) != 1]
    if json.loads(run.stdout)["failed"]:
        findings.append(f"pages failed: {run.stdout}")
    # The check can fail: another count has another answer.
    challenge = parse_dict_header('realm="md5", nonce="n", qop="auth"')
    if expected(challenge, "/", "c", 1)["response"] == expected(challenge, "/", "c", 2)["response"]:
        findings.append("the count is not in the answer")
    print(f"logins: {len(door.let_in)} requests let in, {next(door.numbers)} challenges, {len(findings)} findings")
    print("\n".join(findings[:20]))
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
