//! `crawler export --text`: the texts of kept pages as JSON lines, Parquet and WET.

use std::collections::BTreeMap;
use std::io::Read;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use sinks::PayloadDigest;
use sinks::warc::WarcStream;
use testkit::{Reply, Server, Site};

use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl, json_lines};

const HOST: &str = "site.test";

/// Twenty-one English words in two lines that end like sentences.
const VERSE: &str = "<p>The owl and the pussycat went to sea in a pea green boat.</p>\
                     <p>They took some honey and plenty of money.</p>";

/// A page with a frame, and a main content of a hundred words and more.
fn article(head: &str, main: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en-GB\"><head>{head}</head><body>\
         <nav><ul><li><a href=\"/\">Home</a></li><li><a href=\"/b\">Frame</a></li></ul></nav>\
         <main>{main}</main><footer>Frame</footer></body></html>\n"
    )
}

fn first_page() -> String {
    article(
        "<title>Owls &amp; boats</title>",
        &format!(
            "<h1>Owls</h1>{VERSE}<h2>More</h2><ul><li>a <b>bold</b> item</li>\
             <li>a <a href=\"/b\">link</a> of it</li></ul><p>{}</p>{VERSE}\
             <a href=\"/moved\">moved</a> <a href=\"/copy\">copy</a> \
             <a href=\"/picture\">picture</a>",
            prose(1, 80)
        ),
    )
}

fn site() -> Site {
    Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\n"),
        "/" => Reply::html(first_page()),
        "/copy" => Reply::html(first_page().replace("<footer>Frame", "<footer>Another")),
        "/moved" => Reply::redirect(301, "/new"),
        "/new" => Reply::html(article(
            "<title>New</title>",
            &format!("<p>{}</p>", prose(2, 120)),
        )),
        "/picture" => Reply::document("image/png", b"\x89PNG\r\n\x1a\n\0\0".to_vec()),
        "/b" => Reply::text(format!("A plain text.\n\n{}", prose(3, 100))),
        _ => Reply::status(404),
    })
}

fn crawled(more: &[&str]) -> (Server, Crawl) {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--concurrency=1"])
        .with(more);
    crawl.complete();
    (server, crawl)
}

fn done(crawl: &Crawl, arguments: &[&str]) -> String {
    let run = crawl.run_command(&[&["export", "crawl", "--text"], arguments].concat());
    assert_eq!((run.code, &*run.remarks()), (Some(0), ""), "{run:?}");
    run.output
}

