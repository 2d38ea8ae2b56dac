//! `crawler extract`: prints what the crawler reads from a document, or from each page of an
//! archive.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use corpus::{
    ArchiveDocuments, Content, MAX_DOCUMENT, SeenDeviations, Skipped, WaczStreams, is_archive,
    is_standard_input, is_wacz, media_type,
};
use serde::Serialize;
use sinks::warc::WarcStream;
use web::{
    CanonicalForm, Document, Link, LinkKind, LinkKinds, MainSelectors, Media, PageUrl, ReadLimits,
    Relations, ResponseMetadata,
};

use super::unreadable;
use crate::args::{ExtractArgs, ExtractForm};
use crate::cli_error::{CliError, usage};
use crate::output;
use crate::progress::SlowProgress;
use crate::skip_report::SkipReport;
use crate::terminal::say;

#[derive(Serialize)]
struct Extract<'a> {
    /// The URL, or the file, so that `crawler dedup` can read the output.
    id: &'a str,
    /// The URL and the date of a page in an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'a str>,
    title: Option<&'a str>,
    heading: Option<&'a str>,
    text: &'a str,
    /// The text that a crawl judges the page by.
    judged_text: &'a str,
    full_text: &'a str,
    links: Vec<ExtractedLink<'a>>,
    charset: Option<&'a str>,
    language: Option<&'a str>,
    robots: Vec<&'static str>,
    unavailable_after: Option<String>,
    canonical: Option<&'a str>,
    oddities: Vec<String>,
}

#[derive(Serialize)]
struct ExtractedLink<'a> {
    url: &'a str,
    anchor: &'a str,
    /// `page`, `frame`, `refresh`, `form`, `script` or `requisite`.
    kind: &'static str,
    nofollow: bool,
    rel: Vec<&'static str>,
}

/// The base URL of a document whose own URL is not given.
const NOWHERE: &str = "http://localhost/";

/// Bytes that are read to distinguish an archive from a document.
const BEGINNING: usize = 256 << 10;

pub(crate) fn run(args: &ExtractArgs) -> Result<(), CliError> {
    let form = CanonicalForm::default();
    let wanted = args.url.as_deref().map(|url| {
        PageUrl::parse(url, &form).map_err(|error| usage(format!("--url {url}: {error}")))
    });
    let extractor = Extractor {
        args,
        form: &form,
        wanted: wanted.transpose()?,
        main: MainSelectors::parse(&args.main_selector)
            .map_err(|error| usage(format!("--main-selector {error}")))?,
        limits: limits(args),
        oddities: SeenDeviations::default(),
    };
    let unreadable = unreadable(&args.file);
    if is_wacz(&args.file) {
        let streams = WaczStreams::open(&args.file).map_err(unreadable)?;
        return extractor.all(streams.documents(extractor.oddities.clone()));
    }
    let input: Box<dyn Read + Send> = match is_standard_input(&args.file) {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(&args.file).map_err(unreadable)?),
    };
    let mut input = BufReader::with_capacity(BEGINNING, input);
    if is_archive(&args.file, &mut input).map_err(unreadable)? {
        let stream = match is_standard_input(&args.file) {
            true => WarcStream::new(&args.file, input),
            // In a file, reading can go back behind a broken record.
            false => WarcStream::open(&args.file).map_err(|fault| usage(fault.to_string()))?,
        };
        return extractor.all(ArchiveDocuments::of(stream, extractor.oddities.clone()));
    }
    let mut body = Vec::new();
    input
        .take(MAX_DOCUMENT)
        .read_to_end(&mut body)
        .map_err(unreadable)?;
    let media = media_type(&args.file, &body);
    let nowhere = PageUrl::parse(NOWHERE, &form).map_err(usage)?;
    let document = extractor.read(&body, media, extractor.wanted.as_ref().unwrap_or(&nowhere));
    let file = args.file.to_string_lossy();
    let id = extractor.wanted.as_ref().map_or(&*file, PageUrl::as_str);
    output::to_stdout(|out| extractor.write(out, &Extract::of(id, &document)))
}

fn limits(args: &ExtractArgs) -> ReadLimits {
    let mut kinds = LinkKinds::PAGES.with(LinkKind::Requisite);
    if args.forms {
        kinds = kinds.with(LinkKind::Form);
    }
    if args.script_links {
        kinds = kinds.with(LinkKind::Script);
    }
    ReadLimits {
        kinds,
        ..ReadLimits::default()
    }
}

