//! How a host wants to be asked, from one session to the next.
//!
//! The pacer knows it while the crawl runs, the frontier beyond that. The host of a lease comes
//! with its pace and is settled with it; of the hosts that are asked on the way (redirects,
//! robots.txt), the frontier is asked before and told afterwards. So whatever led to a host: what
//! it last asked for is known before it is asked again. (One case is left: a robots.txt that
//! redirects to another host, which is paced by what this session knows of that host.)
//!
//! A process may die at any moment, and a settlement is recorded long after its answer came: the
//! page is read before, and may wait for its turn in the archive. So what slows a host down is told
//! to the frontier as soon as it is known: that it was asked for the first time, before that is
//! done, and that it is to be left alone for longer than before, when its answer ends.
//!
//! Invariant: whenever the process dies, the journal has the longest wait that the last answer of
//! each host led to.

use store::{Lease, StoreFault};
use web::{Host, Pace, Timestamp, Why};

use crate::CrawlContext;

/// Sessions that may die while they visit a page. From the second on the frontier hands it out
/// alone, so that it costs no other page; and a process that somebody kills looks like one that a
/// page ended. So there must be many before a page is lost: with three, ten kills of a crawl of
/// sixty pages lost two of them.
const LIVES: u32 = 8;

/// Why a page is not visited any more: what it did to those who visited it.
pub(crate) fn deadly(lease: &Lease) -> Option<String> {
    let deaths = lease.entry.strikes;
    (deaths >= LIVES).then(|| format!("the crawler died {deaths} times while it visited this page"))
}

/// Whether the host of a lease may be asked now, as far as those go that share their pace with it.
/// If not, its pace says when to come again.
pub(crate) async fn is_its_turn(context: &CrawlContext, lease: &Lease) -> bool {
    let to = context.pacer.addressee(&*context.fetch, lease.url()).await;
    context.pacer.line_up(&to)
}

/// How the host of a lease wants to be asked, as far as anybody knows.
pub(crate) fn pace(context: &CrawlContext, lease: &Lease) -> Pace {
    context.pacer.pace(&lease.url().host())
}

/// Recalls what is known of a host to which a lease led, before it is asked.
pub(crate) async fn recall(
    context: &CrawlContext,
    lease: &Lease,
    host: &Host,
) -> Result<(), StoreFault> {
    if lease.url().host() == *host {
        return Ok(());
    }
    if let Some(pace) = context.frontier.hosts().pace(host).await? {
        context.pacer.recall(host, pace);
    }
    Ok(())
}

/// Stores that a host is asked which never answered: if the process dies first, the next one knows
/// since when it is silent.
pub(crate) async fn note_silence(context: &CrawlContext, host: &Host) -> Result<(), StoreFault> {
    let known = context.frontier.hosts().pace(host).await?;
    if known.is_some_and(|known| known.why == Why::Unanswered || has_answered(&known)) {
        return Ok(());
    }
    let pace = Pace {
        address: known.and_then(|known| known.address),
        ..Pace::unanswered(context.clock.now(), context.pacer.pace(host).wait)
    };
    context.frontier.hosts().record_pace(host, pace).await
}

/// Stores the pace of a host that was just asked: that of another host than the lease's, which no
/// settlement tells, and that of the lease's own where it is to be left alone for longer than is
/// known.
pub(crate) async fn note(
    context: &CrawlContext,
    lease: &Lease,
    host: &Host,
) -> Result<(), StoreFault> {
    let pace = context.pacer.pace(host);
    if lease.url().host() == *host {
        let known = context
            .frontier
            .hosts()
            .pace(host)
            .await?
            .filter(has_answered);
        if known.is_some_and(|known| pace.wait <= known.wait) {
            return Ok(());
        }
    }
    context.frontier.hosts().record_pace(host, pace).await
}

fn has_answered(pace: &Pace) -> bool {
    pace.answered != Timestamp::default()
}
