//! Controls: what is previewed is what is written, and nothing that is wrong is written.

use std::fs;

use crate::client::{Response, Served};
use crate::crawl::CrawlFixture;

const BEFORE: &str = "# As agreed with them.\ndelay = \"1s\" # at least\n";

async fn served(text: &str) -> Served {
    let served = Served::of(CrawlFixture::saying("x")).await;
    fs::write(served.crawl.path("control.toml"), text).unwrap();
    served
}

fn control(served: &Served) -> String {
    fs::read_to_string(served.crawl.path("control.toml")).unwrap()
}

/// Sends the form of a preview.
async fn confirm(served: &Served, preview: &Response, order: &str) -> Response {
    let base = preview.attribute("input[name=base]", "value").unwrap();
    served
        .post("/controls", &format!("base={base}&{order}"))
        .await
}

#[tokio::test]
async fn the_lines_are_shown_first_and_written_then_with_all_comments() {
    let served = served(BEFORE).await;
    let order = "delay=5s&pause=true";
    let preview = served.post("/controls/preview", order).await;
    let text = preview.text();
    assert_eq!(preview.status, 200, "{text}");
    assert!(text.contains("- delay = \"1s\" # at least"), "{text}");
    assert!(text.contains("+ delay = \"5s\" # at least"), "{text}");
    assert!(
        text.contains("In effect will be: delay 5s, pause"),
        "{text}"
    );
    assert_eq!(control(&served), BEFORE, "a preview writes nothing");
    let written = confirm(&served, &preview, order).await;
    assert_eq!(written.status, 303, "{}", written.body);
    assert_eq!(written.header("location"), Some("/controls?written=true"));
    assert_eq!(
        control(&served),
        "# As agreed with them.\ndelay = \"5s\" # at least\npause = true\n"
    );
    let page = served.get_as_owner("/controls?written=true").await.text();
    assert!(
        page.contains("It takes effect when the crawl continues."),
        "{page}"
    );
}

#[tokio::test]
async fn a_file_is_made_where_there_is_none() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let order = "exclude=%2Fcalendar%2F%0D%0A%5B%3F%26%5Dsort%3D";
    let preview = served.post("/controls/preview", order).await;
    assert_eq!(confirm(&served, &preview, order).await.status, 303);
    assert_eq!(
        control(&served),
        "exclude = [\"/calendar/\", \"[?&]sort=\"]\n"
    );
}

#[tokio::test]
async fn the_hidden_fields_of_a_preview_repeat_the_order() {
    let served = served(BEFORE).await;
    let order = "exclude=a%0Ab&host=a.test&host-delay=9s&rate=2%2Fs";
    let preview = served.post("/controls/preview", order).await;
    for (name, value) in [("host", "a.test"), ("host-delay", "9s"), ("rate", "2/s")] {
        let selector = format!("input[name={name}]");
        assert_eq!(
            preview.attribute(&selector, "value").as_deref(),
            Some(value)
        );
    }
    assert!(
        preview
            .body
            .contains("<textarea name=\"exclude\" hidden>\na\nb</textarea>")
    );
}

#[tokio::test]
async fn a_wrong_value_is_named_with_its_line_and_not_written() {
    let served = served(BEFORE).await;
    for (order, words) in [
        (
            "delay=soon",
            "at line 2, column 9: \"soon\" is not a time span",
        ),
        ("concurrency=0", "at line 3: concurrency 0 is not valid"),
        ("exclude=%28", "at line 3: \"(\" is not a valid expression"),
        ("host=a.test%2Fb&host-delay=1s", "is not a host"),
    ] {
        let preview = served.post("/controls/preview", order).await;
        assert!(
            preview.text().contains(words),
            "{order}: {}",
            preview.text()
        );
        assert_eq!(preview.attribute("input[name=base]", "value"), None);
        let sha = "0".repeat(64);
        let forced = served
            .post("/controls", &format!("base={sha}&{order}"))
            .await;
        assert_eq!(forced.status, 409);
        let valid = served.post("/controls/preview", "rate=1%2Fs").await;
        let forced = confirm(&served, &valid, order).await;
        assert_eq!(forced.status, 400, "{}", forced.body);
        assert_eq!(control(&served), BEFORE);
    }
}

