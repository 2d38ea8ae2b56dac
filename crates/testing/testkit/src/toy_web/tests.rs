use std::collections::{BTreeSet, VecDeque};

use super::*;
use crate::http::Request;
use crate::judge::{main_text, resemblance, shingles, visible_text};
use crate::server::Server;

fn ask(toy: &ToyWeb, page: &str) -> Reply {
    toy.site().answer(&Request::get(&toy.url(page, 4_000)))
}

fn html(toy: &ToyWeb, page: &str) -> String {
    String::from_utf8_lossy(ask(toy, page).body()).into_owned()
}

/// The pages with plain UTF-8 text that is long enough to be judged by similarity.
fn readable(toy: &ToyWeb) -> impl Iterator<Item = &Truth> {
    let special: Vec<&str> = toy.charset_pages().iter().map(|page| page.page).collect();
    toy.truth().iter().filter(move |truth| {
        let text = !matches!(truth.fate, Fate::File | Fate::Missing | Fate::Redirect(_));
        text && !special.contains(&truth.page.as_str()) && !truth.page.contains("/notes/")
    })
}

#[test]
fn the_tally_equals_that_of_the_demonstration() {
    let expected = Tally {
        unique: 24 + 1 + 31 + 1 + 4 + 3 + 2 + 1 + 4,
        files: 2,
        exact_copies: 12,
        near_copies: 12 + 2,
        redirects: 4,
        missing: 1,
        untouchable: 12 + 6 + 2,
    };
    assert_eq!(ToyWeb::new().tally(), expected);
}

#[test]
fn every_page_answers_by_its_fate() {
    let toy = ToyWeb::new();
    for Truth { page, fate } in toy.truth() {
        let reply = ask(&toy, page);
        let content_type = reply.header_value("content-type").unwrap_or("");
        match fate {
            Fate::Missing => assert_eq!(reply.code(), 404, "{page}"),
            Fate::Redirect(to) => {
                assert!((301..=308).contains(&reply.code()), "{page}");
                assert!(
                    to.ends_with(reply.header_value("location").unwrap()),
                    "{page}"
                );
            }
            Fate::File => assert!(
                reply.code() == 200 && !content_type.contains("html"),
                "{page}"
            ),
            _ => assert!(
                reply.code() == 200 && content_type.starts_with("text/html"),
                "{page}"
            ),
        }
    }
}

#[test]
fn pages_have_a_realistic_length() {
    let toy = ToyWeb::new();
    for Truth { page, .. } in readable(&toy) {
        let words = main_text(&html(&toy, page)).split(' ').count();
        assert!(words >= 120, "{page}: {words} words");
    }
}

#[test]
fn copies_are_as_alike_as_their_fate_requires() {
    let toy = ToyWeb::new();
    for Truth { page, fate } in toy.truth() {
        match fate {
            Fate::ExactCopy(of) => {
                assert_eq!(ask(&toy, page).body(), ask(&toy, of).body(), "{page}");
            }
            Fate::NearCopy(of) => {
                let (one, other) = (main_text(&html(&toy, page)), main_text(&html(&toy, of)));
                assert_ne!(one, other, "{page}");
                let alike = resemblance(&shingles(&one), &shingles(&other));
                assert!(alike > 0.95, "{page}: {alike}");
            }
            _ => {}
        }
    }
}

#[test]
fn unique_pages_differ_in_their_text() {
    let toy = ToyWeb::new();
    let texts: Vec<_> = readable(&toy)
        .filter(|truth| truth.fate == Fate::Unique)
        .map(|truth| (&truth.page, shingles(&main_text(&html(&toy, &truth.page)))))
        .collect();
    for (place, (page, one)) in texts.iter().enumerate() {
        for (other_page, other) in &texts[..place] {
            let alike = resemblance(one, other);
            assert!(alike < 0.1, "{page} and {other_page}: {alike}");
        }
    }
}

#[test]
fn pages_of_the_manual_are_alike_only_with_their_navigation() {
    let toy = ToyWeb::new();
    let whole = |page: &str| shingles(&visible_text(&html(&toy, page)));
    let alike = resemblance(
        &whole("manual.test/reference/01.html"),
        &whole("manual.test/reference/02.html"),
    );
    assert!(alike > 0.8, "{alike}");
}

