//! The commands that read a crawl.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

const HOST: &str = "site.test";

/// One page of every kind, some still queued; one at a time, so that the result is always the same.
fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::pages([
        (
            "/robots.txt",
            Reply::text("User-agent: *\nDisallow: /closed"),
        ),
        (
            "/",
            page(
                0,
                &[
                    "/copy",
                    "/closed",
                    "/missing",
                    "/old",
                    "http://other.test/",
                    "/excluded",
                ],
            ),
        ),
        ("/copy", page(1, &["/more"])),
        ("/more", page(1, &["/more"])),
        ("/old", Reply::redirect(302, "/new")),
        ("/new", page(3, &["/deep"])),
        ("/deep", page(4, NONE)),
    ]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let crawl = crawl.with(&[
        "--tries=1",
        "--exclude=/excluded",
        "--max-depth=2",
        "--max-pages-per-host=4",
        "--concurrency=1",
    ]);
    crawl.complete();
    (server, crawl)
}

/// The columns of the contract, in order.
const COLUMNS: [&str; 34] = [
    "url",
    "final_url",
    "status",
    "fetched_at",
    "depth",
    "via",
    "content_type",
    "bytes",
    "charset",
    "language",
    "title",
    "verdict",
    "duplicate_of",
    "distance",
    "resemblance",
    "fingerprint",
    "reason",
    "warc_file",
    "warc_offset",
    "kind",
    "canonical",
    "duration_ms",
    "words",
    "redirects",
    "digest",
    "relevance",
    "truncated",
    "language_confidence",
    "needs_scripts",
    "rendered",
    "ai_train",
    "ai_input",
    "search",
    "preference_source",
];

