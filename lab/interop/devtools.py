"""Debian's Chromium, headless, driven through its DevTools on loopback.

It can reach loopback only. `Browser` is a context manager with one tab.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import websocket

from wayback import MANY_MINUTES

# High enough for a whole page, so that nothing has to be scrolled into view.
WINDOW = "1000,4000"
# Pictures with a source in the markup; a script may set that of others.
PICTURES = "[...document.images].filter(image => image.getAttribute('src') || image.srcset)"


class Browser:
    """Chromium with its DevTools on loopback. It can reach loopback only."""

    def __init__(self, scratch, *options):
        self.scratch, self.options, self.last, self.events = Path(scratch), options, 0, []
        self.has_script = True

    def __enter__(self):
        program = shutil.which("chromium")
        if not program:
            sys.exit("chromium is missing (Debian: apt-get install chromium)")
        home = self.scratch / "home"
        home.mkdir()
        command = [
            program, "--headless=new", "--disable-gpu", "--hide-scrollbars", f"--window-size={WINDOW}",
            "--force-device-scale-factor=1", "--force-color-profile=srgb", "--disable-dev-shm-usage",
            "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync",
            "--disable-component-update", "--disable-background-networking", "--disable-default-apps",
            "--disable-domain-reliability", "--metrics-recording-only", "--no-pings", "--no-proxy-server",
            "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={self.scratch / 'profile'}", "--remote-debugging-port=0", "--remote-allow-origins=*",
            *(["--no-sandbox"] if os.getuid() == 0 else []), *self.options, "about:blank",
        ]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        self.program = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = []
        for line in self.program.stderr:
            said.append(line)
            if line.startswith("DevTools listening on "):
                break
        else:
            sys.exit(f"chromium does not start:\n{''.join(said)}")
        # Nobody reads its further output, and the pipe must not fill up.
        self.drain = subprocess.Popen(["cat"], stdin=self.program.stderr, stdout=subprocess.DEVNULL)
        tools = urlsplit(line.split()[-1]).netloc
        with urllib.request.urlopen(f"http://{tools}/json/list", timeout=MANY_MINUTES) as answer:
            tab = next(tab for tab in json.load(answer) if tab["type"] == "page")
        self.socket = websocket.create_connection(tab["webSocketDebuggerUrl"], timeout=MANY_MINUTES, suppress_origin=True)
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.program.terminate()
        self.program.wait()
        self.drain.wait()

    def call(self, method, session=None, **parameters):
        """Calls a method of the tab, or of the frame with this session."""
        self.last += 1
        of_frame = {"sessionId": session} if session else {}
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters} | of_frame))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url):
        """Opens a page, and waits until it and its resources are loaded and painted."""
        self.call("Page.navigate", url=url)
        self.loaded()

    def loaded(self):
        """Waits until the page that was asked for is loaded and painted."""
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self.socket.recv()))
        if not self.has_script:
            return
        # The event does not wait for lazily loaded pictures.
        self.run(f"Promise.all({PICTURES}.map(image => image.decode().catch(() => 0))).then(() => true)")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def run(self, script, session=None):
        answer = self.call("Runtime.evaluate", session, expression=script, returnByValue=True, awaitPromise=not session)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def without_script(self):
        """Runs no script of a page from now on."""
        self.has_script = False
        self.call("Emulation.setScriptExecutionDisabled", value=True)

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
