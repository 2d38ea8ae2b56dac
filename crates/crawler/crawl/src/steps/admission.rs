//! Admission to the near-duplicate index, and its consequences: the part of a page that is
//! archived, and how its links are queued.

use std::sync::Arc;

use journal::{Fate, Page, Reason, SAME_BYTES, SAME_TEXT, StoreFault};
use neardup::MatchKind;
use policy::{Following, OnDuplicate};
use sinks::Keeping;
use store::{Lease, Original, RetainedDuplicate, Verdict};
use web::{Exchange, Interstitial, InterstitialKind, PageUrl, Preferences};

use crate::context::CrawlContext;
use crate::runtime::telemetry::Counts;
use crate::steps::by_texts::{self, Compared, Findings};
use crate::steps::reading::Reading;
use crate::steps::retention_rule::{self, RetentionRule};
use crate::steps::shells::{self, ShellVerdict};
use crate::steps::{content_filter, permission};

/// The verdict about a page, and its consequences.
pub(crate) struct Admission {
    /// The verdict; `None` if the page forbids archiving it or is off topic, and is therefore not
    /// judged.
    pub(crate) verdict: Option<Verdict>,
    /// The fate of a page without a verdict.
    pub(crate) unjudged: Fate,
    /// The rule that decided, if it was not similarity.
    pub(crate) reason: Option<Reason>,
    /// The part of the page that the archive gets.
    pub(crate) keeping: Keeping,
    /// The way to queue the links of the page.
    pub(crate) following: Following,
    /// The rule that keeps the page although it repeats a page of another site.
    pub(crate) retention_rule: Option<RetentionRule>,
    /// True if the archive can show it, so that its requisites are fetched too.
    pub(crate) is_shown: bool,
    /// True if the texts decided that it is a repeat.
    pub(crate) is_by_texts: bool,
    /// Kept pages whose content is part of this page's.
    pub(crate) contains: Vec<PageUrl>,
    /// The page as others are compared with it, if it is kept and they may be.
    pub(crate) compared: Option<Compared>,
    /// The owner's preferences for the use of the page.
    pub(crate) preferences: Preferences,
}

impl Admission {
    /// Returns the admission of a page that is archived whole because it is not a repeat.
    fn whole(verdict: Verdict, following: Following) -> Self {
        Self {
            verdict: Some(verdict),
            unjudged: Fate::Excluded,
            reason: None,
            keeping: Keeping::Whole,
            following,
            retention_rule: None,
            is_shown: true,
            is_by_texts: false,
            contains: Vec::new(),
            compared: None,
            preferences: Preferences::default(),
        }
    }

    /// Returns the admission of a page that is not archived, for this reason.
    fn excluded(reason: Reason, following: Following) -> Self {
        Self {
            verdict: None,
            unjudged: Fate::Excluded,
            reason: Some(reason),
            keeping: Keeping::NotArchived,
            following,
            retention_rule: None,
            is_shown: false,
            is_by_texts: false,
            contains: Vec::new(),
            compared: None,
            preferences: Preferences::default(),
        }
    }

    /// Returns the admission of an interstitial page, which is archived only where `is_kept`.
    fn interstitial(found: &Interstitial, is_kept: bool) -> Self {
        let reason = Reason::Interstitial(found.clone());
        Self {
            unjudged: match found.kind {
                InterstitialKind::Blocked => Fate::Failed,
                _ => Fate::Excluded,
            },
            keeping: match is_kept {
                true => Keeping::Whole,
                false => Keeping::NotArchived,
            },
            is_shown: is_kept,
            ..Self::excluded(reason, Following::Nowhere)
        }
    }

    /// Returns the admission of a page off topic: it is not compared with others, and archived only
    /// where `is_kept`.
    fn off_topic(reason: Reason, is_kept: bool, following: Following) -> Self {
        let keeping = match is_kept {
            true => Keeping::Whole,
            false => Keeping::NotArchived,
        };
        Self {
            unjudged: Fate::OffTopic,
            keeping,
            is_shown: is_kept,
            ..Self::excluded(reason, following)
        }
    }

