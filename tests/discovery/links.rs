//! Every place of a page that carries a URL, as the server sees it.

use std::collections::BTreeSet;

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

const HOST: &str = "site.test";

/// One page a place: what it has, and where that leads by default.
const PLACES: &[(&str, &[&str])] = &[
    ("<a href=/a>x</a>", &["/a"]),
    ("<map><area href=/area></map>", &["/area"]),
    ("<link rel=next href=/link>", &["/link"]),
    ("<link rel=canonical href=/canonical>", &["/canonical"]),
    ("<iframe src=/iframe></iframe>", &["/iframe"]),
    (
        "<iframe srcdoc='<a href=/srcdoc>x</a>'></iframe>",
        &["/srcdoc"],
    ),
    (
        "<object type=text/html data=/object></object>",
        &["/object"],
    ),
    (
        "<meta http-equiv=refresh content='1; url=/refresh'>",
        &["/refresh"],
    ),
    (
        "<noscript><a href=/noscript>x</a></noscript>",
        &["/noscript"],
    ),
    ("<blockquote cite=/cite>x</blockquote>", &["/cite"]),
    (
        "<svg><a xlink:href=/drawing><text>x</text></a></svg>",
        &["/drawing"],
    ),
    ("<math><mi href=/formula>x</mi></math>", &["/formula"]),
    ("<base href=/based/><a href=x>x</a>", &["/based/x"]),
    ("<video><a href=/in-video>x</a></video>", &["/in-video"]),
    ("<img src=/image srcset='/set-1 1x, /set-2 2x'>", &[]),
    ("<img lowsrc=/low dynsrc=/film>", &[]),
    (
        "<link rel=stylesheet href=/style><script src=/script></script>",
        &[],
    ),
    ("<form action=/form><input name=q value=1></form>", &[]),
    ("<script>go('/from-script')</script>", &[]),
    (
        "<!-- <a href=/comment> --><template><a href=/template></a></template>",
        &[],
    ),
    (
        "<textarea><a href=/typed></textarea><p title='<a href=/titled>'>",
        &[],
    ),
    (
        "<a href='javascript:go()'>x</a><a href=mailto:a@b.test>x</a><a href='#x'>x</a>\
         <a href=data:,x>x</a>",
        &[],
    ),
    (
        "<p data-href=/data onclick=\"go('/click')\"><a ping=/ping>x</a>",
        &[],
    ),
];

/// The icon of a page that names none.
const ICON: &str = "/favicon.ico";

fn site() -> Site {
    let mut pages = vec![];
    let mut first = String::new();
    for (number, (place, _)) in (100..).zip(PLACES) {
        let path: &'static str = format!("/{number}").leak();
        first.push_str(&format!("<a href={path}>x</a>"));
        let main = format!("{place}<p>{}</p>", prose(number, 150));
        pages.push((path, Reply::html(html("", &main))));
    }
    first.push_str("<a href=/headed>x</a>");
    let headed = page(99, NONE)
        .header(
            "Link",
            "</header-next>; rel=\"next\", </not-ours>; rel=next; anchor=\"/other\"",
        )
        .header("Content-Location", "header-content")
        .header("Refresh", "5; url=/header-refresh");
    pages.push(("/headed", headed));
    let first = format!("<p>{}</p>{first}", prose(1, 150));
    pages.push(("/", Reply::html(html("", &first))));
    Site::pages(pages)
}

fn asked(options: &[&str]) -> BTreeSet<String> {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(options);
    crawl.complete();
    let log = server.log();
    let pages = log.targets(HOST).into_iter();
    pages
        .filter(|target| !is_frame_of_the_test(target))
        .map(str::to_owned)
        .collect()
}

/// The pages that hold the places.
fn is_frame_of_the_test(target: &str) -> bool {
    matches!(target, "/" | "/headed" | "/robots.txt") || target[1..].parse::<u32>().is_ok()
}

fn targets(more: &[&str]) -> BTreeSet<String> {
    let by_default = PLACES.iter().flat_map(|(_, targets)| *targets);
    let headed = ["/header-next", "/header-content", "/header-refresh"];
    by_default
        .chain(&headed)
        .chain(more)
        .map(ToString::to_string)
        .collect()
}

#[test]
fn exactly_the_links_of_a_page_are_followed() {
    assert_eq!(asked(&[]), targets(&[]));
}

#[test]
fn requisites_are_fetched_on_request_from_the_allowed_hosts() {
    let near = [
        "/image", "/set-1", "/set-2", "/low", "/film", "/style", "/script", ICON,
    ];
    assert_eq!(asked(&["--page-requisites"]), targets(&near));
    assert_eq!(
        asked(&[
            "--page-requisites=any",
            "--include",
            "/[0-9]+$",
            "--exclude",
            "/set-2$"
        ]),
        [
            "/image", "/set-1", "/low", "/film", "/style", "/script", "/iframe", "/object", ICON,
        ]
        .map(str::to_owned)
        .into()
    );
}

#[test]
fn requisites_are_fetched_at_the_greatest_depth() {
    let found = asked(&["--page-requisites", "--max-depth", "1"]);
    let wanted = [
        "/image", "/set-1", "/set-2", "/low", "/film", "/style", "/script", "/iframe", "/object",
        ICON,
    ];
    let wanted = wanted.map(str::to_owned);
    assert_eq!(found, wanted.into());
}

#[test]
fn forms_and_scripts_are_read_on_request() {
    assert_eq!(asked(&["--forms"]), targets(&["/form?q=1"]));
    let in_scripts = ["/from-script", "/click", "/template"];
    assert_eq!(asked(&["--script-links"]), targets(&in_scripts));
}
