"""Writes a small site, and the texts and colours that a browser must show of it.

    demo.py DIRECTORY        writes DIRECTORY/site and DIRECTORY/expected.json

The second page has a picture in the text, one that only its style sheet names, one of a style
sheet that this one imports, a frame of its own colour, and a sentence that its script writes. All
colours are flat, so that a screenshot can be measured.
"""

import json
import sys
from pathlib import Path

from PIL import Image

RED, BLUE, GREEN, YELLOW = (212, 53, 28), (29, 112, 184), (0, 112, 60), (255, 221, 0)
SIZE = (240, 120)


def page(title, body, head=""):
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{head}</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


HOME = page(
    "Lighthouses of the north",
    """<p>A list of lighthouses, kept by people who like to walk along the coast when the weather is fair and the ferries run.
Each has a page of its own with a picture, a drawing of its lamp and the colour in which its door was painted.</p>
<p><a href="/ona.html">Ona, on its rock above the houses</a></p>""",
)

ONA = page(
    "Ona, on its rock above the houses",
    f"""<p id="first">The lighthouse of Ona stands on a rock above the fishing village, and is red from top to bottom.
It was lit in eighteen sixty-seven, made of cast iron by a foundry in Bergen, and has been tended by nobody since
nineteen seventy-one, though the path up to it is kept free of heather by the school.</p>
<p id="written">Nobody has written here.</p>
<img id="picture" src="/pictures/red.png" width="{SIZE[0]}" height="{SIZE[1]}" alt="The lighthouse">
<div id="lamp"></div>
<div id="door"></div>
<iframe id="sea" src="/sea.html" width="{SIZE[0]}" height="{SIZE[1]}"></iframe>
<script src="/script.js"></script>""",
    '<link rel="stylesheet" href="/style/main.css">\n',
)

SEA = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The sea</title>
<style>body {{ margin: 0; background: rgb{YELLOW}; font: 10px sans-serif; }} p {{ margin: 0; }}</style></head>
<body><p>The sea on a calm day in June, which is yellow in the evening when seen from the rock towards the west.</p></body></html>
"""

MAIN_CSS = f"""@import url("door.css");
body {{ margin: 8px; font: 16px sans-serif; background: white; }}
img, div, iframe {{ display: block; margin: 8px 0; border: 0; width: {SIZE[0]}px; height: {SIZE[1]}px; }}
#lamp {{ background-image: url(../pictures/blue.png); }}
"""

DOOR_CSS = '#door { background: url("../pictures/green.png?paint=2"); }\n'

SCRIPT = 'document.getElementById("written").textContent = "The script of this page was here.";\n'


def main(directory):
    site = Path(directory, "site")
    for name, content in {
        "index.html": HOME,
        "ona.html": ONA,
        "sea.html": SEA,
        "style/main.css": MAIN_CSS,
        "style/door.css": DOOR_CSS,
        "script.js": SCRIPT,
    }.items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    (site / "pictures").mkdir(exist_ok=True)
    for name, colour in {"red": RED, "blue": BLUE, "green": GREEN}.items():
        Image.new("RGB", SIZE, colour).save(site / "pictures" / f"{name}.png")
    expected = {
        "path": "/ona.html",
        "texts": ["red from top to bottom", "The script of this page was here."],
        "colours": {"#picture": RED, "#lamp": BLUE, "#door": GREEN, "#sea": YELLOW},
    }
    Path(directory, "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
