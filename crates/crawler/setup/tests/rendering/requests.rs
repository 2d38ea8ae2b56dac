//! The requests of scripts pass the gates of a link.

use http::Method;
use policy::Requisites;
use render::{BrowserRequest, RequestKind};
use settings::crawl_directory;
use testkit::browser::request;
use testkit::{Reply, Server};

use crate::{Crawl, HOST, SHELL, post};

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
