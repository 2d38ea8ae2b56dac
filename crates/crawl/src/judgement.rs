//! What a page's likeness to earlier pages means for it: whether it is kept, and whether its links are.

use std::fmt;
use std::str::FromStr;

use neardup::Likeness;
use sinks::Keeping;
use store::{Fate, Lease, Original, Page, StoreFault, Verdict};
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
    let original = match crew.index.admit(&page, &reading.portrait).await? {
        Verdict::Unique | Verdict::Own => {
            return Ok(Judgement {
                fate: Fate::Unique,
                original: None,
                reason: None,
                keeping: Keeping::Whole,
                follow: may_follow,
            });
        }
        Verdict::Duplicate(original) => original,
    };
    let on_duplicate = crew.policy.on_duplicate;
    let keeping = match (original.likeness, on_duplicate) {
        // The archive can say "the same bytes again" without repeating them, so nothing is lost by any policy.
        (Likeness::SamePayload, _) => Keeping::Revisit {
            of: sinks::Original {
                url: original.page.final_url.clone(),
                at: original.page.at,
            },
        },
        (_, OnDuplicate::Drop) => Keeping::LeftOut,
        (_, OnDuplicate::Keep | OnDuplicate::Follow) => Keeping::Whole,
    };
    let fate = match original.likeness {
        Likeness::SamePayload | Likeness::SameText => Fate::ExactDuplicate,
        Likeness::Near { .. } => Fate::NearDuplicate,
    };
    let follow = may_follow && on_duplicate == OnDuplicate::Follow;
    Ok(Judgement {
        fate,
        original: Some(original),
        reason: None,
        keeping,
        follow,
    })
}
