//! `crawler extract`: prints the data that the crawler reads from a document, or from each document
//! in a file.

use std::io::{self, Write};
use std::path::Path;

use corpus::{Content, Documents, Skipped};
use messages::{CommandError, SlowProgress, counted, say, usage};
use serde::Serialize;
use settings::input::read_document;
use settings::skip_report::SkipReport;
use web::{
    CanonicalForm, Document, Link, LinkKind, LinkKinds, MainSelectors, Media, PageUrl, ReadLimits,
    Relations, ResponseMetadata,
};

use crate::args::{ExtractArgs, ExtractForm};
use crate::output;

#[derive(Serialize)]
struct Extract<'a> {
    /// URL or file name. `crawler dedup` reads this field.
    id: &'a str,
    /// The URL and the date of a page in an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'a str>,
    title: Option<&'a str>,
    heading: Option<&'a str>,
    text: &'a str,
    /// The text that a crawl compares.
    compared_text: &'a str,
    full_text: &'a str,
    links: Vec<ExtractedLink<'a>>,
    charset: Option<&'a str>,
    language: Option<&'a str>,
    language_confidence: Option<f64>,
    robots: Vec<&'static str>,
    unavailable_after: Option<String>,
    canonical: Option<&'a str>,
    author: Option<&'a str>,
    published: Option<String>,
    modified: Option<String>,
    description: Option<&'a str>,
    site: Option<&'a str>,
    image: Option<&'a str>,
    r#type: Option<&'a str>,
    license: Option<&'a str>,
    tags: Option<&'a str>,
    warnings: Vec<String>,
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

/// Base URL of a document whose own URL is not given.
const NOWHERE: &str = "http://localhost/";

pub(crate) fn run(args: &ExtractArgs) -> Result<(), CommandError> {
    let form = CanonicalForm::default();
    let wanted = args.url.as_deref().map(|url| {
        PageUrl::parse(url, &form).map_err(|error| usage(format!("--url {url}: {error}")))
    });
    let input = args.input.options(None);
    let documents = Documents::below(std::slice::from_ref(&args.file), &input)
        .map_err(|error| CommandError::of_usage(&error))?;
    let extractor = Extractor {
        args,
        form: &form,
        nowhere: PageUrl::parse(NOWHERE, &form).map_err(usage)?,
        wanted: wanted.transpose()?,
        main: MainSelectors::parse(&args.main_selector)
            .map_err(|error| usage(format!("--main-selector {error}")))?,
        limits: limits(args),
    };
    extractor.all(documents)
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
        fields: true,
        ..ReadLimits::default()
    }
}

/// A reader of documents with fixed settings.
struct Extractor<'a> {
    args: &'a ExtractArgs,
    form: &'a CanonicalForm,
    /// Base URL of links in documents without a URL.
    nowhere: PageUrl,
    wanted: Option<PageUrl>,
    main: MainSelectors,
    limits: ReadLimits,
}

