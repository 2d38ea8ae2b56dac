//! What a page's likeness to earlier pages means for it: whether it is kept, and whether its links
//! are.

use std::fmt;
use std::str::FromStr;

use neardup::Likeness;
use sinks::{Keeping, Note};
use store::{
    EarlierCapture, Fate, Lease, Original, PAGE_REASON, Page, RetainedDuplicate, StoreFault,
    Verdict,
};
use web::Exchange;

use crate::duplicate_links::Following;
use crate::evidence::{self, Evidence};
use crate::reading::Reading;
use crate::{Counts, CrawlContext, visit_record};

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
    /// The capture of which it is a new version.
    pub(crate) earlier: Option<Box<EarlierCapture>>,
    /// Its place among the pages of its kind that are kept, where it is one of them.
    pub(crate) seat: Option<RetainedDuplicate>,
    /// The rule that decided, where it was not likeness.
    pub(crate) reason: Option<String>,
    /// What the archive gets.
    pub(crate) keeping: Keeping,
    /// The way in which its links are queued.
    pub(crate) following: Following,
    /// The evidence for which it is kept although it repeats a page of another site.
    pub(crate) evidence: Option<Evidence>,
    /// Whether the archive can show it, so that what it needs is to be there too.
    pub(crate) is_shown: bool,
}

impl Judgement {
    /// Returns the fields of the `metadata` record that say what matched the page with its
    /// original.
    pub(crate) fn match_notes(&self) -> Vec<Note> {
        match &self.original {
            Some(original) => visit_record::match_notes(original, self.seat),
            None => Vec::new(),
        }
    }
}

/// Admits a page, and decides what follows from the verdict. One that was not modified since it was
/// `unmodified` is not admitted: what it repeats is known.
pub(crate) async fn admit(
    context: &CrawlContext,
    lease: &Lease,
    exchange: &Exchange,
    unmodified: Option<&Page>,
    reading: &Reading,
) -> Result<Judgement, StoreFault> {
    let asks = reading
        .document
        .as_ref()
        .map(|document| document.directives)
        .unwrap_or_default();
    let obeyed = !context.policy.ignore_robots;
    let may_follow = !(obeyed && asks.nofollow);
    if obeyed && asks.noarchive {
        // Never admitted: what is not kept must not stand in the way of a like page that may be.
        let reason = Some(format!(
            "{PAGE_REASON} not to be archived (robots: noarchive)"
        ));
        return Ok(Judgement {
            fate: Fate::Excluded,
            original: None,
            earlier: None,
            seat: None,
            reason,
            keeping: Keeping::LeftOut,
            following: Following::all_if(may_follow),
            evidence: None,
            is_shown: false,
        });
    }
    if let Some(original) = unmodified {
        // A visit before this one, which did not end, may have found another page here.
        context.index.forget(lease.url().key()).await?;
        context.telemetry.add(&Counts {
            not_modified: 1,
            ..Counts::default()
        });
        return Ok(repeats_itself(original, may_follow));
    }
    let page = Page {
        url: lease.url().clone(),
        final_url: exchange.url.clone(),
        at: exchange.started,
    };
    let canonical = reading
        .document
        .as_ref()
        .filter(|_| lease.discovered().requisite == 0)
        .and_then(|document| document.canonical.as_ref());
    let verdict = context
        .index
        .admit(&page, &reading.signature, canonical)
        .await?;
    let (original, seat) = match verdict {
        Verdict::Unique | Verdict::Own => return Ok(kept(Fate::Unique, None, may_follow)),
        // Whatever it is like: an archive has the versions of a page.
        Verdict::Changed(capture) => return Ok(kept(Fate::Changed, Some(capture), may_follow)),
        Verdict::Duplicate(original) => (original, None),
        Verdict::Retained(original, seat) => (original, Some(seat)),
    };
    let evidence = evidence::of(context, lease, exchange, reading, &original);
    if let Some(evidence) = evidence.filter(|evidence| evidence.outweighs_arrival()) {
        let reason = format!(
            "{}, and it is kept: {}",
            original.page.url,
            evidence.as_str()
        );
        let judgement = kept(Fate::Unique, None, may_follow);
        return Ok(Judgement {
            reason: Some(format!("it says the same as {reason}")),
            following: match may_follow {
                true => context.policy.duplicate_links.of_duplicate(lease.is_seed()),
                false => Following::Nowhere,
            },
            ..judgement
        });
    }
    let on_duplicate = context.policy.on_duplicate;
    let is_kept = seat.is_some() || evidence.is_some() || on_duplicate != OnDuplicate::Drop;
    let keeping = match &original.bytes {
        // The archive can say "the same bytes again" without repeating them, so nothing is lost by
        // any policy.
        Some(page) => Keeping::Revisit {
            of: sinks::Original {
                url: page.final_url.clone(),
                at: page.at,
            },
        },
        None if is_kept || lease.discovered().requisite > 0 => Keeping::Whole,
        None => Keeping::LeftOut,
    };
    let fate = fate_of(original.likeness);
    // A page that repeats itself in an earlier crawl leads on: else a second crawl would end at a
    // seed that is unchanged.
    let itself = original.earlier && original.page.url == page.url;
    let is_followed = itself || seat.is_some() || on_duplicate == OnDuplicate::Follow;
    let following = match (may_follow, is_followed) {
        (false, _) => Following::Nowhere,
        (true, true) => Following::All,
        (true, false) => context.policy.duplicate_links.of_duplicate(lease.is_seed()),
    };
    // The same style sheet at another place names other pictures.
    let is_shown = itself || lease.discovered().requisite > 0 || keeping == Keeping::Whole;
    Ok(Judgement {
        fate,
        original: Some(original),
        earlier: None,
        seat,
        reason: None,
        keeping,
        following,
        evidence,
        is_shown,
    })
}

/// A page that is archived whole because it repeats none.
fn kept(fate: Fate, earlier: Option<Box<EarlierCapture>>, may_follow: bool) -> Judgement {
    Judgement {
        fate,
        original: None,
        earlier,
        seat: None,
        reason: None,
        keeping: Keeping::Whole,
        following: Following::all_if(may_follow),
        evidence: None,
        is_shown: true,
    }
}

/// What becomes of a page that is alike to another in this.
pub(crate) fn fate_of(likeness: Likeness) -> Fate {
    match likeness {
        Likeness::SamePayload | Likeness::SameText => Fate::ExactDuplicate,
        Likeness::Near { .. } => Fate::NearDuplicate,
    }
}

/// What a server says that is what it was in an earlier crawl: its links lead on, as they do where
/// we find that out ourselves.
fn repeats_itself(original: &Page, may_follow: bool) -> Judgement {
    Judgement {
        fate: Fate::ExactDuplicate,
        reason: Some(format!(
            "not modified since {}; it repeats itself in an earlier crawl",
            original.at
        )),
        keeping: Keeping::NotModified {
            of: sinks::Original {
                url: original.final_url.clone(),
                at: original.at,
            },
        },
        original: Some(Box::new(Original {
            page: original.clone(),
            likeness: Likeness::SamePayload,
            earlier: true,
            bytes: Some(original.clone()),
            by_canonical: false,
        })),
        earlier: None,
        seat: None,
        following: Following::all_if(may_follow),
        evidence: None,
        is_shown: true,
    }
}
