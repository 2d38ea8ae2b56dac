//! `crawler extract`: what the crawler reads in a document.

use serde::Serialize;
use web::{CanonicalForm, Document, Hints, Link, PageUrl, ReadLimits};

use crate::args::{ExtractArgs, ExtractForm};
use crate::complaint::{Complaint, usage};
use crate::documents::media_type;
use crate::output;

#[derive(Serialize)]
struct Extract<'a> {
    title: Option<&'a str>,
    text: &'a str,
    full_text: &'a str,
    links: Vec<ExtractedLink<'a>>,
    charset: Option<&'a str>,
    language: Option<&'a str>,
    robots: Vec<&'static str>,
    canonical: Option<&'a str>,
    oddities: Vec<String>,
}

#[derive(Serialize)]
struct ExtractedLink<'a> {
    url: &'a str,
    anchor: &'a str,
    nofollow: bool,
}

pub(crate) fn run(args: &ExtractArgs) -> Result<(), Complaint> {
    let form = CanonicalForm::default();
    let url =
        PageUrl::parse(&args.url, &form).map_err(|error| usage(format!("--url {}: {error}", args.url)))?;
    let body = super::read_input(&args.file)?;
    let media = media_type(&args.file, &body);
    let content_type = match &args.charset {
        Some(charset) => format!("{media}; charset={charset}"),
        None => media.to_owned(),
    };
    let hints = Hints {
        url: &url,
        content_type: Some(&content_type),
        x_robots_tag: &[],
        agent: "crawler",
    };
    let document = web::read(&body, &hints, &form, &ReadLimits::default());
    output::to_stdout(|out| match args.format {
        ExtractForm::Json => output::json_line(out, &Extract::from(&document)),
        ExtractForm::Text => writeln!(out, "{}", document.text),
    })
}

impl<'a> From<&'a Document> for Extract<'a> {
    fn from(document: &'a Document) -> Self {
        let asked = document.directives;
        let robots = [
            ("noindex", asked.noindex),
            ("nofollow", asked.nofollow),
            ("noarchive", asked.noarchive),
        ];
        let link = |link: &'a Link| ExtractedLink {
            url: link.url.as_str(),
            anchor: &link.anchor,
            nofollow: link.nofollow,
        };
        Self {
            title: document.title.as_deref(),
            text: &document.text,
            full_text: document.full_text(),
            links: document.links.iter().map(link).collect(),
            charset: Some(document.charset).filter(|name| !name.is_empty()),
            language: document.language.as_deref(),
            robots: robots
                .into_iter()
                .filter_map(|(name, asked)| asked.then_some(name))
                .collect(),
            canonical: document.canonical.as_ref().map(PageUrl::as_str),
            oddities: document
                .oddities
                .iter()
                .map(|oddity| format!("{oddity:?}"))
                .collect(),
        }
    }
}
