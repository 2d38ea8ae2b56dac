//! Links that are traps for a program that reads, stores or requests them.

use super::mode::{Asked, Expect, Mode};
use super::script::Script;

const FAMILY: &str = "links";

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Page, answer)
    };
    vec![
        mode("link-64k", "a link of 64 KB", |asked| {
            linking(asked, &[&format!("/{}", "a".repeat(64 << 10))])
        }),
        mode("link-controls", "control characters in links", |asked| {
            linking(
                asked,
                &[
                    "/a\tb",
                    "/a\nb",
                    "/a\0b",
                    "/\x1b[2J",
                    "/a\u{85}b",
                    "/%0d%0aX-Forged:%201",
                    "/%00",
                    "\u{1}http://x/",
                ],
            )
        }),
        mode("link-schemes", "links to what is no page", |asked| {
            linking(
                asked,
                &[
                    "javascript:alert(1)",
                    "JaVaScRiPt:alert(1)",
                    "java\tscript:alert(1)",
                    " data:text/html,<b>x",
                    "vbscript:x",
                    "file:///etc/passwd",
                    "mailto:a@b",
                    "tel:1",
                    "blob:http://x/1",
                    "view-source:http://x/",
                    "about:blank",
                    "ftp://x/",
                ],
            )
        }),
        mode("link-quotes", "quotes within quotes", |asked| {
            Script::page(
                "",
                asked.article(
                    "<a href=\"/a'b\">x</a><a href='/c\"d'>x</a><a href=/e\"f'g>x</a>\
                     <a href='/h\">x</a>",
                ),
            )
        }),
        mode(
            "link-userinfo",
            "links with passwords, some of them hidden",
            |asked| {
                let host = &asked.request.host;
                let links = [
                    "http://user:secret@HOST/",
                    "http://HOST@127.0.0.1:1/",
                    "http://a:b@c:d@HOST/",
                    "http://HOST%40x/",
                    "http://HOST\\@x/",
                ];
                let links: Vec<String> = links
                    .iter()
                    .map(|link| link.replace("HOST", host))
                    .collect();
                linking(asked, &links.iter().map(String::as_str).collect::<Vec<_>>())
            },
        ),
        mode("link-hosts-odd", "hosts that are none", |asked| {
            linking(
                asked,
                &[
                    "http://",
                    "http:///",
                    "http://[",
                    "http://[::1",
                    "http://[::1%25lo]/",
                    "http://.../",
                    "http://a..b/",
                    "http://-/",
                    "http://xn--/",
                    "http://xn--a-ecp.ru/",
                    "http://\u{ff0e}/",
                    "http://a b/",
                    "http://%00/",
                    "http://0x7f.1:1/",
                    "http://1.1.1.1.1/",
                    "http://x:0/",
                    "http://x:65536/",
                    "http://x:-1/",
                    "http://x:1e3/",
                    "//",
                    "http:x",
                    "http:/x",
                    "https:\\\\x",
                ],
            )
        }),
        mode(
            "link-host-long",
            "host names and labels longer than names can be",
            |asked| {
                let (label, name) = ("a".repeat(64), "a.".repeat(200));
                linking(
                    asked,
                    &[
                        &format!("http://{label}.test/"),
                        &format!("http://{name}test/"),
                    ],
                )
            },
        ),
        mode("link-dots", "paths of dots", |asked| {
            linking(
                asked,
                &[
                    "/../../../..",
                    "/./././a",
                    "/%2e%2e/%2e%2e/a",
                    "/a/..%2f..%2fb",
                    "/..;/a",
                    "\\..\\a",
                    "/a/./../a/",
                ],
            )
        }),
        mode("link-percent", "escapes that are none", |asked| {
            linking(
                asked,
                &[
                    "/%",
                    "/%a",
                    "/%zz",
                    "/%%%",
                    "/%25%32%35",
                    "/%c0%af",
                    "/%ff%fe",
                    "/?%&=%&&==&%=%",
                ],
            )
        }),
        mode("link-query-long", "a query of 1,000 parameters", |asked| {
            let query: String = (0..1000).map(|n| format!("p{n}={n}&")).collect();
            linking(asked, &[&format!("/?{query}")])
        }),
        mode("link-fragments", "10,000 fragments of itself", |asked| {
            let links: Vec<String> = (0..10_000).map(|n| format!("/#{n}")).collect();
            linking(asked, &links.iter().map(String::as_str).collect::<Vec<_>>())
        }),
        mode(
            "link-deeper",
            "every page links a folder deeper, with a name that repeats",
            |asked| linking(asked, &["again/", "./again/again/"]),
        ),
        mode(
            "link-session",
            "every page links to itself under a new session",
            |asked| {
                let session = asked
                    .number()
                    .wrapping_add(1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15);
                linking(
                    asked,
                    &[
                        &format!("/?sid={session:016x}"),
                        &format!("/;jsessionid={session:016X}"),
                    ],
                )
            },
        ),
        mode(
            "link-calendar",
            "every day links to the next one",
            |asked| linking(asked, &[&format!("/day/{}", asked.number() + 1)]),
        ),
        mode(
            "link-letters-odd",
            "letters of other scripts, spaces and emoji",
            |asked| {
                linking(
                    asked,
                    &[
                        "/\u{1f4a9}",
                        "/ü",
                        "/\u{202e}gpj.exe",
                        "/a b",
                        "/\u{3000}",
                        "http://\u{430}pple.test/",
                        "/\u{ff0f}..\u{ff0f}",
                    ],
                )
            },
        ),
        mode("link-forms", "forms that order and delete", |asked| {
            Script::page(
                "",
                asked.article(
                    "<form action=/delete method=post><input name=all \
                value=1></form><form action=/logout><input type=submit></form>",
                ),
            )
        }),
    ]
}

/// The mode's page with these links.
fn linking(asked: &Asked<'_>, links: &[&str]) -> Script {
    let anchors: String = links
        .iter()
        .map(|link| format!("<a href=\"{link}\">x</a>\n"))
        .collect();
    // Below the front page every address has a page of its own, as a trap would.
    let own = if asked.is_front() {
        String::new()
    } else {
        format!("<p>This is {}.</p>", asked.request.target)
    };
    Script::page("", asked.article(&(own + &anchors)))
}
