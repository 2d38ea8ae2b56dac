//! Files for URLs: `https://site.test/a/b?c=d` becomes `site.test/a/b@c=d.html`.
//!
//! Names follow wget: a directory per host, the URL's path below it, the query after `@`, and the
//! extension of the media type (`--adjust-extension`). Invariant: different URLs have different
//! files, even on file systems that ignore case and Unicode normalisation; no file is a directory
//! of another; every file is below the directory of its host.

use std::collections::{HashMap, HashSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::path_segment::{escape, guard, with_suffix};

/// Maximum length of a file's path, in bytes: half of what macOS accepts, so that users can move
/// the tree anywhere. A longer path gets a single directory in place of the URL's directories.
pub const MAX_PATH: usize = 512;

/// Characters of a path that are escaped in a link.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'@')
    .remove(b'=');

/// Kind of a file: tells a browser how to handle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A page: its links are converted.
    Html,
    /// A style sheet: URLs in it are converted.
    Css,
    /// A picture that browsers recognise by its name only.
    Svg,
    /// The text of a page.
    Markdown,
    /// Any other file, kept byte for byte.
    Other,
}

impl FileKind {
    /// Returns the kind of a media type, with or without parameters.
    #[must_use]
    pub fn of(media_type: &str) -> Self {
        match &*web::essence(media_type) {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "text/css" => Self::Css,
            "image/svg+xml" => Self::Svg,
            _ => Self::Other,
        }
    }

    /// Returns the extensions of this kind. A name without any of these gets the first one.
    const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Html => &[".html", ".htm", ".xhtml"],
            Self::Css => &[".css"],
            Self::Svg => &[".svg"],
            Self::Markdown => &[".md"],
            Self::Other => &[],
        }
    }
}

/// The files of URLs.
#[derive(Clone, Debug, Default)]
pub struct FileNames(HashMap<String, String>);

impl FileNames {
    /// Assigns a file to each URL. The result depends on the set of URLs only. URLs without a host
    /// get no file.
    #[must_use]
    pub fn assign(urls: impl IntoIterator<Item = (String, FileKind)>) -> Self {
        let mut wanted: Vec<(String, Place)> = Vec::new();
        for (url, kind) in urls {
            if let Some(place) = Place::of(&url, kind) {
                wanted.push((url, place));
            }
        }
        wanted.sort();
        wanted.dedup_by(|one, other| one.0 == other.0);
        let mut taken = HashSet::new();
        for (_, place) in &wanted {
            let directory = fold(&place.directory);
            let ends = directory.match_indices('/').map(|(end, _)| end);
            taken.extend(ends.map(|end| directory[..end].to_owned()));
            taken.insert(directory);
        }
        let mut names = HashMap::with_capacity(wanted.len());
        for (url, Place { directory, name }) in wanted {
            let mut path = format!("{directory}/{name}");
            let mut number = 0_u64;
            while !taken.insert(fold(&path)) {
                let hash = xxh3_64(format!("{number} {url}").as_bytes());
                path = format!(
                    "{directory}/{}",
                    with_suffix(&name, &format!("~{hash:016x}"))
                );
                number += 1;
            }
            names.insert(url, path);
        }
        Self(names)
    }

    /// Returns the file of a URL: a path with `/` between its parts, none of which is `.` or `..`.
    #[must_use]
    pub fn get(&self, url: &str) -> Option<&str> {
        self.0.get(url).map(String::as_str)
    }

    /// Returns all URLs with their files, in arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(url, path)| (&**url, &**path))
    }
}

/// File that a URL would have if it were the only one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    directory: String,
    name: String,
}

impl Place {
    fn of(url: &str, kind: FileKind) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let mut host = escape(url.host_str()?);
        if let Some(port) = url.port() {
            host.push_str(&format!("+{port}"));
        }
        let host = guard(&host);
        let mut segments: Vec<&str> = url.path_segments()?.collect();
        let last = segments.pop().unwrap_or_default();
        let mut name = match last {
            "" if kind == FileKind::Html => "index.html".to_owned(),
            "" => "index".to_owned(),
            last => escape(last),
        };
        if let Some(query) = url.query() {
            name.push('@');
            name.push_str(&escape(query));
        }
        let lower = name.to_ascii_lowercase();
        let extensions = kind.extensions();
        if let Some(first) = extensions.first()
            && !extensions
                .iter()
                .any(|extension| lower.ends_with(extension))
        {
            name.push_str(first);
        }
        let name = guard(&name);
        let mut directory = host.clone();
        for segment in segments {
            directory.push('/');
            directory.push_str(&guard(&escape(segment)));
        }
        if directory.len() + name.len() >= MAX_PATH {
            directory = format!("{host}/~{:016x}", xxh3_64(directory.as_bytes()));
        }
        Some(Self { directory, name })
    }
}