#[test]
fn export_has_the_columns_of_the_contract_in_its_order() {
    let (_server, crawl) = crawled();
    let jsonl = crawl
        .run_command(&["export", "crawl", "--format", "jsonl"])
        .output;
    for line in jsonl.lines() {
        let places: Vec<Option<usize>> = COLUMNS
            .iter()
            .map(|name| line.find(&format!("\"{name}\":")))
            .collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{line}"
        );
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row.as_object().unwrap().len(), COLUMNS.len());
    }
    let csv = crawl
        .run_command(&["export", "crawl", "--format", "csv"])
        .output;
    assert_eq!(csv.lines().next().unwrap(), COLUMNS.join(","));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let from_csv: Vec<String> = reader
        .records()
        .map(|record| record.unwrap()[0].to_owned())
        .collect();
    let from_json: Vec<String> = crawl
        .visits()
        .iter()
        .map(|visit| visit["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(from_csv, from_json);
}

#[test]
fn the_signature_of_each_page_that_was_kept_is_exported_with_its_fingerprint() {
    let (_server, crawl) = crawled();
    let signatures = crawl.json_lines(&["export", "crawl", "--signatures"]);
    let kept = crawl.visits();
    let kept = kept.iter().filter(|visit| visit["verdict"] == "unique");
    let expected: Vec<_> = kept
        .map(|visit| (&visit["url"], &visit["fingerprint"]))
        .collect();
    let found: Vec<_> = signatures
        .iter()
        .map(|visit| (&visit["url"], &visit["fingerprint"]))
        .collect();
    assert!(expected.len() > 1);
    assert_eq!(found, expected);
    for row in &signatures {
        for (list, length) in [("minima", 16), ("bands", 8), ("bag", 8)] {
            assert_eq!(row[list].as_array().unwrap().len(), length, "{list}: {row}");
        }
    }
}

#[test]
fn export_has_everything_known_about_a_page() {
    let (server, crawl) = crawled();
    let visit = crawl.visit(&server.url(HOST, "/old"));
    let sent = server.log().body(HOST, "/new").unwrap().len()
        + server.log().body(HOST, "/old").unwrap().len();
    for (name, value) in [
        ("final_url", serde_json::json!(server.url(HOST, "/new"))),
        ("status", 200.into()),
        ("depth", 1.into()),
        ("via", server.url(HOST, "/").into()),
        ("content_type", "text/html".into()),
        ("bytes", sent.into()),
        ("charset", "UTF-8".into()),
        ("title", "Page 3".into()),
        ("verdict", "unique".into()),
        ("duplicate_of", serde_json::Value::Null),
    ] {
        assert_eq!(visit[name], value, "{name} in {visit}");
    }
    let at = visit["fetched_at"].as_str().unwrap();
    assert!(
        at.len() == 24 && at.ends_with('Z') && at.as_bytes()[10] == b'T',
        "{at}"
    );
    assert_eq!(visit["fingerprint"].as_str().unwrap().len(), 16);
}

#[test]
fn export_writes_to_a_file() {
    let (_server, crawl) = crawled();
    let run = crawl.run_command(&["export", "crawl", "--output", "rows.jsonl"]);
    assert_eq!((run.code, run.output.as_str()), (Some(0), ""));
    let written = std::fs::read_to_string(crawl.directory().join("rows.jsonl")).unwrap();
    assert_eq!(written, crawl.run_command(&["export", "crawl"]).output);
    crawl
        .run_command(&["export", "crawl", "--output", "no/such/place"])
        .assert_error(2, "no/such/place");
    crawl
        .run_command(&["export", "crawl", "--output", "/dev/full"])
        .assert_error(2, "/dev/full");
}

#[test]
fn why_names_the_rule_that_decided() {
    let (server, crawl) = crawled();
    for (url, verdict, words) in [
        (server.url(HOST, "/"), "unique", "its content is new"),
        (
            server.url(HOST, "/more"),
            "exact-duplicate",
            "the same bytes",
        ),
        (server.url(HOST, "/closed"), "excluded", "robots.txt"),
        (server.url(HOST, "/missing"), "failed", "404"),
        (server.url(HOST, "/old"), "unique", "its content is new"),
        (server.url(HOST, "/new"), "redirect-target", "/old"),
        (server.url(HOST, "/deep"), "queued", "2 links from a seed"),
        (server.url(HOST, "/excluded"), "not-queued", "exclude"),
        ("http://other.test/".to_owned(), "not-queued", "scope host"),
        (
            server.url(HOST, "/never-stderr-of"),
            "not-queued",
            "no page",
        ),
    ] {
        let answer = crawl.run_command(&["why", "crawl", &url]).json();
        assert_eq!(
            (&answer["url"], &answer["verdict"]),
            (&url.as_str().into(), &verdict.into()),
            "{answer}"
        );
        assert!(
            answer["reason"].as_str().unwrap().contains(words),
            "{answer}"
        );
    }
}

#[test]
fn why_shows_the_original_beside_a_duplicate() {
    let (server, crawl) = crawled();
    let (copy, original) = (server.url(HOST, "/more"), server.url(HOST, "/copy"));
    let answer = crawl.run_command(&["why", "crawl", &copy]).json();
    assert_eq!(answer["page"]["duplicate_of"], original);
    assert_eq!(answer["original"]["url"], original);
    assert_eq!(answer["original"]["verdict"], "unique");
    let table = crawl
        .run_command(&["why", "crawl", &copy, "--format", "table"])
        .output;
    assert!(table.contains(&original), "{table}");
}

#[test]
fn status_counts_as_the_summary_does() {
    let (_server, crawl) = crawled();
    let (status, summary) = (
        crawl.run_command(&["status", "crawl"]).json(),
        crawl.complete(),
    );
    for name in [
        "pages",
        "unique",
        "exact_duplicates",
        "near_duplicates",
        "failed",
        "excluded",
        "bytes",
        "hosts",
    ] {
        assert_eq!(status[name], summary[name], "{name}: {status} {summary}");
    }
    assert_eq!(status["queued"], 1);
    let table = crawl
        .run_command(&["status", "crawl", "--format", "table"])
        .output;
    assert!(table.contains("exact duplicates"), "{table}");
}

#[test]
fn the_summary_has_the_keys_of_the_contract() {
    let (_server, crawl) = crawled();
    let summary = crawl.complete();
    let mut keys: Vec<&str> = summary
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    let mut contract = [
        "finished",
        "pages",
        "unique",
        "exact_duplicates",
        "near_duplicates",
        "changed",
        "failed",
        "excluded",
        "skipped",
        "bytes",
        "hosts",
        "seconds",
        "pages_per_second",
        "kept_duplicates",
        "queued",
        "repeated_shells",
        "rendered",
        "needs_scripts",
        "not_modified",
        "private_addresses",
        "links_nofollow",
        "links_of_other_dates",
        "links_too_many",
        "retries",
        "statuses",
        "types",
        "unreachable",
        "unreachable_hosts",
    ];
    contract.sort_unstable();
    assert_eq!(keys, contract);
    assert_eq!(
        (
            &summary["pages"],
            &summary["unique"],
            &summary["exact_duplicates"]
        ),
        (&4.into(), &3.into(), &1.into())
    );
    assert_eq!(
        (&summary["failed"], &summary["excluded"], &summary["hosts"]),
        (&1.into(), &1.into(), &1.into())
    );
}

#[test]
fn verify_reports_a_sound_crawl_in_one_line() {
    let (_server, crawl) = crawled();
    let run = crawl.run_command(&["verify", "crawl", "--format", "table"]);
    assert_eq!(
        (run.code, run.output.lines().count(), run.errors.as_str()),
        (Some(0), 1, ""),
        "{run:?}"
    );
    let report = crawl.run_command(&["verify", "crawl"]).json();
    assert_eq!(
        (&report["agrees"], &report["pages"]),
        (&true.into(), &4.into())
    );
}

#[test]
fn verify_finds_a_changed_byte_anywhere_in_the_archive() {
    let (_server, crawl) = crawled();
    let file = crawl.archive_files().remove(0);
    let whole = std::fs::read(&file).unwrap();
    // Time, level and system in the head of a gzip member (RFC 1952, section 2.3.1) say nothing of
    // its content: their change is not reported.
    let is_head = |bytes: &[u8]| bytes.starts_with(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    let unread = |place: usize| (3..10).any(|behind| is_head(&whole[place - behind..]));
    for share in 1..12 {
        let place = whole.len() * share / 12;
        let place = if unread(place) { place + 7 } else { place };
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let run = crawl.run_command(&["verify", "crawl", "--format", "table"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(
            run.output
                .contains(&*file.file_name().unwrap().to_string_lossy()),
            "{run:?}"
        );
    }
    std::fs::write(&file, whole).unwrap();
    crawl.is_sound();
}

#[test]
fn verify_finds_missing_files() {
    let (_server, crawl) = crawled();
    let file = crawl.archive_files().remove(0);
    let whole = std::fs::read(&file).unwrap();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    std::fs::write(&file, &whole[..whole.len() - 40]).unwrap();
    assert_eq!(crawl.run_command(&["verify", "crawl"]).code, Some(1));
    std::fs::remove_file(&file).unwrap();
    let run = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    assert_eq!(report["agrees"], false);
    assert!(
        report["findings"][0].as_str().unwrap().contains(&name),
        "{report}"
    );
    std::fs::remove_dir_all(crawl.out().join("archive")).unwrap();
    let run = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(!run.errors.contains("panic"), "{run:?}");
}

#[test]
fn verify_finds_a_damaged_journal() {
    let (_server, crawl) = crawled();
    let journal = std::fs::read_dir(crawl.out().join("state/journal"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&journal, bytes).unwrap();
    crawl
        .run_command(&["verify", "crawl"])
        .assert_error(1, "damaged");
}

#[test]
fn reading_commands_change_nothing() {
    let (server, crawl) = crawled();
    let asked = server.log().len();
    let rows = crawl.run_command(&["export", "crawl"]).output;
    for arguments in [
        &["status", "crawl"][..],
        &["verify", "crawl"],
        &["why", "crawl", "http://site.test/"],
    ] {
        assert_eq!(crawl.run_command(arguments).code, Some(0));
    }
    assert_eq!(crawl.run_command(&["export", "crawl"]).output, rows);
    assert_eq!(server.log().len(), asked);
}
