//! Texts made from archived pages, as `conversion` records (section 6.8): the form of Common
//! Crawl's WET files.
//!
//! A file begins with a `warcinfo` record; each text is a record that names the page's record in
//! `WARC-Refers-To`, and its language in `WARC-Identified-Content-Language`, a field of Common
//! Crawl's (ISO 639-3). Each record is packed separately, as in our archives.
//!
//! Invariant: the id of a record follows from the record that it was made from and from its text,
//! so the same conversion has the same id in every export.

mod language_codes;

use std::io::{self, Write};
use std::path::Path;

use web::{Body, Timestamp};

use super::identity::RecordId;
use super::packing::Compression;
use super::record::{FIELDS, Header, RecordWriter, push_field};
use crate::digest::DigestAlgorithm;

/// The description of a file of conversions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionInfo<'a> {
    /// The program that writes it, "crawler/0.1.0".
    pub software: &'a str,
    /// The name of the file; omitted if empty.
    pub file: &'a str,
    /// A sentence about the texts.
    pub description: &'a str,
    /// The time of writing.
    pub date: Timestamp,
    /// Random number that makes the id of the `warcinfo` record differ from other files' ids.
    pub seed: u128,
}

/// A text made from an archived page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion<'a> {
    /// The URL of the page.
    pub target: &'a str,
    /// The time of the page's capture, as Common Crawl dates them.
    pub date: Timestamp,
    /// The id of the record with the page, with its angle brackets.
    pub refers_to: &'a str,
    /// The language, by ISO 639-1 or ISO 639-3.
    pub language: Option<&'a str>,
    /// The media type of the text.
    pub content_type: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Writes a file of conversions.
pub struct ConversionWriter<W: Write> {
    out: W,
    records: RecordWriter,
    warcinfo: RecordId,
}

impl<W: Write> ConversionWriter<W> {
    /// Begins a file with its `warcinfo` record.
    ///
    /// # Errors
    /// I/O errors of writing it.
    pub fn begin(
        mut out: W,
        info: &ConversionInfo<'_>,
        compression: &Compression,
    ) -> io::Result<Self> {
        out.write_all(&compression.preamble())?;
        let name = [&info.seed.to_le_bytes()[..], info.file.as_bytes()].concat();
        let warcinfo = RecordId::ROOT.name(&name);
        // A text fits into memory, so nothing is spooled.
        let records = RecordWriter::new(compression, DigestAlgorithm::Sha1, Path::new("."));
        let mut writer = Self {
            out,
            records,
            warcinfo,
        };
        let mut header = Header::new("warcinfo", warcinfo, info.date);
        let file = Some(info.file).filter(|file| !file.is_empty());
        header.optional_field("WARC-Filename", file);
        let mut block = Vec::new();
        for (name, value) in [
            ("software", info.software),
            ("format", "WARC File Format 1.1"),
            ("description", info.description),
        ] {
            push_field(&mut block, name, value);
        }
        writer.record(header, FIELDS, &block)?;
        Ok(writer)
    }

    /// Writes a text.
    ///
    /// # Errors
    /// I/O errors of writing it.
    pub fn write(&mut self, conversion: &Conversion<'_>) -> io::Result<()> {
        let digest = DigestAlgorithm::Sha1.of(conversion.text.as_bytes());
        let name = [conversion.refers_to.as_bytes(), digest.as_bytes()].concat();
        let id = RecordId::ROOT.name(&name);
        let mut header = Header::new("conversion", id, conversion.date);
        header.field("WARC-Target-URI", conversion.target);
        header.field("WARC-Warcinfo-ID", self.warcinfo);
        header.field("WARC-Refers-To", conversion.refers_to);
        let language = conversion.language.map(language_codes::of_three_letters);
        header.optional_field("WARC-Identified-Content-Language", language);
        self.record(header, conversion.content_type, conversion.text.as_bytes())
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// I/O errors of writing the rest.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn record(&mut self, header: Header, content_type: &str, block: &[u8]) -> io::Result<()> {
        self.records
            .record(header, content_type, block, &Body::default())?;
        let out = &mut self.out;
        self.records
            .members()
            .for_each_piece(|piece| out.write_all(piece))?;
        self.records.clear();
        Ok(())
    }
}
