"""Generates two sites with pages that resemble each other, from a fixed seed."""

import random
from pathlib import Path

# The words of the language.
WORDS = 4_000
# The parts of a page's words that another page of its family changes.
CHANGES = [0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16]


def write_sites(directories, families, members, seed):
    """Writes families of similar pages, each page into one of two sites, and a page with links to
    the pages of each site. Returns the number of pages.

    Families differ in length, in having titles or not, in the diversity of their words, and in
    having their text in the content or in the frame around it. In each, both sites have one page
    with the same bytes, one has it in other markup, and the others have some of its words changed,
    put elsewhere or left out. Both sites have a page without words.
    """
    draw = random.Random(seed)
    language = [
        "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9)))
        for _ in range(WORDS)
    ]
    sites = [{}, {}]

    def add(site, text):
        names = (draw.choice(language) for _ in range(3))
        site["-".join(names) + ".html"] = text

    for family in range(families):
        # Few words make a text like a table, of which thresholds on words say nothing.
        own = draw.sample(language, 60) if family % 4 == 1 else language
        words = draw.choices(own, k=draw.choice([12, 20, 30, 70, 150, 260, 500, 900]))
        # A content that is short and the lesser part of a page must be equal as well.
        content = draw.choices(language, k=8) if family % 5 == 2 and len(words) > 60 else None
        title = " ".join(draw.sample(words, 2)) if family % 3 else None
        first = page(words, title, content)
        for site in sites:
            add(site, first)
        add(draw.choice(sites), first.replace("<p>", '<p class="other">'))
        for _ in range(members - 3):
            # Sometimes another subject: the text is near, and the page is another one.
            other = title
            if title and draw.random() < 0.2:
                other = draw.choice([" ".join(draw.sample(words, 2)), f"{title} {words[-1]}"])
            another = content
            if content and draw.random() < 0.5:
                another = draw.choices(language, k=8)
            add(draw.choice(sites), page(changed(draw, words, own), other, another))
    for directory, site in zip(map(Path, directories), sites):
        add(site, "<!doctype html><body></body>")
        links = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in sorted(site))
        site["index.html"] = f"<!doctype html><title>All pages</title><ul>{links}</ul>"
        directory.mkdir(parents=True)
        for name, text in site.items():
            (directory / name).write_text(text, encoding="utf-8")
    return sum(map(len, sites))


def changed(draw, words, language):
    words, part = list(words), draw.choice(CHANGES)
    if draw.random() < 0.4:
        # One passage: of the shingles as many change as of the words.
        start = draw.randrange(len(words))
        end = min(len(words), start + round(part * len(words)))
        words[start:end] = draw.choices(language, k=end - start)
        return words
    for _ in range(round(part * len(words)) or draw.randint(0, 2)):
        at = draw.randrange(len(words))
        match draw.randrange(3):
            case 0:
                words[at] = draw.choice(language)
            case 1:
                words.insert(draw.randrange(len(words)), words.pop(at))
            case _:
                del words[at]
    return words


def page(words, title, content):
    head = f"<title>{title}</title>" if title else ""
    heading = f"<h1>{title}</h1>" if title else ""
    text = "".join(f"<p>{' '.join(words[at:at + 60])}.</p>" for at in range(0, len(words), 60))
    if content:
        body = f"<body><nav>{text}</nav>{heading}<p>{' '.join(content)}.</p></body>"
    else:
        body = f"<body><main>{heading}{text}</main></body>"
    return f"<!doctype html><html lang=en><head>{head}</head>{body}</html>"
