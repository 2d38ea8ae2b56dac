//! Checks a WACZ: names, lengths, digests, and that every line of an index points to a record.
//!
//! Everything is read front to back in bounded memory; of the records that the index names, only
//! the head is read. A violation is reported with its culprit, and the check continues.
//!
//! A collection, a package of packages as Browsertrix gives it out, has neither archives nor an
//! index of its own: its packages are checked.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};

use libdeflater::Crc;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::entries::{Entries, Entry, Packing, is_archive, is_package};
use super::fault::WaczFault;
use super::indexes;
use super::layout::{ARCHIVE, CHUNK, DIGEST, INDEXES, PACKAGE, PAGES, sha256_text};
use super::problems::{Problems, shown};
use super::signature;

/// Maximum bytes of a `datapackage.json` that are read.
const MAX_PACKAGE: u64 = 64 << 20;
/// Maximum length of a line of a list of pages, in bytes.
const MAX_PAGE: u64 = 64 << 20;

/// The result of checking a WACZ.
#[derive(Clone, Debug, Default)]
pub struct WaczCheck {
    /// The number of files.
    pub files: u64,
    /// The number of WARC files.
    pub archives: u64,
    /// Their total length in bytes.
    pub archive_bytes: u64,
    /// The number of lines of its indexes.
    pub index_lines: u64,
    /// The number of pages listed.
    pub pages: u64,
    /// The first thousand problems, in words.
    pub problems: Vec<String>,
    /// The number of problems.
    pub problem_count: u64,
}

/// The length and digest that `datapackage.json` declares for a file.
struct DeclaredResource {
    bytes: Option<u64>,
    hash: String,
}

/// Checks the WACZ in `input`; calls `each` after each piece.
///
/// # Errors
/// [`WaczFault::NotZip`] if the input is not a readable ZIP file.
pub fn check(input: impl Read + Seek, each: &mut dyn FnMut()) -> Result<WaczCheck, WaczFault> {
    let entries = Entries::read(input)?;
    let mut problems = Problems::default();
    let mut found = check_package(&entries, &mut problems, each);
    // Packages that overlap are the same bytes any number of times.
    if is_collection(&entries) && entries.warnings.is_empty() {
        for package in entries.list.iter().filter(|entry| is_package(entry)) {
            let (name, mut own) = (shown(&package.name), Problems::default());
            match Entries::read(entries.section(package, 0, package.length)) {
                Err(error) => problems.add(format!("{name}: {error}")),
                Ok(inner) => {
                    found.add(&check_package(&inner, &mut own, each));
                    if is_collection(&inner) {
                        own.add("it is a nested package, which is not checked");
                    }
                }
            }
            problems.add_all(&name, own);
        }
    }
    found.problem_count = problems.count;
    found.problems = problems.kept;
    Ok(found)
}

/// Returns true for a package that has packages instead of archives.
fn is_collection<R>(entries: &Entries<R>) -> bool {
    entries.list.iter().any(is_package) && !entries.list.iter().any(is_archive)
}

impl WaczCheck {
    /// Adds the counts of a package in this one.
    fn add(&mut self, package: &Self) {
        self.files += package.files;
        self.archives += package.archives;
        self.archive_bytes += package.archive_bytes;
        self.index_lines += package.index_lines;
        self.pages += package.pages;
    }
}

/// Checks a package; adds problems to `problems`, not to the result.
fn check_package<R: Read + Seek>(
    entries: &Entries<R>,
    problems: &mut Problems,
    each: &mut dyn FnMut(),
) -> WaczCheck {
    for warning in &entries.warnings {
        problems.add(warning.clone());
    }
    let mut found = WaczCheck::default();
    let is_collection = is_collection(entries);
    let declared = declared_resources(entries, is_collection, problems);
    let mut listed: HashMap<&str, &DeclaredResource> = declared
        .iter()
        .map(|(path, declared)| (path.as_str(), declared))
        .collect();
    for entry in &entries.list {
        let name = shown(&entry.name);
        for warning in &entry.warnings {
            problems.add(format!("{name}: {warning}"));
        }
        if entry.is_directory {
            continue;
        }
        found.files += 1;
        if is_archive(entry) {
            found.archives += 1;
            found.archive_bytes += entry.length;
        }
        let is_read_in_parts = entry.name.starts_with(ARCHIVE)
            || is_collection && is_package(entry)
            || entry.name.starts_with(INDEXES) && entry.name.ends_with(".gz");
        if is_read_in_parts && entry.packing != Packing::Stored {
            problems.add(format!(
                "{name} is not stored uncompressed: its records cannot be found"
            ));
        }
        let declared = listed.remove(entry.name.as_str());
        check_entry(entries, entry, declared, problems, each);
    }
    let mut missing: Vec<&str> = listed.into_keys().collect();
    missing.sort_unstable();
    for path in missing {
        problems.add(format!(
            "{} is listed in {PACKAGE}, but missing",
            shown(path)
        ));
    }
    if is_collection {
        return found;
    }
    if found.archives == 0 {
        problems.add("it does not contain a WARC file");
    }
    found.index_lines = indexes::check(entries, problems, each);
    found.pages = pages(entries, problems);
    found
}

