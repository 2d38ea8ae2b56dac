//! Mazes of redirects, and targets that are none (RFC 9110 sections 10.2.2 and 15.4).

use super::mode::{Asked, Expect, Mode};
use super::script::{Script, TICK};

const FAMILY: &str = "redirects";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Excluded, Failed, FailedOrPage, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    let mut modes = vec![
        mode("redirect-self", "redirects to itself", Excluded, |_| {
            Script::redirect("/")
        }),
        mode(
            "redirect-two",
            "two pages that redirect to each other",
            Excluded,
            |asked| Script::redirect(if asked.is_front() { "/other" } else { "/" }),
        ),
        mode(
            "redirect-endless",
            "every page redirects to the next one",
            Excluded,
            |asked| Script::redirect(format!("/hop-{}", asked.number() + 1)),
        ),
        mode(
            "redirect-query-grows",
            "every redirect makes the query longer",
            Excluded,
            |asked| {
                let sign = if asked.is_front() { '?' } else { '&' };
                Script::redirect(format!("{}{sign}again=1", asked.request.target))
            },
        ),
        mode(
            "redirect-path-doubles",
            "every redirect doubles the path",
            Excluded,
            |asked| {
                let path = asked.request.path().trim_end_matches('/');
                Script::redirect(format!("{path}/down{path}/down"))
            },
        ),
        mode(
            "redirect-loopback",
            "redirects to a decimal spelling of 127.0.0.1",
            Failed,
            |asked| Script::redirect(format!("http://2130706433:{}/canary", asked.port)),
        ),
        mode(
            "redirect-no-port",
            "redirects to port 0",
            FailedOrPage,
            |_| Script::redirect("http://127.0.0.1:0/"),
        ),
        mode(
            "redirect-crlf",
            "a target with encoded line ends and a forged field behind them",
            FailedOrPage,
            |asked| landed(asked, "/landed%0d%0aSet-Cookie:%20forged=1"),
        ),
        mode(
            "redirect-controls",
            "tabs and escapes in the target",
            FailedOrPage,
            |asked| landed(asked, "/lan\tded\x1b[31m\x7f"),
        ),
        mode(
            "redirect-nul",
            "a NUL in the target",
            FailedOrPage,
            |asked| landed(asked, "/lan\0ded"),
        ),
        mode("redirect-long", "a target of 10 KB", Excluded, |asked| {
            landed(asked, format!("/{}", "a".repeat(10_000)))
        }),
        mode(
            "redirect-very-long",
            "a target of 60 KB",
            Excluded,
            |asked| landed(asked, format!("/{}", "a".repeat(60_000))),
        ),
        mode("redirect-empty", "a Location without a value", Page, |_| {
            Script::redirect("")
        }),
        mode("redirect-missing", "302 without a Location", Page, |_| {
            Script::answer("HTTP/1.1 302 Found", "", "gone")
        }),
        mode(
            "redirect-odd-path",
            "a relative target full of dots and slashes",
            Page,
            |asked| landed(asked, "../..//a/./b/../../landed/../landed?x=/../y#z"),
        ),
        mode(
            "redirect-fragment",
            "redirects to a fragment of itself",
            Excluded,
            |_| Script::redirect("#top"),
        ),
        mode(
            "redirect-userinfo",
            "a target with a user and a password",
            Page,
            |asked| {
                let target = format!(
                    "http://user:secret@{}:{}/landed",
                    asked.request.host, asked.port
                );
                landed(asked, target)
            },
        ),
        mode(
            "redirect-backslashes",
            "http:\\\\ instead of http://",
            FailedOrPage,
            |asked| {
                let target = format!("http:\\\\{}:{}\\landed", asked.request.host, asked.port);
                landed(asked, target)
            },
        ),
        mode(
            "redirect-scheme-relative",
            "a target that begins with two slashes",
            Page,
            |asked| {
                let target = format!("//{}:{}/landed", asked.request.host, asked.port);
                landed(asked, target)
            },
        ),
        mode(
            "redirect-latin-1",
            "a target with bytes that are no UTF-8",
            Page,
            |asked| landed(asked, b"/caf\xe9"),
        ),
        mode(
            "redirect-two-targets",
            "two Locations that differ",
            FailedOrPage,
            |asked| {
                if !asked.is_front() {
                    return asked.page();
                }
                Script::answer(
                    "HTTP/1.1 302 Found",
                    "Location: /one\r\nLocation: /two\r\n",
                    "",
                )
            },
        ),
        mode(
            "redirect-several-choices",
            "300 with a list of choices and no Location",
            Page,
            |_| {
                Script::answer(
                    "HTTP/1.1 300 Multiple Choices",
                    "",
                    "<a href=/one>one</a> <a href=/two>two</a>",
                )
            },
        ),
        mode(
            "redirect-endless-body",
            "a redirect with a body that does not end",
            FailedOrPage,
            |asked| {
                if !asked.is_front() {
                    return asked.page();
                }
                Script::new()
                    .send("HTTP/1.1 302 Found\r\nLocation: /landed\r\n\r\n")
                    .endless("gone ".repeat(1000), TICK)
            },
        ),
        mode("redirect-no-host", "a target without a host", Page, |_| {
            Script::redirect("http://?path")
        }),
        mode(
            "redirect-host-spaced",
            "a host name with spaces",
            Page,
            |_| Script::redirect("http://no such host/"),
        ),
        mode(
            "redirect-host-punycode",
            "a host name of broken punycode",
            Page,
            |_| Script::redirect("http://xn--a/"),
        ),
        mode(
            "redirect-port-too-high",
            "a target on port 99999",
            Page,
            |asked| Script::redirect(format!("http://{}:99999/", asked.request.host)),
        ),
        mode(
            "redirect-meta-self",
            "a page that refreshes itself at once",
            Page,
            |asked| {
                Script::page(
                    "",
                    asked.article("<meta http-equiv=refresh content='0;url=/'>"),
                )
            },
        ),
        mode(
            "redirect-meta-endless",
            "every page refreshes to the next one",
            Page,
            |asked| {
                let next = format!(
                    "<meta http-equiv=refresh content=\"0; url='/hop-{}'\">",
                    asked.number() + 1
                );
                Script::page("", asked.article(&next))
            },
        ),
        mode(
            "redirect-refresh-field",
            "a Refresh field to a script",
            Page,
            |asked| asked.page_with("Refresh: 0; url=javascript:alert(1)\r\n"),
        ),
        mode(
            "redirect-307-chain",
            "307, 308, 303 and 301 in turn, then a page",
            Page,
            |asked| {
                let status = match asked.number() {
                    0 => "307 Temporary Redirect",
                    1 => "308 Permanent Redirect",
                    2 => "303 See Other",
                    3 => "301 Moved Permanently",
                    _ => return asked.page(),
                };
                let field = format!("Location: hop-{}\r\n", asked.number() + 1);
                Script::answer(&format!("HTTP/1.1 {status}"), field, "")
            },
        ),
    ];
    modes.extend(elsewhere());
    modes
}

