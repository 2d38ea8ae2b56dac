"""Counts the pages that a crawl with the shipped defaults loses of real documentation sites.

    python3 lab/evaluation/real_sites.py --crawler FILE --serve FILE [--work DIR] [--keys A,B] [SITE...]

Fetches the sites from Debian's packages, serves them on loopback (testkit's example `serve`), and
crawls each one with the shipped defaults, once for each hash key. A crawl with `--on-duplicate
follow --traps off` is the site's universe. The verdicts are judged by the files, with each site's
own markup and a reader that is not ours (lxml):

- wrongly merged: a page left out as a duplicate, whose main text resembles that of its original by
  less than .8 (word 5-shingles), or by less than .95 if title and file name differ;
- never reached: a page of the universe that the crawl did not visit, whose text no archived page
  has and whose best resemblance to an archived page is below .8; copies of one text count once.

Lost is the share of both in the universe. The table goes into docs/measurements/quality.md between
two marks, 20 random merges of each site into docs/measurements/real-sites-merges.md. `just
real-sites` builds the programs and runs this. Code 77: a requirement is missing.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.parse

try:
    import lxml.html
    from lxml import etree
except ImportError:
    lxml = None

TOP = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ["de", "fr", "it", "ja", "nl", "ru", "zh-cn"]

# The sites: directories, each with its package and the place in the package, and seeds.
SITES = {
    "javadoc": (
        {"": ("openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api")},
        ["index.html"],
    ),
    "cppref": (
        {"": ("cppreference-doc-en-html", "usr/share/cppreference/doc/html")},
        ["en/index.html"],
    ),
    "boost": (
        {v: (f"libboost{v}-doc", f"usr/share/doc/libboost{v}-doc") for v in ["1.74", "1.81"]},
        ["1.74/doc/html/index.html", "1.81/doc/html/index.html"],
    ),
    "llvm": (
        {v: (f"llvm-{v}-doc", f"usr/share/doc/llvm-{v}-doc/html") for v in ["14", "15"]},
        ["14/index.html", "15/index.html"],
    ),
    "faq": (
        {"en": ("debian-faq", "usr/share/doc/debian/FAQ")}
        | {l: (f"debian-faq-{l}", f"usr/share/doc/debian/FAQ/{l}") for l in LANGUAGES},
        [f"{l}/index.{l}.html" for l in ["en", *LANGUAGES]],
    ),
}

# The main text by each site's own markup (XPath); the first that matches, else the whole body.
MAIN = {
    "llvm": ["//*[@role='main']"],
    "javadoc": ["//main"],
    "cppref": ["//*[@id='mw-content-text']"],
}
# Elements without text of the page.
DROP = {
    "boost": [
        "//div[@class='spirit-nav']",
        "//table[@width='100%' and .//img[contains(@alt,'Boost')]]",
        "//div[@class='copyright-footer']",
    ]
}
BREAKS = set(
    "p div li td th tr h1 h2 h3 h4 h5 h6 dt dd br pre section table ul ol dl header main nav footer".split()
)
UNSEEN = {"script", "style", "noscript", "template", "head", "title"}
WORD = re.compile(r"\w+")
SHINGLE = 5
MERGES_TO_READ = 20
BEGIN, END = "<!-- real sites: begin -->", "<!-- real sites: end -->"


def missing(what):
    print(f"real-sites: {what}", file=sys.stderr)
    sys.exit(77)


# ---- the sites


def fetch(work, package):
    """Downloads and unpacks a package; returns the directory of its files."""
    debs, unpacked = work / "debs", work / "unpacked" / package
    if unpacked.is_dir():
        return unpacked
    debs.mkdir(parents=True, exist_ok=True)
    found = lambda: sorted(debs.glob(f"{package}_*.deb"))
    if not found():
        download = ["apt-get", "download", "-q", package]
        if subprocess.run(download, cwd=debs, stdout=sys.stderr).returncode != 0:
            subprocess.run(["apt-get", "update", "-q"], stdout=sys.stderr)
            if subprocess.run(download, cwd=debs, stdout=sys.stderr).returncode != 0:
                missing(f"{package} cannot be fetched")
    part = unpacked.with_name(package + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg", "-x", found()[-1], part], check=True)
    part.rename(unpacked)
    return unpacked


def lay_out(work, site):
    """Puts the directories of a site below one root, as hard links, which the server follows."""
    directories, seeds = SITES[site]
    root = work / "www" / site
    if not root.is_dir():
        part = root.with_name(site + ".part")
        shutil.rmtree(part, ignore_errors=True)
        for name, (package, place) in directories.items():
            target = part / name if name else part
            target.parent.mkdir(parents=True, exist_ok=True)
            source = fetch(work, package) / place
            subprocess.run(["cp", "-al", "--no-target-directory", source, target], check=True)
        part.rename(root)
    for seed in seeds:
        if not (root / seed).is_file():
            missing(f"{site} has no {seed} where it was expected")
    return root


class Served:
    """Serves the sites on loopback, each under `SITE.test`, until the block ends."""

    def __init__(self, program, roots):
        directories = [word for site, root in roots.items() for word in ("--dir", f"{site}.test={root}")]
        self.command = [program, *directories]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        lines = []
        for line in self.process.stdout:
            if line.strip() == "# ready":
                break
            lines.append(line.strip())
        else:
            missing("the server did not start")
        self.port = int(lines[0])
        self.resolve = [word for line in lines if line.startswith("# --resolve") for word in line[2:].split()]
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def crawl(args, served, site, name, options):
    """Crawls a site; returns the rows of its export."""
    out = args.work / "crawls" / name
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    seeds = [f"http://{site}.test:{served.port}/{seed}" for seed in SITES[site][1]]
    polite = ["--allow-private", "--delay", "0", "--delay-factor", "0", "--no-index", "--quiet"]
    contact = ["--contact", "real-sites@example.org"]
    command = [args.crawler, *seeds, *served.resolve, *polite, *contact, "--out", out, *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    told = subprocess.run([args.crawler, "export", out], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in told.stdout.splitlines()]


# ---- the texts


def visible(node):
    """Returns the text of an element without scripts; blocks are separated."""
    out, skipped = [], None
    for event, element in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            if skipped is None and element.tail:
                out.append(element.tail)
        elif event == "start":
            if skipped is None and element.tag in UNSEEN:
                skipped = element
            elif skipped is None:
                out.append(" " if element.tag in BREAKS else "")
                out.append(element.text or "")
        else:
            if skipped is element:
                skipped = None
            if skipped is None:
                out.append(" " if element.tag in BREAKS else "")
                if element.tail and element is not node:
                    out.append(element.tail)
    return " ".join("".join(out).split())


def texts(file, site):
    """Returns title, main text by the site's markup, and whole text of a file."""
    data = file.read_bytes()
    named = re.search(rb"charset=[\"']?([\w-]+)", data[:4000], re.I)
    named = named or re.search(rb"encoding=[\"']([\w-]+)", data[:200])
    try:
        text = data.decode(named.group(1).decode() if named else "utf-8", "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    try:
        tree = lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(huge_tree=True))
    except (etree.ParserError, ValueError):
        return "", "", ""
    title = " ".join((tree.findtext(".//title") or "").split())
    body = tree.find("body")
    body = tree if body is None else body
    whole = visible(body)
    main = next((found[0] for path in MAIN.get(site, []) if (found := tree.xpath(path))), body)
    for path in DROP.get(site, []):
        for node in tree.xpath(path):
            if node.getparent() is not None and node is not main:
                node.drop_tree()
    return title, visible(main), whole