#[tokio::test]
async fn a_file_that_changed_since_the_preview_is_not_overwritten() {
    let served = served(BEFORE).await;
    let preview = served.post("/controls/preview", "delay=5s").await;
    fs::write(served.crawl.path("control.toml"), "delay = \"7s\"\n").unwrap();
    let refused = confirm(&served, &preview, "delay=5s").await;
    assert_eq!(refused.status, 409);
    assert!(refused.text().contains("changed since its preview"));
    assert_eq!(control(&served), "delay = \"7s\"\n");
}

#[tokio::test]
async fn a_broken_file_is_shown_with_its_mistake() {
    let served = served("delay = 2s\n").await;
    let page = served.get("/controls").await.text();
    assert!(
        page.contains("control.toml was not applied, at line 1"),
        "{page}"
    );
    let preview = served.post("/controls/preview", "pause=true").await;
    assert_eq!(preview.status, 400);
    assert!(preview.text().contains("at line 1"), "{}", preview.text());
}

#[tokio::test]
async fn every_page_pauses_at_once_shows_the_line_and_comes_back() {
    let served = served(BEFORE).await;
    let button = ".pause input[name=pause]";
    let complete = served.get_as_owner("/hosts").await;
    assert_eq!(complete.attribute(button, "value"), None);
    let _running = served.crawl.run();
    let page = served.get_as_owner("/hosts?q=site").await;
    let text = page.text();
    assert!(text.contains("+ pause = true"), "{text}");
    assert_eq!(page.attribute(button, "value").as_deref(), Some("true"));
    // It is offered only to those who may change something.
    let read = served.get("/hosts").await;
    assert_eq!(read.attribute(button, "value"), None);

    let host = served.address;
    let referrer = format!("Referer: http://{host}/hosts?q=site");
    let fields = [
        &*served.host(),
        &served.cookie(),
        &served.origin(),
        &referrer,
        "Content-Type: application/x-www-form-urlencoded",
    ];
    let written = served.send("POST /controls", &fields, "pause=true").await;
    assert_eq!(written.status, 303, "{}", written.body);
    assert_eq!(written.header("location"), Some("/hosts?q=site"));
    assert_eq!(control(&served), format!("{BEFORE}pause = true\n"));
    let page = served.get_as_owner("/").await;
    assert_eq!(page.attribute(button, "value").as_deref(), Some("false"));
}

#[tokio::test]
async fn a_crawl_that_runs_is_pausing_until_it_has_applied_the_file() {
    let served = served(BEFORE).await;
    let text = served.get("/").await.text();
    assert!(text.contains("Crawl · complete"), "{text}");
    let _running = served.crawl.run();
    assert!(served.get("/").await.text().contains("Crawl · running"));
    served.post("/controls", "pause=true").await;
    assert!(served.get("/").await.text().contains("Crawl · pausing"));
}

#[tokio::test]
async fn a_pause_never_redirects_to_another_host() {
    let served = served(BEFORE).await;
    for referrer in ["http://a.test//evil.test/", "http://a.test/\\evil.test", ""] {
        let referrer = format!("Referer: {referrer}");
        let fields = [
            &*served.host(),
            &served.cookie(),
            &served.origin(),
            &referrer,
            "Content-Type: application/x-www-form-urlencoded",
        ];
        let written = served.send("POST /controls", &fields, "pause=true").await;
        let target = written.header("location").unwrap();
        let bytes = target.as_bytes();
        assert!(bytes[0] == b'/' && !matches!(bytes.get(1), Some(b'/' | b'\\')));
    }
}
