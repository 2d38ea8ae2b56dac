"""Generates a site with pages that resemble each other, from a fixed seed."""

import random
from pathlib import Path

# The words of the language.
WORDS = 4_000
# The parts of a page's words that another page of its family changes.
CHANGES = [0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1]


def write_site(directory, families, members, seed):
    """Writes families of similar pages, and a page with links to all. Returns the number of pages.

    Families differ in length, and in having titles or not. In each, a page is there twice byte for
    byte, once in other markup with the same text, and else with some of its words changed, put
    elsewhere or left out.
    """
    draw = random.Random(seed)
    language = [
        "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9)))
        for _ in range(WORDS)
    ]
    pages = {}
    for family in range(families):
        words = draw.choices(language, k=draw.choice([12, 30, 70, 150, 260, 500, 900]))
        title = " ".join(draw.sample(words, 2)) if family % 3 else None
        pages[name_of(draw, language)] = page(words, title)
        pages[name_of(draw, language)] = page(words, title)
        pages[name_of(draw, language)] = page(words, title).replace("<p>", '<p class="other">')
        for _ in range(members - 3):
            # Sometimes another subject: the text is near, and the page is another one.
            other = " ".join(draw.sample(words, 2)) if title and draw.random() < 0.1 else title
            pages[name_of(draw, language)] = page(changed(draw, words, language), other)
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    names = sorted(pages)
    for name in names:
        (directory / name).write_text(pages[name], encoding="utf-8")
    links = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in names)
    (directory / "index.html").write_text(
        f"<!doctype html><title>All pages</title><ul>{links}</ul>", encoding="utf-8"
    )
    return len(names) + 1


def name_of(draw, language):
    return f"{draw.choice(language)}-{draw.choice(language)}-{draw.choice(language)}.html"


def changed(draw, words, language):
    words, part = list(words), draw.choice(CHANGES)
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


def page(words, title):
    head = f"<title>{title}</title>" if title else ""
    heading = f"<h1>{title}</h1>" if title else ""
    text = "".join(f"<p>{' '.join(words[at:at + 60])}.</p>" for at in range(0, len(words), 60))
    body = f"<body><main>{heading}{text}</main></body>"
    return f"<!doctype html><html lang=en><head>{head}</head>{body}</html>"
