#!/usr/bin/env python3
"""Prints the libraries in the binary, with their licences and the texts of these.

Reads `cargo metadata` and the sources of the crates in cargo's registry. Each text is printed once,
after the crates that bring it. A crate without a file of its licence is listed with the name of
that licence and the address of its source. Fails if a crate states no licence.
"""

import collections
import json
import pathlib
import subprocess
import sys

NAMES = ("license", "licence", "copying", "notice", "unlicense")


def linked(metadata):
    """Returns the packages that are linked into the binary, by name and version."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == "crawler")
    seen, waiting = {root}, [root]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    foreign = (packages[id] for id in seen if packages[id]["source"])
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def licence_files(package):
    """Returns the files of a package that hold a licence or a notice."""
    files = pathlib.Path(package["manifest_path"]).parent.iterdir()
    return sorted(
        file for file in files if file.is_file() and file.name.lower().startswith(NAMES)
    )


def main():
    host = subprocess.check_output(["rustc", "-vV"], text=True)
    host = next(line.split()[1] for line in host.splitlines() if line.startswith("host:"))
    metadata = json.loads(
        subprocess.check_output(
            ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", host]
        )
    )
    packages = linked(metadata)
    texts = collections.defaultdict(list)
    print("Libraries of others in this program, from https://crates.io:\n")
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package["license"] or package["license_file"]
        if licence is None:
            sys.exit(f"error: {name} states no licence: add it by hand, or do without the crate")
        print(f"  {name}: {licence}")
        if package["repository"]:
            print(f"      {package['repository']}")
        for file in licence_files(package):
            text = "\n".join(
                line.rstrip() for line in file.read_text("utf-8", "replace").splitlines()
            )
            texts[text.strip()].append(name)
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        print("\n" + "=" * 80)
        print("\n".join(names) + "\n")
        print(text)


main()
