//! Crawls whose pages are rendered, by a table in place of a browser.
//!
//! The crawl is assembled as by the command line and crawls a server on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::{Fault, Finish, Limits};
use fetch::Secrets;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use journal::{Fate, Rendered, VisitRecord};
use messages::CommandError;
use policy::{RenderMode, Requisites};
use render::{BrowserRequest, RenderFailure, RequestKind};
use settings::read_again::ArchivedPages;
use settings::seeds::{ReadAhead, Seeds};
use settings::values::Span;
use settings::{Settings, crawl_directory, machine};
use setup::assembly::{Components, assemble, prepare_directory};
use sinks::warc::{WarcReader, name_of};
use testkit::browser::{ScriptedBrowser, request};
use testkit::{Reply, Server, Site};

const HOST: &str = "app.test";

/// A page with next to no text without its script.
const SHELL: &str = "<html><head><title>App</title><script src=/app.js></script></head>\
                     <body><div id=root></div></body></html>";

/// Returns a DOM with a heading, a text and a link.
fn dom(heading: &str, text: &str, link: &str) -> String {
    format!(
        "<html><head><title>{heading}</title></head><body><h1>{heading}</h1><p>{text}</p>\
         <a href=\"{link}\">{link}</a></body></html>"
    )
}

/// Returns a text of sixty words, which differ for each topic.
fn words(topic: &str) -> String {
    (0..60).map(|number| format!("{topic}{number} ")).collect()
}

/// A crawl of a server.
struct Crawl {
    server: Server,
    settings: Settings,
    directory: tempfile::TempDir,
    browser: ScriptedBrowser,
}

/// A crawl that has ended.
struct Ended {
    result: Result<Finish, Fault>,
    server: Server,
    settings: Settings,
    browser: Arc<ScriptedBrowser>,
    directory: tempfile::TempDir,
}

impl Crawl {
    /// Begins at `/` of these pages, which robots.txt allows but for `/private/`.
    fn of(pages: &[(&str, Reply)]) -> Self {
        let robots = Reply::text("User-agent: *\nDisallow: /private/\n");
        let mut pages: Vec<(String, Reply)> = pages
            .iter()
            .map(|(path, reply)| ((*path).to_owned(), reply.clone()))
            .collect();
        pages.push(("/robots.txt".to_owned(), robots));
        Self::at(Site::pages(pages))
    }

    /// Begins at `/` of a site.
    fn at(site: Site) -> Self {
        let server = Server::spawn_thread(site);
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings {
            url: vec![server.url(HOST, "/")],
            out: directory.path().join("crawl"),
            resolve: vec![server.resolve(HOST), server.resolve("api.test")],
            allow_private: true,
            delay: Span(Duration::ZERO),
            delay_factor: 0.0,
            render: RenderMode::Shells,
            contact: Some("test@example.org".to_owned()),
            ..Settings::default()
        };
        Self {
            server,
            settings,
            directory,
            browser: ScriptedBrowser::default(),
        }
    }

    /// Adds what the scripts of the page at `path` do, by its URL.
    fn script(
        mut self,
        path: &str,
        script: impl FnOnce(ScriptedBrowser, &str) -> ScriptedBrowser,
    ) -> Self {
        let url = self.url(path);
        self.browser = script(self.browser, &url);
        self
    }

    /// Begins at `/`, whose scripts make this request. `/echo` shows what it received.
    fn sending(request: impl FnOnce(&Self) -> BrowserRequest) -> Self {
        let crawl = Self::at(Site::new(|request| match request.path() {
            "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
            "/" => Reply::html(SHELL),
            _ => {
                let media = request.header("content-type").unwrap_or_default();
                let body = String::from_utf8_lossy(&request.body);
                Reply::text(format!("{} {media} {body}", request.method))
            }
        }));
        let request = request(&crawl);
        crawl.script("/", |browser, url| browser.sends(url, request))
    }