    /// Returns the admission of a page that the server says is unmodified since an earlier crawl.
    /// Its links are followed, as they are if the crawl itself finds the same bytes.
    fn unmodified(original: &Page, following: Following) -> Self {
        let reason = format!(
            "not modified since {}; it repeats itself in an earlier crawl",
            original.at
        );
        let keeping = Keeping::NotModified {
            of: archived_at(original),
        };
        let verdict = Verdict::Duplicate(Box::new(Original {
            page: original.clone(),
            match_kind: MatchKind::SamePayload,
            earlier: true,
            bytes: Some(original.clone()),
            by_canonical: false,
        }));
        Self {
            reason: Some(Reason::said(reason)),
            keeping,
            ..Self::whole(verdict, following)
        }
    }

    /// Returns the admission of a page that needs its scripts and repeats the page `of`, which is
    /// archived. Equal bytes are archived once and prove nothing. If scripts were run
    /// (`is_of_dom`), the DOM is what is equal.
    fn shell(of: &Original, is_of_dom: bool, following: Following) -> Self {
        let is_same_bytes = of.match_kind == MatchKind::SamePayload && !is_of_dom;
        let (what, keeping) = match is_same_bytes {
            true => {
                let of = archived_at(&of.page);
                (SAME_BYTES, Keeping::Revisit { of })
            }
            false => (SAME_TEXT, Keeping::Whole),
        };
        let of = &of.page.url;
        let reason = format!("{what} as {of}, which proves nothing under another path");
        Self {
            reason: Some(Reason::said(reason)),
            keeping,
            ..Self::whole(Verdict::Unique, following)
        }
    }

    /// Returns the admission of a page that counts as unique although it repeats `original`.
    fn outweighing(
        original: &Original,
        retention_rule: RetentionRule,
        following: Following,
    ) -> Self {
        let reason = format!(
            "it says the same as {}, and it is kept: {}",
            original.page.url,
            retention_rule.as_str()
        );
        Self {
            reason: Some(Reason::said(reason)),
            ..Self::whole(Verdict::Unique, following)
        }
    }
}

/// Returns the original that a page repeats, and the page's rank if it is retained as a duplicate.
pub(crate) fn repeated(verdict: &Verdict) -> Option<(&Original, Option<RetainedDuplicate>)> {
    match verdict {
        Verdict::Unique | Verdict::Own | Verdict::Changed(_) => None,
        Verdict::Duplicate(original) => Some((original, None)),
        Verdict::Retained(original, retained) => Some((original, Some(*retained))),
    }
}

/// Admits a page to the index and decides what follows from the verdict.
///
/// A page that was not modified since `unmodified` is not admitted: its original is known. Neither
/// is an interstitial page, or a page whose owner refuses a use that the crawl respects.
pub(crate) async fn admit(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    exchange: &Exchange,
    unmodified: Option<&Page>,
    reading: &Reading,
) -> Result<Admission, StoreFault> {
    let preferences = permission::preferences(context, exchange, reading).await?;
    let admission = if let Some(found) = &reading.interstitial {
        // A visit before this one, which did not end, may have admitted it.
        context.index.forget(lease.url().key()).await?;
        Admission::interstitial(found, context.policy.archives_interstitials)
    } else if let Some((usage, source)) = preferences.refused(context.policy.respected) {
        context.index.forget(lease.url().key()).await?;
        let following = Following::all_if(may_follow(context, reading));
        Admission::excluded(Reason::Preference { usage, source }, following)
    } else {
        admit_by_content(context, lease, exchange, unmodified, reading).await?
    };
    Ok(Admission {
        preferences,
        ..admission
    })
}

/// Returns true if the page does not ask to leave its links alone.
fn may_follow(context: &CrawlContext, reading: &Reading) -> bool {
    let document = reading.document.as_ref();
    let asks = document.is_some_and(|document| document.directives.nofollow);
    context.policy.ignore_robots || !asks
}

