"""Crawls by the program under test, and what its commands say about them."""

import json
import subprocess
import sys
from pathlib import Path

POLITE_TO_NOBODY = ["--delay", "0s", "--delay-factor", "0"]


class Crawl:
    """A crawl of URLs into a directory. `options` are added to those that every crawl here has."""

    def __init__(self, wish, directory, urls, options=(), pace=POLITE_TO_NOBODY):
        self.program, self.directory = str(Path(wish.crawler).resolve()), Path(directory)
        fixed = ["--allow-private", "--contact", "lab@example.org", "--summary", "json", "-qq", "--sitemaps", "off"]
        sandbox = ["--render-sandbox", wish.sandbox] if "--render" in options else []
        self.command = [self.program, *urls, "--out", str(self.directory), *fixed, *pace, *sandbox, *map(str, options)]
        if wish.browser and "--render" in options:
            self.command += ["--browser", wish.browser]

    def start(self):
        self.errors = open(f"{self.directory}.err", "ab")
        self.running = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        return self.running

    def finish(self):
        """Waits for the end. Returns the exit code, and the summary if there is one."""
        output = self.running.communicate()[0]
        self.errors.close()
        lines = output.splitlines()
        return self.running.returncode, json.loads(lines[-1]) if lines else {}

    def complete(self):
        """Crawls to the end and returns the summary; ends the measurement if the crawl fails."""
        self.start()
        code, summary = self.finish()
        if code != 0:
            sys.exit(f"{' '.join(self.command)}: code {code}\n{Path(f'{self.directory}.err').read_text()[-3000:]}")
        return summary

    def tell(self, command, *options):
        """Returns the JSON lines that a command says about the crawl."""
        done = subprocess.run([self.program, command, self.directory, *options], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{command} {self.directory}: code {done.returncode}: {done.stderr[-3000:]}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def visits(self):
        return self.tell("export")

    def verify(self):
        """Returns the exit code and the words of `verify`."""
        done = subprocess.run([self.program, "verify", self.directory], capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).strip()


class Goals:
    """Figures beside their goals. The measurement ends with code 1 if a goal is missed."""

    def __init__(self, name):
        self.name, self.missed = name, 0

    def figure(self, what, value, goal="", met=True):
        self.missed += not met
        goal = f"   goal {goal}{'' if met else ', MISSED'}" if goal else ""
        print(f"{self.name:<11} {what:<58} {value:>14}{goal}", flush=True)

    def note(self, text):
        print(f"{self.name:<11}   {text}", flush=True)
