//! From an answer to what can be judged: decode, read, and draw the page's portrait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fetch::Decoded;
use neardup::{PageText, Portrait};
use sinks::{DigestAlgorithm, PayloadDigest};
use web::{Document, Exchange, Hints, Listing, Media, Own};

use crate::{Crew, Policy, Studio, listings};

/// What an answer is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page, compared with others by its text.
    Page,
    /// What a page needs, compared byte by byte.
    Requisite,
}

impl Kind {
    /// That of something so many steps from the page that needs it.
    pub(crate) const fn of(requisite: u8) -> Self {
        match requisite {
            0 => Self::Page,
            _ => Self::Requisite,
        }
    }
}

/// What was read from an answer.
pub(crate) struct Reading {
    /// SHA-1 of the payload as received.
    pub(crate) payload: PayloadDigest,
    /// What the page looks like.
    pub(crate) portrait: Portrait,
    /// The document; none where reading it failed.
    pub(crate) document: Option<Document>,
    /// What it lists, where it is a sitemap or a feed.
    pub(crate) listing: Option<Listing>,
}

/// A plain body up to this size is read within half a millisecond; handing it to another thread and back costs a tenth of that
/// in switches.
const SMALL_BODY: usize = 32 << 10;

/// A body that stands for more than this is read while no other such body is: what it decodes to, its text and its tree are tens of MiB,
/// which must not be times the cores.
const LARGE_BODY: u64 = 1 << 20;

/// Reads an answer: off the reactor, unless it is small.
pub(crate) async fn read(crew: &Arc<Crew>, exchange: &Exchange, kind: Kind) -> Reading {
    let coded = exchange.header("content-encoding").is_some() || listings::is_packed(&exchange.body);
    let small = exchange.body.len() <= SMALL_BODY && !coded;
    let reading = if small {
        read_at_once(&crew.policy, &crew.studio, exchange, kind)
    } else {
        read_elsewhere(crew, exchange, kind).await
    };
    if let Some(reading) = reading {
        return reading;
    }
    by_its_bytes(&crew.policy, &crew.studio, exchange)
}

/// How large a body is, only decoding it tells: it is begun like any other, and begun again alone if it is large.
async fn read_elsewhere(crew: &Arc<Crew>, exchange: &Exchange, kind: Kind) -> Option<Reading> {
    let (crew_too, exchange_too) = (Arc::clone(crew), exchange.clone());
    let unless_large = move || read_unless_large(&crew_too.policy, &crew_too.studio, &exchange_too, kind);
    if let Some(reading) = crew.compute(unless_large).await? {
        return Some(reading);
    }
    let (crew_too, exchange) = (Arc::clone(crew), exchange.clone());
    crew.compute_alone(move || read_now(&crew_too.policy, &crew_too.studio, &exchange, kind))
        .await
}

/// Reads an answer, here and now.
pub(crate) fn read_here(policy: &Policy, studio: &Studio, exchange: &Exchange, kind: Kind) -> Reading {
    read_at_once(policy, studio, exchange, kind).unwrap_or_else(|| by_its_bytes(policy, studio, exchange))
}

/// A document can be so hostile to a library that it panics: that is the page's trouble, not ours.
fn read_at_once(policy: &Policy, studio: &Studio, exchange: &Exchange, kind: Kind) -> Option<Reading> {
    catch_unwind(AssertUnwindSafe(|| read_now(policy, studio, exchange, kind))).ok()
}

fn by_its_bytes(policy: &Policy, studio: &Studio, exchange: &Exchange) -> Reading {
    tracing::error!(url = %exchange.url, "reading this page panicked: it is judged by its bytes alone");
    let (payload, name) = digests(policy, &exchange.body);
    Reading {
        portrait: studio.portrait(name, None),
        payload,
        document: None,
        listing: None,
    }
}

/// The document of an answer, here and now; none where reading it failed.
#[must_use]
pub fn document_here(policy: &Policy, exchange: &Exchange) -> Option<Document> {
    catch_unwind(AssertUnwindSafe(|| {
        documents(policy, exchange, &decoded(policy, exchange)).0
    }))
    .ok()
}

fn read_now(policy: &Policy, studio: &Studio, exchange: &Exchange, kind: Kind) -> Reading {
    read_decoded(policy, studio, exchange, kind, &decoded(policy, exchange))
}

