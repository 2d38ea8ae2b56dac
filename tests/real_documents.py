"""The arithmetic of `real-documents.sh`: verdicts against the truth.

    real_documents.py verdicts CRAWLER TREE_A TREE_B FOLLOW.jsonl DROP.jsonl
    real_documents.py nodes ONE.jsonl NODES.jsonl

It prints Markdown. What a page says is read here a second time, by the standard library's own HTML parser, so
that "unchanged" is not what the crawler takes for unchanged: two pages are unchanged if the visible text inside
`role="main"` (the whole body where there is none) is the same word for word. How alike changed pages are is the Jaccard
similarity of the sets of word 3-shingles and word 5-shingles of the main text as `crawler extract` gives it.

`nodes` compares the verdicts of one process with those of several nodes. Which of two like pages came first differs
from crawl to crawl, so it compares the groups of pages that are like one another, not the originals.

Code 1: an unchanged page was not an exact duplicate, or pages with less than half of their shingles in common were merged;
for `nodes`, other pages were visited, or other pages have the same text.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

THRESHOLD = 0.80
CLASSES = ["unchanged", "≥ .95", ".80–.95", ".50–.80", "< .50"]
VERDICTS = ["exact-duplicate", "near-duplicate", "of another path", "unique", "not reached"]


class MainText(HTMLParser):
    """The visible text in `role="main"`, and of the whole body."""

    VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
    UNSEEN = {"script", "style", "noscript", "head", "template"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.body, self.main = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append((tag, ("role", "main") in attributes or tag == "main"))

    def handle_endtag(self, tag):
        for depth in range(len(self.open) - 1, -1, -1):
            if self.open[depth][0] == tag:
                del self.open[depth:]
                return

    def handle_data(self, text):
        if any(tag in self.UNSEEN for tag, _ in self.open):
            return
        self.body.append(text)
        if any(is_main for _, is_main in self.open):
            self.main.append(text)

    @staticmethod
    def of(path):
        parser = MainText()
        parser.feed(path.read_text(encoding="utf-8", errors="replace"))
        return " ".join("".join(parser.main or parser.body).split())


class Tree:
    """The pages of one release on disk, and what the crawler reads in them."""

    def __init__(self, crawler, root):
        self.crawler, self.root = crawler, Path(root)
        self.pages = {str(file.relative_to(self.root)) for file in self.root.rglob("*.html") if file.is_file()}

    def file(self, page):
        return self.root / page

    @cache
    def said(self, page):
        return MainText.of(self.file(page))

    @cache
    def lines(self, page):
        """The main text by the crawler: words, line by line."""
        run = [self.crawler, "extract", "--format", "text", str(self.file(page))]
        text = subprocess.run(run, check=True, capture_output=True).stdout.decode()
        return [tuple(re.findall(r"\w+", line)) for line in text.lower().split("\n")]

    @cache
    def words(self, page):
        return [word for line in self.lines(page) for word in line]

    @cache
    def shingles(self, page, width):
        words = self.words(page)
        if len(words) < width:
            return frozenset([tuple(words)])
        return frozenset(zip(*(words[start:] for start in range(width))))


def jaccard(a, b):
    return len(a & b) / len(a | b) if a | b else 1.0


class Pair:
    """Two pages, and how alike they are by the files."""

    def __init__(self, tree_a, page_a, tree_b, page_b):
        self.path = page_a if page_a == page_b else f"{page_a} → {page_b}"
        self.same_bytes = tree_a.file(page_a).read_bytes() == tree_b.file(page_b).read_bytes()
        self.unchanged = tree_a.said(page_a) == tree_b.said(page_b)
        words_a, words_b = tree_a.words(page_a), tree_b.words(page_b)
        self.same_main = words_a == words_b
        self.count_a, self.count_b = len(words_a), len(words_b)
        self.three = jaccard(tree_a.shingles(page_a, 3), tree_b.shingles(page_b, 3))
        self.five = jaccard(tree_a.shingles(page_a, 5), tree_b.shingles(page_b, 5))
        self.gone, self.new = changed_words(tree_a.lines(page_a), tree_b.lines(page_b))

    def resemblance_class(self):
        if self.unchanged:
            return CLASSES[0]
        floors = [(0.95, 1), (THRESHOLD, 2), (0.50, 3)]
        return CLASSES[next((index for floor, index in floors if self.three >= floor), 4)]


def changed_words(a, b):
    """How many words of `a` are gone from `b`, and how many of `b` are new: lines aligned first, then words in what differs."""
    gone = new = 0
    for kind, a_start, a_end, b_start, b_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        left = [word for line in a[a_start:a_end] for word in line]
        right = [word for line in b[b_start:b_end] for word in line]
        matcher = SequenceMatcher(None, left, right, autojunk=len(left) * len(right) > 1_000_000)
        kept = sum(block.size for block in matcher.get_matching_blocks())
        gone, new = gone + len(left) - kept, new + len(right) - kept
    return gone, new


class Crawl:
    """The rows of an export, by host and path."""

    def __init__(self, file, tree_a, tree_b):
        self.rows, self.order = {}, {}
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            self.order[address(row["url"])] = len(self.order)
            self.rows[address(row["url"])] = row
        hosts = list(dict.fromkeys(host for host, _ in self.rows))
        self.hosts = sorted(hosts)
        assert len(self.hosts) == 2, f"two hosts were to be crawled, not {hosts}"
        self.trees = dict(zip(self.hosts, (tree_a, tree_b)))

    def pages(self, host):
        """The rows of pages of the tree that were answered."""
        rows = [(page, row) for (of, page), row in self.rows.items() if of == host]
        return {page: row for page, row in rows if page in self.trees[host].pages and row["status"] == 200}

    def verdict(self, page):
        """What became of the two pages at this path: the verdict and row of whichever repeats the other."""
        addresses = [(host, page) for host in self.hosts]
        if any(address not in self.rows for address in addresses):
            return "not reached", None
        for here, there in (addresses, addresses[::-1]):
            row = self.rows[here]
            if row["duplicate_of"] and address(row["duplicate_of"]) == there:
                return row["verdict"], row
        for here in addresses:
            row = self.rows[here]
            if row["duplicate_of"]:
                return "of another path", row
        return self.rows[addresses[1]]["verdict"], self.rows[addresses[1]]

    def merged_across_paths(self):
        """Pages that were taken for a repetition of a page at another path."""
        for (host, page), row in self.rows.items():
            if row["duplicate_of"] and address(row["duplicate_of"])[1] != page:
                yield row, (host, page), address(row["duplicate_of"])


def kept_though_alike(crawl):
    """Pairs of any two pages that share half of their shingles or more, and are not of one cluster."""
    pages = [(host, page) for host in crawl.hosts for page in sorted(crawl.pages(host))]

    def cluster(place):
        original = crawl.rows[place]["duplicate_of"]
        return address(original) if original else place

    for a, b in combinations(pages, 2):
        mine, yours = (crawl.trees[host].shingles(page, 3) for host, page in (a, b))
        if cluster(a) == cluster(b) or min(len(mine), len(yours)) < 0.5 * max(len(mine), len(yours)):
            continue
        likeness = jaccard(mine, yours)
        if likeness >= 0.5:
            yield likeness, "/".join(a), "/".join(b)


def address(url):
    parts = urlsplit(url)
    path = unquote(parts.path)
    return parts.hostname, path[1:] + ("index.html" if path.endswith("/") else "")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def cross_table(pairs, crawl):
    cells = Counter((crawl.verdict(pair.path)[0], pair.resemblance_class()) for pair in pairs)
    rows = []
    for verdict in VERDICTS + sorted({verdict for verdict, _ in cells} - set(VERDICTS)):
        counts = [cells[verdict, of] for of in CLASSES]
        rows.append([verdict, *(count or "–" for count in counts), sum(counts)])
    totals = [sum(cells[verdict, of] for verdict, _ in {key for key in cells if key[1] == of}) for of in CLASSES]
    return table(["verdict", *CLASSES, "all"], [*rows, ["**all**", *totals, sum(totals)]])


def detail(pairs, crawl):
    rows = []
    for pair in pairs:
        verdict, row = crawl.verdict(pair.path)
        distance = "–" if not row or row["distance"] is None else row["distance"]
        estimate = "–" if not row or row["resemblance"] is None else f"{row['resemblance']:.3f}"
        by_files = [f"{pair.three:.3f}", f"{pair.five:.3f}", f"{pair.count_a} → {pair.count_b}", f"−{pair.gone} +{pair.new}"]
        rows.append([pair.path, verdict, distance, estimate, *by_files])
    head = ["page", "verdict", "bits", "estimate", "3-shingles", "5-shingles", "words", "changed"]
    return table(head, rows) if rows else "None."


def verdicts(crawler, root_a, root_b, follow_file, drop_file):
    trees = [Tree(crawler, root_a), Tree(crawler, root_b)]
    follow, drop = Crawl(follow_file, *trees), Crawl(drop_file, *trees)
    shared = sorted(trees[0].pages & trees[1].pages)
    pairs = [Pair(trees[0], page, trees[1], page) for page in shared]

    print(f"{len(trees[0].pages)} and {len(trees[1].pages)} pages on disk, {len(shared)} at the same path in both. Of these pairs "
          f"{sum(p.same_bytes for p in pairs)} have the same bytes, {sum(p.unchanged for p in pairs)} say the same word for word, "
          f"{sum(p.same_main for p in pairs)} give the same main text in `crawler extract`.\n")
    for name, crawl in (("drop", drop), ("follow", follow)):
        for host, tree in crawl.trees.items():
            reached = crawl.pages(host)
            kinds = Counter(row["verdict"] for row in reached.values())
            others = sum(of == host for of, _ in crawl.rows) - len(reached)
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            print(f"- `--on-duplicate {name}`, {host}: {len(reached)} of {len(tree.pages)} pages reached "
                  f"({counts or 'none'}); {others} other URLs.")
            orphans = sorted(tree.pages - set(reached))
            if name == "follow" and orphans:
                print(f"  Not reached: {', '.join(orphans)}.")
    for name, crawl in (("drop", drop), ("follow", follow)):
        print(f"\n### Verdicts by pair, `--on-duplicate {name}`\n\n{cross_table(pairs, crawl)}")

    judged = [pair for pair in pairs if follow.verdict(pair.path)[0] != "not reached"]
    verdict_of = {pair.path: follow.verdict(pair.path)[0] for pair in judged}
    missed = [p for p in judged if p.unchanged and verdict_of[p.path] != "exact-duplicate"]
    too_strict = [p for p in judged if not p.unchanged and p.three >= THRESHOLD and verdict_of[p.path] == "unique"]
    too_lax = [p for p in judged if not p.unchanged and p.three < THRESHOLD and verdict_of[p.path] in VERDICTS[:3]]
    exact_changed = [p for p in judged if not p.unchanged and verdict_of[p.path] == "exact-duplicate"]
    near = sorted((p for p in judged if not p.unchanged and verdict_of[p.path] == "near-duplicate"), key=lambda p: p.three)
    kept = sorted((p for p in judged if verdict_of[p.path] == "unique"), key=lambda p: -p.three)
    for title, listed in (
        ("Unchanged, but not an exact duplicate", missed),
        ("Exact duplicates that are not unchanged", exact_changed),
        (f"Alike by the files (≥ {THRESHOLD:.2f}), but judged unique", too_strict),
        (f"Not alike by the files (< {THRESHOLD:.2f}), but merged", too_lax),
        ("Changed and merged: a crawl with `drop` keeps one of the two", near),
        ("Changed and kept", kept),
    ):
        print(f"\n### {title} ({len(listed)})\n\n{detail(listed, follow)}")

    crossed, wrong = [], 0
    for name, crawl in (("drop", drop), ("follow", follow)):
        for row, (host, page), (original_host, original) in crawl.merged_across_paths():
            pair = None
            if page in crawl.trees[host].pages and original in crawl.trees[original_host].pages:
                pair = Pair(crawl.trees[host], page, crawl.trees[original_host], original)
            wrong += pair is not None and not pair.unchanged and pair.three < 0.5
            by_files = f"{pair.three:.3f}" if pair else "–"
            crossed.append([name, f"{host}/{page}", f"{original_host}/{original}", row["verdict"], by_files])
    crossed = table(["crawl", "page", "taken for", "verdict", "3-shingles"], crossed) if crossed else "None."
    print(f"\n### Merged across different paths\n\n{crossed}")

    apart = sorted(kept_though_alike(follow), reverse=True)
    rows = [[f"{left} and {right}", f"{likeness:.3f}"] for likeness, left, right in apart]
    listed = table(["pages", "3-shingles"], rows) if rows else "None."
    print(f"\n### Half alike or more, of all pages with all, but not merged ({len(rows)})\n\n{listed}")

    wrong += len(missed) + sum(p.three < 0.5 for p in too_lax)
    if not any(p.unchanged for p in judged):
        sys.exit("no unchanged page was reached at all")
    sys.exit(1 if wrong else 0)


class Verdicts:
    """The verdicts of a crawl, by URL."""

    def __init__(self, file):
        rows = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]
        self.rows = {row["url"]: row for row in rows}

    def original(self, url):
        return self.rows[url]["duplicate_of"] or url

    def groups(self, kinds):
        """Returns the group of each page: the pages that are joined by verdicts of these kinds."""
        group = {url: {url} for url in self.rows}
        for url, row in self.rows.items():
            if row["verdict"] in kinds and group[url] is not group[row["duplicate_of"]]:
                joined = group[url] | group[row["duplicate_of"]]
                for member in joined:
                    group[member] = joined
        return group


def nodes(one_file, nodes_file):
    one, several = Verdicts(one_file), Verdicts(nodes_file)
    missing, more = one.rows.keys() - several.rows.keys(), several.rows.keys() - one.rows.keys()
    pages = sorted(one.rows.keys() & several.rows.keys())
    others = [page for page in pages if one.original(page) != several.original(page)]

    def in_other_groups(*kinds):
        in_one, in_several = one.groups(kinds), several.groups(kinds)
        return {page: (in_one[page], in_several[page]) for page in pages if in_one[page] != in_several[page]}

    exact = in_other_groups("exact-duplicate")
    grouped = in_other_groups("exact-duplicate", "near-duplicate")
    print(f"{len(pages)} pages in both crawls, {len(missing)} by one process only, {len(more)} by nodes only.")
    for name, crawl in (("one process", one), ("nodes", several)):
        kinds = Counter(crawl.rows[page]["verdict"] for page in pages)
        print(f"- {name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    print(f"- {len(others)} pages have another original, since another page of the group came first")
    print(f"- {len(exact)} pages are exact duplicates of other pages; {len(grouped)} are in another group")
    for page, (in_one, in_several) in grouped.items():
        print(f"  - {page}: {len(in_one)} pages by one process, {len(in_several)} by nodes")
    sys.exit(1 if missing or more or exact else 0)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "nodes":
        nodes(*sys.argv[2:])
    if len(sys.argv) == 7 and sys.argv[1] == "verdicts":
        verdicts(*sys.argv[2:])
    sys.exit(__doc__)
