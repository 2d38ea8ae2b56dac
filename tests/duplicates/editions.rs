//! Editions of pages in several languages, some of which are not translated yet.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::prose;

const HOST: &str = "handbook.test";
const CHAPTERS: u64 = 6;

/// Returns a chapter: its text is the English one in every edition, but for a sentence.
fn chapter(number: u64, sentence: &str) -> Reply {
    chapter_in("en", number, sentence)
}

fn chapter_in(language: &str, number: u64, sentence: &str) -> Reply {
    let text = prose(number, 800);
    Reply::html(format!(
        "<html lang={language}><head><title>Chapter {number}</title></head>\
         <body><h1>Chapter {number}</h1><p>{text}</p><p>{sentence}</p></body></html>"
    ))
}

/// The Danish and the French edition come first, since their indexes are seeds, and the English
/// index is linked by a chapter.
fn handbook() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let path = request.path();
        let index = |folder: &str, further: &str| {
            let links = (1..=CHAPTERS).map(|number| format!("<a href={number}>{number}</a> "));
            let links: String = links.collect();
            Reply::html(format!("<title>{folder}</title>{links}{further}"))
        };
        match path.trim_start_matches('/').split_once('/') {
            Some(("da-DK", "")) => index("da-DK", "<a href=/en-US/>English</a>"),
            Some(("fr-FR", "")) => index("fr-FR", ""),
            Some(("en-US", "")) => index("en-US", "<a href=/nb-NO/>Norsk</a>"),
            Some(("nb-NO", "")) => index("nb-NO", "<a href=/de-DE/>Deutsch</a>"),
            Some(("de-DE", "")) => index("de-DE", ""),
            Some((edition, number)) => match (edition, number.parse()) {
                ("da-DK", Ok(number)) => chapter(number, "Oversat i dag"),
                ("fr-FR", Ok(number)) => chapter(number, "Traduit hier"),
                ("en-US", Ok(number)) => chapter(number, "Not translated"),
                ("nb-NO", Ok(number)) => {
                    chapter(number, &format!("Not translated {}", prose(99, 90)))
                }
                ("de-DE", Ok(number)) => chapter_in("de", number, "Halb ins Deutsche gebracht"),
                _ => Reply::status(404),
            },
            None => Reply::status(404),
        }
    }))
}

/// 71 of 127 pages of a handbook's English edition were left out as repeats of its Danish one.
#[test]
fn the_edition_in_the_language_of_its_text_is_the_original_even_if_it_comes_last() {
    let server = handbook();
    let seeds = ["/da-DK/", "/fr-FR/"].map(|path| server.url(HOST, path));
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--concurrency", "1", "--no-index"])
        .seeds(&seeds);
    crawl.complete();
    for number in 1..=CHAPTERS {
        let of = |edition: &str| crawl.visit(&server.url(HOST, &format!("/{edition}/{number}")));
        let english = of("en-US");
        assert_eq!(english["verdict"], "unique", "{english}");
        assert!(english["warc_file"].is_string(), "{english}");
        let reason = english["reason"].as_str().unwrap();
        assert!(reason.contains("language of its text"), "{reason}");
        let danish = of("da-DK");
        assert_eq!(danish["verdict"], "near-duplicate", "{danish}");
        assert_eq!(danish["duplicate_of"], english["url"]);
        assert_eq!(of("fr-FR")["verdict"], "near-duplicate");
        // The English edition was marked as contained in the first translation that came after it.
        assert_eq!(of("de-DE")["verdict"], "unique");
    }
    let verified = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
