//! The verdict by the texts: what signatures have found is compared block by block, and so are the
//! kept pages of the site that share most of a page's content (`docs/adr/0029`).
//!
//! Invariant: a text that cannot be had leaves the verdict to the signatures.

use std::sync::Arc;

use comparison::{ComparedPage, Decision, Frames, Outcome, decide};
use neardup::Likeness;
use sinks::Archived;
use store::{CONTAINED_IN, Lease, Original, Page, SAME_CONTENT};
use web::{Exchange, Media, PageUrl, UrlKey};

use crate::context::CrawlContext;
use crate::runtime::kept_pages::{self, KeptPage, SharedFrame};
use crate::steps::reading::{self, Kind, Reader, Reading};

/// A page that is compared by its text.
pub(crate) struct Compared {
    page: ComparedPage,
    url: PageUrl,
    canonical: Option<PageUrl>,
    payload: u128,
    frame: SharedFrame,
}

/// Results of the comparisons with kept pages.
#[derive(Default)]
pub(crate) struct Findings {
    /// The page that is repeated, if one is.
    pub(crate) repeat: Option<Repeat>,
    /// A kept page with the same bytes or words, which counts where the index knows none.
    pub(crate) same: Option<Original>,
    /// Kept pages whose content is part of the page's, if the page repeats none.
    pub(crate) contains: Vec<PageUrl>,
}

/// A repeat that the texts found.
pub(crate) struct Repeat {
    pub(crate) original: Original,
    pub(crate) reason: String,
}

/// Returns a page as it is compared; none for what is no page of text, or where the crawl compares
/// signatures alone.
pub(crate) fn compared(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
) -> Option<Compared> {
    let kept = context.kept_pages.as_ref()?;
    let document = reading.document.as_ref()?;
    let is_page = matches!(document.media, Media::Html | Media::Text)
        && lease.discovered().requisite == 0
        && reading.listing.is_none()
        && (200..300).contains(&exchange.status)
        // To read an original again would count its words twice.
        && !context.adaptive_signatures.learns();
    is_page.then(|| Compared {
        page: reading::compared_page(exchange.url.as_str(), document, context.policy.main_content),
        url: exchange.url.clone(),
        canonical: document.canonical.clone(),
        payload: reading.signature.payload,
        frame: kept.frame(&exchange.url.host()),
    })
}

/// Compares a page with the kept pages of its site that share most of its content.
pub(crate) async fn find(
    context: &Arc<CrawlContext>,
    page: UrlKey,
    reading: &Reading,
    compared: &Compared,
) -> Findings {
    let mut findings = Findings::default();
    let Some(kept) = &context.kept_pages else {
        return findings;
    };
    let candidates = {
        let frame = kept_pages::read(&compared.frame);
        kept.candidates(&compared.page, &frame)
    };
    for candidate in candidates {
        let Some(other) = read(context, candidate).await else {
            continue;
        };
        let is_of_site = other.url.registrable_domain() == compared.url.registrable_domain();
        let are_separate = context.index.are_separate(page, other.page.key());
        if !is_of_site || other.url == compared.url || are_separate {
            continue;
        }
        let decision = decision(compared, &other);
        tracing::debug!(url = %compared.url, other = %other.url, ?decision, "compared");
        if let Some(likeness) = other.equality_to(compared, reading) {
            if likeness == Likeness::SamePayload || decision.outcome != Outcome::Distinct {
                findings.same.get_or_insert(other.original(likeness));
            }
            continue;
        }
        learn(compared, &decision);
        let said = match decision.outcome {
            Outcome::Repeat => SAME_CONTENT,
            Outcome::View => CONTAINED_IN,
            Outcome::ViewOfPage => {
                findings.contains.push(other.page.url);
                continue;
            }
            Outcome::Distinct | Outcome::Undecided => continue,
        };
        let likeness = other.likeness_to(reading);
        let original = other.original(likeness);
        let reason = format!("{said} {}", original.page.url);
        findings.repeat = Some(Repeat { original, reason });
        return findings;
    }
    findings
}

/// Returns the reason for which a page is kept although its signature is like the original's; none
/// if the texts do not tell them apart.
pub(crate) async fn distinct(
    context: &Arc<CrawlContext>,
    compared: &Compared,
    original: &Original,
) -> Option<String> {
    if original.earlier || original.likeness == Likeness::SamePayload {
        return None;
    }
    let kept = context.kept_pages.as_ref()?;
    let other = read(context, kept.of(original.page.final_url.key())?).await?;
    let decision = decision(compared, &other);
    learn(compared, &decision);
    let reason = decision.reason?;
    Some(format!("much like {}, and kept: {reason}", other.url))
}

