"""Runs a command and measures all its processes: wall time, processor time, peak memory.

    python3 measure.py RESULT.json SECONDS CORES COMMAND [ARGUMENT]...

The command gets the first CORES processors. It becomes the reaper of its descendants (prctl(2)),
so that the processor time includes workers whose parent is gone. Peak memory is the larger of two
figures: the kernel's peak of the largest process, which is exact for a single process; and the sum
over all processes, sampled (proportional set size, so shared pages count once). After SECONDS all
processes are ended. Linux only.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
# Shortest pause between two samples, in seconds. A sample takes at most a twentieth of the time.
PAUSE = 0.1


def descendants():
    """Returns the ids of all processes below this one."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue  # ended meanwhile
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
    found, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def resident(process):
    """Returns the proportional set size of a process in bytes, 0 if it has ended."""
    try:
        for line in Path("/proc", str(process), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass  # ended meanwhile
    return 0


def sample(peak, ended):
    """Keeps the largest sum in `peak`. A single process is left alone: its peak is known."""
    pause = PAUSE
    while not ended.wait(pause):
        begun = time.monotonic()
        processes = descendants()
        if len(processes) > 1:
            peak[0] = max(peak[0], sum(map(resident, processes)))
        pause = max(PAUSE, 20 * (time.monotonic() - begun))


def end_all():
    for process in descendants():
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass  # ended meanwhile


def main():
    result, seconds, cores, *command = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    peak, ended = [0], threading.Event()
    begun = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    sampler = threading.Thread(target=sample, args=(peak, ended))
    sampler.start()
    try:
        code, in_time = child.wait(timeout=float(seconds)), True
    except subprocess.TimeoutExpired:
        code, in_time = None, False
    wall = time.monotonic() - begun
    ended.set()
    sampler.join()
    end_all()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    measured = {
        "code": code,
        "in_time": in_time,
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": max(peak[0], usage.ru_maxrss << 10),
    }
    Path(result).write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
