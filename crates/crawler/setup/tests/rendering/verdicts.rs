//! Pages are judged, archived and followed by the DOM that their scripts make.

use journal::{Fate, Rendered};
use policy::RenderMode;
use testkit::Reply;

use crate::{Crawl, HOST, SHELL, dom, words};

#[test]
fn a_page_is_judged_archived_and_followed_by_what_its_scripts_show() {
    let ended = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/next", Reply::html(SHELL)),
        ("/app.js", Reply::text("run()")),
        ("/data", Reply::text(dom("First", &words("tide"), "/next"))),
        ("/more", Reply::text(dom("Second", &words("wind"), "/"))),
    ])
    .shows("/", "/data")
    .shows("/next", "/more")
    .run();
    assert!(ended.result.is_ok(), "{:?}", ended.result);

    let first = ended.visit("/");
    assert_eq!(first.title.as_deref(), Some("First"));
    assert_eq!((first.fate, first.kept), (Fate::Unique, true));
    assert_eq!(
        first.bytes,
        SHELL.len() as u64,
        "the bytes are those received"
    );
    assert!(first.details.needs_scripts);
    assert!(first.dom_offset().is_some());
    assert!(ended.archived_text("/").contains("tide7"));
    let second = ended.visit("/next");
    assert_eq!(second.fate, Fate::Unique, "equal bytes are no evidence");
    assert!(ended.archived_text("/next").contains("wind7"));

    assert_eq!(ended.requested("/"), 1, "the page is never requested again");
    assert_eq!(ended.requested("/app.js"), 1, "scripts are requested once");
    let records = ended.records();
    let of_first: Vec<&str> = records[2..].iter().map(String::as_str).take(8).collect();
    let expected = [
        "response /",
        "request /",
        "response /app.js",
        "request /app.js",
        "response /data",
        "request /data",
        "conversion /",
        "metadata /",
    ];
    assert_eq!(of_first, expected, "{records:?}");
}

#[test]
fn pages_that_show_the_same_are_duplicates_and_their_data_is_not_archived() {
    let same = dom("Same", &words("tide"), "/copy");
    let ended = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/copy", Reply::html(format!("{SHELL}<!-- another -->"))),
        ("/app.js", Reply::text("run()")),
        ("/data", Reply::text(same.clone())),
        ("/data-of-copy", Reply::text(same)),
    ])
    .shows("/", "/data")
    .shows("/copy", "/data-of-copy")
    .run();
    let copy = ended.visit("/copy");
    assert_eq!((copy.fate, copy.kept), (Fate::ExactDuplicate, false));
    assert_eq!(
        copy.details.rendered,
        Some(Rendered::Dom {
            offset: None,
            adds: true
        })
    );
    assert_eq!(ended.requested("/data-of-copy"), 1);
    let records = ended.records();
    assert!(
        !records.contains(&"response /data-of-copy".to_owned()),
        "{records:?}"
    );
}

#[test]
fn only_pages_that_need_their_scripts_are_rendered_unless_all_are() {
    let page = dom("Static", &words("tide"), "/shell");
    for (mode, rendered) in [
        (RenderMode::Off, &[][..]),
        (RenderMode::Shells, &["/shell"]),
        (RenderMode::All, &["/", "/shell"]),
    ] {
        let mut crawl = Crawl::of(&[
            ("/", Reply::html(page.clone())),
            ("/shell", Reply::html(SHELL)),
        ]);
        crawl.settings.render = mode;
        let ended = crawl.run();
        let expected: Vec<String> = rendered
            .iter()
            .map(|path| ended.server.url(HOST, path))
            .collect();
        assert_eq!(ended.browser.rendered(), expected, "{mode}");
        drop(ended.directory);
    }
}

