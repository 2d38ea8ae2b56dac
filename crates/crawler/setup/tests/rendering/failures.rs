//! Pages whose scripts fail, or do not get what they request.

use std::sync::atomic::{AtomicUsize, Ordering};

use crawl::Fault;
use journal::{Fate, Rendered};
use render::{RenderFailure, RequestKind};
use testkit::{Reply, Request, Site};

use crate::{Crawl, SHELL, dom, post, words};

/// A script that a server could not send once would be missing on all pages.
#[test]
fn a_script_that_an_overloaded_server_refused_is_requested_again_for_the_next_page() {
    let mut crawl = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/next", Reply::html(SHELL)),
        ("/app.js", Reply::status(500)),
        ("/data", Reply::text(dom("First", &words("tide"), "/next"))),
    ])
    .shows("/", "/data")
    .shows("/next", "/data");
    crawl.settings.tries = 1;
    let ended = crawl.run();
    assert_eq!(ended.requested("/app.js"), 2);
}

#[test]
fn a_page_that_cannot_be_rendered_is_kept_as_it_was_received() {
    let ended = Crawl::of(&[("/", Reply::html(SHELL))])
        .script("/", |browser, url| {
            browser.fails(url, RenderFailure::TabCrashed)
        })
        .run();
    let visit = ended.visit("/");
    assert_eq!((visit.fate, visit.kept), (Fate::Unique, true));
    let failed = Rendered::Failed("the tab crashed".to_owned());
    assert_eq!(visit.details.rendered, Some(failed));
    assert_eq!(
        ended.browser.rendered().len(),
        2,
        "a crash has a second try"
    );
    assert!(visit.is_unrendered_shell());
}

/// Scripts arrive at the pace of their hosts. The first page of a site with a hundred scripts
/// exceeded its time limit; the second attempt has them in memory.
#[test]
fn a_page_that_takes_too_long_is_rendered_once_more() {
    let shown = dom("Slow", &words("tide"), "/");
    let ended = Crawl::of(&[("/", Reply::html(SHELL))])
        .script("/", |browser, url| browser.takes_long(url, &shown))
        .run();
    assert_eq!(ended.browser.rendered().len(), 2);
    assert!(ended.archived_text("/").contains("tide7"));
}

#[test]
fn a_browser_that_starts_no_more_ends_the_crawl_and_loses_no_page() {
    let gone = || RenderFailure::BrowserGone("no memory".to_owned());
    let ended = Crawl::of(&[("/", Reply::html(SHELL))])
        .script("/", |browser, url| browser.fails(url, gone()))
        .run();
    assert!(matches!(ended.result, Err(Fault::Browser(_))));
    assert_eq!(ended.visits(), [], "the next session visits the page again");
}

/// A response that breaks off.
const HALF: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf";

/// Returns a crawl of a shell that shows `/data`, which breaks off `failures` times.
fn with_failing_data(failures: usize) -> Crawl {
    let left = AtomicUsize::new(failures);
    let pages = move |request: &Request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::html(SHELL),
        "/app.js" => Reply::text("run()"),
        _ => {
            let fails = |left: usize| left.checked_sub(1);
            match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails) {
                Ok(_) => Reply::raw(HALF),
                Err(_) => Reply::text(dom("Whole", &words("tide"), "/private/")),
            }
        }
    };
    Crawl::at(Site::new(pages)).shows("/", "/data")
}

/// An API that was overloaded for a moment cost the text of all pages that were visited meanwhile,
/// although the pages themselves were answered.
#[test]
fn a_page_is_visited_again_if_its_data_may_come_later() {
    let ended = with_failing_data(1).run();
    assert!(ended.result.is_ok(), "{:?}", ended.result);
    assert_eq!(ended.browser.rendered().len(), 2);
    assert_eq!(ended.requested("/"), 2);
    assert_eq!(ended.requested("/data"), 2);
    assert!(ended.archived_text("/").contains("tide7"));
    assert_eq!(ended.visit("/").fate, Fate::Unique);
    let records = ended.records();
    let scripts = records
        .iter()
        .filter(|record| *record == "response /app.js");
    assert_eq!(scripts.count(), 1, "of the visit that counts: {records:?}");
    assert_eq!(ended.note("/", "render-incomplete"), None);
}