/// Exports the texts as Markdown files in `notes/`.
fn done_files(crawl: &Crawl) -> CommandOutput {
    let run = crawl.run_command(&[
        "export",
        "crawl",
        "--text",
        "--markdown",
        "--output",
        "notes/",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

fn row_of<'r>(rows: &'r [Value], url: &str) -> &'r Value {
    let mut found = rows.iter().filter(|row| row["url"] == url);
    let row = found.next().unwrap_or_else(|| panic!("{url} in {rows:?}"));
    assert!(found.next().is_none(), "{url} twice");
    row
}

#[test]
fn each_kept_page_is_a_row_with_its_text_and_its_figures() {
    let (server, crawl) = crawled(&[]);
    let rows = json_lines(&done(&crawl, &[]));
    let home = server.url(HOST, "/");
    let row = row_of(&rows, &home);
    let verse = "The owl and the pussycat went to sea in a pea green boat.\n\
                 They took some honey and plenty of money.";
    let prose = prose(1, 80);
    let text = format!(
        "Owls\n{verse}\nMore\na bold item\na link of it\n{}\n{verse}",
        prose.trim_end()
    );
    assert!(row["text"].as_str().unwrap().starts_with(&text), "{row}");
    assert!(!row["text"].as_str().unwrap().contains("Frame"), "{row}");
    assert_eq!(row["final_url"], home);
    assert_eq!(row["language"], "en");
    assert_eq!(row["title"], "Owls & boats");
    assert_eq!(row["fetched_at"], crawl.visit(&home)["fetched_at"]);
    let digest = PayloadDigest::of(first_page().as_bytes()).to_string();
    assert_eq!(row["digest"], digest);
    assert_eq!(row["cluster"], home);
    // Four lines of the verse, two headings, two items and the prose. A line of links is none.
    let words = row["words"].as_u64().unwrap();
    assert_eq!(words, 1 + 21 + 1 + 3 + 4 + 80 + 21, "{row}");
    assert_eq!(row["duplicate_lines"], 2.0 / 9.0);
    assert_eq!(row["punctuated_lines"], 4.0 / 9.0);
    assert_eq!(row["short_lines"], 4.0 / 9.0);
    assert!(row["stop_words"].as_f64().unwrap() > 0.1, "{row}");
    assert!(row["duplicate_5_grams"].as_f64().unwrap() > 0.05, "{row}");

    // A redirect has the URL that was queued and that of the page; a text is as it was sent.
    let moved = row_of(&rows, &server.url(HOST, "/moved"));
    assert_eq!(moved["final_url"], server.url(HOST, "/new"));
    let plain = row_of(&rows, &server.url(HOST, "/b"));
    assert!(
        plain["text"]
            .as_str()
            .unwrap()
            .starts_with("A plain text.\n\n")
    );
    // A copy that was not archived has no row, nor has a picture.
    assert_eq!(rows.len(), 3, "{rows:?}");
}

#[test]
fn markdown_has_the_structure_of_the_main_content() {
    let (server, crawl) = crawled(&[]);
    let rows = json_lines(&done(&crawl, &["--markdown"]));
    let text = row_of(&rows, &server.url(HOST, "/"))["text"]
        .as_str()
        .unwrap();
    let expected = format!(
        "# Owls\n\nThe owl and the pussycat went to sea in a pea green boat.\n\n\
         They took some honey and plenty of money.\n\n## More\n\n- a **bold** item\n\
         - a [link]({}) of it\n\n",
        server.url(HOST, "/b")
    );
    assert!(text.starts_with(&expected), "{text}");
    let plain = row_of(&rows, &server.url(HOST, "/b"))["text"]
        .as_str()
        .unwrap();
    assert!(plain.starts_with("A plain text.\n\n"), "{plain}");
}

#[test]
fn kept_copies_have_rows_if_they_are_asked_for() {
    let (server, crawl) = crawled(&["--on-duplicate=keep"]);
    let copy = server.url(HOST, "/copy");
    assert_eq!(json_lines(&done(&crawl, &[])).len(), 3);
    let rows = json_lines(&done(&crawl, &["--duplicates"]));
    assert_eq!(rows.len(), 4);
    assert_eq!(row_of(&rows, &copy)["cluster"], server.url(HOST, "/"));
}

#[test]
fn a_parquet_file_has_the_rows_of_the_json_lines() {
    let (_server, crawl) = crawled(&[]);
    let lines = json_lines(&done(&crawl, &[]));
    done(
        &crawl,
        &["--format", "parquet", "--output", "corpus.parquet"],
    );
    done(&crawl, &["--format", "parquet", "--output", "parts/"]);
    for name in ["corpus.parquet", "parts/part-00000.parquet"] {
        let file = std::fs::File::open(crawl.directory().join(name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let read: Vec<BTreeMap<String, Value>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                let columns = row.unwrap().into_columns().into_iter();
                columns.map(|(name, field)| (name, json(&field))).collect()
            })
            .collect();
        assert_eq!(read.len(), lines.len());
        for (read, line) in read.iter().zip(&lines) {
            let line = line.as_object().unwrap();
            assert_eq!(read.len(), line.len());
            for (name, value) in line {
                match name.as_str() {
                    "fetched_at" => assert!(read[name].as_i64() > Some(1_700_000_000_000)),
                    _ => assert_eq!(read[name], *value, "{name}"),
                }
            }
        }
    }
    // Parts are continued: no new visit, no new part.
    done(
        &crawl,
        &["--format", "parquet", "--output", "parts/", "--resume"],
    );
    let run = crawl.run_command(&[
        "export",
        "crawl",
        "--text",
        "--markdown",
        "--format",
        "parquet",
        "--output",
        "parts/",
        "--resume",
    ]);
    run.assert_error(2, "its crawler.text differs from this export");
}

fn json(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.as_str().into(),
        Field::Double(share) => (*share).into(),
        Field::ULong(number) => (*number).into(),
        Field::TimestampMillis(at) => (*at).into(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_wet_file_has_a_conversion_of_each_page_and_dedup_reads_it() {
    let (server, crawl) = crawled(&["--on-duplicate=keep"]);
    let lines = json_lines(&done(&crawl, &["--duplicates"]));
    for name in ["corpus.warc.wet.gz", "corpus.warc.wet.zst", "corpus.wet"] {
        done(
            &crawl,
            &["--duplicates", "--format", "wet", "--output", name],
        );
        let mut stream = WarcStream::open(&crawl.directory().join(name)).unwrap();
        let info = stream.next_record(1 << 20).unwrap().unwrap();
        assert_eq!(
            (info.kind(), info.field("WARC-Filename")),
            ("warcinfo", Some(name))
        );
        for line in &lines {
            let record = stream.next_record(1 << 20).unwrap().unwrap();
            assert_eq!(record.kind(), "conversion");
            assert!(record.digests_hold() && record.addressable);
            assert_eq!(record.target(), line["final_url"].as_str());
            assert_eq!(record.date(), line["fetched_at"].as_str().unwrap());
            assert_eq!(record.field("Content-Type"), Some("text/plain"));
            assert_eq!(record.block, line["text"].as_str().unwrap().as_bytes());
            let language = record.field("WARC-Identified-Content-Language");
            // The words of some pages are made up, and most like Tagalog.
            let expected = line["language"].as_str().map(|code| match code {
                "en" => "eng",
                "tl" => "tgl",
                other => other,
            });
            assert_eq!(language, expected);
            assert!(has_record(&crawl, record.field("WARC-Refers-To").unwrap()));
        }
        assert!(stream.next_record(1 << 20).unwrap().is_none());
        let run = crawl.run_command(&["dedup", name]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let found = run.json();
        assert_eq!(found["document"], server.url(HOST, "/copy"));
        assert_eq!(found["duplicate_of"], server.url(HOST, "/"));
    }
}

/// Returns true if the archive of a crawl has a response with this id.
fn has_record(crawl: &Crawl, id: &str) -> bool {
    let archive = std::fs::read_dir(crawl.out().join("archive")).unwrap();
    let files = archive.map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_string_lossy().ends_with(".warc.gz"))
        .any(|path| {
            let mut stream = WarcStream::open(&path).unwrap();
            std::iter::from_fn(|| stream.next_record(0).unwrap())
                .any(|record| record.id() == id && record.kind() == "response")
        })
}

#[test]
fn a_file_is_compressed_as_its_name_says() {
    let (_server, crawl) = crawled(&[]);
    let plain = done(&crawl, &[]);
    done(&crawl, &["--output", "a.jsonl.gz"]);
    done(&crawl, &["--output", "a.jsonl.zst"]);
    let read = |name: &str| std::fs::File::open(crawl.directory().join(name)).unwrap();
    let mut text = String::new();
    let mut gzip = flate2::read::GzDecoder::new(read("a.jsonl.gz"));
    gzip.read_to_string(&mut text).unwrap();
    assert_eq!(text, plain);
    assert_eq!(
        zstd::decode_all(read("a.jsonl.zst")).unwrap(),
        plain.as_bytes()
    );
    for (arguments, words) in [
        (
            &["--output", "a.jsonl.gz", "--resume"][..],
            "cannot append to",
        ),
        (
            &["--format", "wet", "--output", "a.wet", "--resume"],
            "cannot append to",
        ),
        (
            &["--format", "parquet", "--output", "a.gz"],
            "Parquet is already compressed",
        ),
        (&["--links"], "--text and --links are different tables"),
        (
            &["--sketches"],
            "--text and --sketches are different tables",
        ),
        (
            &["--signatures"],
            "--signatures and --text are different tables",
        ),
    ] {
        crawl
            .run_command(&[&["export", "crawl", "--text"], arguments].concat())
            .assert_error(2, words);
    }
    for option in [
        &["--markdown"][..],
        &["--chunks"],
        &["--duplicates"],
        &["--keep-boilerplate"],
        &["--format", "wet"],
    ] {
        crawl
            .run_command(&[&["export", "crawl"], option].concat())
            .assert_error(2, "requires --text");
    }
}

#[test]
fn a_directory_gets_a_markdown_file_with_front_matter_for_each_text() {
    let (server, crawl) = crawled(&[]);
    let run = done_files(&crawl);
    assert!(run.errors.contains("notes/: 3 texts"), "{run:?}");
    let rows = json_lines(&done(&crawl, &["--markdown"]));
    let notes = crawl.directory().join("notes");
    let hosts: Vec<_> = std::fs::read_dir(&notes).unwrap().collect();
    let [Ok(host)] = &hosts[..] else {
        panic!("{hosts:?}");
    };
    for (path, file) in [("/", "index.md"), ("/b", "b.md"), ("/moved", "moved.md")] {
        let row = row_of(&rows, &server.url(HOST, path));
        let written = std::fs::read_to_string(host.path().join(file)).unwrap();
        let (head, text) = written
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("---\n\n"))
            .unwrap();
        assert_eq!(text.trim_end(), row["text"].as_str().unwrap().trim_end());
        assert!(head.contains(&format!("url: {}\n", row["url"])), "{head}");
        let fetched_at = row["fetched_at"].as_str().unwrap();
        assert!(head.contains(&format!("fetched_at: {fetched_at}\n")));
        let title = format!("title: {}\n", row["title"]);
        assert_eq!(head.contains(&title), !row["title"].is_null(), "{head}");
    }
    crawl
        .run_command(&[
            "export",
            "crawl",
            "--text",
            "--markdown",
            "--output",
            "notes/",
        ])
        .assert_error(2, "exists and is not empty");
}

#[test]
fn chunks_are_the_sections_of_a_text_with_their_headings() {
    let (server, crawl) = crawled(&[]);
    let chunks = json_lines(&done(&crawl, &["--chunks"]));
    let home = server.url(HOST, "/");
    let of_home: Vec<&Value> = chunks.iter().filter(|row| row["url"] == home).collect();
    let headings: Vec<&Value> = of_home.iter().map(|row| &row["headings"]).collect();
    assert_eq!(headings, ["Owls", "Owls > More"]);
    assert_eq!(
        (&of_home[0]["chunk"], &of_home[1]["chunk"]),
        (&1.into(), &2.into())
    );
    let whole: String = of_home
        .iter()
        .map(|row| row["text"].as_str().unwrap())
        .collect();
    let rows = json_lines(&done(&crawl, &["--markdown"]));
    assert_eq!(whole, row_of(&rows, &home)["text"]);
    assert!(of_home.iter().all(|row| row["kind"] == "article"));
    let plain = chunks
        .iter()
        .find(|row| row["url"] == server.url(HOST, "/b"));
    assert_eq!(plain.unwrap()["headings"], Value::Null);
    crawl
        .run_command(&["export", "crawl", "--text", "--chunks", "--format", "wet"])
        .assert_error(2, "has no place for the headings");
}

/// Number of pages of [`crawl_with_slogan`].
const PAGES: u32 = 12;

/// Crawls pages that all begin and end with the same line.
fn crawl_with_slogan(more: &[&str]) -> (Server, Crawl) {
    let page = |number: u32, next: String| {
        format!(
            "<html><head><title>Page {number}</title></head><body><p>Small. Fast. Reliable.</p>\
             <h1>Part {number}</h1><p>{}</p>{next}<p>Thank you for all the fish.</p></body></html>",
            prose(number.into(), 120)
        )
    };
    let site = Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\n"),
        path => match path.trim_start_matches('/').parse::<u32>() {
            Ok(number) if number < PAGES => {
                let next = format!("<p><a href=/{0}>to {0}</a></p>", number + 1);
                Reply::html(page(number, next))
            }
            _ => Reply::status(404),
        },
    });
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--tries=1"])
        .with(more);
    crawl.complete();
    (server, crawl)
}

