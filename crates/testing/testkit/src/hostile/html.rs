//! Pages that cost a parser far more than they weigh. Each is a quarter of 256 KiB, made while it
//! is sent: what is quadratic shows there, and what is linear costs a test little.

use std::time::Duration;

use super::mode::{Asked, Expect, Mode};
use super::script::{Piece, Script};

const FAMILY: &str = "html";
const SIZE: usize = 256 << 10;

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Page, answer)
    };
    vec![
        mode("html-nested-blocks", "blocks within blocks", |asked| {
            repeated(asked, "<div>")
        }),
        mode("html-nested-lists", "lists within lists", |asked| {
            repeated(asked, "<ul><li>")
        }),
        mode("html-nested-tables", "tables within tables", |asked| {
            repeated(asked, "<table><tr><td>")
        }),
        mode("html-nested-forms", "fields within fields", |asked| {
            repeated(asked, "<fieldset><select><option>")
        }),
        mode(
            "html-nested-templates",
            "templates within templates",
            |asked| repeated(asked, "<template>"),
        ),
        mode(
            "html-nested-drawings",
            "drawings within drawings",
            |asked| repeated(asked, "<svg><foreignObject>"),
        ),
        mode(
            "html-nested-formulas",
            "formulas within formulas",
            |asked| repeated(asked, "<math><mi>"),
        ),
        mode(
            "html-formatting",
            "formatting that is never closed",
            |asked| repeated(asked, "<b><i><u>"),
        ),
        mode(
            "html-formatting-differs",
            "formatting that differs each time",
            |asked| counted(asked, |n| format!("<font color=c{n}>")),
        ),
        mode(
            "html-formatting-rebuilt",
            "formatting that is opened again in every paragraph",
            |asked| counted(asked, |n| format!("<b id={n}><p>")),
        ),
        mode(
            "html-misnested",
            "formatting closed in the wrong order",
            |asked| repeated(asked, "<a><b></a><i></b><p></i>"),
        ),
        mode("html-links-in-links", "links within links", |asked| {
            counted(asked, |n| format!("<a id={n}><div>"))
        }),
        mode(
            "html-foster-parents",
            "text where a table has no place for it",
            |asked| repeated(asked, "<table>a<tr>b"),
        ),
        mode("html-attributes", "a tag of 20,000 attributes", |asked| {
            let attributes: String = (0..20_000).map(|n| format!(" a{n}")).collect();
            Script::page("", asked.article(&format!("<p{attributes}>end")))
        }),
        mode(
            "html-same-attribute",
            "a tag with one attribute 50,000 times",
            |asked| {
                Script::page(
                    "",
                    asked.article(&format!("<p{}>end", " a=b".repeat(50_000))),
                )
            },
        ),
        mode("html-attribute-giant", "an attribute of 256 KiB", |asked| {
            Script::page(
                "",
                asked.article(&format!("<p title=\"{}\">end", "t".repeat(SIZE))),
            )
        }),
        mode("html-tag-name-giant", "a tag's name of 256 KiB", |asked| {
            Script::page("", asked.article(&format!("<{}>end", "t".repeat(SIZE))))
        }),
        mode("html-tag-unclosed", "a tag that is never closed", |asked| {
            Script::page(
                "",
                asked.article(&format!("<p title={}", "x ".repeat(SIZE / 2))),
            )
        }),
        mode("html-entities", "entities of many letters", |asked| {
            repeated(asked, "&CounterClockwiseContourIntegral;")
        }),
        mode(
            "html-entities-broken",
            "ampersands, and entities that are none",
            |asked| repeated(asked, "&&#x110000;&notin&#;&ampx"),
        ),
        mode(
            "html-entity-giant",
            "an entity of a number with 256 Ki digits",
            |asked| Script::page("", asked.article(&format!("&#{};", "9".repeat(SIZE)))),
        ),
        mode(
            "html-links",
            "thousands of links that lead nowhere",
            |asked| counted(asked, |n| format!("<a href=/{n}>{n}</a>\n")),
        ),
        mode(
            "html-links-same",
            "thousands of times the same link",
            |asked| repeated(asked, "<a href=/>x</a>"),
        ),
        mode("html-images", "a srcset of 10,000 pictures", |asked| {
            let pictures: String = (0..10_000).map(|n| format!("/p{n}.png {n}w, ")).collect();
            Script::page("", asked.article(&format!("<img srcset=\"{pictures}\">")))
        }),
        mode(
            "html-comment-unclosed",
            "a comment that is never closed",
            |asked| {
                Script::page(
                    "",
                    asked.article(&format!("<!--{}", "-- >".repeat(SIZE / 4))),
                )
            },
        ),
        mode("html-comments", "thousands of comments", |asked| {
            repeated(asked, "<!---->")
        }),
        mode(
            "html-bogus-comments",
            "declarations that are none",
            |asked| repeated(asked, "<!x><?y><![CDATA[z]]>"),
        ),
        mode(
            "html-script-unclosed",
            "a script that is never closed",
            |asked| {
                Script::page(
                    "",
                    asked.article(&format!("<script>{}", "<!--<script>".repeat(SIZE / 12))),
                )
            },
        ),
        mode(
            "html-title-unclosed",
            "a title that is never closed",
            |asked| {
                Script::page(
                    "",
                    format!("<title>{}{}", asked.paragraph(), "t ".repeat(SIZE / 2)),
                )
            },
        ),
        mode("html-doctype-giant", "a doctype of 256 KiB", |asked| {
            Script::page(
                "",
                format!(
                    "<!DOCTYPE html PUBLIC \"{}\">{}",
                    "d".repeat(SIZE),
                    asked.article("")
                ),
            )
        }),
        mode(
            "html-bodies",
            "a body that is opened again and again",
            |asked| counted(asked, |n| format!("<body a{n}><html b{n}>")),
        ),
        mode("html-framesets", "frames within frames", |asked| {
            Script::page(
                "",
                format!(
                    "<title>{}</title>{}",
                    asked.paragraph(),
                    "<frameset><frame src=/>".repeat(SIZE / 23)
                ),
            )
        }),
        mode("html-plaintext", "a tag after which all is text", |asked| {
            Script::page(
                "",
                asked.article(&format!("<plaintext>{}", "<div>".repeat(SIZE / 5))),
            )
        }),
        mode("html-word-giant", "one word of 256 KiB", |asked| {
            Script::page("", asked.article(&"word".repeat(SIZE / 4)))
        }),
        mode("html-words-one-letter", "words of one letter", |asked| {
            Script::page("", asked.article(&"a ".repeat(SIZE / 2)))
        }),
        mode("html-empty", "nothing at all", |_| Script::page("", "")),
        mode("html-one-bracket", "one bracket", |_| Script::page("", "<")),
        mode(
            "html-title-escapes",
            "escape sequences of a terminal, and line ends, in the title",
            |asked| {
                Script::page(
                    "",
                    format!(
                        "<title>\u{1b}[2J\u{1b}]0;owned\u{7}\r\nWARC/1.1\r\nforged: \
                         1\r\n\u{9b}31m\u{202e}evil</title>{}",
                        asked.paragraph()
                    ),
                )
            },
        ),
        mode("html-base-odd", "bases that are no addresses", |asked| {
            Script::page(
                "",
                asked.article(
                    "<base href='data:text/html,x'><base href='//'><base href='javascript:'>\
                     <a href=x>x</a>",
                ),
            )
        }),
        mode(
            "html-canonical-foreign",
            "says that it is a copy of another site's page",
            |asked| {
                Script::page(
                    "",
                    asked.article("<link rel=canonical href='http://example.com/'>"),
                )
            },
        ),
    ]
}

/// The mode's page with 256 KiB of this behind it.
fn repeated(asked: &Asked<'_>, part: &'static str) -> Script {
    counted_by(asked, part.len(), Piece::Same(part.into()))
}

/// The same of parts that are numbered.
fn counted(asked: &Asked<'_>, part: fn(u64) -> String) -> Script {
    counted_by(asked, part(10_000).len(), Piece::Numbered(part))
}

fn counted_by(asked: &Asked<'_>, length: usize, part: Piece) -> Script {
    let times = (SIZE / length) as u64;
    Script::until_close("")
        .send(asked.article("").replace("</main></body></html>", ""))
        .stream(part, times, Duration::ZERO)
        .send("<p>end")
        .close()
}
