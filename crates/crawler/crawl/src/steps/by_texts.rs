//! The verdict by the texts: pages that signatures have found are compared block by block, and so
//! are the kept pages of the site that share most of a page's content (`docs/adr/0029`).
//!
//! Invariant: if a text cannot be read, the signatures decide.

use std::sync::Arc;

use comparison::{Decision, Frames, Keys, Outcome, decide};
use journal::{CONTAINED_IN, Page, Reason, SAME_CONTENT};
use neardup::{HashKey, MatchKind};
use sinks::Archived;
use store::{Lease, Original};
use web::{Document, Exchange, Media, PageUrl, UrlKey};

use crate::context::CrawlContext;
use crate::runtime::host_frames;
use crate::runtime::kept_pages::{KeptPage, KeptPages};
use crate::runtime::recent_texts::ComparedText;
use crate::runtime::turns::Turn;
use crate::steps::reading::{AwaitedDoms, Kind, Reader, Reading};
use crate::steps::retention_rule;

/// A page that is compared by its text, with its lookup keys.
pub(crate) struct Compared {
    page: Arc<ComparedText>,
    keys: Keys,
    /// The page's turn: until the page is remembered, later pages that may have its content wait.
    _turn: Turn,
}

/// Results of the comparisons with kept pages.
#[derive(Default)]
pub(crate) struct Findings {
    /// The page that is repeated, if one is.
    pub(crate) repeat: Option<Repeat>,
    /// A kept page with the same bytes or words, which counts if the index knows no such page.
    pub(crate) same: Option<Original>,
    /// Kept pages whose content is part of the page's, if the page is not a repeat.
    pub(crate) contains: Vec<PageUrl>,
}

/// A repeat that the texts found.
pub(crate) struct Repeat {
    pub(crate) original: Original,
    pub(crate) reason: Reason,
}

/// Returns a page for comparison once its turn comes; `None` if it is not a page of text, or if the
/// crawl compares signatures alone.
pub(crate) async fn compared(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
) -> Option<Compared> {
    let kept = context.kept_pages.as_ref()?;
    let document = reading.document.as_ref()?;
    let is_page = document.media != Media::Other
        && lease.discovered().requisite == 0
        && reading.listing.is_none()
        && (200..300).contains(&exchange.status)
        // To read an original again would count its words twice.
        && !context.adaptive_signatures.learns();
    if !is_page {
        return None;
    }
    let page = Arc::new(compared_text(context, exchange, document, reading));
    let keys = kept.keys(&page);
    let turn = kept.turns.wait(&keys).await;
    Some(Compared {
        page,
        keys,
        _turn: turn,
    })
}

fn compared_text(
    context: &CrawlContext,
    exchange: &Exchange,
    document: &Document,
    reading: &Reading,
) -> ComparedText {
    ComparedText {
        text: reading::compared_page(
            exchange.url.as_str(),
            document,
            context.policy.reading.main_content,
        ),
        url: exchange.url.clone(),
        at: exchange.started,
        canonical: document.canonical.clone(),
        language: document.language.clone(),
        payload: reading.signature.payload,
        signature: reading.signature.text.clone(),
    }
}

/// Compares a page with the kept pages of its site that share most of its content.
pub(crate) async fn find(
    context: &Arc<CrawlContext>,
    url: UrlKey,
    Compared { page, keys, .. }: &Compared,
) -> Findings {
    let mut findings = Findings::default();
    let Some(kept) = &context.kept_pages else {
        return findings;
    };
    for candidate in kept.candidates(page, keys) {
        let is_contained = candidate.is_contained;
        let Some(other) = read(context, candidate).await else {
            continue;
        };
        let is_of_site = other.url.registrable_domain() == page.url.registrable_domain();
        let are_separate = context.index.are_separate(url, other.url.key());
        if !is_of_site || other.url == page.url || are_separate {
            continue;
        }
        let decision = decision(kept, page, &other);
        tracing::debug!(url = %page.url, other = %other.url, ?decision, "compared");
        if let Some(match_kind) = equality(page, &other) {
            if match_kind == MatchKind::SamePayload || decision.outcome != Outcome::Distinct {
                findings.same.get_or_insert(original(&other, match_kind));
            }
            continue;
        }
        learn(kept, page, &decision);
        let said = match decision.outcome {
            Outcome::Repeat => SAME_CONTENT,
            Outcome::View => CONTAINED_IN,
            // A translation to come has all of the original, and a sentence of its own.
            Outcome::ViewOfPage if is_edition(&other, page) => continue,
            Outcome::ViewOfPage => {
                // One page that contains it is enough.
                findings
                    .contains
                    .extend((!is_contained).then(|| other.url.clone()));
                continue;
            }
            Outcome::Distinct | Outcome::Undecided => continue,
        };
        let original = original(&other, match_kind(page, &other));
        let reason = Reason::said(format!("{said} {}", original.page.url));
        findings.repeat = Some(Repeat { original, reason });
        return findings;
    }
    findings
}

/// Returns true if a page is the edition in the language of its text, and the other is not.
fn is_edition(page: &ComparedText, other: &ComparedText) -> bool {
    let (page_url, other_url) = (page.url.as_str(), other.url.as_str());
    let mut language = page.language.iter();
    language.any(|language| retention_rule::is_edition_in(language, page_url, other_url))
}

/// Returns true if the original of a page is the edition in the language of its text, so that it
/// stays one although the page is another such edition: half of a translation may be untranslated.
pub(crate) async fn has_edition_as_original(
    context: &Arc<CrawlContext>,
    Compared { page, .. }: &Compared,
    original: &Original,
) -> bool {
    let Some(kept) = &context.kept_pages else {
        return false;
    };
    let other = match kept.of(original.page.final_url.key()) {
        Some(other) => read(context, other).await,
        None => None,
    };
    other.is_some_and(|other| is_edition(&other, page))
}