impl Extractor<'_> {
    fn read(&self, content: &Content, url: &PageUrl) -> Document {
        let content_type = match content {
            Content::Body { content_type, .. } => content_type.as_str(),
            Content::Text { .. } => "text/plain; charset=utf-8",
        };
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
        read_document(content, &hints, self.form, &self.limits)
    }

    fn write(&self, out: &mut dyn Write, extract: &Extract<'_>) -> io::Result<()> {
        match self.args.format {
            ExtractForm::Json => output::json_line(out, extract),
            ExtractForm::Text => writeln!(out, "{}", extract.text),
        }
    }

    /// Writes the documents of the input, one after the other.
    fn all(&self, documents: Documents) -> Result<(), CommandError> {
        let culprit = self.args.file.display().to_string();
        let warnings = documents.warnings();
        let mut skipped = SkipReport::default();
        // A single reason becomes the command's error, and is not printed twice.
        let mut only: Option<Skipped> = None;
        let mut written = 0_u64;
        let mut progress = SlowProgress::new("documents read");
        output::to_stdout(|out| {
            for document in documents {
                progress.step();
                if let Some(before) = only.take() {
                    skipped.add(&before);
                }
                match document {
                    Ok(document) => written += u64::from(self.one(out, &document)?),
                    Err(trouble) if written == 0 && skipped.count() == 0 => only = Some(trouble),
                    Err(trouble) => skipped.add(&trouble),
                }
            }
            Ok(())
        })?;
        drop(progress);
        if let Some(only) = only {
            return Err(usage(only));
        }
        if skipped.count() > 0 && written > 0 {
            say(&format!(
                "{}, {} skipped",
                counted(written, "page"),
                counted(skipped.count(), "place")
            ));
        }
        if let Some(odd) = warnings.describe().filter(|_| written > 0) {
            say(&odd);
        }
        match (written, &self.args.url) {
            (0, _) if skipped.count() > 0 => Err(skipped.no_document("to extract")),
            (0, Some(url)) => Err(usage(format!("{culprit} does not contain the page {url}"))
                .with_remedy("`crawler index FILE` lists its captures")),
            (0, None) => Err(usage(format!("{culprit} contains no page")).with_remedy(
                "only text or markup in responses with status 2xx, resources and conversions is \
                 extracted",
            )),
            _ => skipped.check_complete(),
        }
    }

    /// Writes a document. Returns false if it was not requested or is not text.
    fn one(&self, out: &mut dyn Write, document: &corpus::Document) -> io::Result<bool> {
        let content = &document.content;
        // `--url` names the page in a plain file. A page in an archive has its own URL.
        let is_file = document.date.is_none() && Path::new(&*document.id) == self.args.file;
        if is_file {
            let url = self.wanted.as_ref().unwrap_or(&self.nowhere);
            let id = self.wanted.as_ref().map_or(&*document.id, PageUrl::as_str);
            let read = self.read(content, url);
            self.write(out, &Extract::of(id, &read))?;
            return Ok(true);
        }
        let url = PageUrl::parse(&document.id, self.form).ok();
        if self.wanted.is_some() && url != self.wanted {
            return Ok(false);
        }
        let read = self.read(content, url.as_ref().unwrap_or(&self.nowhere));
        if read.media == Media::Other {
            return Ok(false);
        }
        let is_archived = document.date.is_some() || url.is_some();
        let extract = Extract {
            url: Some(&*document.id).filter(|_| is_archived),
            date: document.date.as_deref(),
            ..Extract::of(&document.id, &read)
        };
        self.write(out, &extract)?;
        Ok(true)
    }
}

impl<'a> Extract<'a> {
    fn of(id: &'a str, document: &'a Document) -> Self {
        let (asked, fields) = (document.directives, &document.fields);
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
            compared_text: document.compared_text(),
            full_text: document.full_text(),
            links: document.links.iter().map(link).collect(),
            charset: Some(document.charset).filter(|name| !name.is_empty()),
            language: document.language.as_deref(),
            language_confidence: document.language_share(),
            robots: robots
                .into_iter()
                .filter_map(|(name, asked)| asked.then_some(name))
                .collect(),
            unavailable_after: asked.unavailable_after.map(|end| end.to_string()),
            canonical: document.canonical.as_ref().map(PageUrl::as_str),
            author: fields.author.as_deref(),
            published: fields.published.map(|date| date.to_string()),
            modified: fields.modified.map(|date| date.to_string()),
            description: fields.description.as_deref(),
            site: fields.site.as_deref(),
            image: fields.image.as_deref(),
            r#type: fields.kind.as_deref(),
            license: fields.license.as_deref(),
            tags: fields.tags.as_deref(),
            warnings: document
                .warnings
                .iter()
                .map(|warning| format!("{warning:?}"))
                .collect(),
        }
    }
}