/// Reads a file, and compares it with the declarations in the ZIP and in `datapackage.json`.
fn check_entry<R: Read + Seek>(
    entries: &Entries<R>,
    entry: &Entry,
    declared: Option<&DeclaredResource>,
    problems: &mut Problems,
    each: &mut dyn FnMut(),
) {
    let name = shown(&entry.name);
    let (bytes, hash, crc) = match digest(entries, entry, each) {
        Err(error) => return problems.add(format!("{name} cannot be read: {error}")),
        Ok(found) => found,
    };
    if bytes != entry.size || crc != entry.crc {
        problems.add(format!(
            "{name} has changed since it was packed: its checksum or length differs"
        ));
    }
    match declared {
        None if matches!(entry.name.as_str(), PACKAGE | DIGEST) => {}
        None => problems.add(format!("{name} is not listed in {PACKAGE}")),
        Some(declared) => compare(&name, declared, bytes, &hash, problems),
    }
}

fn compare(
    name: &str,
    declared: &DeclaredResource,
    bytes: u64,
    hash: &str,
    problems: &mut Problems,
) {
    if declared.bytes.is_some_and(|length| length != bytes) {
        problems.add(format!(
            "{name} has {bytes} bytes, unlike the length in {PACKAGE}"
        ));
    }
    if !declared.hash.starts_with("sha256:") {
        problems.add(format!("{name}: its digest in {PACKAGE} is not a SHA-256"));
    } else if declared.hash != hash {
        problems.add(format!("{name} does not match its digest in {PACKAGE}"));
    }
}

/// Reads a file to its end; returns its length, SHA-256 and CRC-32.
fn digest<R: Read + Seek>(
    entries: &Entries<R>,
    entry: &Entry,
    each: &mut dyn FnMut(),
) -> io::Result<(u64, String, u32)> {
    let mut input = entries.open(entry)?;
    let (mut bytes, mut digest, mut crc) = (0, Sha256::new(), Crc::new());
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = input.read(&mut chunk)?;
        if length == 0 {
            return Ok((bytes, sha256_text(&digest.finalize()), crc.sum()));
        }
        bytes += length as u64;
        digest.update(&chunk[..length]);
        crc.update(&chunk[..length]);
        each();
    }
}

/// Reads the resources of `datapackage.json`, and compares its digest with that in
/// `datapackage-digest.json`, if there is one.
fn declared_resources<R: Read + Seek>(
    entries: &Entries<R>,
    is_collection: bool,
    problems: &mut Problems,
) -> Vec<(String, DeclaredResource)> {
    let Some((package, bytes)) = json(entries, PACKAGE, problems) else {
        return Vec::new();
    };
    if entries.find(DIGEST).is_some()
        && let Some((digest, _)) = json(entries, DIGEST, problems)
    {
        let hash = sha256_text(&Sha256::digest(&bytes));
        if digest["hash"] != hash {
            problems.add(format!("{PACKAGE} does not match its digest in {DIGEST}"));
        }
        let signed = digest.get("signedData");
        let problem =
            signed.and_then(|signed| signature::problem(signed, &hash, &package["created"]));
        if let Some(problem) = problem {
            problems.add(format!("{DIGEST}: signedData {problem}"));
        }
    }
    if !package["wacz_version"].is_string() && !is_collection {
        problems.add(format!("{PACKAGE} does not contain its WACZ version"));
    }
    let Some(resources) = package["resources"].as_array() else {
        problems.add(format!("{PACKAGE} lists no resources"));
        return Vec::new();
    };
    let read = |resource: &Value| {
        let path = resource["path"].as_str()?.to_owned();
        let declared = DeclaredResource {
            bytes: resource["bytes"].as_u64(),
            hash: resource["hash"].as_str()?.to_owned(),
        };
        Some((path, declared))
    };
    let declared: Vec<_> = resources.iter().filter_map(read).collect();
    if declared.len() < resources.len() {
        let count = resources.len() - declared.len();
        problems.add(format!(
            "{PACKAGE}: {count} resources have no path or no hash"
        ));
    }
    declared
}

/// Reads a JSON file; returns its value and its bytes.
fn json<R: Read + Seek>(
    entries: &Entries<R>,
    name: &str,
    problems: &mut Problems,
) -> Option<(Value, Vec<u8>)> {
    let Some(entry) = entries.find(name) else {
        problems.add(format!("{name} is missing"));
        return None;
    };
    let mut bytes = Vec::new();
    let read = entries
        .open(entry)
        .and_then(|input| input.take(MAX_PACKAGE).read_to_end(&mut bytes));
    if let Err(error) = read {
        problems.add(format!("{name} cannot be read: {error}"));
        return None;
    }
    match serde_json::from_slice(&bytes) {
        Ok(value) => Some((value, bytes)),
        Err(error) => {
            problems.add(format!("{name} is not JSON: {error}"));
            None
        }
    }
}

/// Checks the list of pages; returns their number.
fn pages<R: Read + Seek>(entries: &Entries<R>, problems: &mut Problems) -> u64 {
    let Some(entry) = entries.find(PAGES) else {
        problems.add(format!("{PAGES} is missing"));
        return 0;
    };
    let mut pages = 0;
    let mut read = || -> io::Result<()> {
        let mut input = BufReader::with_capacity(CHUNK, entries.open(entry)?);
        let (mut line, mut number) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            number += 1;
            if input.by_ref().take(MAX_PAGE).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let value: Value = match serde_json::from_slice(&line) {
                Ok(value) => value,
                Err(_) if line.trim_ascii().is_empty() => continue,
                Err(_no_json) => {
                    problems.add(format!("{PAGES}: line {number} is not JSON"));
                    continue;
                }
            };
            match number {
                1 if value["format"].is_string() => {}
                _ if value["url"].is_string() && value["ts"].is_string() => pages += 1,
                _ => problems.add(format!("{PAGES}: line {number} has no url and ts")),
            }
        }
    };
    // Unreadable bytes were reported with the digest.
    read().ok();
    pages
}
