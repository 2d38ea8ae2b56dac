//! The captures in an index of any program: CDXJ, or CDX, whose lines have columns.
//!
//! A first line ` CDX N b a m s k r M S V g` names the columns of CDX by letters
//! (<https://archive.org/web/researcher/cdx_file_format.php>). Without it, the first six are these.
//!
//! Invariant: a line that cannot be read is counted and skipped, and memory holds one line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use serde_json::{Map, Value};
use web::Timestamp;

use super::entry::{LineError, MAX_LINE};
use super::lines::CdxjReader;
use crate::digest::PayloadDigest;

/// Bytes that are read from a file at a time.
const CHUNK: usize = 64 << 10;

/// The first bytes of a gzip member (RFC 1952 section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The columns of CDX without a header: key, date, URL, media type, status, digest.
const COLUMNS: &str = "N b a m s k";

/// A capture of a page with its content, as an index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedCapture {
    /// Its URL, as written there.
    pub url: String,
    /// Its date, to the second.
    pub at: Timestamp,
    /// The digest of its payload; `None` if the index has none, or one of an unknown algorithm.
    pub digest: Option<PayloadDigest>,
}

/// A sequential reader of the captures in an index.
pub struct CaptureReader {
    lines: CdxjReader<Box<dyn BufRead + Send>>,
    columns: String,
    malformed: u64,
}

impl CaptureReader {
    /// Opens an index, which may be compressed by gzip.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(CHUNK, File::open(path)?);
        let is_packed = file.fill_buf()?.starts_with(&GZIP);
        let input: Box<dyn BufRead + Send> = match is_packed {
            true => Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(file))),
            false => Box::new(file),
        };
        Ok(Self {
            lines: CdxjReader::new(input),
            columns: COLUMNS.to_owned(),
            malformed: 0,
        })
    }

    /// Returns the number of lines so far that are not lines of an index.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Returns the next capture that represents a page with its content; `None` at the end.
    ///
    /// # Errors
    /// I/O errors of the file, and damage of its compression.
    pub fn next_capture(&mut self) -> io::Result<Option<IndexedCapture>> {
        while self.lines.read_line()? {
            let line = self.lines.line();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = match line.len() > MAX_LINE {
                true => "",
                false => std::str::from_utf8(line).unwrap_or_default(),
            };
            if let Some(columns) = line.strip_prefix(" CDX ") {
                columns.clone_into(&mut self.columns);
                continue;
            }
            if line.starts_with('!') {
                continue; // A header, or a duplicate that is not archived.
            }
            match Fields::of(line, &self.columns).map(Fields::capture) {
                Some(Ok(Some(capture))) => return Ok(Some(capture)),
                Some(Ok(None)) => {}
                Some(Err(_)) | None => self.malformed += 1,
            }
        }
        Ok(None)
    }
}

/// The fields of a line. A missing field is empty.
#[derive(Debug, Default)]
struct Fields {
    date: String,
    url: String,
    media: String,
    status: String,
    digest: String,
    method: String,
}

impl Fields {
    /// Returns the fields of a line; `None` if it is not a line of an index.
    fn of(line: &str, columns: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let (_key, date, rest) = (words.next()?, words.next()?, words.next()?);
        if rest.starts_with('{') {
            return Self::of_json(date, rest);
        }
        let mut fields = Self::default();
        for (column, value) in columns.split(' ').zip(line.split(' ')) {
            let field = match column {
                "b" => &mut fields.date,
                "a" => &mut fields.url,
                "m" => &mut fields.media,
                "s" => &mut fields.status,
                "k" => &mut fields.digest,
                _ => continue,
            };
            if value != "-" {
                value.clone_into(field);
            }
        }
        Some(fields)
    }

