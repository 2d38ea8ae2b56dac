//! From an answer to what can be judged: decode, read, and draw the page's portrait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use neardup::{PageText, Portrait};
use sinks::PayloadDigest;
use web::{Document, Exchange, Hints, Media, Own};

use crate::Crew;

/// What was read from an answer.
pub(crate) struct Reading {
    /// SHA-1 of the payload as received.
    pub(crate) payload: PayloadDigest,
    /// What the page looks like.
    pub(crate) portrait: Portrait,
    /// The document; none where reading it failed.
    pub(crate) document: Option<Document>,
}

/// A plain body up to this size is read within half a millisecond; handing it to another thread and back costs a tenth of that
/// in switches.
const SMALL_BODY: usize = 32 << 10;

/// Reads an answer: off the reactor, unless it is small.
pub(crate) async fn read(crew: &Arc<Crew>, exchange: &Exchange) -> Reading {
    let small = exchange.body.len() <= SMALL_BODY && exchange.header("content-encoding").is_none();
    let reading = if small {
        // A document can be so hostile to a library that it panics: that is the page's trouble, not ours.
        catch_unwind(AssertUnwindSafe(|| read_now(crew, exchange))).ok()
    } else {
        let (crew_too, exchange) = (Arc::clone(crew), exchange.clone());
        crew.compute(move || read_now(&crew_too, &exchange)).await
    };
    if let Some(reading) = reading {
        return reading;
    }
    tracing::error!(url = %exchange.url, "reading this page panicked: it is judged by its bytes alone");
    let payload = PayloadDigest::of(&exchange.body);
    Reading {
        portrait: crew.studio.portrait(payload_name(&payload), None),
        payload,
        document: None,
    }
}

fn read_now(crew: &Crew, exchange: &Exchange) -> Reading {
    let payload = PayloadDigest::of(&exchange.body);
    let decoded = fetch::decode(&exchange.headers, &exchange.body, crew.policy.max_decoded);
    if let Some(trouble) = decoded.trouble {
        tracing::debug!(url = %exchange.url, %trouble, "content coding");
    }
    let tags = exchange.headers.get_all("x-robots-tag");
    let x_robots_tag: Vec<&str> = tags.iter().filter_map(|tag| tag.to_str().ok()).collect();
    let hints = Hints {
        url: &exchange.url,
        content_type: exchange.header("content-type"),
        x_robots_tag: &x_robots_tag,
        agent: &crew.policy.agent,
    };
    let document = web::read(&decoded.bytes, &hints, &crew.policy.canonical, &crew.policy.read);
    // What is no page is compared byte by byte: a likeness of texts says little about files of data.
    let text = (document.media == Media::Html).then(|| page_text(&document, crew.policy.main_content));
    let portrait = crew.studio.portrait(payload_name(&payload), text);
    Reading {
        payload,
        portrait,
        document: Some(document),
    }
}

/// What a document is judged by: its main content, or all of its text.
#[must_use]
pub fn page_text(document: &Document, main_content: bool) -> PageText<'_> {
    match &document.own {
        _ if !main_content => PageText {
            text: document.full_text(),
            own: None,
        },
        Own::Main => PageText {
            text: &document.text,
            own: None,
        },
        Own::PageFallback { own_text } => PageText {
            text: &document.text,
            own: Some(own_text),
        },
    }
}

/// The first 128 bits of the digest name the payload in the index.
#[must_use]
pub fn payload_name(payload: &PayloadDigest) -> u128 {
    let mut name = [0; 16];
    name.copy_from_slice(&payload.as_bytes()[..16]);
    u128::from_be_bytes(name)
}