/// Returns a path as the least precise file systems compare it: without case, normalised.
fn fold(path: &str) -> String {
    let upper: String = path.nfkc().flat_map(char::to_uppercase).collect();
    upper.to_lowercase().nfkc().collect()
}

/// Returns the link from one file to another, as a relative URL.
#[must_use]
pub fn relative(from: &str, to: &str) -> String {
    let (directory, _) = from.rsplit_once('/').unwrap_or_default();
    let mut above: Vec<&str> = match directory {
        "" => Vec::new(),
        directory => directory.split('/').collect(),
    };
    let mut below: Vec<&str> = to.split('/').collect();
    // The last part of `to` is the file, and never a directory of `from`.
    let shared = above
        .iter()
        .zip(&below)
        .take_while(|(one, other)| one == other);
    let shared = shared.count().min(below.len() - 1);
    above.drain(..shared);
    below.drain(..shared);
    let path = format!("{}{}", "../".repeat(above.len()), below.join("/"));
    utf8_percent_encode(&path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn names(urls: &[(&str, FileKind)]) -> Vec<String> {
        let listed = urls.iter().map(|(url, kind)| ((*url).to_owned(), *kind));
        let names = FileNames::assign(listed);
        let path = |(url, _): &(&str, FileKind)| names.get(url).unwrap().to_owned();
        urls.iter().map(path).collect()
    }

    #[test]
    fn a_page_has_the_name_that_wget_gives_it() {
        for (url, kind, path) in [
            ("https://site.test/", FileKind::Html, "site.test/index.html"),
            (
                "http://site.test:8080/a/",
                FileKind::Html,
                "site.test+8080/a/index.html",
            ),
            ("http://site.test/a", FileKind::Html, "site.test/a.html"),
            ("http://site.test/a.HTM", FileKind::Html, "site.test/a.HTM"),
            (
                "http://site.test/a.php?b=c/d",
                FileKind::Html,
                "site.test/a.php@b=c%2Fd.html",
            ),
            (
                "http://site.test/?b",
                FileKind::Html,
                "site.test/index.html@b.html",
            ),
            (
                "http://site.test/s?v=1",
                FileKind::Css,
                "site.test/s@v=1.css",
            ),
            ("http://site.test/p.png", FileKind::Other, "site.test/p.png"),
            ("http://site.test/x//y", FileKind::Other, "site.test/x/_/y"),
            ("http://[::1]/", FileKind::Html, "%5B%3A%3A1%5D/index.html"),
            (
                "http://b%C3%BCcher.test/",
                FileKind::Html,
                "xn--bcher-kva.test/index.html",
            ),
            (
                "http://site.test/aux/nul",
                FileKind::Other,
                "site.test/%61ux/%6Eul",
            ),
        ] {
            assert_eq!(names(&[(url, kind)]), [path], "{url}");
        }
        let names = FileNames::assign([("urn:x".to_owned(), FileKind::Html)]);
        assert_eq!(names.iter().next(), None);
    }

    #[test]
    fn urls_that_give_one_name_get_two() {
        for urls in [
            ["http://site.test/a", "http://site.test/A"],
            ["http://site.test/a", "https://site.test/a"],
            ["http://site.test/a?b", "http://site.test/a@b"],
            ["http://site.test/%C3%A9", "http://site.test/e%CC%81"],
            ["http://site.test/ss", "http://site.test/%C3%9F"],
        ] {
            let names = names(&urls.map(|url| (url, FileKind::Other)));
            assert_ne!(fold(&names[0]), fold(&names[1]), "{urls:?}");
            let again = urls.map(|url| (url, FileKind::Other));
            assert_eq!(
                self::names(&again),
                names,
                "the same set has the same names"
            );
        }
    }

    #[test]
    fn a_file_is_no_directory_of_another() {
        let urls = [
            "http://site.test/a",
            "http://site.test/A/b",
            "http://site.test/a/b/c",
        ];
        let names = names(&urls.map(|url| (url, FileKind::Other)));
        assert!(names[0].starts_with("site.test/a~"), "{names:?}");
        assert!(names[1].starts_with("site.test/A/b~"), "{names:?}");
        assert_eq!(names[2], "site.test/a/b/c");
    }

    #[test]
    fn a_long_path_has_one_directory() {
        let url = format!("http://site.test/{}x", "abc/".repeat(300));
        let names = names(&[(&url, FileKind::Html)]);
        assert!(
            names[0].starts_with("site.test/~") && names[0].ends_with("/x.html"),
            "{names:?}"
        );
    }

    #[test]
    fn a_link_leads_from_file_to_file() {
        for (from, to, link) in [
            ("a/index.html", "a/b.html", "b.html"),
            ("a/index.html", "a/index.html", "index.html"),
            ("a/b/c.html", "a/d e.html", "../d%20e.html"),
            ("a/b/c.html", "b/c.html", "../../b/c.html"),
            ("a/b", "a/b/c", "b/c"),
            ("a/b.html", "a/%3F@x=y:é", "%253F@x=y%3A%C3%A9"),
        ] {
            assert_eq!(relative(from, to), link, "{from} {to}");
        }
    }

    fn url() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[a-cA-C]{0,2}",
            "(%2[eEfF]|%00|%5[cC]|\\.|%20|~|@|%C3%A9|e%CC%81|%25|[:*|\\\\]){0,4}",
            "(con|NUL|com1|lpt9)(\\.[a-z]{1,3})?",
            "\\PC{0,6}",
            "x{190,310}",
        ];
        let path = prop::collection::vec(part, 0..6).prop_map(|parts| parts.join("/"));
        (
            "(http|https)",
            "(a|B|127\\.0\\.0\\.1|\\[::1\\])(:80|:81)?",
            path,
            "(\\?\\PC{0,4})?",
        )
            .prop_map(|(scheme, host, path, query)| format!("{scheme}://{host}/{path}{query}"))
    }

    fn kind() -> impl Strategy<Value = FileKind> {
        prop::sample::select(vec![FileKind::Html, FileKind::Css, FileKind::Other])
    }

    proptest! {
        #[test]
        fn any_urls_have_distinct_files_inside(
            urls in prop::collection::vec((url(), kind()), 1..40),
        ) {
            let mut urls: Vec<(String, FileKind)> = urls;
            urls.retain(|(url, _)| Url::parse(url).is_ok());
            urls.sort_by(|one, other| one.0.cmp(&other.0));
            urls.dedup_by(|one, other| one.0 == other.0);
            let names = FileNames::assign(urls.clone());
            prop_assert_eq!(names.iter().count(), urls.len());
            let folded: HashSet<String> = names.iter().map(|(_, path)| fold(path)).collect();
            prop_assert_eq!(folded.len(), urls.len());
            for (url, path) in names.iter() {
                prop_assert!(path.len() <= MAX_PATH + 20, "{}", path);
                for (number, part) in path.split('/').enumerate() {
                    prop_assert!((1..=255).contains(&part.len()), "{} {}", url, path);
                    prop_assert!(part != "." && part != "..", "{} {}", url, path);
                    prop_assert!(!part.ends_with(['.', ' ']), "{} {}", url, path);
                    let is_odd = |c: char| c.is_control() || "\\:*?\"<>|".contains(c);
                    prop_assert!(!part.contains(is_odd), "{} {}", url, path);
                    let before: Vec<&str> = path.split('/').take(number).collect();
                    prop_assert!(!folded.contains(&fold(&before.join("/"))), "{} {}", url, path);
                }
                let base = Url::parse("file:///out/").unwrap();
                for (_, other) in names.iter().take(3) {
                    let from = base.join(&relative("", path)).unwrap();
                    let link = from.join(&relative(path, other)).unwrap();
                    prop_assert_eq!(link, base.join(&relative("", other)).unwrap());
                }
            }
        }
    }
}
