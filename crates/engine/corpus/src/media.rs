//! Recognition of a file's format by its first bytes and its name.
//!
//! Bytes decide if possible: JSON lines come as `part-00000`, `items.jl` and `/dev/fd/63`. Names
//! decide between text and HTML, and point out JSON lines and archives whose beginning is damaged.
//! A format other than text is refused by its name, because a picture or a comma-separated table
//! compared as text would match nothing and still be counted.
//!
//! Sources: MIME Sniffing standard, sections 5.2 and 6; Parquet file format; Arrow columnar format,
//! "IPC File Format" and "Encapsulated message format".

use std::path::Path;

use serde::de::IgnoredAny;
use sinks::warc::ArchiveFormat;

use crate::document::Refusal;
use crate::names::{is_named, is_wacz};

/// Bytes of a file that decide on its format.
pub(crate) const PEEKED_BYTES: u64 = 64 << 10;

/// Number of bytes that are searched for a zero byte, the mark of a binary file (MIME Sniffing
/// standard, section 5.2).
const SNIFFED_BYTES: usize = 1445;

/// Lines that are tried as JSON objects.
const TRIED_LINES: usize = 20;

/// Extensions of HTML.
const MARKUP: [&str; 3] = ["html", "htm", "xhtml"];

/// The marker before each message of an Arrow stream.
const ARROW_CONTINUATION: &[u8] = &[0xff; 4];

/// Maximum length of a schema message that is recognised as an Arrow stream, in bytes.
const MAX_ARROW_SCHEMA: u32 = 16 << 20;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON lines.
    JsonLines,
    /// A WARC file, also WET and WAT.
    Warc,
    /// An ARC file, whose records are read like WARC records.
    Arc,
    /// A package of WARC files.
    Wacz,
    /// A Parquet file.
    Parquet,
    /// A file in the file format of Arrow IPC; Feather 2 is the same.
    ArrowFile,
    /// A file in the streaming format of Arrow IPC.
    ArrowStream,
    /// A single document of this media type.
    Document(&'static str),
}

/// Signatures of binary formats: the offset, the bytes, and the name in messages. No sensible text
/// begins with them.
const SIGNATURES: [(usize, &[u8], &str); 34] = [
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"\0\0\x01\0", "an icon"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"PK\x03\x04", "a ZIP archive or an office document"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x04\x22\x4d\x18", "an LZ4 file"),
    (0, b"\x7fELF", "an executable or a library (ELF)"),
    (0, b"MZ\x90\0", "an executable or a library (Windows)"),
    (0, b"\xcf\xfa\xed\xfe", "an executable or a library (macOS)"),
    (0, b"\xca\xfe\xba\xbe", "a Java class or a macOS executable"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"FEA1", "a Feather file of version 1"),
    (0, b"OggS\0", "an Ogg file"),
    (0, b"fLaC\0", "a FLAC file"),
    (0, b"ID3\x02", "an MP3 file"),
    (0, b"ID3\x03", "an MP3 file"),
    (0, b"ID3\x04", "an MP3 file"),
    (8, b"WAVE", "a WAV file"),
    (4, b"ftyp", "an MP4 file"),
    (0, b"\x1a\x45\xdf\xa3", "a Matroska or WebM file"),
    (0, b"wOF", "a font"),
];

impl Format {
    /// Recognises a file by its name and its unpacked first [`PEEKED_BYTES`].
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn of(path: &Path, beginning: &[u8]) -> Result<Self, Refusal> {
        if is_wacz(path) {
            return Ok(Self::Wacz);
        }
        match sinks::warc::archive_format(beginning) {
            Some(ArchiveFormat::Warc) => return Ok(Self::Warc),
            Some(ArchiveFormat::Arc) => return Ok(Self::Arc),
            None if is_named(path, &["arc"]) => return Ok(Self::Arc),
            None if is_named(path, &["warc", "wet", "wat"]) => return Ok(Self::Warc),
            None => {}
        }
        if beginning.starts_with(b"PAR1") {
            return Ok(Self::Parquet);
        }
        if beginning.starts_with(b"ARROW1\0\0") {
            return Ok(Self::ArrowFile);
        }
        if begins_arrow_stream(beginning) {
            return Ok(Self::ArrowStream);
        }
        if let Some(name) = binary(beginning) {
            return Err(Refusal::foreign(format!("{name}, not a text")));
        }
        if is_json_lines(path, beginning)? {
            return Ok(Self::JsonLines);
        }
        if is_named(path, &["csv", "tsv"]) {
            let reason = "CSV is not supported: convert it to JSON lines or Parquet (`duckdb -c \
                \"copy 'FILE.csv' to 'FILE.parquet'\"`)";
            return Err(reason.to_owned().into());
        }
        Ok(Self::Document(media_type(path, beginning)))
    }