/// The page that a page is compared with, read from the archive.
struct OtherPage {
    compared: ComparedPage,
    url: PageUrl,
    page: Page,
    canonical: Option<PageUrl>,
    payload: u128,
    frame: SharedFrame,
    reading: Reading,
}

async fn read(context: &Arc<CrawlContext>, kept: KeptPage) -> Option<OtherPage> {
    let for_task = Arc::clone(context);
    let read = context.compute(move || read_here(&for_task, &kept)).await?;
    read.inspect_err(|error| tracing::debug!(error, "the original's text cannot be had"))
        .ok()
}

fn read_here(context: &CrawlContext, kept: &KeptPage) -> Result<OtherPage, String> {
    let pages = context.kept_pages.as_ref().ok_or("no page is remembered")?;
    let exchange = pages.read(kept, &context.policy.canonical)?;
    let reader = Reader {
        policy: &context.policy,
        signatures: &context.adaptive_signatures,
        focus: None,
        kind: Kind::Page,
    };
    let reading = reader.read_archived(&exchange);
    let document = reading.document.as_ref().ok_or("it cannot be read")?;
    Ok(OtherPage {
        compared: reading::compared_page(
            exchange.url.as_str(),
            document,
            context.policy.main_content,
        ),
        page: Page {
            url: exchange.url.clone(),
            final_url: exchange.url.clone(),
            at: exchange.started,
        },
        canonical: document.canonical.clone(),
        payload: reading.signature.payload,
        frame: pages.frame(&exchange.url.host()),
        url: exchange.url,
        reading,
    })
}

impl OtherPage {
    /// Returns the likeness of pages with the same bytes, or the same words in the same order.
    fn equality_to(&self, compared: &Compared, reading: &Reading) -> Option<Likeness> {
        let (ours, theirs) = (&reading.signature.text, &self.reading.signature.text);
        match () {
            () if self.payload == compared.payload => Some(Likeness::SamePayload),
            () if ours.is_some() && ours == theirs => Some(Likeness::SameText),
            () => None,
        }
    }

    /// Returns the page as the original of another.
    fn original(self, likeness: Likeness) -> Original {
        let has_bytes = likeness == Likeness::SamePayload;
        Original {
            likeness,
            bytes: has_bytes.then(|| self.page.clone()),
            page: self.page,
            earlier: false,
            by_canonical: false,
        }
    }

    /// Returns the likeness of the signatures, whatever it is.
    fn likeness_to(&self, reading: &Reading) -> Likeness {
        let texts = |reading: &Reading| reading.signature.text.clone();
        let (ours, theirs) = (texts(reading), texts(&self.reading));
        let near = ours.zip(theirs).map(|(ours, theirs)| {
            let sketches = ours.sketch.as_ref().zip(theirs.sketch.as_ref());
            Likeness::Near {
                distance: ours.fingerprint.distance(theirs.fingerprint),
                resemblance: sketches.map_or(0.0, |(ours, theirs)| ours.resemblance(theirs)),
            }
        });
        near.unwrap_or(Likeness::Near {
            distance: 0,
            resemblance: 0.0,
        })
    }
}

fn decision(compared: &Compared, other: &OtherPage) -> Decision {
    let is_canonical = compared.canonical.as_ref().is_some_and(|canonical| {
        *canonical == other.url || other.canonical.as_ref() == Some(canonical)
    });
    let frame = kept_pages::read(&compared.frame);
    // A frame is not locked twice.
    let theirs =
        (!Arc::ptr_eq(&compared.frame, &other.frame)).then(|| kept_pages::read(&other.frame));
    let frames = Frames {
        page: Some(&frame),
        original: Some(theirs.as_deref().unwrap_or(&frame)),
    };
    decide(&compared.page, &other.compared, frames, is_canonical)
}

fn learn(compared: &Compared, decision: &Decision) {
    if !decision.changes.is_empty() {
        let mut frame = kept_pages::write(&compared.frame);
        frame.learn_changes(&decision.changes, compared.page.content());
    }
}

impl Compared {
    /// Remembers the page, which was settled as kept, at its place in the archive.
    pub(crate) fn remember(&self, context: &CrawlContext, archived: &Archived) {
        if let Some(kept) = &context.kept_pages {
            let place = (archived.file.as_str(), archived.page_offset);
            kept.remember(self.url.key(), &self.page, &self.frame, place);
        }
    }
}
