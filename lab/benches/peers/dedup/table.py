"""The result of `compare.py` as Markdown."""

import math
from statistics import median

MIB = 1 << 20


def summary(runs):
    """Returns one run for several of a peer on a corpus: median times, largest peak."""
    merged = dict(runs[0])
    merged["wall"] = median(run["wall"] for run in runs)
    merged["cpu"] = median(run["cpu"] for run in runs)
    merged["peak"] = max(run["peak"] for run in runs)
    merged["runs"] = len(runs)
    return merged


def growth(results, peer, size):
    """Returns the factor of time for twice the documents, from the size before; else `None`."""
    smaller = [other for (name, other) in results if name == peer and other < size]
    if not smaller:
        return None
    before = max(smaller)
    ratio = results[peer, size]["wall"] / results[peer, before]["wall"]
    return ratio ** (1 / math.log2(size / before))


def part(value):
    return "–" if value is None else f"{value:.3f}"


def times(value, base):
    return "–" if not base else f"{value / base:.1f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def rows(names, results, ours, bands, size_of):
    """Yields the lines of a table; `size_of` chooses the corpus of a peer, or `None`."""
    yield row(
        ["", "documents", "s", "× ours", "CPU s", "× ours", "MiB", "× ours", "× for twice"]
        + ["precision", "recall"]
        + [f"J {planted:g}" for planted in bands]
    )
    yield "|---" + "|--:" * (10 + len(bands)) + "|"
    for name in names:
        size = size_of(name)
        if size is None:
            continue
        run, base = results[name, size], results.get((ours, size), {})
        twice = growth(results, name, size)
        score = run["score"]
        yield row(
            [
                *(name, f"{run['documents']:,}"),
                *(f"{run['wall']:.1f}", times(run["wall"], base.get("wall"))),
                *(f"{run['cpu']:.1f}", times(run["cpu"], base.get("cpu"))),
                *(f"{run['peak'] / MIB:.0f}", times(run["peak"], base.get("peak"))),
                *("–" if twice is None else f"{twice:.2f}",),
                *(part(score["precision"]), part(score["recall"])),
                *(part(score["bands"].get(planted)) for planted in bands),
            ]
        )


def markdown(peers, versions, results, labelled, notes, session):
    """Returns the whole report.

    `results` and `labelled` map a peer's name and a number of documents, or the name of a labelled
    set, to its run; `notes` has a line for what was not run, `session` the circumstances.
    """
    ours, names = peers[0].name, [peer.name for peer in peers]
    bands = sorted({band for run in results.values() for band in run["score"]["bands"]})
    sizes = sorted({size for _, size in results})
    lines = [session, ""]
    if results:

        def largest(name):
            return max((size for peer, size in results if peer == name), default=None)

        lines += ["Each at the largest corpus that it had the time for:", ""]
        lines += rows(names, results, ours, bands, largest)
        # The first table has all runs at the largest size.
        for size in sizes[:-1]:
            lines += ["", f"All at {size:,} documents:", ""]
            lines += rows(
                names, results, ours, bands, lambda name: size if (name, size) in results else None
            )
    for corpus in sorted({corpus for _, corpus in labelled}):
        some = {(name, 0): run for (name, other), run in labelled.items() if other == corpus}
        lines += ["", f"The labelled set `{corpus}`:", ""]
        lines += rows(names, some, ours, [], lambda name: 0 if (name, 0) in some else None)
    if notes:
        lines += ["", "Not run:", "", *(f"- {note}" for note in notes)]
    lines += ["", "| | version | settings |", "|---|---|---|"]
    lines += [
        row([peer.name, versions[peer.name], peer.differs])
        for peer in peers
        if peer.name in versions
    ]
    return "\n".join(lines) + "\n"
