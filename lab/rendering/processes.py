"""Processor time and memory of a process and its descendants, by kind, from /proc.

The time of a process that ended is in its parent's `cutime`, if the parent lives and waited for it.
Renderers are children of Chromium's zygote, so their time is counted even if no sample saw them.
"""

import os
import re
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

TICK = os.sysconf("SC_CLK_TCK")
KIND = re.compile(rb"--type=([a-z-]+)")
SERVICE = re.compile(rb"--utility-sub-type=([a-z_]+)\.")


class Process(NamedTuple):
    id: int
    parent: int
    begun: int
    own: int
    of_children: int


def read(process):
    """Returns a process; None if it is gone."""
    try:
        text = Path("/proc", str(process), "stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    own, of_children = (int(fields[at]) + int(fields[at + 1]) for at in (11, 13))
    return Process(process, int(fields[1]), int(fields[19]), own, of_children)


def all_processes():
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return {process.id: process for process in map(read, numbers) if process}


def descendants(root, processes=None):
    """Returns a process and its descendants."""
    processes = processes or all_processes()
    by_parent = {}
    for process in processes.values():
        by_parent.setdefault(process.parent, []).append(process.id)
    found, queue = [], [root]
    while queue:
        number = queue.pop()
        if number in processes:
            found.append(processes[number])
            queue.extend(by_parent.get(number, []))
    return found


def command_line(process):
    try:
        return Path("/proc", str(process), "cmdline").read_bytes()
    except OSError:
        return b""


def kind(process, root):
    """Returns `crawler`, `browser`, or the type of a process of Chromium."""
    line = command_line(process)
    if process == root:
        return "crawler"
    if service := SERVICE.search(line):
        return service[1].decode()
    if found := KIND.search(line):
        return found[1].decode()
    return "browser" if b"--user-data-dir" in line else "other"


def proportional_memory(process):
    """Returns the PSS of a process in bytes."""
    try:
        text = Path("/proc", str(process), "smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:"))


class Sampler:
    """Samples a process tree until it is told to stop."""

    def __init__(self, root, interval=0.1, memory_every=5):
        self.root, self.interval, self.memory_every = root, interval, memory_every
        self.seen, self.kinds, self.peak = {}, {}, 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 0
        while not self.stopping.wait(self.interval):
            self.sample()
            if number % self.memory_every == 0:
                browser = [id for (id, _), of in self.kinds.items() if (id, _) in self.alive and of != "crawler"]
                self.peak = max(self.peak, sum(map(proportional_memory, browser)))
            number += 1

    def sample(self):
        now = {(process.id, process.begun): process for process in descendants(self.root)}
        if not now:
            return
        waited = self.waited_for(now)
        for key, process in list(self.seen.items()):
            # The parent waited for it, so it is in the parent's time.
            if key not in now and process.own + process.of_children <= waited.get(process.parent, -1):
                del self.seen[key]
        for key, process in now.items():
            # A fork has the command line of its parent until it executes another program.
            if self.kinds.get(key) in (None, "other", "crawler", "zygote"):
                self.kinds[key] = kind(process.id, self.root)
        self.seen.update(now)
        self.alive = set(now)

    def waited_for(self, now):
        """Returns the time of children that each process waited for since the last sample."""
        before = {process.id: process.of_children for process in self.seen.values()}
        return {process.id: process.of_children - before.get(process.id, 0) for process in now.values()}

    def stop(self):
        self.stopping.set()
        self.thread.join()

    def seconds(self):
        """Returns processor seconds by kind; `renderer` contains those that ended."""
        ticks = Counter()
        for key, process in self.seen.items():
            of = self.kinds[key]
            ticks[of] += process.own
            ticks["renderer" if of == "zygote" else of] += process.of_children
        return {of: ticks[of] / TICK for of in sorted(ticks)}