    fn of_json(date: &str, object: &str) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_str(object).ok()?;
        let text = |name: &str| match object.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        Some(Self {
            date: date.to_owned(),
            url: text("url"),
            media: text("mime"),
            status: text("status"),
            digest: text("digest"),
            method: text("method"),
        })
    }

    /// Returns the capture; `None` if it does not represent a page: a revisit, a redirect, a
    /// failure, or the response to another method than GET.
    ///
    /// # Errors
    /// [`LineError::Malformed`] without a date, [`LineError::Missing`] without a URL.
    fn capture(self) -> Result<Option<IndexedCapture>, LineError> {
        let at = timestamp(&self.date).ok_or(LineError::Malformed)?;
        if self.url.is_empty() {
            return Err(LineError::Missing("url"));
        }
        let has_content = match self.status.parse() {
            Ok(status) => matches!(status, 200..=299u16) && !matches!(status, 204..=206),
            Err(_missing) => true,
        };
        let is_of_get = self.method.is_empty() || self.method.eq_ignore_ascii_case("GET");
        if !has_content || !is_of_get || self.media == "warc/revisit" {
            return Ok(None);
        }
        // CDX, and CDXJ of older tools, have SHA-1 without a label.
        let digest = PayloadDigest::parse(&self.digest)
            .or_else(|| PayloadDigest::parse(&format!("sha1:{}", self.digest)));
        Ok(Some(IndexedCapture {
            url: self.url,
            at,
            digest,
        }))
    }
}

/// Returns the time in fourteen or more digits, in UTC.
fn timestamp(digits: &str) -> Option<Timestamp> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const DIGEST: &str = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

    fn read(bytes: &[u8]) -> (Vec<IndexedCapture>, u64) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        std::fs::write(&path, bytes).unwrap();
        let mut reader = CaptureReader::open(&path).unwrap();
        let mut captures = Vec::new();
        while let Some(capture) = reader.next_capture().unwrap() {
            captures.push(capture);
        }
        (captures, reader.malformed())
    }

    fn cdxj(fields: &str) -> String {
        format!("com,a)/ 20260102030405 {{\"url\": \"http://a.com/\", {fields}}}\n")
    }

    #[test]
    fn a_capture_has_the_same_fields_in_cdxj_and_in_cdx_with_any_columns() {
        let expected = IndexedCapture {
            url: "http://a.com/".to_owned(),
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
            digest: PayloadDigest::parse(&format!("sha1:{DIGEST}")),
        };
        for text in [
            cdxj(&format!(
                "\"status\": \"200\", \"digest\": \"sha1:{DIGEST}\""
            )),
            cdxj(&format!("\"status\": 200, \"digest\": \"{DIGEST}\"")),
            format!("com,a)/ 20260102030405 http://a.com/ text/html 200 {DIGEST} - - 9 7 a.gz\n"),
            format!("com,a)/ 20260102030405 http://a.com/ text/html 200 {DIGEST} 7 a.gz\r\n"),
            format!(" CDX N k b a s\ncom,a)/ {DIGEST} 20260102030405 http://a.com/ -\n"),
        ] {
            assert_eq!(read(text.as_bytes()), (vec![expected.clone()], 0), "{text}");
            let mut packed = Vec::new();
            for line in text.split_inclusive('\n') {
                let mut member = GzEncoder::new(Vec::new(), Compression::fast());
                member.write_all(line.as_bytes()).unwrap();
                packed.extend(member.finish().unwrap());
            }
            assert_eq!(read(&packed), (vec![expected.clone()], 0), "packed: {text}");
        }
    }

    #[test]
    fn captures_without_the_content_of_a_page_are_skipped() {
        for fields in [
            "\"status\": \"302\"",
            "\"status\": \"404\"",
            "\"status\": \"204\"",
            "\"status\": \"206\"",
            "\"mime\": \"warc/revisit\", \"status\": \"200\"",
            "\"status\": \"200\", \"method\": \"POST\"",
        ] {
            assert_eq!(read(cdxj(fields).as_bytes()), (Vec::new(), 0), "{fields}");
        }
        assert_eq!(read(b"!meta 0 {}\n!duplicate:com,a)/ 2026 {}\n").1, 0);
    }

    #[test]
    fn lines_that_are_not_of_an_index_are_counted() {
        let long = "x".repeat(MAX_LINE + 1);
        let text = format!(
            "no line\ncom,a)/ soon {{\"url\": \"http://a.com/\"}}\ncom,a)/ 20260102030405 {{\n\
             com,a)/ 20260102030405 {{}}\n{long}\n{}",
            cdxj("\"digest\": \"md5:ABC\"")
        );
        let (captures, malformed) = read(text.as_bytes());
        assert_eq!((captures.len(), malformed), (1, 5));
        assert_eq!(captures[0].digest, None, "of an unknown algorithm");
    }

    #[test]
    fn a_damaged_compression_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        std::fs::write(&path, [0x1f, 0x8b, 9, 9, 9]).unwrap();
        assert!(CaptureReader::open(&path).unwrap().next_capture().is_err());
    }
}
