//! Writes a WACZ, front to back: each file is copied, packed and digested in one pass.
//!
//! WARC files and the packed index are stored, since replay reads single records from the middle of
//! the file; files that are read as a whole are deflated. Every entry may exceed 4 GiB (ZIP64),
//! since lengths are unknown in advance.

use std::collections::HashMap;
use std::io::{BufRead, Read, Seek, Write};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use web::Timestamp;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::blocks::Blocks;
use super::fault::WaczFault;
use super::fused_writer::{FuseGuard, FusedWriter};
use super::index_lines::next_line;
use super::layout::{
    ARCHIVE, BLOCKS, CHUNK, DIGEST, INDEX, PACKAGE, PAGES, WACZ_VERSION, sha256_text,
};
use super::signature::PackageKey;
use crate::cdxj::capture::DUPLICATE;
use crate::cdxj::lines::CdxjReader;

/// The description in a WACZ.
#[derive(Clone, Debug)]
pub struct PackageInfo {
    /// The crawler's name and version.
    pub software: String,
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The page that is shown first, and its date.
    pub main_page: Option<(String, Timestamp)>,
}

/// A page of the crawl.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its URL, as in its capture.
    pub url: &'a str,
    /// The date of its capture.
    pub at: Timestamp,
    /// The document's title.
    pub title: Option<&'a str>,
    /// Its full text, for searching in the replay.
    pub text: Option<&'a str>,
}

/// Writes a WACZ: the archive files, the index, the pages, and [`Packer::finish`].
pub struct Packer<W: Write + Seek> {
    /// Declared before the writer, and so dropped before it.
    fuse: FuseGuard,
    zip: ZipWriter<W>,
    at: Timestamp,
    /// The lengths of the archive files, by name.
    archives: HashMap<String, u64>,
    resources: Vec<Resource>,
    key: Option<PackageKey>,
    chunk: Vec<u8>,
}

/// A file in `datapackage.json`.
struct Resource {
    path: String,
    hash: String,
    bytes: u64,
}

/// A file being written.
struct Writing<'a, W: Write + Seek> {
    zip: &'a mut ZipWriter<W>,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Packer<StreamWriter<FusedWriter<W>>> {
    /// Writes to a stream: lengths then follow the files, which nearly all readers accept.
    pub fn stream(out: W, at: Timestamp) -> Self {
        let (out, fuse) = FusedWriter::over(out);
        Self::to(ZipWriter::new_stream(out), fuse, at)
    }
}

impl<W: Write + Seek> Packer<FusedWriter<W>> {
    /// Writes to `out`; `at`, the time of the crawl, is the date of all files.
    pub fn new(out: W, at: Timestamp) -> Self {
        let (out, fuse) = FusedWriter::over(out);
        Self::to(ZipWriter::new(out), fuse, at)
    }
}

impl<W: Write + Seek> Packer<W> {
    fn to(zip: ZipWriter<W>, fuse: FuseGuard, at: Timestamp) -> Self {
        Self {
            fuse,
            zip,
            at,
            archives: HashMap::new(),
            resources: Vec::new(),
            key: None,
            chunk: vec![0; CHUNK],
        }
    }

    /// Signs the package with a key.
    pub fn sign_with(&mut self, key: PackageKey) {
        self.key = Some(key);
    }

