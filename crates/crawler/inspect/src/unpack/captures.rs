//! The captures of all inputs by their URLs, and the file of each URL.
//!
//! The newest capture of a URL that represents a page counts (`sinks::captures`). Failures (status
//! 4xx or 5xx) are ignored, so they do not hide an earlier page. Memory use is about a kilobyte per
//! capture.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::PathBuf;

use messages::{CommandError, fault};
use settings::Settings;
use sinks::cdxj::{CdxjLine, CdxjReader, DUPLICATE};
use sinks::originals::{DigestText, OriginalCapture, Originals, Reference};
use sinks::warc::{WarcStream, date, read_head};
use unpack::{FileKind, FileNames, absolute, relative};
use web::{CanonicalForm, PageUrl};

use crate::archives::inputs::Input;
use crate::archives::merged::InputIndex;

/// Maximum number of redirects and originals followed from a URL. Browsers use the same limit.
const MAX_STEPS: usize = 20;

/// Bytes read from the head of a redirect.
const HEAD: usize = 64 << 10;

/// A record in a file of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Index of the file in the list of input files.
    pub(super) file: usize,
    pub(super) offset: u64,
}

/// A capture of a URL. For captures in the same second, later variants are preferred.
#[derive(Clone, Debug)]
enum Capture {
    /// A page that was not archived; its original has this URL.
    Duplicate(String),
    Redirect(Place),
    /// A page whose content is in another record.
    Revisit(Place),
    Page(Place, FileKind),
}

impl Capture {
    const fn rank(&self) -> u8 {
        match self {
            Self::Duplicate(_) => 0,
            Self::Redirect(_) => 1,
            Self::Revisit(_) => 2,
            Self::Page(..) => 3,
        }
    }
}

/// Returns the order of the captures of a URL.
fn order((timestamp, capture): &(String, Capture)) -> (&str, u8) {
    (timestamp, capture.rank())
}

/// The captures of URLs, each with its time in fourteen digits.
struct Captures {
    by_url: HashMap<String, Vec<(String, Capture)>>,
    /// The pages that revisits refer to.
    originals: Originals<(Place, FileKind)>,
    /// The DOMs of rendered pages.
    doms: HashMap<Place, Place>,
    /// True if the originals contain the ids of their records.
    has_ids: bool,
    paths: Vec<PathBuf>,
}

/// A file that is written.
pub(super) struct UnpackedFile {
    pub(super) url: String,
    pub(super) place: Place,
    pub(super) kind: FileKind,
}

/// The file of each URL, and the URLs that redirect to another URL.
pub(super) struct Targets {
    /// Files in the best reading order.
    pub(super) files: Vec<UnpackedFile>,
    /// The files of the inputs, by [`Place::file`].
    pub(super) paths: Vec<PathBuf>,
    pub(super) names: FileNames,
    /// Number of URLs without a file whose links point to another URL's file.
    pub(super) redirected: u64,
    /// Number of pages whose content is in none of the inputs.
    pub(super) without_content: u64,
    /// Redirects with their targets, and unarchived pages with the URLs of their originals.
    others: HashMap<String, String>,
    /// The captured spelling of canonical URLs that were not requested as such.
    spellings: HashMap<String, String>,
    form: CanonicalForm,
}

impl Targets {
    /// Reads the indexes of all inputs and names the files.
    pub(super) fn of(inputs: &[Input], index: &mut InputIndex) -> Result<Self, CommandError> {
        let files = inputs.iter().flat_map(Input::files);
        let (names, paths): (Vec<String>, Vec<PathBuf>) = files
            .map(|file| (file.name.clone(), file.path.clone()))
            .unzip();
        let positions = names.into_iter().enumerate();
        let positions = positions.map(|(position, name)| (name, position)).collect();
        let mut captures = Captures {
            by_url: HashMap::new(),
            originals: Originals::default(),
            doms: doms(inputs, &positions),
            has_ids: false,
            paths,
        };
        captures.read_records(index, &positions)?;
        let crawl = inputs.iter().find_map(Input::crawl);
        let settings = crawl.map(|crawl| Settings::of_crawl(&crawl.directory));
        let settings = settings.transpose()?;
        let form = settings.map(|settings| settings.canonical_form());
        Ok(captures.into_targets(form.unwrap_or_default()))
    }