    /// Returns its name in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "JSON lines",
            Self::Warc => "WARC",
            Self::Arc => "ARC",
            Self::Wacz => "WACZ",
            Self::Parquet => "Parquet",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
            Self::Document(_) => "a text",
        }
    }
}

/// Recognises the schema message of an Arrow stream.
fn begins_arrow_stream(beginning: &[u8]) -> bool {
    let Some(rest) = beginning.strip_prefix(ARROW_CONTINUATION) else {
        return false;
    };
    let Some(length) = rest.first_chunk() else {
        return false;
    };
    let length = u32::from_le_bytes(*length);
    length > 0 && length <= MAX_ARROW_SCHEMA
}

/// Returns the name of a binary format, or a general name for an unknown one; `None` for a text.
fn binary(beginning: &[u8]) -> Option<&'static str> {
    let known = SIGNATURES.iter().find(|(offset, bytes, _)| {
        let rest = beginning.get(*offset..);
        rest.is_some_and(|rest| rest.starts_with(bytes))
    });
    if let Some((_, _, name)) = known {
        return Some(name);
    }
    let start = &beginning[..beginning.len().min(SNIFFED_BYTES)];
    let in_utf16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    (start.contains(&0) && !in_utf16).then_some("a binary file")
}

/// Returns true for JSON lines: by the name, or by a line that is a JSON object. A text of one line
/// is a text.
///
/// # Errors
/// It is named like JSON lines and is JSON of another form.
fn is_json_lines(path: &Path, beginning: &[u8]) -> Result<bool, String> {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let text = text.trim_ascii_start();
    let is_named_so = is_named(path, &["jsonl", "ndjson", "json", "jsonlines", "ldjson"]);
    if !is_named_so {
        if is_named(path, &MARKUP) {
            return Ok(false);
        }
        let is_text = is_named(path, &["txt", "text", "md"]);
        if has_objects(text, if is_text { 2 } else { 1 }) {
            return Ok(true);
        }
        if is_text || !is_json(text) {
            return Ok(false);
        }
    }
    let remedy = match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "JSON lines in UTF-16, not in UTF-8: convert them with `iconv -f UTF-16 -t UTF-8`"
        }
        [b'[', ..] => "a JSON array, not one JSON object per line: convert it with `jq -c '.[]'`",
        _ if is_object_over_lines(text) => {
            "a JSON object over several lines, not one per line: convert it with `jq -c .`"
        }
        _ => return Ok(is_named_so),
    };
    Err(remedy.to_owned())
}

/// Returns true for a text that is almost certainly JSON: an object with a name, or an array of
/// objects.
fn is_json(text: &[u8]) -> bool {
    let is_in_utf16 = matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let is_sign = |byte: &u8| !(byte.is_ascii_whitespace() || is_in_utf16 && *byte == 0);
    let from = if is_in_utf16 { 2 } else { 0 };
    let signs = text[from..].iter().copied().filter(is_sign).take(3);
    let signs: Vec<u8> = signs.collect();
    signs.starts_with(b"{\"") || signs.starts_with(b"[{\"")
}

/// Returns true if a text begins with an object, and one of its first lines is a JSON object; with
/// `least` lines at least. A line that is longer than the known beginning of the text may be one.
fn has_objects(text: &[u8], least: usize) -> bool {
    if !text.starts_with(b"{") {
        return false;
    }
    let is_object =
        |line: &[u8]| is_json(line) && serde_json::from_slice::<IgnoredAny>(line).is_ok();
    let lines: Vec<&[u8]> = text
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .take(TRIED_LINES)
        .collect();
    match lines[..] {
        [only] if text.len() as u64 >= PEEKED_BYTES / 2 => only.starts_with(b"{\""),
        _ => lines.len() >= least && lines.iter().any(|line| is_object(line)),
    }
}

fn is_object_over_lines(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| *byte == b'\n');
    let first = end
        .filter(|_| text.starts_with(b"{"))
        .map(|end| &text[..end]);
    let first = first.map(serde_json::from_slice::<IgnoredAny>);
    first.is_some_and(|first| first.is_err_and(|error| error.is_eof()))
}

