#!/usr/bin/env python3
"""Measures crawls of pages that need their scripts, on loopback.

Each measurement prints its figures beside their goals and ends with code 1 if one is missed. Needs
Chromium; `replay` also needs the tools of lab/interop (run it with the Python that
lab/interop/setup.sh prints).
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

MEASUREMENTS = ["canaries", "cost", "hostile", "kills", "politeness", "replay", "static"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="measurement", required=True)
    for name in MEASUREMENTS:
        module = importlib.import_module(name)
        command = commands.add_parser(name, help=module.__doc__.splitlines()[0], description=module.__doc__)
        command.add_argument("--crawler", default="target/release/crawler")
        command.add_argument("--browser", help="Chromium, if it is not on PATH")
        command.add_argument("--sandbox", choices=["namespaces", "flags"], default="namespaces")
        command.add_argument("--keep", help="directory for the crawls, which are deleted otherwise")
        module.arguments(command)
        command.set_defaults(measure=module.measure)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rendering-") as scratch:
        directory = Path(wish.keep or scratch)
        directory.mkdir(parents=True, exist_ok=True)
        sys.exit(1 if wish.measure(wish, directory).missed else 0)


if __name__ == "__main__":
    main()