/// None where the body is large, or may be: what is packed in itself as well is a listing of whatever length.
fn read_unless_large(policy: &Policy, studio: &Studio, exchange: &Exchange, kind: Kind) -> Option<Reading> {
    let decoded = fetch::decode(
        &exchange.headers,
        &exchange.body,
        LARGE_BODY.min(policy.max_decoded),
    );
    let is_large = decoded.truncated || listings::is_packed(&decoded.bytes);
    (!is_large).then(|| read_decoded(policy, studio, exchange, kind, &decoded))
}

fn read_decoded(
    policy: &Policy,
    studio: &Studio,
    exchange: &Exchange,
    kind: Kind,
    decoded: &Decoded,
) -> Reading {
    let (payload, name) = digests(policy, &exchange.body);
    let (document, listing) = documents(policy, exchange, decoded);
    // What is no page is compared byte by byte: a likeness of texts says little about files of data.
    let is_compared = document.media == Media::Html && kind == Kind::Page;
    let text = is_compared.then(|| page_text(&document, policy.main_content));
    let portrait = studio.portrait(name, text);
    Reading {
        payload,
        portrait,
        document: Some(document),
        listing,
    }
}

fn decoded(policy: &Policy, exchange: &Exchange) -> Decoded {
    fetch::decode(&exchange.headers, &exchange.body, policy.max_decoded)
}

/// What an answer says, and what it lists.
fn documents(policy: &Policy, exchange: &Exchange, decoded: &Decoded) -> (Document, Option<Listing>) {
    if let Some(trouble) = decoded.trouble {
        tracing::debug!(url = %exchange.url, %trouble, "content coding");
    }
    // What else is in a value takes nothing from what it says.
    let values = |name| -> Vec<_> {
        let values = exchange.headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect()
    };
    let (tags, link) = (values("x-robots-tag"), values("link"));
    let content_location = values("content-location");
    let x_robots_tag: Vec<&str> = tags.iter().map(|tag| &**tag).collect();
    let link: Vec<&str> = link.iter().map(|link| &**link).collect();
    let listing = listings::read(policy, exchange, decoded);
    let is_markup = listing.as_ref().is_some_and(|listing| listing.kind.is_markup());
    let hints = Hints {
        url: &exchange.url,
        // Some servers call it HTML, and it has no text to compare.
        content_type: if is_markup {
            Some("application/xml")
        } else {
            exchange.header("content-type")
        },
        x_robots_tag: &x_robots_tag,
        link: &link,
        content_location: content_location.first().map(|location| &**location),
        refresh: exchange.header("refresh"),
        agent: &policy.agent,
        main: Some(&policy.main_selectors),
    };
    let document = web::read(&decoded.bytes, &hints, &policy.canonical, &policy.read);
    (document, listing)
}

/// Returns what a document is judged by: everything outside the site's frame, or all of its text.
#[must_use]
pub fn page_text(document: &Document, main_content: bool) -> PageText<'_> {
    let own = match document.judged_own() {
        Own::Main => None,
        Own::PageFallback { own_text } => Some(own_text.as_str()),
    };
    let (text, own) = match main_content {
        true => (document.judged_text(), own),
        false => (document.full_text(), None),
    };
    PageText {
        text,
        own,
        title: document.title.as_deref(),
        heading: document.heading.as_deref(),
    }
}

/// The first 128 bits of its SHA-1 name a payload in the index, whatever digest the archive writes: crawls are compared by it.
#[must_use]
pub fn payload_name(payload: &[u8]) -> u128 {
    name_by(&PayloadDigest::of(payload))
}

fn name_by(sha1: &PayloadDigest) -> u128 {
    let mut name = [0; 16];
    name.copy_from_slice(&sha1.as_bytes()[..16]);
    u128::from_be_bytes(name)
}

/// The digest of a payload that the archive writes, and its name in the index: one computation where they are the same.
fn digests(policy: &Policy, payload: &[u8]) -> (PayloadDigest, u128) {
    let sha1 = PayloadDigest::of(payload);
    let name = name_by(&sha1);
    let digest = match policy.digest {
        DigestAlgorithm::Sha1 => sha1,
        other @ DigestAlgorithm::Sha256 => other.of(payload),
    };
    (digest, name)
}