    /// Adds a page whose scripts request `/app.js` and its data, and show these.
    fn shows(self, path: &str, data: &str) -> Self {
        let (script, data) = (self.url("/app.js"), self.url(data));
        self.script(path, |browser, url| {
            let requests = [
                (RequestKind::Script, script.as_str()),
                (RequestKind::Data, data.as_str()),
            ];
            browser.shows(url, &requests, "{1}")
        })
    }

    fn url(&self, path: &str) -> String {
        self.server.url(HOST, path)
    }

    fn run(self) -> Ended {
        let browser = Arc::new(self.browser);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let result = runtime.block_on(crawl(&self.settings, Arc::clone(&browser)));
        Ended {
            result: result.unwrap(),
            server: self.server,
            settings: self.settings,
            directory: self.directory,
            browser,
        }
    }
}

async fn crawl(
    settings: &Settings,
    browser: Arc<ScriptedBrowser>,
) -> Result<Result<Finish, Fault>, CommandError> {
    let form = settings.canonical_form();
    let mut seeds = Seeds::gather(settings, &form, ReadAhead::All, |_| None)?;
    let clock = machine::clock();
    let mut components = Components::new(settings, &seeds, Secrets::default(), &clock, None)?;
    components.render_by(browser);
    prepare_directory(settings)?;
    let (_handle, stop) = crawl::stop();
    let assembled = assemble(settings, &mut seeds, components, None, || stop.clone()).await?;
    let limits = Limits {
        concurrency: 8,
        pages: None,
        bytes: None,
        harvest: None,
        time: None,
        drain: Duration::from_secs(60),
    };
    let result = crawl::run(&assembled.context, limits, stop).await;
    Ok(result)
}

impl Ended {
    fn visits(&self) -> Vec<VisitRecord> {
        let state = crawl_directory::state(&self.settings.out);
        let visits = journal::visits(&state).unwrap();
        visits.map(|visit| visit.unwrap()).collect()
    }

    fn visit(&self, path: &str) -> VisitRecord {
        let url = self.server.url(HOST, path);
        let mut visits = self.visits().into_iter();
        visits.find(|visit| visit.url.as_str() == url).unwrap()
    }

    /// Returns how often a path was requested.
    fn requested(&self, path: &str) -> usize {
        self.server.log().count(HOST, path)
    }

    /// Returns the text that readers of the archive find for a page.
    fn archived_text(&self, path: &str) -> String {
        let pages = ArchivedPages::of(&self.settings);
        pages.read(&self.visit(path)).unwrap().document.text
    }

    /// Returns the records of the archive, as kind and path.
    fn records(&self) -> Vec<String> {
        let archive = crawl_directory::archive(&self.settings.out);
        let mut records = Vec::new();
        for path in archive_files(&archive) {
            let mut reader = WarcReader::open(&path).unwrap();
            while let Some(record) = reader.next_record(0).unwrap() {
                let target = record.target().unwrap_or_default();
                let path = target.rsplit_once('/').map_or("", |(_, path)| path);
                records.push(format!("{} /{path}", record.kind()));
            }
        }
        records
    }
}

