//! The pages as the crawler reads them: their texts, and the links between them.

use std::collections::HashSet;

use neardup::PageText;
use web::{CanonicalForm, LinkKind, MainContent, ReadLimits, ResponseMetadata};

use super::hosts::Hosts;
use crate::sets::set::Absent;
use crate::threads;

/// A page, read.
#[derive(Debug)]
pub(crate) struct ReadPage {
    /// The compared text, by the rule of `reading::page_text`.
    text: String,
    own: Option<String>,
    title: Option<String>,
    heading: Option<String>,
    /// The links to pages of the hosts, each target once, in the order of the page.
    pub(crate) links: Vec<GraphLink>,
}

/// A link between pages of the hosts.
#[derive(Debug)]
pub(crate) struct GraphLink {
    pub(crate) target: u32,
    pub(crate) anchor: String,
    /// The words around it.
    pub(crate) around: String,
}

impl ReadPage {
    pub(crate) fn page_text(&self) -> PageText<'_> {
        PageText {
            text: &self.text,
            main_content: self.own.as_deref(),
            title: self.title.as_deref(),
            heading: self.heading.as_deref(),
        }
    }
}

/// Reads all pages of the hosts, on all cores.
pub(crate) fn read_all(hosts: &Hosts) -> Result<Vec<ReadPage>, Absent> {
    let read = threads::each(hosts.pages.len(), |number| {
        let body = hosts.pages[number].read()?;
        Ok(read_page(hosts, number as u32, &body))
    });
    read.into_iter().collect()
}

fn read_page(hosts: &Hosts, number: u32, body: &[u8]) -> ReadPage {
    let (form, url) = (CanonicalForm::default(), hosts.url(number));
    let metadata = ResponseMetadata {
        agent: "evaluation",
        content_type: Some("text/html"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        link_context: true,
        ..ReadLimits::default()
    };
    let document = web::read(body, &metadata, &form, &limits);
    let mut links: Vec<GraphLink> = Vec::new();
    let mut targets: HashSet<u32> = HashSet::new();
    for link in &document.links {
        if matches!(link.kind, LinkKind::Requisite | LinkKind::Form) {
            continue;
        }
        let Some(target) = hosts.of_url(&link.url).filter(|target| *target != number) else {
            continue;
        };
        if targets.insert(target) {
            let context = link.context.as_ref();
            links.push(GraphLink {
                target,
                anchor: link.anchor.clone(),
                around: context.map_or_else(String::new, |context| context.around.clone()),
            });
        }
    }
    ReadPage {
        text: document.compared_text().to_owned(),
        own: match document.compared_own() {
            MainContent::Main => None,
            MainContent::PageFallback { main_text } => Some(main_text.clone()),
        },
        title: document.title,
        heading: document.heading,
        links,
    }
}