/// The manual of SQLite begins 622 of its 756 pages with a slogan that no page marks as
/// boilerplate: every text of a corpus began with it.
#[test]
fn lines_that_begin_or_end_many_texts_of_a_host_are_left_out() {
    let (_server, crawl) = crawl_with_slogan(&[]);
    for (arguments, shared) in [(&[][..], 0), (&["--keep-boilerplate"], PAGES as usize)] {
        for form in [&[][..], &["--markdown"]] {
            let rows = json_lines(&done(&crawl, &[arguments, form].concat()));
            assert_eq!(rows.len(), PAGES as usize);
            for line in ["Small. Fast. Reliable.", "Thank you for all the fish."] {
                let with = rows.iter().filter(|row| {
                    let text = row["text"].as_str().unwrap();
                    assert!(text.contains("Part "), "{text}");
                    text.contains(line)
                });
                assert_eq!(with.count(), shared, "{line} {arguments:?} {form:?}");
            }
        }
    }
}

/// Half of the pages do not show which lines they share. A file whose earlier rows would change is
/// not continued.
#[test]
fn a_file_is_not_continued_if_the_crawl_has_learned_other_shared_lines() {
    let (_server, crawl) = crawl_with_slogan(&["--max-pages=6"]);
    let kept = ["--keep-boilerplate", "--output", "kept.jsonl"];
    done(&crawl, &["--output", "texts.jsonl"]);
    done(&crawl, &kept);
    let crawl = crawl.with(&["--max-pages=100"]);
    crawl.complete();
    let run = crawl.run_command(&[
        "export",
        "crawl",
        "--text",
        "--output",
        "texts.jsonl",
        "--resume",
    ]);
    run.assert_error(2, "differs from this export");
    assert!(run.errors.contains("--text --keep-boilerplate"), "{run:?}");
    done(&crawl, &[&kept[..], &["--resume"]].concat());
    let rows = std::fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), PAGES as usize);
}