def words(text):
    return WORD.findall(text.lower())


def shingles(of):
    count = max(1, len(of) - SHINGLE + 1)
    return {hash(tuple(of[i : i + SHINGLE])) for i in range(count)} if of else set()


def resemblance(one, other):
    return 1.0 if not one and not other else len(one & other) / max(1, len(one | other))


class Pages:
    """The pages of a site by URL, read from the files."""

    Page = collections.namedtuple("Page", "title main whole shingles")

    def __init__(self, site, root):
        self.site, self.root, self.known = site, root, {}

    def file(self, url):
        file = self.root / urllib.parse.unquote(urllib.parse.urlsplit(url).path).lstrip("/")
        if file.is_dir():
            for index in ("index.html", "Main_Page.html", "index.xhtml"):
                if (file / index).is_file():
                    return file / index
        return file

    def of(self, url):
        file = self.file(url)
        if file not in self.known:
            title, main, whole = texts(file, self.site)
            main, whole = words(main), words(whole)
            self.known[file] = self.Page(title, tuple(main), tuple(whole), shingles(main))
        return self.known[file]


# ---- the judgement


def is_html(row):
    return (row["content_type"] or "").startswith(("text/html", "application/xhtml"))


def without_version(url):
    return re.sub(r"/(\d+(\.\d+)?)/", "/V/", urllib.parse.urlsplit(url).path, count=1)


