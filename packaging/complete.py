#!/usr/bin/env python3
"""Presses Tab in interactive shells below a directory, and compares what the line becomes.

Usage: complete.py TREE

Each shell runs on a terminal of its own with its system-wide completions alone. `crawler` is a
function there that prints its arguments between brackets.
"""

import os
import pty
import re
import select
import sys

# A line up to Tab, and the arguments that it becomes: each has one possible end.
CASES = [
    ("exp", "export"),
    ("export --form", "export --format"),
    ("--max-dep", "--max-depth"),
    ("crawl --on-dupl", "crawl --on-duplicate"),
    ("--scope dom", "--scope domain"),
    ("export --format par", "export --format parquet"),
    ("completions fi", "completions fish"),
]

# The arguments of each shell, and the lines that it is set up with.
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        [
            ". /usr/share/bash-completion/bash_completion",
            "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'",
            "crawler() { printf '[%s]\\n' \"$*\"; }",
            "PS1='rea''dy> '",
        ],
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        [
            "unsetopt beep; setopt auto_list no_always_last_prompt; zstyle ':completion:*' menu no",
            "autoload -Uz compinit; compinit -u -D",
            "crawler() { printf '[%s]\\n' \"$*\"; }",
            "PS1='rea''dy> '",
        ],
    ),
    "fish": (
        ["fish", "--no-config", "--interactive"],
        [
            "set -g fish_complete_path /usr/share/fish/vendor_completions.d",
            "set -g fish_autosuggestion_enabled 0",
            "function crawler; printf '[%s]\\n' \"$argv\"; end",
            "function fish_prompt; echo 'rea''dy> '; end",
        ],
    ),
}

# Seconds without output, after which a shell counts as stuck.
PATIENCE = 30


class Shell:
    """An interactive shell on a terminal of its own, in the tree."""

    def __init__(self, tree, arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chroot(tree)
            os.chdir("/")
            environment = {
                "PATH": "/usr/bin:/bin",
                "HOME": "/root",
                "TERM": "vt100",
                "LC_ALL": "C.UTF-8",
                "COLUMNS": "200",
            }
            os.execvpe(arguments[0], arguments, environment)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def read_until(self, pattern):
        """Returns the first match of a pattern in what the shell prints from now on."""
        seen = ""
        while True:
            ready, _, _ = select.select([self.terminal], [], [], PATIENCE)
            if not ready:
                sys.exit(f"error: no {pattern!r} in {seen!r}")
            try:
                seen += os.read(self.terminal, 4096).decode("utf-8", "replace")
            except OSError:
                sys.exit(f"error: the shell ended: {seen!r}")
            found = re.search(pattern, seen)
            if found:
                return found

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def main():
    tree = sys.argv[1]
    failures = 0
    for name, (arguments, lines) in SHELLS.items():
        shell = Shell(tree, arguments)
        for line in lines:
            shell.type(line + "\r")
        # The prompt differs from the line that sets it, which is echoed.
        shell.read_until("ready> ")
        for typed, expected in CASES:
            shell.type(f"crawler {typed}\t\r")
            found = shell.read_until(r"\[([^][]*)\]\r?\n(?s:.*)ready> ").group(1).strip()
            failures += found != expected
            if found != expected:
                print(f"{name}: {typed!r} becomes {found!r}, not {expected!r}")
        shell.end()
        print(f"{name}: {len(CASES)} lines")
    if failures:
        sys.exit(f"error: {failures} completions are wrong")


main()
