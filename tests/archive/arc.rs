//! ARC files as the commands on archives read them.

use super::foreign_archives::titles;
use crate::support::foreign_warc::gzip;
use crate::support::{Crawl, json_lines};

/// ARC files, which archives before 2009 are, were refused by every command.
#[test]
fn arc_files_are_read_or_refused_with_the_remedy() {
    let crawl = Crawl::bare();
    let arc = |url: &str, media: &str, block: &str| {
        let length = block.len();
        format!("{url} 192.0.2.1 20080430204825 {media} {length}\n{block}\n")
    };
    let page = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    let records = [
        arc("filedesc://old.arc", "text/plain", "1 0 InternetArchive\n"),
        arc(
            "http://toy.test/one",
            "text/html",
            &page("<title>One</title>same"),
        ),
        arc("dns:toy.test", "text/dns", "20080430204825\n192.0.2.1\n"),
        arc(
            "http://toy.test/a b",
            "text/html",
            &page("<title>One</title>same"),
        ),
    ];
    crawl.write("old.arc", records.concat());
    let packed: Vec<u8> = records
        .iter()
        .flat_map(|one| gzip(one.as_bytes()))
        .collect();
    crawl.write("OLD.ARC.GZ", packed);
    for name in ["old.arc", "OLD.ARC.GZ"] {
        let run = crawl.run_command(&["extract", name]);
        let expected = [
            ("http://toy.test/one", "same"),
            ("http://toy.test/a b", "same"),
        ];
        assert_eq!(titles(&json_lines(&run.output)), expected, "{run:?}");
        assert_eq!((run.code, &*run.errors), (Some(0), ""), "{run:?}");
        let run = crawl.run_command(&["dedup", name, "--format", "json"]);
        assert_eq!(run.errors, "2 documents: 1 repeats an earlier one\n");
        let index = crawl.run_command(&["index", name]);
        assert_eq!(index.code, Some(0), "{index:?}");
        assert!(
            index.output.contains("test,toy)/a%20b 20080430204825 "),
            "{index:?}"
        );
        let site = format!("site-{name}");
        let run = crawl.run_command(&["unpack", name, "--output", &site]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let written = crawl.directory().join(site).join("toy.test/one.html");
        assert!(std::fs::read_to_string(written).unwrap().contains("same"));
        for refused in [
            &["wacz", name, "--output", "old.wacz"][..],
            &["dedup", name, "--keep", "kept.arc"],
        ] {
            let run = crawl.run_command(refused);
            assert_eq!(run.code, Some(2), "{run:?}");
            assert!(run.errors.contains("warcio recompress"), "{run:?}");
        }
    }
    let run = crawl.run_command(&["index", "."]);
    assert_eq!(run.output.matches("test,toy)/one").count(), 2, "{run:?}");
}

/// A length of ARC is the only sign of the end of a record, and archivers wrote wrong ones.
#[test]
fn an_arc_record_whose_length_is_far_off_is_reported_and_costs_no_other() {
    let body = format!("HTTP/1.1 200 OK\r\n\r\n{}", "text\n".repeat(100));
    let arc = |name: &str, length: usize| {
        format!("http://toy.test/{name} 192.0.2.1 20080430204825 text/html {length}\n{body}\n")
    };
    for false_length in [body.len() - 100, body.len() + 100, body.len() + 10_000, 0] {
        let crawl = Crawl::bare();
        let records = [
            ("one", body.len()),
            ("two", false_length),
            ("three", body.len()),
        ];
        let records = records.map(|(name, length)| arc(name, length));
        crawl.write("plain.arc", records.concat());
        let packed: Vec<u8> = records
            .iter()
            .flat_map(|one| gzip(one.as_bytes()))
            .collect();
        crawl.write("packed.arc.gz", packed);
        for name in ["plain.arc", "packed.arc.gz"] {
            let run = crawl.run_command(&["extract", name]);
            let lines = json_lines(&run.output);
            let urls: Vec<&str> = titles(&lines).iter().map(|(url, _)| *url).collect();
            assert_eq!(
                urls,
                ["http://toy.test/one", "http://toy.test/three"],
                "{run:?}"
            );
            assert_eq!(run.code, Some(2), "{false_length}: {run:?}");
            assert!(
                run.errors.contains(&format!("{name}: record 2 at offset")),
                "{run:?}"
            );
            let run = crawl.run_command(&["index", name]);
            assert_eq!(run.code, Some(1), "{run:?}");
        }
    }
}