fn archive_files(archive: &Path) -> Vec<std::path::PathBuf> {
    let items = std::fs::read_dir(archive).unwrap();
    let mut paths: Vec<_> = items.map(|item| item.unwrap().path()).collect();
    paths.retain(|path| name_of(path).is_some());
    paths.sort();
    paths
}

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
fn requests_of_scripts_pass_the_gates_of_a_link() {
    let api = |server: &Server, path: &str| server.url("api.test", path);
    let crawl = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/allowed", Reply::text("allowed")),
        ("/private/data", Reply::text("private")),
        ("/excluded", Reply::text("excluded")),
        ("/picture.png", Reply::text("picture")),
        ("/beacon", Reply::text("beacon")),
    ]);
    let other = api(&crawl.server, "/allowed");
    let mut crawl = crawl;
    crawl.settings.exclude = vec!["/excluded".to_owned()];
    let urls = [
        "/allowed",
        "/private/data",
        "/excluded",
        "/picture.png",
        "/beacon",
    ];
    let urls = urls.map(|path| crawl.url(path));
    let ended = crawl
        .script("/", |browser, url| {
            let requests = [
                (RequestKind::Data, urls[0].as_str()),
                (RequestKind::Data, urls[1].as_str()),
                (RequestKind::Data, urls[2].as_str()),
                (RequestKind::Image, urls[3].as_str()),
                (RequestKind::Other, urls[4].as_str()),
                (RequestKind::Data, "ftp://app.test/file"),
                (RequestKind::Data, other.as_str()),
            ];
            browser.shows(url, &requests, "<p>{0}<p>{1}<p>{2}<p>{3}<p>{4}<p>{5}<p>{6}")
        })
        .run();
    for path in ["/private/data", "/excluded", "/picture.png", "/beacon"] {
        assert_eq!(ended.requested(path), 0, "{path}");
    }
    assert_eq!(ended.requested("/allowed"), 1);
    let log = ended.server.log();
    assert_eq!(
        log.targets("api.test"),
        ["/robots.txt", "/allowed"],
        "a host on the way is asked for its robots.txt first"
    );
    let text = ended.archived_text("/");
    for reason in ["robots.txt", "--page-requisites", "exclude", "ftp"] {
        assert!(text.contains(reason), "{reason}: {text}");
    }
}

#[test]
fn pictures_are_requested_for_an_archive_with_page_requisites() {
    let mut crawl = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/picture.png", Reply::text("picture")),
    ]);
    crawl.settings.page_requisites = Requisites::Scope;
    let picture = crawl.url("/picture.png");
    let ended = crawl
        .script("/", |browser, url| {
            browser.shows(url, &[(RequestKind::Image, picture.as_str())], "{0}")
        })
        .run();
    assert!(ended.requested("/picture.png") >= 1);
}

#[test]
fn a_page_has_two_hundred_requests_and_no_more() {
    let crawl = Crawl::of(&[("/", Reply::html(SHELL)), ("/data", Reply::text("data"))]);
    let data = crawl.url("/data");
    let ended = crawl
        .script("/", |browser, url| {
            let requests = vec![(RequestKind::Data, data.as_str()); 300];
            browser.shows(url, &requests, "{199} {200}")
        })
        .run();
    assert_eq!(ended.requested("/data"), 200);
    assert!(ended.archived_text("/").contains("200 requests"));
}

#[test]
fn a_response_beyond_what_a_page_may_receive_is_refused() {
    let crawl = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/large", Reply::text(vec![b'a'; (20 << 20) + 1])),
        ("/small", Reply::text("small")),
    ]);
    let urls = ["/large", "/small"].map(|path| crawl.url(path));
    let ended = crawl
        .script("/", |browser, url| {
            let requests = urls.each_ref().map(|url| (RequestKind::Data, url.as_str()));
            browser.shows(url, &requests, "<p>{0}<p>{1}")
        })
        .run();
    let text = ended.archived_text("/");
    assert!(
        text.contains("not whole") && text.contains("small"),
        "{text}"
    );
}

/// A script that a server could not send once would be missing on all pages.
#[test]
fn a_script_that_an_overloaded_server_refused_is_requested_again_for_the_next_page() {
    let ended = Crawl::of(&[
        ("/", Reply::html(SHELL)),
        ("/next", Reply::html(SHELL)),
        ("/app.js", Reply::status(500)),
        ("/data", Reply::text(dom("First", &words("tide"), "/next"))),
    ])
    .shows("/", "/data")
    .shows("/next", "/data")
    .run();
    assert_eq!(ended.requested("/app.js"), 2);
}

#[test]
fn what_a_script_sends_besides_a_get_is_answered_without_a_request() {
    let of = |method: Method, path: &str| {
        let crawl = Crawl::of(&[("/", Reply::html(SHELL)), ("/data", Reply::text("data"))]);
        let sent = BrowserRequest {
            method,
            ..request(RequestKind::Data, &crawl.url(path))
        };
        crawl
            .script("/", |browser, url| browser.sends(url, sent))
            .run()
    };
    let posted = of(Method::POST, "/data");
    assert_eq!(posted.requested("/data"), 0);
    assert!(posted.archived_text("/").contains("without --render-post"));
    let preflight = of(Method::OPTIONS, "/data");
    assert_eq!(preflight.requested("/data"), 0);
    let head = of(Method::HEAD, "/data");
    assert_eq!(head.requested("/data"), 1);
    assert!(!head.archived_text("/").contains("data"));
}

