"""Small applications: pages that are empty until their scripts ran."""

import json

from server import NOT_FOUND, Reply, html, json_text, script

WORDS = (
    "tide harbour lantern meadow copper willow ledger marble orchard signal thunder velvet window yonder "
    "acorn barley cinder dapple ember fennel gravel hollow indigo juniper kettle linen mosaic nettle oyster "
    "pebble quarry russet saddle timber umber violet walnut yarrow zephyr anchor bramble clover drizzle"
).split()


def prose(number, count):
    """Returns words that differ from those of every other number."""
    state, words = number * 2654435761 % 2**32 + 1, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        words.append(f"{WORDS[(state >> 8) % len(WORDS)]}{(state >> 16) % 97}")
    return " ".join(words)


SHELL = (
    "<!DOCTYPE html><html><head><title>App</title><link rel=stylesheet href=/a.css></head>"
    "<body><div id=root></div><script src=/lib.js></script><script src=/app.js></script></body></html>"
)
# A library that a page has to parse, of about 400 kB.
LIBRARY = f"/*{'x' * 150_000}*/\n" + "".join(
    f"function f{number}(a){{return a.map(x=>x*{number}).filter(x=>x%2)}};" for number in range(4000)
)
APP = """
const number = location.pathname.split('/').pop();
fetch('/data/' + number).then(reply => reply.json()).then(data => {
  document.title = data.title;
  document.getElementById('root').innerHTML = '<h1>' + data.title + '</h1>' +
    data.parts.map(part => '<article><p>' + part + '</p></article>').join('') +
    data.links.map(link => '<a href="' + link + '">' + link + '</a>').join(' ');
});
"""
STYLE = "body{font:14px sans-serif}article{border:1px solid}" * 50


def small(pages, prefix="/page/"):
    """Returns the site of an application whose pages, a tree of links, each make five requests."""

    def site(request):
        last = request.target.rpartition("/")[2]
        match request.target.split("/")[1]:
            case "a.css":
                return Reply(STYLE.encode(), "text/css")
            case "lib.js":
                return script(LIBRARY)
            case "app.js":
                return script(APP)
            case "data" if last.isdigit():
                return json_text(json.dumps(data(int(last), pages, prefix)))
            case "page" if last.isdigit() and int(last) < pages:
                return html(SHELL)
        return NOT_FOUND

    return site


def data(number, pages, prefix="/page/"):
    links = [f"{prefix}{link}" for link in (2 * number + 1, 2 * number + 2) if link < pages]
    parts = [prose(number * 20 + part, 60) for part in range(20)]
    return {"title": f"Subject {prose(number + 9_000_000, 2)}", "parts": parts, "links": links}
