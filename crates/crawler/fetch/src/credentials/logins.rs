//! Logins in the form that servers ask for: Basic (RFC 7617) or Digest (RFC 7616).
//!
//! | | before the server asks | after it has asked for Digest | for Basic alone |
//! |---|---|---|---|
//! | https | Basic | Digest | Basic |
//! | http | nothing | Digest | Basic |
//!
//! Over https, only the server can read the password, and some servers show strangers another page
//! instead of asking (401). Over http, anybody on the way can, so it waits for the question. Where
//! both are offered, Digest is chosen, and Basic is sent no more.
//!
//! A refusal that can be answered is worth one more request ([`Logins::can_answer`]), which waits
//! for its host like any other. After it, requests carry the login at once: a nonce serves until
//! the server calls it stale.
//!
//! Invariant: a login that was refused is not sent twice for one page.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use data_encoding::HEXLOWER;
use http::{HeaderMap, HeaderValue, StatusCode};
use requests::SecretField;
use ring::digest;
use web::{Exchange, PageUrl};

use super::digest::{AnswerOf, DigestChallenge, Offer};
use crate::generational_cache::GenerationalCache;

/// Maximum number of areas that are remembered; a forgotten area asks again.
const MAX_AREAS: usize = 10_000;
/// Maximum number of realms of an area whose refusals are remembered.
const MAX_REFUSED: usize = 16;
/// Bytes of a client nonce.
const NONCE_BYTES: usize = 16;

/// The schemes and challenges of the areas with a login.
#[derive(Debug)]
pub(crate) struct Logins {
    areas: Mutex<GenerationalCache<Asked>>,
    /// Random bytes of this process. They and a count determine each client nonce.
    seed: u64,
    nonces: AtomicU64,
}

/// The scheme and the challenge of an area.
#[derive(Debug)]
struct Asked {
    scheme: Scheme,
    /// Realms that refused the login.
    refused: Vec<String>,
}

#[derive(Debug)]
enum Scheme {
    Basic,
    Digest(Session),
}

/// The answers to a challenge.
#[derive(Debug)]
struct Session {
    challenge: DigestChallenge,
    client_nonce: String,
    /// The number of answers with the current nonce.
    count: u32,
    /// True if the server has accepted an answer: then a later refusal is about the nonce.
    is_accepted: bool,
}

impl Logins {
    /// Returns logins whose client nonces follow from `seed`, which must be random.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            areas: Mutex::new(GenerationalCache::new(MAX_AREAS, usize::MAX, |_asked| 0)),
            seed,
            nonces: AtomicU64::new(0),
        }
    }

    /// Returns the `Authorization` field of a request, if it carries one.
    pub(crate) fn field(
        &self,
        url: &PageUrl,
        method: &str,
        login: &SecretField,
    ) -> Option<HeaderValue> {
        let mut areas = self.areas();
        match areas.get_mut(&area(url)) {
            None if url.as_url().scheme() == "http" => None,
            None => Some(login.value().clone()),
            Some(asked) => match &mut asked.scheme {
                Scheme::Basic => Some(login.value().clone()),
                Scheme::Digest(session) => session.answer(url, method, login),
            },
        }
    }

    /// Learns from the head of a response to a request with the `Authorization` field `sent`.
    pub(crate) fn learn(
        &self,
        url: &PageUrl,
        sent: Option<&HeaderValue>,
        status: StatusCode,
        headers: &HeaderMap,
    ) {
        let is_digest = sent.is_some_and(|sent| sent.as_bytes().starts_with(b"Digest "));
        let (area, mut areas) = (area(url), self.areas());
        if status != StatusCode::UNAUTHORIZED {
            if let Some(asked) = areas.get_mut(&area)
                && let Scheme::Digest(session) = &mut asked.scheme
            {
                session.is_accepted |= is_digest;
            }
            return;
        }
        let Some(offer) = Offer::of(headers) else {
            return;
        };
        let known = areas.get(&area);
        let is_refused = match &offer {
            Offer::Basic(_) => sent.is_some() && !is_digest,
            Offer::Digest(_) if !is_digest => false,
            Offer::Digest(challenge) => known.is_some_and(|asked| asked.is_refused_by(challenge)),
        };
        let mut refused = known.map(|asked| asked.refused.clone()).unwrap_or_default();
        refused.retain(|realm| realm != offer.realm());
        if is_refused {
            refused.truncate(MAX_REFUSED - 1);
            refused.insert(0, offer.realm().to_owned());
        }
        let scheme = match offer {
            Offer::Basic(_) => Scheme::Basic,
            Offer::Digest(challenge) => Scheme::Digest(Session {
                challenge,
                client_nonce: self.client_nonce(),
                count: 0,
                is_accepted: false,
            }),
        };
        areas.insert(area, Asked { scheme, refused });
    }

    /// Returns true if a refusal asks for a login that the next request sends, and that was not
    /// refused.
    pub(crate) fn can_answer(&self, refusal: &Exchange) -> bool {
        if refusal.status != StatusCode::UNAUTHORIZED.as_u16() {
            return false;
        }
        let Some(offer) = Offer::of(&refusal.headers) else {
            return false;
        };
        let mut areas = self.areas();
        let asked = areas.get(&area(&refusal.url));
        asked.is_some_and(|asked| !asked.refused.iter().any(|realm| realm == offer.realm()))
    }

    fn client_nonce(&self) -> String {
        let number = self.nonces.fetch_add(1, Ordering::Relaxed);
        let counted = [self.seed.to_be_bytes(), number.to_be_bytes()].concat();
        let nonce = digest::digest(&digest::SHA256, &counted);
        HEXLOWER.encode(&nonce.as_ref()[..NONCE_BYTES])
    }

    fn areas(&self) -> MutexGuard<'_, GenerationalCache<Asked>> {
        self.areas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the area of a URL: its origin, and its first folder. Areas may have realms of their own,
/// and a challenge of one is no answer in another.
fn area(url: &PageUrl) -> String {
    let path = url.as_url().path();
    let folder = path[1..].find('/').map_or("/", |end| &path[..end + 2]);
    url.origin() + folder
}

impl Asked {
    /// Returns true if a challenge that follows an answer refuses the login, not the nonce.
    fn is_refused_by(&self, challenge: &DigestChallenge) -> bool {
        match &self.scheme {
            Scheme::Basic => false,
            Scheme::Digest(session) => {
                let is_same = session.challenge.realm == challenge.realm;
                is_same && !session.is_accepted && !challenge.is_stale
            }
        }
    }
}

impl Session {
    fn answer(&mut self, url: &PageUrl, method: &str, login: &SecretField) -> Option<HeaderValue> {
        self.count = self.count.saturating_add(1);
        let of = AnswerOf {
            method,
            target: url.request_target(),
            count: self.count,
            client_nonce: &self.client_nonce,
        };
        self.challenge.answer(login.login()?, of)
    }
}

#[cfg(test)]
mod tests;