#[test]
fn charset_pages_are_readable_in_their_charset_only() {
    let toy = ToyWeb::new();
    for page in toy.charset_pages() {
        let reply = ask(&toy, page.page);
        let (text, used, malformed) = page.charset.decode(reply.body());
        assert!(!malformed && used == page.charset, "{}", page.page);
        for line in page.text.lines() {
            assert!(text.contains(&format!("<p>{line}</p>")), "{}", page.page);
        }
        let utf8 = std::str::from_utf8(reply.body()).is_ok();
        assert_eq!(utf8, page.declared == Declared::Mark, "{}", page.page);
        assert_eq!(
            reply.body().starts_with(b"\xef\xbb\xbf"),
            page.declared == Declared::Mark
        );
        let in_header = reply
            .header_value("content-type")
            .unwrap()
            .contains("charset=");
        assert_eq!(in_header, page.declared == Declared::Header);
        assert_eq!(
            text.contains("<meta charset="),
            page.declared == Declared::Meta
        );
        let words = page.text.split_whitespace().count();
        assert!(
            words >= 120 || page.language == "ja",
            "{}: {words} words",
            page.page
        );
    }
}

#[test]
fn the_calendar_has_no_end() {
    let toy = ToyWeb::new();
    for (month, before, after) in [
        ("2024-01", "2023-12", "2024-02"),
        ("1999-12", "1999-11", "2000-01"),
        ("0001-02", "0001-01", "0001-03"),
    ] {
        let html = html(&toy, &format!("library.test/calendar?month={month}"));
        assert!(
            html.contains(&format!("?month={before}")) && html.contains(&format!("?month={after}")),
            "{month}"
        );
    }
    for month in ["2024-00", "2024-13", "0000-01", "10000-01", "soon", ""] {
        assert_eq!(
            ask(&toy, &format!("library.test/calendar?month={month}")).code(),
            404,
            "{month}"
        );
    }
}

/// Returns the targets of the links of a page, resolved as far as this web needs it.
fn links(toy: &ToyWeb, page: &str) -> Vec<String> {
    let reply = ask(toy, page);
    let host = page.split('/').next().unwrap();
    if let Some(location) = reply.header_value("location") {
        return vec![format!("{host}{location}")];
    }
    let html = String::from_utf8_lossy(reply.body());
    if html.contains("content=\"nofollow\"")
        || reply.header_value("x-robots-tag") == Some("nofollow")
    {
        return Vec::new();
    }
    let resolve = |link: &str| match link.strip_prefix("http://") {
        Some(absolute) => absolute.replacen(":4000", "", 1),
        None if link.starts_with('/') => format!("{host}{link}"),
        None => format!("{host}/shelf/{link}"),
    };
    let anchors = html.split("<a href=\"").skip(1);
    let followed = anchors.filter(|rest| !rest.split('>').next().unwrap().contains("nofollow"));
    followed
        .map(|rest| resolve(rest.split('"').next().unwrap()))
        .collect()
}

/// Returns the requests of a correct crawl, in order.
fn crawled(toy: &ToyWeb) -> Vec<String> {
    let seeds = toy
        .seeds(4_000)
        .into_iter()
        .map(|seed| seed["http://".len()..].replacen(":4000", "", 1));
    let mut queue: VecDeque<String> = seeds.collect();
    let mut known: BTreeSet<String> = queue.iter().cloned().collect();
    let mut asked = Vec::new();
    while let Some(page) = queue.pop_front() {
        if page.starts_with("library.test/private/") {
            continue;
        }
        if !matches!(
            toy.fate(&page),
            Some(Fate::ExactCopy(_) | Fate::NearCopy(_) | Fate::File)
        ) {
            queue.extend(
                links(toy, &page)
                    .into_iter()
                    .filter(|link| known.insert(link.clone())),
            );
        }
        asked.push(page);
    }
    asked
}

async fn log_of(toy: &ToyWeb, pages: &[String]) -> Log {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let server = Server::start(toy.site()).await;
    for page in pages {
        let (host, path) = page.split_once('/').unwrap();
        let mut stream = tokio::net::TcpStream::connect(server.address())
            .await
            .unwrap();
        let request = format!("GET /{path} HTTP/1.0\r\nHost: {host}:4000\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
    server.stop().await
}

#[tokio::test]
async fn a_correct_crawl_has_no_faults() {
    let toy = ToyWeb::new();
    let mut asked = crawled(&toy);
    asked.push("original.test/robots.txt".into());
    asked.push("library.test/sitemap.xml".into());
    assert_eq!(
        toy.faults(&log_of(&toy, &asked).await),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn faults_are_reported() {
    let toy = ToyWeb::new();
    let mut asked = crawled(&toy);
    asked.retain(|page| page != "manual.test/reference/07.html");
    asked.push("original.test/".into());
    asked.push("library.test/private/secret.html".into());
    asked.push("library.test/calendar?month=2025-01".into());
    let expected = [
        "original.test/ was asked for 2 times",
        "manual.test/reference/07.html was not asked for",
        "library.test/private/secret.html was asked for (Robots)",
        "library.test/calendar?month=2025-01 was asked for and is not linked",
    ];
    assert_eq!(toy.faults(&log_of(&toy, &asked).await), expected);
}
