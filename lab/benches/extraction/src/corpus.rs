//! The labelled pages: 181 of news, 450 of seven kinds. `../shared/data/README.md` has their
//! sources.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A page with the main content that a person labelled.
pub struct LabelledPage {
    /// The name of its file, without extension.
    pub name: String,
    /// Its URL.
    pub url: String,
    /// `article`, `forum` …
    pub kind: String,
    /// The page's bytes.
    pub html: Vec<u8>,
    /// Its main content.
    pub gold: String,
}

/// Returns the directory of the labelled data: beside the project, or the value of `CRAWLER_DATA`.
#[must_use]
pub fn directory() -> PathBuf {
    std::env::var_os("CRAWLER_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data")),
        PathBuf::from,
    )
}

/// Returns the 181 pages of `scrapinghub/article-extraction-benchmark`, by name.
///
/// # Errors
/// An error if the archive is absent or damaged.
pub fn articles(directory: &Path) -> io::Result<Vec<LabelledPage>> {
    let files = unpack(&directory.join("article-extraction.tar.zst"))?;
    let truth: Value = serde_json::from_slice(&files["ground-truth.json"])?;
    let pages = files.iter().filter_map(|(path, bytes)| {
        let name = path.strip_prefix("html/")?.strip_suffix(".html.gz")?;
        let label = &truth[name];
        Some((
            name,
            text(&label["url"]),
            "article".to_owned(),
            bytes,
            text(&label["articleBody"]),
        ))
    });
    pages
        .map(|(name, url, kind, bytes, gold)| page(name, url, kind, bytes, gold))
        .collect()
}

/// Returns the 450 pages of WCXB's development set, by name.
///
/// # Errors
/// An error if the archive is absent or damaged.
pub fn wcxb(directory: &Path) -> io::Result<Vec<LabelledPage>> {
    let files = unpack(&directory.join("wcxb-dev.tar.zst"))?;
    let mut pages = Vec::new();
    for (path, bytes) in &files {
        let Some(name) = path
            .strip_prefix("dev/html/")
            .and_then(|path| path.strip_suffix(".html.gz"))
        else {
            continue;
        };
        let label: Value =
            serde_json::from_slice(&files[&format!("dev/ground-truth/{name}.json")])?;
        let kind = text(&label["_internal"]["page_type"]["primary"]);
        let gold = text(&label["ground_truth"]["main_content"]);
        pages.push(page(name, text(&label["url"]), kind, bytes, gold)?);
    }
    Ok(pages)
}

fn page(
    name: &str,
    url: String,
    kind: String,
    bytes: &[u8],
    gold: String,
) -> io::Result<LabelledPage> {
    let mut html = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut html)?;
    Ok(LabelledPage {
        name: name.to_owned(),
        url,
        kind,
        html,
        gold,
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn unpack(archive: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(zstd::Decoder::new(File::open(archive)?)?);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(path, bytes);
    }
    Ok(files)
}