    /// Copies an archive file, which faults name `path`, to the entry `name`; calls `each` after
    /// each piece. Returns its length in bytes.
    ///
    /// # Errors
    /// [`WaczFault::Read`] if the input fails, [`WaczFault::Write`] if the output does.
    pub fn archive(
        &mut self,
        name: &str,
        path: &Path,
        mut input: impl Read,
        each: &mut dyn FnMut(),
    ) -> Result<u64, WaczFault> {
        let entry = format!("{ARCHIVE}{name}");
        let mut writing = begin(&mut self.zip, self.at, &entry, CompressionMethod::Stored)?;
        loop {
            let length = match input.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(WaczFault::Read {
                        path: path.to_owned(),
                        source,
                    });
                }
            };
            let written = writing.write_all(&self.chunk[..length]);
            written.map_err(WaczFault::Write)?;
            each();
        }
        let resource = writing.end(entry);
        let bytes = resource.bytes;
        self.archives.insert(name.to_owned(), bytes);
        self.resources.push(resource);
        Ok(bytes)
    }

    /// Packs the lines of the index of the copied archive files, which faults name `path`. Leaves
    /// out lines about duplicates and about records that were not copied; returns the number of
    /// packed lines.
    ///
    /// # Errors
    /// [`WaczFault::Index`] if the index has an invalid line or is not sorted, [`WaczFault::Read`]
    /// and [`WaczFault::Write`] as for [`Packer::archive`].
    pub fn index(&mut self, path: &Path, input: impl BufRead) -> Result<u64, WaczFault> {
        let mut lines = CdxjReader::new(input);
        let mut count = 0;
        let writing = begin(&mut self.zip, self.at, INDEX, CompressionMethod::Stored)?;
        let mut blocks = Blocks::new(writing);
        loop {
            let Some(entry) = next_line(&mut lines, path)? else {
                break;
            };
            let length = self.archives.get(entry.file());
            let is_there = length.is_some_and(|&length| entry.end() <= length);
            if is_there && !entry.key.starts_with(DUPLICATE) {
                blocks.push(lines.line())?;
                count += 1;
            }
        }
        let (writing, list) = blocks.finish()?;
        self.resources.push(writing.end(INDEX.to_owned()));
        self.whole(BLOCKS, &list)?;
        Ok(count)
    }

    /// Writes the list of the pages that `write` passes on.
    ///
    /// # Errors
    /// [`WaczFault::Write`], or the error of `write`.
    pub fn pages<E: From<WaczFault>>(
        &mut self,
        write: impl FnOnce(&mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut writing = begin(&mut self.zip, self.at, PAGES, CompressionMethod::Deflated)?;
        let header = r#"{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}"#;
        let mut line = |line: &str| {
            writing
                .write_all(line.as_bytes())
                .and_then(|()| writing.write_all(b"\n"))
                .map_err(WaczFault::Write)
        };
        line(header)?;
        write(&mut |page| line(&page.line()))?;
        self.resources.push(writing.end(PAGES.to_owned()));
        Ok(())
    }

    /// Writes `datapackage.json`, its digest and the ZIP's directory; returns the output.
    ///
    /// # Errors
    /// [`WaczFault::Write`] if the output fails.
    pub fn finish(mut self, about: &PackageInfo) -> Result<W, WaczFault> {
        let package = pretty(&self.package(about));
        self.whole(PACKAGE, package.as_bytes())?;
        let hash = sha256_text(&Sha256::digest(package.as_bytes()));
        let mut digest = json!({ "path": PACKAGE, "hash": hash });
        if let Some(key) = &self.key {
            let created = whole_second(self.at);
            digest["signedData"] = key.signed_data(&hash, &created, &about.software);
        }
        self.whole(DIGEST, pretty(&digest).as_bytes())?;
        let Self { zip, fuse, .. } = self;
        let out = zip.finish().map_err(WaczFault::writing);
        drop(fuse);
        out
    }

    fn package(&self, about: &PackageInfo) -> Value {
        let resources: Vec<Value> = self.resources.iter().map(Resource::json).collect();
        let mut package = json!({
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "created": whole_second(self.at),
            "software": about.software,
            "resources": resources,
        });
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                package[name] = value.into();
            }
        };
        add("title", about.title.clone());
        add("description", about.description.clone());
        if let Some((url, at)) = &about.main_page {
            add("mainPageUrl", Some(url.clone()));
            add("mainPageDate", Some(whole_second(*at)));
        }
        package
    }

    /// Writes a deflated file.
    fn whole(&mut self, path: &str, bytes: &[u8]) -> Result<(), WaczFault> {
        let mut writing = begin(&mut self.zip, self.at, path, CompressionMethod::Deflated)?;
        writing.write_all(bytes).map_err(WaczFault::Write)?;
        self.resources.push(writing.end(path.to_owned()));
        Ok(())
    }
}