def last_part(url):
    return url.rsplit("/", 1)[-1]


def title_words(title):
    return {word for word in words(title) if not word.isdigit()}


def judge_merge(pages, row):
    """Judges a page that was left out, beside its original."""
    url, original = row["url"], row["duplicate_of"]
    one, other = pages.of(url), pages.of(original)
    likeness = resemblance(one.shingles, other.shingles)
    if pages.file(url) == pages.file(original):
        kind = "same file"
    elif one.whole == other.whole:
        kind = "same whole text"
    elif without_version(url) == without_version(original):
        kind = "other version, " + ("same main text" if one.main == other.main else "changed")
    elif one.main == other.main:
        kind = "same main text"
    else:
        kind = "other main text"
    differs = title_words(one.title) != title_words(other.title) and last_part(url) != last_part(original)
    judged = kind in ("other main text", "other version, changed")
    # Another version is like another page: below .8 it says something else.
    is_wrong = judged and (likeness < 0.8 or (likeness < 0.95 and differs))
    return dict(
        url=url,
        original=original,
        kind=kind,
        wrong=is_wrong,
        likeness=likeness,
        told=row["resemblance"],
        verdict=row["verdict"],
    )


def never_reached(pages, rows, universe):
    """Returns unvisited pages with a text of their own: (best resemblance, URL, nearest)."""
    visited = {row["url"] for row in rows} | {row["final_url"] or row["url"] for row in rows}
    exists = {row["url"] for row in universe}
    unseen = {
        row["url"]
        for row in universe
        if row["url"] not in visited and (row["final_url"] or row["url"]) not in visited
    }
    unseen |= {row["url"] for row in rows if row["verdict"] == "excluded" and row["url"] in exists}
    if not unseen:
        return []
    archived = [
        row["url"]
        for row in rows
        if row["verdict"] in ("unique", "changed") and is_html(row) and row["status"] == 200
    ]
    having, exact = collections.defaultdict(list), set()
    for number, url in enumerate(archived):
        for shingle in pages.of(url).shingles:
            having[shingle].append(number)
        exact.add(pages.of(url).main)
    lost = {}
    for url in sorted(unseen):
        page = pages.of(url)
        if page.main in exact:
            continue
        common = collections.Counter()
        for shingle in page.shingles:
            if len(having[shingle]) < 2000:
                common.update(having[shingle])
        near = [
            (resemblance(page.shingles, pages.of(archived[number]).shingles), archived[number])
            for number, _ in common.most_common(20)
        ]
        best = max(near, default=(0.0, None))
        if best[0] < 0.8:
            lost.setdefault(page.main, (best[0], url, best[1]))
    return sorted(lost.values())


# ---- the report


def differing_words(pages, merge):
    """Returns the words that only one of two texts has, in order, a few of each."""
    one, other = pages.of(merge["url"]).main, pages.of(merge["original"]).main
    only = lambda these, those: " ".join(list(dict.fromkeys(w for w in these if w not in set(those)))[:12])
    return only(one, other), only(other, one)


def path_of(url):
    return urllib.parse.urlsplit(url).path


def wrapped(line, indent=""):
    """Breaks a line at 100 columns; all but the first begin with `indent`."""
    return textwrap.fill(
        line, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def escaped(title):
    """Returns a title in which Markdown sees no link: `base_unit_info<us::foot>` is one."""
    return title.replace("<", "\\<")


def write_merges(out, site, pages, merges, key):
    sample = random.Random(f"{site} {key}").sample(merges, min(MERGES_TO_READ, len(merges)))
    out.append(f"\n## {site}: {len(sample)} of {len(merges)} merges\n")
    for merge in sample:
        told = f"{merge['told']:.2f}" if merge["told"] is not None else "equal"
        lines = [
            f"- {'**wrong**, ' if merge['wrong'] else ''}{merge['kind']}, resemblance {merge['likeness']:.2f}"
            f" (told: {told})",
            f"  - `{path_of(merge['url'])}`: {escaped(pages.of(merge['url']).title)}",
            f"  - `{path_of(merge['original'])}`: {escaped(pages.of(merge['original']).title)}",
        ]
        one, other = differing_words(pages, merge)
        if one or other:
            lines.append(f"  - only in the first: {one or '–'}; only in the second: {other or '–'}")
        out.extend(wrapped(line, "    ") for line in lines)


def write_section(file, section):
    """Replaces the text between the marks, or adds it at the end."""
    text = file.read_text() if file.exists() else ""
    section = f"{BEGIN}\n{section.strip()}\n{END}\n"
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN, 1)
        text = before + section + rest.split(END, 1)[1].lstrip("\n")
    else:
        text = text.rstrip("\n") + ("\n\n" if text else "") + section
    file.write_text(text)