/// A reader of documents with fixed settings.
struct Extractor<'a> {
    args: &'a ExtractArgs,
    form: &'a CanonicalForm,
    wanted: Option<PageUrl>,
    main: MainSelectors,
    limits: ReadLimits,
    /// The deviations in the archive that is read.
    oddities: SeenDeviations,
}

impl Extractor<'_> {
    fn read(&self, body: &[u8], content_type: &str, url: &PageUrl) -> Document {
        let content_type = match &self.args.charset {
            Some(charset) => {
                let media = content_type.split(';').next().unwrap_or_default();
                format!("{media}; charset={charset}")
            }
            None => content_type.to_owned(),
        };
        let hints = ResponseMetadata {
            agent: "crawler",
            content_type: Some(&content_type),
            main: Some(&self.main),
            ..ResponseMetadata::of(url)
        };
        web::read(body, &hints, self.form, &self.limits)
    }

    fn write(&self, out: &mut dyn Write, extract: &Extract<'_>) -> io::Result<()> {
        match self.args.format {
            ExtractForm::Json => output::json_line(out, extract),
            ExtractForm::Text => writeln!(out, "{}", extract.text),
        }
    }

    /// Writes the pages of an archive, one after the other.
    fn all(
        &self,
        documents: impl Iterator<Item = Result<corpus::Document, String>>,
    ) -> Result<(), CliError> {
        let culprit = self.args.file.display().to_string();
        let mut skipped = SkipReport::default();
        let mut written = 0_u64;
        let mut progress = SlowProgress::new("documents read");
        output::to_stdout(|out| {
            for document in documents {
                progress.step();
                let document = match document {
                    Ok(document) => document,
                    Err(reason) => {
                        skipped.add(&Skipped {
                            culprit: culprit.clone(),
                            reason,
                        });
                        continue;
                    }
                };
                // Without a page's URL, links have no base of their own.
                let url = PageUrl::parse(&document.id, self.form).ok();
                if self.wanted.is_some() && url != self.wanted {
                    continue;
                }
                let Some(url) = url.or_else(|| PageUrl::parse(NOWHERE, self.form).ok()) else {
                    continue;
                };
                let Content::Body {
                    bytes,
                    content_type,
                } = &document.content
                else {
                    continue;
                };
                let read = self.read(bytes, content_type, &url);
                if read.media == Media::Other {
                    continue;
                }
                let extract = Extract {
                    url: Some(&document.id),
                    date: document.date.as_deref(),
                    ..Extract::of(&document.id, &read)
                };
                self.write(out, &extract)?;
                written += 1;
            }
            Ok(())
        })?;
        drop(progress);
        if skipped.count() > 0 {
            say(&format!(
                "{written} pages, {} places skipped",
                skipped.count()
            ));
        }
        if let Some(odd) = self.oddities.describe().filter(|_| written > 0) {
            say(&odd);
        }
        match (written, &self.args.url) {
            (0, Some(url)) => Err(usage(format!("{culprit} holds no page {url}"))
                .with_remedy("`crawler index FILE` lists what is in it")),
            (0, None) => Err(usage(format!("{culprit} holds no page")).with_remedy(
                "it extracts answers with status 200, resources and conversions that are text or \
                 markup",
            )),
            _ => Ok(()),
        }
    }
}

impl<'a> Extract<'a> {
    fn of(id: &'a str, document: &'a Document) -> Self {
        let asked = document.directives;
        let robots = [
            ("noindex", asked.noindex),
            ("nofollow", asked.nofollow),
            ("noarchive", asked.noarchive),
        ];
        let link = |link: &'a Link| ExtractedLink {
            url: link.url.as_str(),
            anchor: &link.anchor,
            kind: link.kind.as_str(),
            nofollow: link.relations.has_any_of(Relations::NOFOLLOW),
            rel: link.relations.words().collect(),
        };
        Self {
            id,
            url: None,
            date: None,
            title: document.title.as_deref(),
            heading: document.heading.as_deref(),
            text: &document.text,
            judged_text: document.judged_text(),
            full_text: document.full_text(),
            links: document.links.iter().map(link).collect(),
            charset: Some(document.charset).filter(|name| !name.is_empty()),
            language: document.language.as_deref(),
            robots: robots
                .into_iter()
                .filter_map(|(name, asked)| asked.then_some(name))
                .collect(),
            unavailable_after: asked.unavailable_after.map(|end| end.to_string()),
            canonical: document.canonical.as_ref().map(PageUrl::as_str),
            oddities: document
                .warnings
                .iter()
                .map(|oddity| format!("{oddity:?}"))
                .collect(),
        }
    }
}
