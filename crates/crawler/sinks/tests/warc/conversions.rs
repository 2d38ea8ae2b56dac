//! Texts as `conversion` records, the form of WET files.

use std::path::Path;

use sinks::warc::{
    Compression, Conversion, ConversionInfo, ConversionWriter, DigestCheck, Record, WarcStream,
};

use crate::fixtures::NOON;

const TEXT: &str = "Eine Zeile.\nNoch eine: \u{1f40c}";

fn written(compression: &Compression, texts: &[&str]) -> Vec<u8> {
    let info = ConversionInfo {
        software: "crawler/0.1.0",
        file: "a.warc.wet.gz",
        description: "main content\r\nof pages",
        date: NOON,
        seed: 7,
    };
    let mut writer = ConversionWriter::begin(Vec::new(), &info, compression).unwrap();
    for text in texts {
        writer
            .write(&Conversion {
                target: "http://site.test/a",
                date: NOON,
                refers_to: "<urn:uuid:00000000-0000-0000-0000-000000000001>",
                language: Some("de"),
                content_type: "text/plain",
                text,
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: Vec<u8>) -> Vec<Record> {
    let mut stream = WarcStream::new(Path::new("a.warc"), std::io::Cursor::new(bytes));
    let mut records = Vec::new();
    while let Some(record) = stream.next_record(1 << 20).unwrap() {
        assert_eq!(record.block_digest, DigestCheck::Holds);
        records.push(record);
    }
    assert_eq!(stream.deviations().seen().count(), 0);
    records
}

#[test]
fn a_file_of_conversions_has_the_bytes_that_are_documented() {
    let bytes = written(&Compression::None, &["Text."]);
    assert_eq!(
        String::from_utf8(bytes).unwrap().replace("\r\n", "\n"),
        include_str!("conversions.txt")
    );
}

#[test]
fn conversions_are_read_back_in_every_packing() {
    let long = "long ".repeat(500_000);
    for compression in [
        Compression::None,
        Compression::Gzip { level: 6 },
        Compression::Zstd {
            level: 3,
            dictionary: None,
        },
    ] {
        let records = read(written(&compression, &[TEXT, "", &long]));
        let kinds: Vec<&str> = records.iter().map(Record::kind).collect();
        assert_eq!(
            kinds,
            ["warcinfo", "conversion", "conversion", "conversion"]
        );
        assert_eq!(records[1].block, TEXT.as_bytes());
        assert_eq!(records[3].block_length, long.len() as u64);
        for record in &records[1..] {
            assert_eq!(record.target(), Some("http://site.test/a"));
            assert_eq!(
                record.field("WARC-Identified-Content-Language"),
                Some("deu")
            );
            assert_eq!(record.field("WARC-Warcinfo-ID"), Some(records[0].id()));
        }
    }
}

#[test]
fn the_same_text_of_a_page_has_the_same_id_and_another_text_another() {
    let ids = |text: &str| {
        let records = read(written(&Compression::None, &[text]));
        records[1].id().to_owned()
    };
    assert_eq!(ids("a"), ids("a"));
    assert_ne!(ids("a"), ids("b"));
}