/// Begins a file of the ZIP, dated `at`.
fn begin<'a, W: Write + Seek>(
    zip: &'a mut ZipWriter<W>,
    at: Timestamp,
    path: &str,
    method: CompressionMethod,
) -> Result<Writing<'a, W>, WaczFault> {
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .large_file(true)
        .unix_permissions(0o644)
        .last_modified_time(dos_time(at));
    zip.start_file(path, options).map_err(WaczFault::writing)?;
    Ok(Writing {
        zip,
        digest: Sha256::new(),
        bytes: 0,
    })
}

impl<W: Write + Seek> Writing<'_, W> {
    fn end(self, path: String) -> Resource {
        Resource {
            path,
            hash: sha256_text(&self.digest.finalize()),
            bytes: self.bytes,
        }
    }
}

impl<W: Write + Seek> Write for Writing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = self.zip.write(bytes)?;
        self.digest.update(&bytes[..length]);
        self.bytes += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.zip.flush()
    }
}

impl Resource {
    fn json(&self) -> Value {
        let name = self.path.rsplit('/').next();
        let name = name.unwrap_or_default().to_lowercase();
        json!({ "name": name, "path": self.path, "hash": self.hash, "bytes": self.bytes })
    }
}

impl Page<'_> {
    fn line(&self) -> String {
        let at = self.at.to_string();
        let name = Sha256::digest(format!("{} {at}", self.url));
        let id = data_encoding::HEXLOWER.encode(&name[..8]);
        let mut line = format!("{{\"id\": \"{id}\"");
        let fields = [
            ("url", Some(self.url)),
            ("ts", Some(&at)),
            ("title", self.title),
            ("text", self.text),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                line.push_str(&format!(", \"{name}\": {}", Value::from(value)));
            }
        }
        line.push('}');
        line
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Returns a date in RFC 3339 without a fraction, the only form that readers accept.
fn whole_second(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((second, _)) => format!("{second}Z"),
        None => text,
    }
}

/// Returns a date in the form of ZIP, in steps of two seconds; 1980 for dates that it cannot
/// express.
fn dos_time(at: Timestamp) -> DateTime {
    let digits = at.digits();
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<u16>().ok();
    let small = |from: usize| number(from, from + 2).and_then(|number| u8::try_from(number).ok());
    let time = || {
        let (year, month, day) = (number(0, 4)?, small(4)?, small(6)?);
        let (hour, minute, second) = (small(8)?, small(10)?, small(12)?);
        DateTime::from_date_and_time(year, month, day, hour, minute, second & !1).ok()
    };
    time().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_line_whatever_its_title_has() {
        let page = Page {
            url: "http://a.test/",
            at: Timestamp::from_millis(1_795_201_495_120),
            title: Some("A \"quoted\"\ntitle"),
            text: None,
        };
        let line = page.line();
        assert!(!line.contains('\n'));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["title"], "A \"quoted\"\ntitle");
        assert_eq!(value["ts"], "2026-11-20T19:04:55.120Z");
        assert_eq!(value["id"].as_str().unwrap().len(), 16);
        assert!(value.get("text").is_none());
    }

    #[test]
    fn times_have_the_precision_of_the_formats() {
        let at = Timestamp::from_millis(1_795_201_495_120);
        assert_eq!(whole_second(at), "2026-11-20T19:04:55Z");
        let time = dos_time(at);
        let fields = (
            time.year(),
            time.month(),
            time.day(),
            time.hour(),
            time.minute(),
            time.second(),
        );
        assert_eq!(fields, (2026, 11, 20, 19, 4, 54));
        for odd in [Timestamp::from_millis(0), Timestamp::NEVER] {
            assert_eq!(dos_time(odd), DateTime::default());
        }
    }
}
