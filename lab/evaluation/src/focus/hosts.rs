//! The hosts: directories of manuals, and the URLs of their pages; and a host of the hubs that
//! crawls begin with.

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

/// The host of the hubs.
const HUBS: &str = "hubs";

/// The pages of all hosts, numbered: those of the manuals first, then the hubs.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// The names of the hosts, in alphabetical order, and that of the hubs.
    pub(crate) names: Vec<String>,
    /// A line for each manual: its host, its package and the package's version.
    pub(crate) versions: Vec<String>,
    pub(crate) pages: Vec<HostPage>,
    /// The number of pages of the manuals.
    pub(crate) manual_pages: usize,
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
    source: Source,
}

/// The place of a page's text.
#[derive(Debug)]
enum Source {
    File(PathBuf),
    Made(String),
}

impl HostPage {
    /// Reads the page.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Absent> {
        match &self.source {
            Source::File(file) => fs::read(file).map_err(|why| Absent::unreadable(file, &why)),
            Source::Made(text) => Ok(text.clone().into_bytes()),
        }
    }
}

impl Hosts {
    /// Finds the pages below the directories that `lab/evaluation/fetch-manuals.sh` made.
    pub(crate) fn find(manuals: &Path) -> Result<Self, Absent> {
        let root = manuals.join("hosts");
        let list = root.join("versions");
        let versions = fs::read_to_string(&list).map_err(|why| Absent::unreadable(&list, &why))?;
        let mut versions: Vec<String> = versions.lines().map(str::to_owned).collect();
        versions.sort_unstable();
        let name = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        let mut hosts = Self {
            names: versions.iter().map(name).collect(),
            versions,
            pages: Vec::new(),
            manual_pages: 0,
            numbers: HashMap::new(),
        };
        for host in 0..hosts.names.len() {
            for (below, file) in pages_below(&root.join(&hosts.names[host]))? {
                hosts.add(host, format!("/{below}"), Source::File(file));
            }
        }
        hosts.end_manuals();
        Ok(hosts)
    }

    /// Makes hosts of pages, which are paths and texts.
    #[cfg(test)]
    pub(crate) fn of_pages(pages: &[(&str, &[(&str, &str)])]) -> Self {
        let mut hosts = Self {
            names: pages.iter().map(|(name, _)| (*name).to_owned()).collect(),
            versions: Vec::new(),
            pages: Vec::new(),
            manual_pages: 0,
            numbers: HashMap::new(),
        };
        for (host, (_, pages)) in pages.iter().enumerate() {
            for (path, text) in *pages {
                hosts.add(host, (*path).to_owned(), Source::Made((*text).to_owned()));
            }
        }
        hosts.end_manuals();
        hosts
    }

    /// Ends the pages of the manuals; hubs follow.
    fn end_manuals(&mut self) {
        self.manual_pages = self.pages.len();
        self.names.push(HUBS.to_owned());
    }

    /// Adds a hub, and returns its number. Its URL has a number only: words would be read.
    pub(crate) fn add_hub(&mut self, text: String) -> u32 {
        let path = format!("/{}.html", self.pages.len() - self.manual_pages + 1);
        self.add(self.names.len() - 1, path, Source::Made(text))
    }

    fn add(&mut self, host: usize, path: String, source: Source) -> u32 {
        let number = self.pages.len() as u32;
        self.numbers.insert((host, path.clone()), number);
        self.pages.push(HostPage { host, path, source });
        number
    }

    /// Returns true for a hub, and false for a page of a manual.
    pub(crate) fn is_hub(&self, page: u32) -> bool {
        page as usize >= self.manual_pages
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