#[test]
fn a_page_whose_data_never_comes_is_kept_with_what_came() {
    let mut crawl = with_failing_data(usize::MAX);
    crawl.settings.tries = 2;
    let ended = crawl.run();
    assert_eq!(ended.browser.rendered().len(), 2);
    let visit = ended.visit("/");
    assert_eq!((visit.fate, visit.kept), (Fate::Unique, true));
    assert!(visit.dom_offset().is_some());
    let note = ended.note("/", "render-incomplete").unwrap();
    assert!(
        note.starts_with("a request of its scripts failed: "),
        "{note}"
    );
    assert!(note.contains("/data: "), "{note}");
}

/// The API of a site was gone for good, and the crawler requested each of its pages three times.
#[test]
fn pages_are_visited_once_if_the_data_of_three_others_never_came() {
    const PAGES: usize = 6;
    let pages = |request: &Request| match request.path() {
        "/robots.txt" => Reply::status(404),
        path if path.starts_with("/data") => Reply::raw(HALF),
        path => {
            let page = path.trim_start_matches("/page").trim_start_matches('/');
            match page.parse().unwrap_or(0) {
                page if page < PAGES => {
                    let link = format!("<a href=/page{}></a></body>", page + 1);
                    Reply::html(SHELL.replace("</body>", &link))
                }
                _ => Reply::status(404),
            }
        }
    };
    let mut crawl = Crawl::at(Site::new(pages));
    crawl.settings.tries = 2;
    let paths: Vec<String> = (0..PAGES)
        .map(|page| match page {
            0 => "/".to_owned(),
            page => format!("/page{page}"),
        })
        .collect();
    for (number, path) in paths.iter().enumerate() {
        let data = crawl.url(&format!("/data?of={number}"));
        let shown = SHELL.replace(
            "</body>",
            &format!("<a href=/page{}></a></body>", number + 1),
        );
        crawl = crawl.script(path, move |browser, url| {
            browser.shows(url, &[(RequestKind::Data, data.as_str())], &shown)
        });
    }
    let ended = crawl.run();
    let visits: Vec<usize> = paths.iter().map(|path| ended.requested(path)).collect();
    assert_eq!(visits, [2, 2, 2, 1, 1, 1]);
    for path in &paths {
        assert!(ended.note(path, "render-incomplete").is_some(), "{path}");
    }
}

/// A counter of visitors that is down must not double the requests to every site that has it.
#[test]
fn a_page_with_text_does_not_wait_for_the_script_of_another_domain() {
    for (text, visits) in [(words("tide"), 1), ("loading".to_owned(), 2)] {
        let mut crawl = Crawl::of(&[("/", Reply::html(SHELL)), ("/count.js", Reply::raw(HALF))]);
        let counter = crawl.server.url("counter.example", "/count.js");
        let address = crawl.server.resolve("counter.example");
        crawl.settings.resolve.push(address);
        crawl.settings.tries = 2;
        let shown = SHELL.replace("<div id=root>", &format!("<div id=root>{text}"));
        let ended = crawl
            .script("/", |browser, url| {
                browser.shows(url, &[(RequestKind::Script, &counter)], &shown)
            })
            .run();
        assert_eq!(ended.browser.rendered().len(), visits, "{text}");
    }
}

/// A POST may change something at the server.
#[test]
fn a_page_that_has_sent_a_post_is_not_visited_again() {
    let mut crawl = with_failing_data(1);
    let sent = post(&crawl.url("/data"));
    crawl = crawl.script("/", |browser, url| browser.sends(url, sent));
    crawl.settings.render_post = true;
    let ended = crawl.run();
    assert_eq!(ended.browser.rendered().len(), 1);
    assert!(ended.note("/", "render-incomplete").is_some());
}

/// A script that repeats a failed request, as many do, has what it needs.
#[test]
fn a_page_whose_script_repeats_a_request_is_not_visited_again() {
    let crawl = with_failing_data(1);
    let data = crawl.url("/data");
    let ended = crawl
        .script("/", |browser, url| {
            let requests = vec![(RequestKind::Data, data.as_str()); 2];
            browser.shows(url, &requests, "{1}")
        })
        .run();
    assert_eq!(ended.browser.rendered().len(), 1);
    assert!(ended.archived_text("/").contains("tide7"));
}
