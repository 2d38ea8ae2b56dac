//! The record of a visit in the archive, always as text: its content never becomes markup here.

use std::path::Path;

use sinks::warc::{DigestCheck, Record, WarcStream, locate};

use crate::caps;
use crate::format::{self, cut};

/// Bytes of a block that are read, and of its body without content codings; a longer block is shown
/// without its body.
const MAX_BLOCK: usize = 2 << 20;

/// Fields of a record that say something about the exchange.
const FIELDS: [&str; 9] = [
    "WARC-Type",
    "WARC-Date",
    "WARC-Target-URI",
    "WARC-IP-Address",
    "WARC-Protocol",
    "WARC-Truncated",
    "WARC-Payload-Digest",
    "WARC-Refers-To-Target-URI",
    "WARC-Record-ID",
];

/// A record of the archive, cut to what a page shows.
pub(crate) struct ArchivedRecord {
    /// Fields of the record.
    pub(crate) fields: Vec<(String, String)>,
    /// The result of checking its digests.
    pub(crate) digests: &'static str,
    /// The request, if its record follows.
    pub(crate) request: Option<String>,
    /// The status and the header fields of the response, if it is one.
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    /// The number of header fields that are not shown.
    pub(crate) more_headers: u64,
    /// The body, or the block of a record other than a response; `None` if it is too long or not
    /// text.
    pub(crate) source: Option<String>,
    /// True if the source is the DOM of a rendered page.
    pub(crate) is_dom: bool,
    /// The length of the block in bytes.
    pub(crate) length: u64,
}

/// Returns true for the name of a file: a path could point outside the archive.
pub(crate) fn is_name(file: &str) -> bool {
    let path = Path::new(file);
    path.file_name().is_some_and(|name| name == file)
}

impl ArchivedRecord {
    /// Reads the record at an offset of an archive file. If the page has a DOM, which is in the
    /// record at the offset `dom`, it is shown in place of the body.
    ///
    /// # Errors
    /// A record cannot be read, in words.
    pub(crate) fn read(
        archive: &Path,
        file: &str,
        offset: u64,
        dom: Option<u64>,
    ) -> Result<Self, String> {
        let page = Self::read_one(archive, file, offset)?;
        let Some(dom) = dom else {
            return Ok(page);
        };
        Ok(Self {
            source: Self::read_one(archive, file, dom)?.source,
            is_dom: true,
            ..page
        })
    }

    fn read_one(archive: &Path, file: &str, offset: u64) -> Result<Self, String> {
        if !is_name(file) {
            return Err("the journal names a file outside the archive".to_owned());
        }
        let stream = WarcStream::open_at(&locate(archive, file), offset);
        let mut stream = stream.map_err(|fault| fault.to_string())?;
        let record = stream.next_record(MAX_BLOCK);
        let record = record.map_err(|fault| fault.to_string())?;
        let record = record.ok_or("the archive ends before the record")?;
        // A damaged record behind it is not this page's affair.
        let next = stream.next_record(MAX_BLOCK).ok().flatten();
        let request = next.filter(|next| {
            next.kind() == "request" && next.field("WARC-Concurrent-To") == Some(record.id())
        });
        Ok(Self {
            request: request.and_then(|request| text(&request.block)),
            ..Self::of(&record)
        })
    }

    fn of(record: &Record) -> Self {
        let fields = FIELDS.iter().filter_map(|name| {
            let value = record.field(name)?;
            Some(((*name).to_owned(), cut(value, caps::VALUE)))
        });
        let mut shown = Self {
            fields: fields.collect(),
            digests: digests(record),
            request: None,
            status: None,
            headers: Vec::new(),
            more_headers: 0,
            source: None,
            is_dom: false,
            length: record.block_length,
        };
        let is_whole = record.block.len() as u64 == record.block_length;
        let Some(answer) = record.http().filter(|_| !record.is_dom()) else {
            shown.source = is_whole.then(|| text(&record.block)).flatten();
            return shown;
        };
        shown.status = Some(answer.status);
        let all = answer.headers.iter();
        let listed = all.take(caps::HEADERS).map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (cut(name.as_str(), caps::TEXT), cut(&value, caps::VALUE))
        });
        shown.headers = listed.collect();
        shown.more_headers = (answer.headers.len() - shown.headers.len()) as u64;
        if let Some(body) = answer.payload().ok().filter(|_| is_whole) {
            let decoded = web::decode(&answer.headers, &body, MAX_BLOCK as u64);
            shown.source = text(&decoded.bytes);
        }
        shown
    }

    /// Returns the length of the block as people read it.
    pub(crate) fn size(&self) -> String {
        format::bytes(self.length)
    }
}

fn digests(record: &Record) -> &'static str {
    let both = [record.block_digest, record.payload_digest];
    if !record.digests_hold() {
        "a digest is wrong: the archive is damaged"
    } else if both.contains(&DigestCheck::Holds) {
        "all digests match"
    } else {
        "not checked"
    }
}

/// Returns bytes as text; `None` if they are not text.
fn text(bytes: &[u8]) -> Option<String> {
    let is_text = !bytes.contains(&0) && !bytes.is_empty();
    is_text.then(|| cut(&String::from_utf8_lossy(bytes), caps::PAGE_TEXT))
}
