//! robots.txt as a weapon (RFC 9309): its front page is honest, and what becomes of it depends on
//! robots.txt alone.

use super::bombs::gzip_of;
use super::mode::{Asked, Expect, Mode};
use super::script::{SLOW, Script, TICK};

const FAMILY: &str = "robots";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Excluded, Failed, FailedOrPage, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "robots-endless",
            "a robots.txt without end",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    head("").endless("Disallow: /private/\n".repeat(500), TICK)
                })
            },
        ),
        mode(
            "robots-slow",
            "a robots.txt of three letters a second",
            Failed,
            |asked| {
                rules(asked, || {
                    head("Content-Length: 4000\r\n").drip("Disallow: /x\n".repeat(200), SLOW)
                })
            },
        ),
        mode(
            "robots-never-answers",
            "never answers for robots.txt",
            Failed,
            |asked| rules(asked, || Script::new().hang()),
        ),
        mode(
            "robots-reset",
            "resets when asked for robots.txt",
            Failed,
            |asked| rules(asked, || Script::new().reset()),
        ),
        mode(
            "robots-500",
            "500 for robots.txt: everything is forbidden",
            Failed,
            |asked| {
                rules(asked, || {
                    Script::answer("HTTP/1.1 500 Internal Server Error", "", "oops")
                })
            },
        ),
        mode(
            "robots-503-for-ever",
            "503 for robots.txt, to be asked again in 30 years",
            Failed,
            |asked| {
                rules(asked, || {
                    Script::answer(
                        "HTTP/1.1 503 Service Unavailable",
                        "Retry-After: 999999999\r\n",
                        "later",
                    )
                })
            },
        ),
        mode(
            "robots-500-then-good",
            "500 at first, then a robots.txt",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    if asked.before_on_connection == 0 {
                        return Script::answer("HTTP/1.1 500 Internal Server Error", "", "oops");
                    }
                    text("User-agent: *\nAllow: /\n")
                })
            },
        ),
        mode(
            "robots-401",
            "a password for robots.txt: nothing is forbidden",
            Page,
            |asked| {
                rules(asked, || {
                    Script::answer(
                        "HTTP/1.1 401 Unauthorized",
                        "WWW-Authenticate: Basic realm=x\r\n",
                        "",
                    )
                })
            },
        ),
        mode(
            "robots-forbids-all",
            "forbids everything, honestly",
            Excluded,
            |asked| rules(asked, || text("User-agent: *\nDisallow: /\n")),
        ),
        mode(
            "robots-stars",
            "500 KiB of stars in its rules",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    text(&format!(
                        "User-agent: *\n{}",
                        "Disallow: /*a*b*c*d*e*f*g*h*i*j*k*$\n".repeat(14_000)
                    ))
                })
            },
        ),
        mode(
            "robots-one-starred-rule",
            "one rule of 400 KB of stars",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    text(&format!(
                        "User-agent: *\nDisallow: /{}x\n",
                        "*a".repeat(200_000)
                    ))
                })
            },
        ),
        mode(
            "robots-long-line",
            "one line of two megabytes",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    text(&format!(
                        "User-agent: *\nDisallow: /{}\n",
                        "a".repeat(2_000_000)
                    ))
                })
            },
        ),
        mode(
            "robots-many-groups",
            "50,000 groups for others",
            FailedOrPage,
            |asked| {
                let groups: fn() -> String = || {
                    (0..50_000)
                        .map(|n| format!("User-agent: b{n}\nDisallow:/\n"))
                        .collect()
                };
                rules(asked, || text(&groups()))
            },
        ),
        mode(
            "robots-redirects-to-itself",
            "robots.txt redirects to itself",
            FailedOrPage,
            |asked| rules(asked, || Script::redirect("/robots.txt")),
        ),
        mode(
            "robots-redirects-endlessly",
            "robots.txt redirects on and on",
            FailedOrPage,
            |asked| {
                if asked.is_front() {
                    return asked.page();
                }
                Script::redirect(format!("/robots-{}.txt", asked.number() + 1))
            },
        ),
        mode(
            "robots-redirects-to-file",
            "robots.txt redirects to a file of the visitor's",
            FailedOrPage,
            |asked| rules(asked, || Script::redirect("file:///etc/passwd")),
        ),
        mode(
            "robots-binary",
            "a robots.txt of bytes that are no text",
            Page,
            |asked| {
                rules(asked, || {
                    Script::document(
                        "text/plain",
                        "",
                        (0..=255).cycle().take(100_000).collect::<Vec<u8>>(),
                    )
                })
            },
        ),
        mode(
            "robots-utf-16",
            "a robots.txt in UTF-16",
            Excluded,
            |asked| {
                rules(asked, || {
                    let wide = "\u{feff}User-agent: *\nDisallow: /\n".encode_utf16();
                    Script::document(
                        "text/plain",
                        "",
                        wide.flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
                    )
                })
            },
        ),
        mode(
            "robots-gzip-bomb",
            "a robots.txt of a gibibyte in gzip",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    Script::document(
                        "text/plain",
                        "Content-Encoding: gzip\r\n",
                        gzip_of(b"#\n", 1024),
                    )
                })
            },
        ),
        mode(
            "robots-is-html",
            "the front page instead of robots.txt",
            Page,
            |asked| asked.page(),
        ),
        mode(
            "robots-delay-huge",
            "a Crawl-delay of 30 years",
            Page,
            |asked| {
                rules(asked, || {
                    text("User-agent: *\nCrawl-delay: 999999999\nAllow: /\n")
                })
            },
        ),
        mode(
            "robots-delay-odd",
            "Crawl-delays that are no numbers, or more than that",
            Page,
            |asked| {
                rules(asked, || {
                    text(
                        "User-agent: *\nCrawl-delay: 1e999\nCrawl-delay: nan\nCrawl-delay: \
                         -inf\nCrawl-delay: -5\nCrawl-delay: 0x10\nAllow: /\n",
                    )
                })
            },
        ),
        mode(
            "robots-rule-past-limit",
            "forbids everything behind the first 600 KiB, where nobody has to look",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    text(&format!(
                        "{}User-agent: *\nDisallow: /\n",
                        "# padding\n".repeat(62_000)
                    ))
                })
            },
        ),
        mode(
            "robots-cut-in-rule",
            "a robots.txt that breaks off within `Disallow: /private`",
            Failed,
            |asked| {
                rules(asked, || {
                    head("Content-Length: 1000\r\n")
                        .send("User-agent: *\nDisallow: /")
                        .close()
                })
            },
        ),
        mode(
            "robots-chunk-junk",
            "a robots.txt in broken chunks",
            Failed,
            |asked| {
                rules(asked, || {
                    Script::chunked("")
                        .chunk("User-agent: *\n")
                        .send("zebra\r\n")
                        .close()
                })
            },
        ),
        mode(
            "robots-nul",
            "NULs and CR alone between its rules",
            FailedOrPage,
            |asked| {
                rules(asked, || {
                    text("\0User-agent: *\rDisallow: /a\0b\r\0\rDisallow: /c\n")
                })
            },
        ),
    ]
}

/// The front page is a page, and robots.txt is this.
fn rules(asked: &Asked<'_>, robots: impl FnOnce() -> Script) -> Script {
    match asked.request.target.as_str() {
        "/robots.txt" => robots(),
        _ => asked.page(),
    }
}

fn text(rules: &str) -> Script {
    Script::document("text/plain", "", rules)
}

fn head(fields: &str) -> Script {
    Script::new().send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{fields}\r\n"
    ))
}