    /// Returns [`Targets::spellings`]: a link may spell a URL differently from the link that was
    /// followed.
    fn other_spellings(&self) -> HashMap<String, String> {
        let mut spellings = HashMap::new();
        let files = self.files.iter().map(|file| &file.url);
        for url in files.chain(self.others.keys()) {
            if let Ok(page) = PageUrl::parse(url, &self.form)
                && page.as_str() != url
            {
                spellings
                    .entry(page.to_string())
                    .or_insert_with(|| url.clone());
            }
        }
        spellings
    }

    /// Returns the file of a URL, through redirects and originals; `None` if no file is found.
    pub(super) fn file_of(&self, url: &str) -> Option<&str> {
        let mut url = url.to_owned();
        for _ in 0..MAX_STEPS {
            if let Some(file) = self.names.get(&url) {
                return Some(file);
            }
            url = match self.others.get(&url) {
                Some(other) => other.clone(),
                None => {
                    let canonical = PageUrl::parse(&url, &self.form).ok()?.to_string();
                    match canonical == url {
                        true => self.spellings.get(&url)?.clone(),
                        false => canonical,
                    }
                }
            };
        }
        None
    }

    /// Returns the link from the file `from` to the file of a URL.
    pub(super) fn link(&self, from: &str, url: &str) -> Option<String> {
        self.file_of(url).map(|to| relative(from, to))
    }
}

/// Returns the order of two files in the best reading order.
fn by_place(one: &UnpackedFile, other: &UnpackedFile) -> Ordering {
    let order = |file: &UnpackedFile| (file.place.file, file.place.offset);
    let places = order(one).cmp(&order(other));
    places.then_with(|| one.url.cmp(&other.url))
}

/// Returns the DOMs of the rendered pages of all crawls, by the records of the pages. The index has
/// no line for a DOM.
fn doms(inputs: &[Input], positions: &HashMap<String, usize>) -> HashMap<Place, Place> {
    let mut doms = HashMap::new();
    for crawl in inputs.iter().filter_map(Input::crawl) {
        let files = crawl.by_name();
        for ((name, page), dom) in &crawl.extent.doms {
            let packed = files.get(name);
            if let Some(&file) = packed.and_then(|file| positions.get(&file.name)) {
                let at = |offset| Place { file, offset };
                doms.insert(at(*page), at(*dom));
            }
        }
    }
    doms
}

impl Captures {
    fn read_records(
        &mut self,
        index: &mut InputIndex,
        positions: &HashMap<String, usize>,
    ) -> Result<(), CommandError> {
        let Some(lines) = index.lines.take() else {
            return Ok(());
        };
        let mut lines = CdxjReader::new(lines);
        while let Some(line) = lines.next_entry().map_err(|error| fault(&error))? {
            if line.key.starts_with(DUPLICATE) {
                self.add_duplicate(&line);
            } else if let Some(&file) = positions.get(line.file()) {
                let offset = line.offset();
                self.add(&line, Place { file, offset });
            }
        }
        Ok(())
    }

    /// Adds the capture of a line, unless it is the response to a POST, which is no page.
    fn add(&mut self, line: &CdxjLine, place: Place) {
        let url = line.text("url").unwrap_or_default();
        if !["http://", "https://"]
            .iter()
            .any(|web| url.starts_with(web))
            || line.text("method").is_some()
        {
            return;
        }
        let mime = line.text("mime").unwrap_or_default();
        let status = line
            .text("status")
            .and_then(|status| status.parse::<u16>().ok());
        let capture = match (mime, status) {
            (_, Some(300..=303 | 307 | 308)) => Capture::Redirect(place),
            ("warc/revisit", Some(200..=299 | 304) | None) => Capture::Revisit(place),
            (_, Some(200..=299)) => Capture::Page(place, FileKind::of(mime)),
            // A `metadata` record of another crawler also has a line. If a response has an odd
            // head, or is an interim response, the status in the index is not the page's status.
            (_, None | Some(100..=199)) => match self.look_into(place) {
                Some(mime) => Capture::Page(place, FileKind::of(&mime)),
                None => return,
            },
            _ => return,
        };
        let digest = line.text("digest").and_then(DigestText::of);
        self.push(url, &line.timestamp, digest, capture);
    }