/// Returns the media type of a text: HTML by the name or the first bytes.
fn media_type(path: &Path, beginning: &[u8]) -> &'static str {
    let begins_markup = beginning.trim_ascii_start().starts_with(b"<");
    if is_named(path, &MARKUP) || begins_markup && !is_named(path, &["txt", "text", "md"]) {
        "text/html"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, beginning: &[u8], expected: Result<Format, &str>) {
        let found = Format::of(Path::new(path), beginning);
        match (found, expected) {
            (Err(refusal), Err(part)) => {
                assert!(refusal.reason.contains(part), "{path}: {refusal:?}");
            }
            (found, expected) => assert_eq!(found.ok(), expected.ok(), "{path}"),
        }
    }

    #[test]
    fn the_name_or_the_first_bytes_decide_on_the_type_of_a_text() {
        for (path, beginning, media_type) in [
            ("a.html", &b"no tag"[..], "text/html"),
            ("a.HTM.gz", b"", "text/html"),
            ("a.txt", b"<p>", "text/plain"),
            ("page", b" <p>", "text/html"),
            ("letter", b"Dear", "text/plain"),
            ("letter", b"\xff\xfeD\0e\0", "text/plain"),
            ("letter.txt", b"{\"a\": 1}", "text/plain"),
            ("letter.txt", b"[1] a note", "text/plain"),
            ("-", b"[1] a note", "text/plain"),
            ("-", b"MZ is not always an executable", "text/plain"),
        ] {
            check(path, beginning, Ok(Format::Document(media_type)));
        }
    }

    #[test]
    fn binaries_are_refused_by_the_name_of_their_format() {
        for (path, beginning, reason) in [
            (
                "a.png",
                &b"\x89PNG\r\n\x1a\n\0\0"[..],
                "a PNG image, not a text",
            ),
            ("a.txt", b"\x89PNG\r\n\x1a\n\0\0", "a PNG image, not a text"),
            ("crawler", b"\x7fELF\x02\x01", "an executable"),
            ("paper", b"%PDF-1.7\n", "a PDF document"),
            ("a.bin", b"some\0thing", "a binary file, not a text"),
        ] {
            check(path, beginning, Err(reason));
        }
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        check("a", &tar, Err("a tar archive, not a text"));
    }

    #[test]
    fn tables_are_recognised_by_their_first_bytes_alone() {
        check("a.txt", b"PAR1\x15", Ok(Format::Parquet));
        check("a", b"ARROW1\0\0\xff", Ok(Format::ArrowFile));
        check("-", b"\xff\xff\xff\xff\x10\0\0\0", Ok(Format::ArrowStream));
        check(
            "-",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
            Ok(Format::Document("text/plain")),
        );
    }

    #[test]
    fn json_has_an_object_a_line_or_is_refused_with_the_remedy() {
        for (path, beginning) in [
            ("a.jsonl", &b"nonsense"[..]),
            ("a.ndjson.zst", b""),
            ("a.json", b"{\"id\": 1}\n{\"id\": 2}"),
            ("-", b"\xef\xbb\xbf {\"id\": 1}"),
        ] {
            check(path, beginning, Ok(Format::JsonLines));
        }
        for path in ["a.json", "a.jsonl.gz", "-", "part"] {
            check(path, b"[\n{\"id\": 1}]", Err("jq -c '.[]'"));
            check(path, b"{\n  \"id\": 1\n}", Err("jq -c ."));
        }
        for path in ["a.json", "-"] {
            check(path, b"\xff\xfe{\0\"\0", Err("iconv"));
        }
    }

    /// Corpora under names of Spark, Scrapy and the shell were one document each.
    #[test]
    fn json_lines_are_recognised_by_a_line_that_is_an_object() {
        let two = b"{\"id\": 1}\n{\"id\": 2}\n";
        for path in [
            "part-00000",
            "items.jl",
            "a.jsonl.1",
            "/dev/fd/63",
            "a.txt",
            "-",
        ] {
            check(path, two, Ok(Format::JsonLines));
        }
        check(
            "part",
            b"{\"id\": NaN}\n{\"id\": 2}\n",
            Ok(Format::JsonLines),
        );
        let long = [b"{\"text\": \"", &[b'a'; PEEKED_BYTES as usize][..]].concat();
        check("part", &long, Ok(Format::JsonLines));
        for (path, beginning) in [
            ("rules.css", &b"{ margin: 0 }\n{}"[..]),
            ("main.c", b"{\n  return 0;\n}\n"),
            ("note.txt", b"{\"a\": 1}"),
            ("note", b"{curly}\nbrackets\n"),
        ] {
            check(path, beginning, Ok(Format::Document("text/plain")));
        }
        check("a.csv", b"id,text\n1,one\n", Err("Parquet"));
        check("a.tsv.gz", b"id\ttext\n", Err("Parquet"));
    }
}