/// Returns the reason to keep a page although its signature is like the original's; `None` if the
/// texts do not distinguish them.
pub(crate) async fn distinct(
    context: &Arc<CrawlContext>,
    compared: &Compared,
    original: &Original,
) -> Option<Reason> {
    if original.earlier || original.match_kind == MatchKind::SamePayload {
        return None;
    }
    let kept = context.kept_pages.as_ref()?;
    let other = read(context, kept.of(original.page.final_url.key())?).await?;
    let decision = decision(kept, &compared.page, &other);
    learn(kept, &compared.page, &decision);
    let reason = decision.reason?;
    let reason = format!("much like {}, and kept: {reason}", other.url);
    Some(Reason::said(reason))
}

/// Returns the text of a kept page, from the recently compared texts or from the archive.
async fn read(context: &Arc<CrawlContext>, kept: KeptPage) -> Option<Arc<ComparedText>> {
    let texts = &context.kept_pages.as_ref()?.texts;
    if let Some(text) = texts.get(kept.url) {
        return Some(text);
    }
    tracing::debug!(url = %kept.url.as_u64(), "read again");
    let for_task = Arc::clone(context);
    let read = context.compute(move || read_here(&for_task, &kept)).await?;
    let text =
        read.inspect_err(|error| tracing::debug!(error, "the original's text cannot be had"));
    let text = Arc::new(text.ok()?);
    texts.insert(Arc::clone(&text));
    Some(text)
}

fn read_here(context: &CrawlContext, kept: &KeptPage) -> Result<ComparedText, String> {
    let pages = context.kept_pages.as_ref().ok_or("no page is remembered")?;
    let exchange = pages.read(kept, &context.policy.reading.canonical)?;
    let reader = Reader {
        policy: &context.policy,
        signatures: &context.adaptive_signatures,
        focus: None,
        kind: Kind::Page,
        doms: AwaitedDoms::No,
    };
    let reading = reader.read_archived(&exchange);
    let document = reading.document.as_ref().ok_or("it cannot be read")?;
    Ok(compared_text(context, &exchange, document, &reading))
}

/// Returns the match kind of pages with the same bytes, or the same words in the same order.
fn equality(page: &ComparedText, other: &ComparedText) -> Option<MatchKind> {
    match () {
        () if page.payload == other.payload => Some(MatchKind::SamePayload),
        () if page.signature.is_some() && page.signature == other.signature => {
            Some(MatchKind::SameText)
        }
        () => None,
    }
}

/// Returns the match kind of two pages by their signatures, without any threshold.
fn match_kind(page: &ComparedText, other: &ComparedText) -> MatchKind {
    let signatures = page.signature.as_ref().zip(other.signature.as_ref());
    let (distance, resemblance) = signatures.map_or((0, 0.0), |(ours, theirs)| {
        let sketches = ours.sketch.as_ref().zip(theirs.sketch.as_ref());
        let resemblance = sketches.map_or(0.0, |(ours, theirs)| ours.resemblance(theirs));
        (ours.fingerprint.distance(theirs.fingerprint), resemblance)
    });
    MatchKind::Near {
        distance,
        resemblance,
    }
}

/// Returns a kept page as the original of another.
fn original(kept: &ComparedText, match_kind: MatchKind) -> Original {
    let page = Page {
        url: kept.url.clone(),
        final_url: kept.url.clone(),
        at: kept.at,
    };
    let has_bytes = match_kind == MatchKind::SamePayload;
    Original {
        match_kind,
        bytes: has_bytes.then(|| page.clone()),
        page,
        earlier: false,
        by_canonical: false,
    }
}

fn decision(kept: &KeptPages, page: &ComparedText, other: &ComparedText) -> Decision {
    let is_canonical = page.canonical.as_ref().is_some_and(|canonical| {
        *canonical == other.url || other.canonical.as_ref() == Some(canonical)
    });
    let (host, other_host) = (page.url.host(), other.url.host());
    let ours = kept.frames.of(&host);
    let theirs = match host == other_host {
        true => Arc::clone(&ours),
        false => kept.frames.of(&other_host),
    };
    let (our_frame, their_frame) = host_frames::read_both(&ours, &theirs);
    let common = host_frames::read(&kept.frames.common);
    let frames = Frames {
        page: Some(&our_frame),
        original: Some(their_frame.as_deref().unwrap_or(&our_frame)),
        common: Some(&common),
    };
    decide(&page.text, &other.text, frames, is_canonical)
}

fn learn(kept: &KeptPages, page: &ComparedText, decision: &Decision) {
    if !decision.changes.is_empty() {
        let (host, content) = (page.url.host(), page.text.content());
        kept.frames.learn(&host, |frame| {
            frame.learn_changes(&decision.changes, content);
        });
        let mut common = host_frames::write(&kept.frames.common);
        let host = HashKey::ZERO.digest(host.as_str().as_bytes());
        common.learn_changes(&decision.changes, host as u64);
    }
}

impl Compared {
    /// Remembers the page, which was settled as kept, at its place in the archive.
    pub(crate) fn remember(
        self,
        context: &CrawlContext,
        archived: &Archived,
        contains: &[PageUrl],
    ) {
        if let Some(kept) = &context.kept_pages {
            let place = (archived.file.as_str(), archived.content_offset());
            kept.remember(self.page, &self.keys, place, contains);
        }
    }
}