/// Admits a page that may be used.
async fn admit_by_content(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    exchange: &Exchange,
    unmodified: Option<&Page>,
    reading: &Reading,
) -> Result<Admission, StoreFault> {
    let document = reading.document.as_ref();
    let directives = document.map_or_else(Default::default, |document| document.directives);
    let following = Following::all_if(may_follow(context, reading));
    if directives.noarchive && !context.policy.ignore_robots {
        // Never admitted: a page that is not kept must not exclude a like page that may be.
        return Ok(Admission::excluded(Reason::NoArchive, following));
    }
    if let Some(reason) = content_filter::excluded(context, lease, exchange, reading) {
        // A visit before this one may have admitted it: it did not end, or had other filters.
        context.index.forget(lease.url().key()).await?;
        return Ok(Admission::excluded(reason, following));
    }
    if let (Some(focus), Some(judged)) = (&context.focus, &reading.judged)
        && let Some(reason) = judged.off_topic()
    {
        // A visit before this one, which did not end, may have admitted it by other weights.
        context.index.forget(lease.url().key()).await?;
        let is_kept = focus.keeps_off_topic();
        return Ok(Admission::off_topic(reason, is_kept, following));
    }
    if let Some(original) = unmodified {
        // A visit before this one, which did not end, may have admitted another page here.
        context.index.forget(lease.url().key()).await?;
        context.telemetry.add(&Counts {
            not_modified: 1,
            ..Counts::default()
        });
        return Ok(Admission::unmodified(original, following));
    }
    let page = Page {
        url: lease.url().clone(),
        final_url: exchange.url.clone(),
        at: exchange.started,
    };
    let canonical = document
        .filter(|_| lease.discovered().requisite == 0)
        .and_then(|document| document.canonical.as_ref());
    let compared = by_texts::compared(context, lease, exchange, reading).await;
    let judged = judge(context, &page, reading, compared.as_ref(), canonical).await?;
    if let Some(shell) = &judged.shell {
        return Ok(Admission::shell(
            shell,
            reading.is_of_dom,
            links_of_repeat(context, lease, shell, following),
        ));
    }
    // A changed page is always kept, regardless of its matches: an archive has the versions of a
    // page.
    let Some((original, retained)) = repeated(&judged.verdict) else {
        return Ok(Admission {
            reason: judged.reason,
            contains: judged.contains,
            compared,
            ..Admission::whole(judged.verdict, following)
        });
    };
    let retention_rule = retention_rule::of(context, lease, exchange, reading, original);
    let policy = &context.policy;
    if retention_rule == Some(RetentionRule::Edition) {
        let is_edition_too = match &compared {
            Some(compared) => by_texts::has_edition_as_original(context, compared, original).await,
            None => false,
        };
        let contained = (!is_edition_too).then(|| original.page.final_url.clone());
        return Ok(Admission {
            contains: contained.into_iter().collect(),
            compared,
            ..Admission::outweighing(original, RetentionRule::Edition, following)
        });
    }
    let of_duplicate = links_of_repeat(context, lease, original, following);
    if let Some(retention_rule) = retention_rule.filter(|rule| rule.outweighs_arrival()) {
        return Ok(Admission::outweighing(
            original,
            retention_rule,
            of_duplicate,
        ));
    }
    // The links of a page that repeats itself in an earlier crawl are followed, or a second crawl
    // would end at a seed that is unchanged.
    let itself = original.earlier && original.page.url == page.url;
    let is_retained = retained.is_some();
    let is_requisite = lease.discovered().requisite > 0;
    let is_followed = itself || is_retained;
    let is_kept =
        is_retained || retention_rule.is_some() || policy.on_duplicate != OnDuplicate::Drop;
    // The bytes of a rendered page are not what was compared.
    let bytes = original.bytes.as_ref().filter(|_| !reading.is_of_dom);
    let mut keeping = keeping(bytes, is_kept || is_requisite);
    if keeping == Keeping::NotArchived
        && policy.duplicate_text
        && reading.signature.text.is_some()
        && let Some(document) = document
    {
        let text = reading::page_text(document, policy.reading.main_content)
            .text
            .into();
        keeping = Keeping::TextOnly { text };
    }
    Ok(Admission {
        unjudged: Fate::Excluded,
        reason: judged.reason,
        is_by_texts: judged.is_by_texts,
        contains: Vec::new(),
        compared: None,
        preferences: Preferences::default(),
        following: if is_followed { following } else { of_duplicate },
        retention_rule,
        // The same style sheet at another place names other pictures.
        is_shown: itself || is_requisite || keeping == Keeping::Whole,
        keeping,
        verdict: Some(judged.verdict),
    })
}

/// Returns how the links of a page are queued that repeats `original`. `following` is how they are
/// queued without the repetition.
fn links_of_repeat(
    context: &CrawlContext,
    lease: &Lease,
    original: &Original,
    following: Following,
) -> Following {
    let policy = &context.policy;
    if following != Following::All || policy.on_duplicate == OnDuplicate::Follow {
        return following;
    }
    let of_other = original.page.url.registrable_domain() != lease.url().registrable_domain();
    let is_mirror = of_other && !original.earlier;
    let links = policy.duplicate_links;
    links.of_duplicate(lease.is_seed(), is_mirror)
}