def table(results):
    lines = [
        "## Real sites: what a default crawl loses",
        "",
        wrapped(
            "Made by `just real-sites` from Debian's packages; the rules are those of `lab/evaluation/real_sites.py`. "
            "The universe is the same site crawled with `--on-duplicate follow --traps off`. Lost is the share of "
            "pages that were wrongly merged or never reached. [Merges to read](real-sites-merges.md)."
        ),
        "",
        "| site | hash key | universe | visited | archived | not archived | wrongly merged | never reached | lost |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for r in results:
        lost = (r["wrong"] + r["unreached"]) / max(1, r["universe"])
        lines.append(
            f"| {r['site']} | `{r['key']}` | {r['universe']:,} | {r['visited']:,} | {r['archived']:,} | {r['left_out']:,} "
            f"| {r['wrong']} | {r['unreached']} | {100 * lost:.2f} % |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crawler", type=pathlib.Path, required=True)
    parser.add_argument("--serve", type=pathlib.Path, required=True, help="testkit's example `serve`")
    parser.add_argument("--work", type=pathlib.Path, default=TOP / "target" / "real-sites")
    parser.add_argument("--keys", default="0123456789abcdef,00000000000000a7", help="hash keys, a crawl for each")
    parser.add_argument("--report", type=pathlib.Path, help="the table goes between two marks of this file")
    parser.add_argument("--merges", type=pathlib.Path, help="20 random merges of each site go there")
    parser.add_argument("sites", nargs="*", metavar="SITE", help=f"default: {' '.join(SITES)}")
    args = parser.parse_args()
    if lxml is None:
        missing("python3 has no lxml (Debian: python3-lxml)")
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            missing(f"{tool} is missing; this needs Debian or its like")
    unknown = [site for site in args.sites if site not in SITES]
    if unknown:
        parser.error(f"no site {unknown[0]}: {', '.join(SITES)}")
    args.crawler, args.serve, args.work = (path.resolve() for path in (args.crawler, args.serve, args.work))
    roots = {site: lay_out(args.work, site) for site in args.sites or SITES}
    results, reading = [], ["# Merges to read", "", "Made by `just real-sites`: random pages that a default crawl did not archive."]
    with Served(args.serve, roots) as served:
        for site, root in roots.items():
            pages = Pages(site, root)
            everything = ["--on-duplicate", "follow", "--traps", "off"]
            universe = crawl(args, served, site, f"{site}-all", everything)
            universe = [row for row in universe if is_html(row) and row["status"] == 200]
            for number, key in enumerate(args.keys.split(",")):
                rows = crawl(args, served, site, f"{site}-{number}", ["--hash-key", key])
                copies = [row for row in rows if row["verdict"].endswith("duplicate") and is_html(row)]
                merges = [judge_merge(pages, row) for row in copies]
                lost = never_reached(pages, rows, universe)
                kept = [row for row in rows if row["verdict"] in ("unique", "changed") and is_html(row)]
                result = dict(
                    site=site,
                    key=key,
                    universe=len(universe),
                    visited=sum(is_html(row) and row["status"] == 200 for row in rows),
                    archived=len(kept),
                    left_out=len(merges),
                    wrong=sum(merge["wrong"] for merge in merges),
                    unreached=len(lost),
                )
                results.append(result)
                print("LOST {site} {wrong} {unreached} {universe}".format(**result), flush=True)
                judged = dict(result=result, merges=merges, lost=lost)
                (args.work / f"{site}-{number}.json").write_text(json.dumps(judged, indent=1))
                if number == 0:
                    write_merges(reading, site, pages, merges, key)
    if args.merges:
        args.merges.write_text("\n".join(reading) + "\n")
    if args.report:
        write_section(args.report, table(results))
    else:
        print(table(results))


if __name__ == "__main__":
    main()