#[test]
fn fields_of_a_host_are_read_from_archived_pages_by_the_selectors_of_its_table() {
    let (server, crawl) = crawled(&[]);
    let file = crawl.out().join("crawler.toml");
    let mut settings = std::fs::read_to_string(&file).unwrap();
    settings.push_str("\n[host.\"site.test\"]\nfields = { first = \"li\", none = \".none\" }\n");
    std::fs::write(&file, settings).unwrap();
    let rows = json_lines(&done(&crawl, &[]));
    let fields = |path: &str| row_of(&rows, &server.url(HOST, path))["fields"].clone();
    assert_eq!(fields("/"), r#"{"first":"Home"}"#);
    assert_eq!(fields("/b"), Value::Null);
    done_files(&crawl);
    let note = crawl.directory().join("notes");
    let host = std::fs::read_dir(note).unwrap().next().unwrap().unwrap();
    let home = std::fs::read_to_string(host.path().join("index.md")).unwrap();
    assert!(home.contains("\nfields: {\"first\":\"Home\"}\n"), "{home}");
}

#[test]
fn an_export_of_texts_that_was_cut_is_completed_and_a_compressed_one_leaves_no_draft() {
    let (_server, crawl) = crawled(&[]);
    let whole = done(&crawl, &[]);
    for tenth in 0..10 {
        crawl.write("torn.part", &whole.as_bytes()[..whole.len() * tenth / 10]);
        done(&crawl, &["--output", "torn", "--resume"]);
        let torn = crawl.directory().join("torn");
        assert!(std::fs::read_to_string(&torn).unwrap() == whole, "{tenth}");
        std::fs::remove_file(torn).unwrap();
    }
    for name in ["full.jsonl.gz", "full.warc.wet.gz"] {
        let format = if name.contains("wet") { "wet" } else { "jsonl" };
        let arguments = [
            "export", "crawl", "--text", "--format", format, "--output", name,
        ];
        crawl
            .run_command_with_file_limit(1, &arguments)
            .assert_error(2, &format!("cannot write {name}"));
        assert!(!crawl.directory().join(format!("{name}.part")).exists());
        assert!(!crawl.directory().join(name).exists());
    }
}

#[test]
fn a_page_that_the_archive_lost_is_named_and_the_others_are_exported() {
    let (server, crawl) = crawled(&[]);
    let lost = server.url(HOST, "/b");
    let visit = crawl.visit(&lost);
    let file = crawl
        .out()
        .join("archive")
        .join(visit["warc_file"].as_str().unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    let at = visit["warc_offset"].as_u64().unwrap() as usize;
    bytes[at..at + 4].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let run = crawl.run_command(&["export", "crawl", "--text", "--output", "texts"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.errors.contains(&lost), "{run:?}");
    assert!(
        run.errors
            .contains("1 archived page cannot be read: their texts are missing"),
        "{run:?}"
    );
    let left = std::fs::read_to_string(crawl.directory().join("texts")).unwrap();
    assert_eq!(json_lines(&left).len(), 2);
}

/// The head of a page that states its fields in linked data, in `<meta>` and in a link.
const STATEMENTS: &str = r#"<title>Tides</title>
<meta property="og:site_name" content="The Harbour">
<meta property="og:image" content="/tide.png">
<meta name="description" content="How  high water comes.">
<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",
"author": [{"@type": "Person", "name": "Ada Lovelace"}, {"name": "Mary Somerville"}],
"datePublished": "1969-07-20T20:17:00Z", "dateModified": "March 4, 2026",
"keywords": ["tides", "moon"]}</script>"#;

#[test]
fn the_statements_of_a_page_about_itself_are_columns_and_its_dates_are_dates() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => Reply::html(article(
            STATEMENTS,
            &format!("<p>{}</p><a href=/plain>plain</a>", prose(1, 120)),
        )),
        "/plain" => Reply::html(article("", &format!("<p>{}</p>", prose(2, 120)))),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1"]);
    crawl.complete();
    let image = server.url(HOST, "/tide.png");
    let expected = [
        ("author", "Ada Lovelace; Mary Somerville"),
        ("published", "1969-07-20"),
        ("modified", "2026-03-04"),
        ("description", "How high water comes."),
        ("site", "The Harbour"),
        ("image", &image),
        ("type", "NewsArticle"),
        ("license", "https://creativecommons.org/licenses/by/4.0/"),
        ("tags", "tides; moon"),
    ];
    let rows = json_lines(&done(&crawl, &[]));
    let (stated, plain) = (server.url(HOST, "/"), server.url(HOST, "/plain"));
    for (column, value) in expected {
        assert_eq!(row_of(&rows, &stated)[column], value, "{column}");
        assert_eq!(row_of(&rows, &plain)[column], Value::Null, "{column}");
    }
    let csv = done(&crawl, &["--format", "csv"]);
    assert!(
        csv.contains(",Ada Lovelace; Mary Somerville,1969-07-20,2026-03-04,"),
        "{csv}"
    );
    done(
        &crawl,
        &["--format", "parquet", "--output", "texts.parquet"],
    );
    let file = std::fs::File::open(crawl.directory().join("texts.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let mut dates: Vec<Field> = Vec::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let published = row.get_column_iter().find(|(name, _)| *name == "published");
        dates.extend(published.map(|(_, value)| value.clone()));
    }
    assert_eq!(dates, [Field::Date(-165), Field::Null]);
}