#[test]
fn pictures_of_archived_pages_follow_their_dom_if_they_are_wanted() {
    for wanted in [false, true] {
        let same = dom("Same", &words("tide"), "/copy");
        let mut crawl = Crawl::of(&[
            ("/", Reply::html(SHELL)),
            ("/copy", Reply::html(format!("{SHELL}<!-- another -->"))),
            ("/app.js", Reply::text("run()")),
            ("/data", Reply::text(same)),
        ]);
        crawl.settings.screenshots = wanted;
        let ended = crawl.shows("/", "/data").shows("/copy", "/data").run();
        assert!(!ended.visit("/copy").kept, "a duplicate has no picture");
        let records = ended.records();
        let at = |kind: &str| records.iter().position(|record| record == kind);
        let behind_dom = at("conversion /").map(|dom| dom + 1);
        assert_eq!(
            at("resource /"),
            behind_dom.filter(|_| wanted),
            "{records:?}"
        );
        assert_eq!(at("resource /copy"), None, "{records:?}");
    }
}

#[test]
fn a_page_that_scripts_open_is_a_link() {
    let crawl = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/next", Reply::html(dom("Next", &words("tide"), "/"))),
    ]);
    let next = crawl.url("/next");
    let ended = crawl
        .script("/", |browser, url| browser.opens(url, &next))
        .run();
    assert_eq!(ended.visit("/next").fate, Fate::Unique);
}

/// Returns a page that links to these paths, without scripts.
fn contents(paths: &[String]) -> Reply {
    let link = |path: &String| format!("<a href=\"{path}\">{path}</a> ");
    let links: String = paths.iter().map(link).collect();
    Reply::html(format!("<html><body><p>Contents</p>{links}</body></html>"))
}

/// Returns a page with a script and a text of its own.
fn scripted_page(topic: &str) -> String {
    let text = words(topic);
    format!(
        "<html><head><title>{topic}</title><script src=/app.js></script></head><body><p>{text}</p>\
         </body></html>"
    )
}

#[test]
fn a_pattern_whose_scripts_bring_nothing_is_rendered_three_times_and_then_once_in_fifty() {
    let paths: Vec<String> = (1..=105).map(|page| format!("/item/{page}")).collect();
    let mut pages = vec![("/", contents(&paths))];
    let item = |path: &String| Reply::html(scripted_page(&path.replace('/', "x")));
    pages.extend(paths.iter().map(|path| (path.as_str(), item(path))));
    let mut crawl = Crawl::of(&pages);
    crawl.settings.concurrency_per_host = Some(1);
    let ended = crawl.run();
    let rendered: Vec<String> = [1, 2, 3, 53, 103]
        .map(|page| ended.server.url(HOST, &format!("/item/{page}")))
        .to_vec();
    assert_eq!(ended.browser.rendered(), rendered);
    let probe = ended.visit("/item/53");
    assert!(probe.is_rendered() && !probe.shows_more_by_scripts());
    assert_eq!(ended.visits().len(), 106, "no page is lost");
}

#[test]
fn a_pattern_whose_scripts_bring_text_or_links_is_rendered_and_judged_by_its_dom() {
    let paths: Vec<String> = (1..=8).map(|page| format!("/thread/{page}")).collect();
    let mut pages = vec![("/", contents(&paths))];
    let thread = |path: &String| Reply::html(scripted_page(&path.replace('/', "x")));
    pages.extend(paths.iter().map(|path| (path.as_str(), thread(path))));
    pages.push(("/reply", Reply::html(words("reply"))));
    pages.push(("/plain/1", Reply::html(words("plain"))));
    let received = |path: &str| words(&path.replace('/', "x"));
    let with_comments = |path: &str| {
        let text = received(path) + &words(&path.replace("/thread/", "comment"));
        dom(path, &text, "/plain/1")
    };
    let with_link = |path: &str| dom(path, &received(path), "/reply");
    let mut crawl = Crawl::of(&pages);
    for (number, path) in paths.iter().enumerate() {
        let dom = match number {
            0 => with_link(path),
            _ => with_comments(path),
        };
        crawl = crawl.script(path, |browser, url| browser.shows(url, &[], &dom));
    }
    let ended = crawl.run();
    assert_eq!(
        ended.browser.rendered().len(),
        8,
        "no plain page is rendered"
    );
    for path in &paths {
        assert!(ended.visit(path).shows_more_by_scripts(), "{path}");
    }
    assert!(ended.archived_text("/thread/8").contains("comment8"));
    assert_eq!(
        ended.requested("/reply"),
        1,
        "a link of scripts is followed"
    );
}
