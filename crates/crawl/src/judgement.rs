//! What a page's likeness to earlier pages means for it: whether it is kept, and whether its links are.

use std::fmt;
use std::str::FromStr;

use neardup::Likeness;
use sinks::Keeping;
use store::{Fate, Lease, Original, Page, Seat, StoreFault, Verdict};
use web::Exchange;

use crate::Crew;
use crate::reading::Reading;

/// What becomes of a page that repeats an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Not archived, and its links are not followed.
    #[default]
    Drop,
    /// Archived, and marked as a duplicate; its links are not followed.
    Keep,
    /// Archived and marked, and its links are followed.
    Follow,
}

impl OnDuplicate {
    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
            Self::Follow => "follow",
        }
    }
}

impl fmt::Display for OnDuplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not one of the three words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not drop, keep or follow")]
pub struct UnknownPolicy(String);

impl FromStr for OnDuplicate {
    type Err = UnknownPolicy;

    fn from_str(word: &str) -> Result<Self, UnknownPolicy> {
        let all = [Self::Drop, Self::Keep, Self::Follow];
        all.into_iter()
            .find(|policy| policy.as_str() == word)
            .ok_or_else(|| UnknownPolicy(word.to_owned()))
    }
}

/// What was decided about a page.
pub(crate) struct Judgement {
    pub(crate) fate: Fate,
    /// The page that it repeats.
    pub(crate) original: Option<Box<Original>>,
    /// Its place among the pages of its kind that are kept, where it is one of them.
    pub(crate) seat: Option<Seat>,
    /// The rule that decided, where it was not likeness.
    pub(crate) reason: Option<String>,
    /// What the archive gets.
    pub(crate) keeping: Keeping,
    /// Whether its links are queued.
    pub(crate) follow: bool,
}

/// Admits a page, and decides what follows from the verdict.
pub(crate) async fn admit(
    crew: &Crew,
    lease: &Lease,
    exchange: &Exchange,
    reading: &Reading,
) -> Result<Judgement, StoreFault> {
    let asks = reading
        .document
        .as_ref()
        .map(|document| document.directives)
        .unwrap_or_default();
    let obeyed = !crew.policy.ignore_robots;
    let may_follow = !(obeyed && asks.nofollow);
    if obeyed && asks.noarchive {
        // Never admitted: what is not kept must not stand in the way of a like page that may be.
        let reason = Some("the page asks not to be archived (robots: noarchive)".to_owned());
        return Ok(Judgement {
            fate: Fate::Excluded,
            original: None,
            seat: None,
            reason,
            keeping: Keeping::LeftOut,
            follow: may_follow,
        });
    }
    let page = Page {
        url: lease.url.clone(),
        final_url: exchange.url.clone(),
        at: exchange.started,
    };
    let (original, seat) = match crew.index.admit(&page, &reading.portrait).await? {
        Verdict::Unique | Verdict::Own => {
            return Ok(Judgement {
                fate: Fate::Unique,
                original: None,
                seat: None,
                reason: None,
                keeping: Keeping::Whole,
                follow: may_follow,
            });
        }
        Verdict::Duplicate(original) => (original, None),
        Verdict::LetThrough(original, seat) => (original, Some(seat)),
    };
    let on_duplicate = crew.policy.on_duplicate;
    let keeping = match &original.bytes {
        // The archive can say "the same bytes again" without repeating them, so nothing is lost by any policy.
        Some(page) => Keeping::Revisit {
            of: sinks::Original {
                url: page.final_url.clone(),
                at: page.at,
            },
        },
        None if seat.is_some() || on_duplicate != OnDuplicate::Drop => Keeping::Whole,
        None => Keeping::LeftOut,
    };
    let fate = match original.likeness {
        Likeness::SamePayload | Likeness::SameText => Fate::ExactDuplicate,
        Likeness::Near { .. } => Fate::NearDuplicate,
    };
    // A page that repeats itself in an earlier crawl leads on: else a second crawl would end at a seed that is unchanged.
    let itself = original.earlier && original.page.url == page.url;
    let wanted = itself || seat.is_some() || on_duplicate == OnDuplicate::Follow;
    Ok(Judgement {
        fate,
        original: Some(original),
        seat,
        reason: None,
        keeping,
        follow: may_follow && wanted,
    })
}