/// The verdict on a page, by its signature and its text.
struct Judged {
    verdict: Verdict,
    /// The page with the same bytes, if these prove nothing ([`shells`]).
    shell: Option<Original>,
    /// The reason, if the texts decided.
    reason: Option<Reason>,
    /// True if the texts say that it is a repeat.
    is_by_texts: bool,
    /// Kept pages whose content is part of the page's.
    contains: Vec<PageUrl>,
}

/// Judges a page. Its text decides before its signature, and against it.
async fn judge(
    context: &Arc<CrawlContext>,
    page: &Page,
    reading: &Reading,
    compared: Option<&Compared>,
    canonical: Option<&PageUrl>,
) -> Result<Judged, StoreFault> {
    if let Some(original) = repacked(context, page, reading).await? {
        // A visit before this one, which did not end, may have admitted it.
        context.index.forget(page.key()).await?;
        return Ok(Judged {
            verdict: Verdict::Duplicate(Box::new(original)),
            reason: Some(Reason::said(format!(
                "{SAME_BYTES}, compressed differently; it repeats itself in an earlier crawl"
            ))),
            is_by_texts: false,
            shell: None,
            contains: Vec::new(),
        });
    }
    let found = match compared {
        Some(compared) => by_texts::find(context, page.key(), compared).await,
        None => Findings::default(),
    };
    if let Some(repeat) = found.repeat {
        // A visit before this one, which did not end, may have admitted it.
        context.index.forget(page.key()).await?;
        return Ok(Judged {
            verdict: Verdict::Duplicate(Box::new(repeat.original)),
            reason: Some(repeat.reason),
            is_by_texts: true,
            shell: None,
            contains: Vec::new(),
        });
    }
    let admitted = context.index.admit(page, &reading.signature, canonical);
    let verdict = admitted.await?;
    let difference = match (compared, repeated(&verdict)) {
        (Some(compared), Some((original, _))) => {
            by_texts::distinct(context, compared, original).await
        }
        _ => None,
    };
    let is_new = difference.is_some() || verdict == Verdict::Unique;
    let (verdict, reason) = match found.same {
        // The index does not know a page that was kept for its text.
        Some(same) if is_new => {
            context.index.forget(page.key()).await?;
            (Verdict::Duplicate(Box::new(same)), None)
        }
        _ if difference.is_some() => (Verdict::Unique, difference),
        _ => (verdict, None),
    };
    let ShellVerdict { verdict, shell } = shells::judge(context, page, reading, verdict).await?;
    Ok(Judged {
        verdict,
        shell,
        reason,
        is_by_texts: false,
        contains: found.contains,
    })
}

/// Returns the capture of an earlier crawl with the same content in other bytes, because the server
/// has compressed it differently.
///
/// It gets no `revisit` record. The payload of a record includes its content coding (WARC/1.1,
/// section 6.7.2 with RFC 9110, section 8.4), so the digests differ and `identical-payload-digest`
/// would be false; and replay would show the earlier payload under a header that may name another
/// coding or length.
async fn repacked(
    context: &Arc<CrawlContext>,
    page: &Page,
    reading: &Reading,
) -> Result<Option<Original>, StoreFault> {
    let (url, payload) = (page.key(), reading.signature.payload);
    let earlier = context.earlier.as_ref().map(|earlier| earlier.pages());
    let Some(earlier) = earlier.filter(|earlier| earlier.knows(url)).cloned() else {
        return Ok(None);
    };
    let content = reading.content.unwrap_or(payload);
    let find = move || earlier.repacked(url, payload, content);
    let found = context.compute(find).await.transpose()?.flatten();
    Ok(found.map(|page| Original {
        page,
        match_kind: MatchKind::SamePayload,
        earlier: true,
        bytes: None,
        by_canonical: false,
    }))
}

/// Returns the part of a duplicate that is archived. `same_bytes` is an archived page with its
/// bytes.
fn keeping(same_bytes: Option<&Page>, is_kept: bool) -> Keeping {
    match same_bytes {
        // A revisit record names the same bytes without repeating them, so no policy loses any.
        Some(page) => Keeping::Revisit {
            of: archived_at(page),
        },
        None if is_kept => Keeping::Whole,
        None => Keeping::NotArchived,
    }
}

fn archived_at(page: &Page) -> sinks::Original {
    sinks::Original {
        url: page.final_url.clone(),
        at: page.at,
    }
}
