//! How a host wants to be asked, from one session to the next.
//!
//! The pacer knows it while the crawl runs, the frontier beyond that. The host of a lease comes with its pace and is settled with
//! it; of the hosts that are asked on the way (redirects, robots.txt), the frontier is asked before and told afterwards. So
//! whatever led to a host: what it last asked for is known before it is asked again. (One case is left: a robots.txt that redirects
//! to another host, which is paced by what this session knows of that host.)

use store::{Lease, StoreFault};
use web::{Host, Pace};

use crate::Crew;

/// Sessions that may die while they visit a page. From the second on the frontier hands it out alone, so that it costs no
/// other page; and a process that somebody kills looks like one that a page ended. So there must be many before a page is lost:
/// with three, ten kills of a crawl of sixty pages lost two of them.
const LIVES: u32 = 8;

/// Why a page is not visited any more: what it did to those who visited it.
pub(crate) fn deadly(lease: &Lease) -> Option<String> {
    let deaths = lease.strikes;
    (deaths >= LIVES).then(|| format!("the crawler died {deaths} times while it visited this page"))
}

/// Whether the host of a lease may be asked now, as far as those go that share their pace with it. If not, its pace says when to come again.
pub(crate) async fn is_its_turn(crew: &Crew, lease: &Lease) -> bool {
    let to = crew.pacer.addressee(&*crew.fetch, &lease.url).await;
    crew.pacer.line_up(&to)
}

/// How the host of a lease wants to be asked, as far as anybody knows.
pub(crate) fn pace(crew: &Crew, lease: &Lease) -> Pace {
    crew.pacer.pace(&lease.url.host())
}

/// Recalls what is known of a host to which a lease led, before it is asked.
pub(crate) async fn recall(crew: &Crew, lease: &Lease, host: &Host) -> Result<(), StoreFault> {
    if lease.url.host() == *host {
        return Ok(());
    }
    if let Some(pace) = crew.frontier.pace(host).await? {
        crew.pacer.recall(host, pace);
    }
    Ok(())
}

/// Has it remembered how a host wants to be asked to which a lease led, once it was asked.
pub(crate) async fn note(crew: &Crew, lease: &Lease, host: &Host) -> Result<(), StoreFault> {
    if lease.url.host() == *host {
        return Ok(());
    }
    crew.frontier.note_pace(host, crew.pacer.pace(host)).await
}