    /// Returns the media type of the page in a record without a status in the index; `None` if the
    /// record does not contain a page.
    fn look_into(&self, place: Place) -> Option<String> {
        let head = read_head(&self.paths[place.file], place.offset, 0).ok()?;
        if head.kind() == "resource" {
            return Some(head.field("Content-Type").unwrap_or_default().to_owned());
        }
        let mut stream = WarcStream::open_at(&self.paths[place.file], place.offset).ok()?;
        let record = stream.next_record(HEAD).ok()??;
        let response = record.http().filter(|_| record.kind() == "response")?;
        (200..300)
            .contains(&response.status)
            .then(|| web::content_type(&response.headers).unwrap_or_default())
    }

    fn add_duplicate(&mut self, line: &CdxjLine) {
        if let (Some(url), Some(original)) = (line.text("url"), line.text("duplicate_of")) {
            let capture = Capture::Duplicate(original.to_owned());
            self.push(url, &line.timestamp, None, capture);
        }
    }

    fn push(&mut self, url: &str, at: &str, digest: Option<DigestText>, capture: Capture) {
        if let Capture::Page(place, kind) = capture {
            let original = OriginalCapture {
                targets: &[url],
                at: date(at),
                digest,
                id: None,
            };
            self.originals.add(&original, (place, kind));
        }
        let captures = self.by_url.entry(url.to_owned()).or_default();
        captures.push((at.to_owned(), capture));
    }

    fn into_targets(mut self, form: CanonicalForm) -> Targets {
        let mut files = Vec::new();
        let mut others = HashMap::new();
        let mut without_content = 0;
        let by_url = std::mem::take(&mut self.by_url);
        for (url, captures) in &by_url {
            let newest = captures
                .iter()
                .max_by(|one, other| order(one).cmp(&order(other)));
            let Some((_, newest)) = newest else { continue };
            let page = match newest {
                Capture::Page(place, _) | Capture::Revisit(place)
                    if let Some(dom) = self.doms.get(place) =>
                {
                    Some((*dom, FileKind::Html))
                }
                Capture::Page(place, kind) => Some((*place, *kind)),
                Capture::Revisit(place) => {
                    let original = self.original(*place);
                    without_content += u64::from(original.is_none());
                    original
                }
                Capture::Redirect(place) => {
                    if let Some(target) = self.redirect(url, *place) {
                        others.insert(url.clone(), target);
                    }
                    None
                }
                Capture::Duplicate(original) => {
                    others.insert(url.clone(), original.clone());
                    None
                }
            };
            if let Some((place, kind)) = page {
                files.push(UnpackedFile {
                    url: url.clone(),
                    place,
                    kind,
                });
            }
        }
        files.sort_by(by_place);
        let names = FileNames::assign(files.iter().map(|file| (file.url.clone(), file.kind)));
        let mut targets = Targets {
            files,
            paths: self.paths,
            names,
            redirected: 0,
            without_content,
            others,
            spellings: HashMap::new(),
            form,
        };
        targets.spellings = targets.other_spellings();
        let redirected = targets.others.keys();
        let redirected = redirected.filter(|url| targets.file_of(url).is_some());
        targets.redirected = redirected.count() as u64;
        targets
    }

    /// Returns the record with the content of a revisit.
    fn original(&mut self, place: Place) -> Option<(Place, FileKind)> {
        let head = read_head(&self.paths[place.file], place.offset, 0).ok()?;
        let reference = Reference::of(&head);
        let found = self.originals.find(&reference).copied();
        if found.is_none() || reference.names_a_record() {
            self.read_ids();
            return self.originals.find(&reference).copied();
        }
        found
    }

    /// Reads the ids of all records: revisits refer to their originals by id, and an index does not
    /// contain ids.
    fn read_ids(&mut self) {
        if std::mem::replace(&mut self.has_ids, true) {
            return;
        }
        for path in &self.paths {
            let Ok(mut stream) = WarcStream::open(path) else {
                continue;
            };
            loop {
                // Indexing has already reported broken places.
                match stream.next_record(0) {
                    Ok(None) => break,
                    Err(_broken) => {}
                    Ok(Some(record)) => {
                        let target = record.target().unwrap_or_default();
                        match record.kind() {
                            "response" | "resource" => {
                                self.originals
                                    .add_id(target, date(record.date()), record.id());
                            }
                            "revisit" => self.originals.add_revisit(&record),
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// Returns the target URL of a redirect.
    fn redirect(&self, url: &str, place: Place) -> Option<String> {
        let head = read_head(&self.paths[place.file], place.offset, HEAD).ok()?;
        let response = head.http()?;
        let location = response.headers.get(http::header::LOCATION)?;
        absolute(url, &web::url_field(location))
    }
}
