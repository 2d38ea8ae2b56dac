//! PDF files: their text, title and links, and files that harm their readers.

use serde_json::{Value, json};
use testkit::{Pdf, Reply, Server, Site, hostile_pdfs};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const HOST: &str = "site.test";

/// A word of the paper and of no other page.
const WORD: &str = "halibut";

/// A paper of two pages.
fn paper() -> Pdf {
    let pages = [format!("{WORD} {}", prose(1, 200)), prose(2, 200)];
    Pdf::of(&pages).title("Fish").link("/linked")
}

/// The text of the paper on one page, without its title and link.
fn copy_of_paper() -> Pdf {
    Pdf::of(&[format!("{WORD} {} {}", prose(1, 200), prose(2, 200))])
}

/// Serves these pages and a seed that links to all of them except `/linked`.
fn crawl(pages: Vec<(String, Reply)>, options: &[&str]) -> (Server, Crawl) {
    let paths = pages.iter().map(|(path, _)| path.as_str());
    let links = paths.filter(|path| *path != "/linked");
    let links: String = links.map(|path| format!("<a href={path}>x</a> ")).collect();
    let seed = ("/".to_owned(), Reply::html(html("", &links)));
    let server = Server::spawn_thread(Site::pages(pages.into_iter().chain([seed])));
    // One page at a time, so that the first of two like pages is the original.
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--concurrency", "1"])
        .with(options)
        .seeds(&[server.url(HOST, "/")]);
    (server, crawl)
}

fn paper_and_copy() -> (Server, Crawl) {
    let pdf = |pdf: Pdf| Reply::document("application/pdf", pdf.bytes());
    let pages = vec![
        ("/a.pdf".to_owned(), pdf(paper())),
        ("/b.pdf".to_owned(), pdf(copy_of_paper())),
        ("/linked".to_owned(), Reply::html(html("", &prose(3, 100)))),
    ];
    let (server, crawl) = crawl(pages, &[]);
    crawl.complete();
    (server, crawl)
}

fn urls(rows: &[Value]) -> Vec<&str> {
    rows.iter().filter_map(|row| row["url"].as_str()).collect()
}

#[test]
fn a_pdf_is_compared_by_its_text_and_its_links_are_followed() {
    let (server, crawl) = paper_and_copy();
    let paper = crawl.visit(&server.url(HOST, "/a.pdf"));
    assert_eq!(paper["verdict"], "unique", "{paper}");
    assert_eq!(
        (&paper["title"], &paper["language"]),
        (&json!("Fish"), &json!("en"))
    );
    let copy = crawl.visit(&server.url(HOST, "/b.pdf"));
    assert_eq!(copy["reason"], "the same text", "{copy}");
    assert_eq!(copy["duplicate_of"], paper["url"]);
    let linked = crawl.visit(&server.url(HOST, "/linked"));
    assert_eq!(
        (&linked["verdict"], &linked["via"]),
        (&json!("unique"), &paper["url"])
    );
    assert_eq!(crawl.complete()["not_read"], json!(null));
}

#[test]
fn the_text_of_a_pdf_is_found_and_exported_also_by_an_index_and_a_state_that_are_rebuilt() {
    let (server, crawl) = paper_and_copy();
    let paper = server.url(HOST, "/a.pdf");
    let is_found = || {
        assert_eq!(urls(&crawl.hits(WORD, &[])), [paper.as_str()]);
        assert_eq!(urls(&crawl.hits("title:fish", &[])), [paper.as_str()]);
        crawl.is_sound();
    };
    is_found();
    let texts = crawl.json_lines(&["export", "crawl", "--text"]);
    let text = texts.iter().find(|row| row["url"] == paper).unwrap();
    let expected = format!(
        "{WORD} {}\n{}",
        prose(1, 200).trim_end(),
        prose(2, 200).trim_end()
    );
    assert_eq!(text["text"].as_str().unwrap().trim_end(), expected);
    for command in [
        &["reindex", "crawl"][..],
        &["rebuild", "crawl", "--from-archive"],
    ] {
        let run = crawl.run_command(command);
        assert_eq!(run.code, Some(0), "{run:?}");
        is_found();
    }
}

#[test]
fn what_harms_a_reader_of_pdfs_is_archived_and_counted() {
    let paper = copy_of_paper().bytes();
    let parts = (1..paper.len())
        .step_by(paper.len() / 12)
        .map(|end| (format!("/part/{end}"), paper.slice(..end)));
    let hostile = hostile_pdfs().into_iter();
    let hostile = hostile.map(|(name, bytes)| (format!("/hostile/{name}"), bytes));
    let files: Vec<_> = hostile.chain(parts).collect();
    let pages = files.iter().map(|(path, bytes)| {
        // The first bytes tell that it is a PDF.
        (
            path.clone(),
            Reply::document("application/octet-stream", bytes.clone()),
        )
    });
    let (server, crawl) = crawl(pages.collect(), &["--on-duplicate", "keep"]);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], json!(files.len() + 1), "{summary}");
    assert_eq!(summary["failed"], 0, "{summary}");
    let unread = summary["not_read"]["pdf"].as_u64().unwrap();
    assert!(unread >= hostile_pdfs().len() as u64, "{summary}");
    for (name, reason) in [
        ("bomb", "takes too much time or memory"),
        ("password", "the PDF is encrypted"),
        ("nothing", "the PDF is damaged"),
    ] {
        let url = server.url(HOST, &format!("/hostile/{name}"));
        let why = crawl.run_command(&["why", "crawl", &url]);
        assert!(why.output.contains(reason), "{name}: {why:?}");
    }
    crawl.is_sound();
}

#[test]
fn a_pdf_that_is_cut_is_not_read() {
    let bytes = paper().bytes();
    let pages = vec![(
        "/a.pdf".to_owned(),
        Reply::document("application/pdf", bytes),
    )];
    let (server, crawl) = crawl(pages, &["--max-body", "2KiB"]);
    assert_eq!(crawl.complete()["not_read"], json!({ "pdf": 1 }));
    let why = crawl.run_command(&["why", "crawl", &server.url(HOST, "/a.pdf")]);
    assert!(why.output.contains("a PDF that is not whole"), "{why:?}");
}

#[test]
fn a_pdf_file_is_extracted_and_compared_by_its_text() {
    let crawl = Crawl::bare();
    crawl.write("a.pdf", paper().bytes());
    crawl.write("b.pdf", copy_of_paper().bytes());
    let extract = ["extract", "a.pdf", "--url", "http://site.test/a.pdf"];
    let found = crawl.run_command(&extract).json();
    assert_eq!(
        (&found["title"], &found["language"]),
        (&json!("Fish"), &json!("en"))
    );
    assert!(found["text"].as_str().unwrap().starts_with(WORD), "{found}");
    assert_eq!(found["links"][0]["url"], "http://site.test/linked");
    let duplicates = crawl.json_lines(&["dedup", "a.pdf", "b.pdf", "--format", "json"]);
    assert_eq!(duplicates.len(), 1, "{duplicates:?}");
    assert_eq!(duplicates[0]["document"], "b.pdf");
}
