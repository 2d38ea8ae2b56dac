//! The hosts: directories of manuals, and the URLs of their pages.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use web::{CanonicalForm, PageUrl};

use crate::files::pages_below;
use crate::sets::set::Absent;

/// The characters of a path that are written as they are.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The top-level domain of the hosts; no name of the real web ends in it (RFC 2606).
const DOMAIN: &str = ".test";

/// The pages of all hosts, numbered.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// The names of the hosts, in alphabetical order.
    pub(crate) names: Vec<String>,
    /// A line for each host: its name, its package and the package's version.
    pub(crate) versions: Vec<String>,
    pub(crate) pages: Vec<HostPage>,
    /// The numbers of the pages, by host and path.
    numbers: HashMap<(usize, String), u32>,
}

/// A page of a host.
#[derive(Debug)]
pub(crate) struct HostPage {
    /// The number of its host.
    pub(crate) host: usize,
    /// Its path, not percent-encoded.
    pub(crate) path: String,
    pub(crate) file: PathBuf,
}

impl Hosts {
    /// Finds the pages below the directories that `evaluation/fetch-manuals.sh` made.
    pub(crate) fn find(manuals: &Path) -> Result<Self, Absent> {
        let root = manuals.join("hosts");
        let list = root.join("versions");
        let versions = fs::read_to_string(&list).map_err(|why| Absent::unreadable(&list, &why))?;
        let mut versions: Vec<String> = versions.lines().map(str::to_owned).collect();
        versions.sort_unstable();
        let name = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        let names: Vec<String> = versions.iter().map(name).collect();
        let mut pages = Vec::new();
        let mut numbers = HashMap::new();
        for (host, name) in names.iter().enumerate() {
            for (below, file) in pages_below(&root.join(name))? {
                let path = format!("/{below}");
                numbers.insert((host, path.clone()), pages.len() as u32);
                pages.push(HostPage { host, path, file });
            }
        }
        Ok(Self {
            names,
            versions,
            pages,
            numbers,
        })
    }

    /// Returns the number of a host.
    pub(crate) fn host(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// Returns the number of the page at a path of a host; a directory stands for its index.
    pub(crate) fn at(&self, host: usize, path: &str) -> Option<u32> {
        let path = match path.ends_with('/') {
            true => format!("{path}index.html"),
            false => path.to_owned(),
        };
        self.numbers.get(&(host, path)).copied()
    }

    /// Returns the number of the page at a URL, whatever its query.
    pub(crate) fn of_url(&self, url: &PageUrl) -> Option<u32> {
        let (_, rest) = url.as_str().split_once("://")?;
        let (authority, path) = rest.split_at(rest.find('/')?);
        let host = self.host(authority.strip_suffix(DOMAIN)?)?;
        let path = path.split('?').next().unwrap_or(path);
        self.at(host, &percent_decode_str(path).decode_utf8().ok()?)
    }

    /// Returns the URL of a page.
    pub(crate) fn url(&self, page: u32) -> PageUrl {
        let HostPage { host, path, .. } = &self.pages[page as usize];
        let path = utf8_percent_encode(path, KEPT);
        let url = format!("http://{}{DOMAIN}{path}", self.names[*host]);
        PageUrl::parse(&url, &CanonicalForm::default()).expect("the path is percent-encoded")
    }
}