/// Returns a POST of JSON.
fn post(url: &str) -> BrowserRequest {
    let json = HeaderValue::from_static("application/json");
    BrowserRequest {
        method: Method::POST,
        headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
        body: Some("{\"q\": [1, \"a b\"]}".into()),
        ..request(RequestKind::Data, url)
    }
}

#[test]
fn a_post_is_sent_archived_and_indexed_with_its_body() {
    let mut crawl = Crawl::sending(|crawl| post(&crawl.url("/echo")));
    crawl.settings.render_post = true;
    let ended = crawl.run();
    let text = ended.archived_text("/");
    let echo = "POST application/json {\"q\": [1, \"a b\"]}";
    assert!(text.contains(echo), "{text}");
    let log = ended.server.log();
    let heads = log.request_heads(HOST);
    assert!(heads.contains("\r\ncontent-length: 17\r\n"), "{heads}");
    let index = crawl_directory::archive(&ended.settings.out).join(sinks::cdxj::INDEX);
    let index = std::fs::read_to_string(index).unwrap();
    let is_of_post = |line: &&str| line.contains("/echo?__wb_method=post&q=1&q.2_=a+b ");
    let line = index.lines().find(is_of_post).unwrap_or(&index);
    let end = ", \"requestBody\": \"q=1&q.2_=a+b\", \"method\": \"POST\"}";
    assert!(line.ends_with(end), "{line}");
}

/// Crawls a page that sends a POST to this place, changed so, and checks that it is refused.
fn refuses(path: &str, change: impl Fn(&mut BrowserRequest), reason: &str) {
    let mut crawl = Crawl::sending(|crawl| {
        let url = match path {
            "api.test" => crawl.server.url(path, "/echo"),
            path => crawl.url(path),
        };
        let mut post = post(&url);
        change(&mut post);
        post
    });
    crawl.settings.render_post = true;
    crawl.settings.exclude = vec!["/excluded".to_owned()];
    let ended = crawl.run();
    let text = ended.archived_text("/");
    assert!(text.contains(reason), "{path}: {text}");
    let log = ended.server.log();
    let posts = log.pages().filter(|hit| hit.method != "GET");
    assert_eq!(posts.count(), 0, "{path}");
}

#[test]
fn a_post_passes_the_gates_of_a_link_and_stays_in_its_domain() {
    refuses("/private/data", |_| {}, "robots.txt");
    refuses("/excluded", |_| {}, "exclude");
    refuses("/echo", |post| post.body = None, "is not known");
    let large = "x".repeat((64 << 10) + 1);
    let enlarge = |post: &mut BrowserRequest| post.body = Some(large.clone().into());
    refuses("/echo", enlarge, "exceeds 64 KiB");
    let of_frame = |post: &mut BrowserRequest| post.kind = RequestKind::Frame;
    refuses("/echo", of_frame, "only for data");
    let put = |post: &mut BrowserRequest| post.method = Method::PUT;
    refuses("/echo", put, "PUT is not sent");
    refuses("api.test", |_| {}, "to the domain of its page");
}

/// A POST may change something at the server.
#[test]
fn a_page_that_has_sent_a_post_is_not_rendered_once_more() {
    for (method, tabs) in [(Method::POST, 1), (Method::GET, 2)] {
        let crawl = Crawl::of(&[("/", Reply::html(SHELL)), ("/data", Reply::text("data"))]);
        let sent = BrowserRequest {
            method,
            ..post(&crawl.url("/data"))
        };
        let mut crawl = crawl.script("/", |browser, url| browser.sends_and_crashes(url, sent));
        crawl.settings.render_post = true;
        let ended = crawl.run();
        assert_eq!(ended.browser.rendered().len(), tabs);
        assert_eq!(ended.requested("/data"), tabs);
    }
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