/// Redirects to what is no page of the web.
fn elsewhere() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Excluded, answer)
    };
    vec![
        mode(
            "redirect-file",
            "redirects to a file of the visitor's",
            |_| Script::redirect("file:///etc/passwd"),
        ),
        mode("redirect-ftp", "redirects to FTP", |_| {
            Script::redirect("ftp://ftp.hostile.test/pub")
        }),
        mode("redirect-javascript", "redirects to a script", |_| {
            Script::redirect("javascript:alert(document.cookie)")
        }),
        mode(
            "redirect-data",
            "redirects to a page within the URL",
            |_| Script::redirect("data:text/html,<h1>here</h1>"),
        ),
        mode("redirect-mail", "redirects to a mail address", |_| {
            Script::redirect("mailto:nobody@hostile.test")
        }),
        mode(
            "redirect-gopher",
            "redirects to Gopher, where a mail server would listen",
            |_| Script::redirect("gopher://127.0.0.1:25/_MAIL%20FROM:%3Cx%3E"),
        ),
        mode(
            "redirect-unix-socket",
            "redirects to a socket of the visitor's",
            |_| Script::redirect("unix:///run/docker.sock"),
        ),
    ]
}

/// The front page redirects there, and every other target is a page.
fn landed(asked: &Asked<'_>, target: impl AsRef<[u8]>) -> Script {
    if asked.is_front() {
        return Script::redirect(target);
    }
    asked.page()
}
