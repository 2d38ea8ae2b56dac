//! The check of links that leave the scope, for `--check-links`: the archive says which links there
//! are, the crate `crawl` requests their targets.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use crawl::{
    CrawlContext, Fault, Finish, Limits, LinkProgress, LinkQueue, LinkTarget, Stop, check_links,
};
use disk::SystemDisk;
use facts::skipped::{Gaps, Unvisited};
use journal::{LINK_CHECKS_FILE, LinkCheckLog, ReasonKind};
use messages::{CommandError, cannot, fault, remedy_of};
use web::PageUrl;

/// Checks the links of the crawl in `directory` whose targets the scope keeps out, except for links
/// that were checked before. The crawl has ended; `limits` are for the check alone.
///
/// # Errors
/// The archive cannot be read, or the results cannot be written. An unreadable page is an error
/// after the links of all other pages are checked.
pub async fn run(
    context: &Arc<CrawlContext>,
    directory: &Path,
    limits: Limits,
    mut stop: Stop,
) -> Result<Finish, CommandError> {
    context.telemetry.set_links(LinkProgress::default());
    let collecting = tokio::task::spawn_blocking({
        let (context, directory) = (Arc::clone(context), directory.to_owned());
        move || collect(&context, &directory)
    });
    let (queue, mut log, gaps) = tokio::select! {
        collected = collecting => collected.map_err(|panic| fault(&panic))??,
        () = stop.requested() => return Ok(Finish::Interrupted),
    };
    let finish = check_links(context, queue, &mut log, limits, stop).await;
    let described = |error: Fault| fault(&error).with_remedy(remedy_of(&error, directory));
    let finish = finish.map_err(described)?;
    gaps.check_unread("their links are not checked")?;
    Ok(finish)
}

/// Collects the links that are not checked yet, in a temporary file.
fn collect(
    context: &CrawlContext,
    directory: &Path,
) -> Result<(LinkQueue, LinkCheckLog, Gaps), CommandError> {
    let path = directory.join(LINK_CHECKS_FILE);
    let failed = |error: io::Error| cannot("keep links in", &path, &error, directory);
    let log = LinkCheckLog::open(directory, Arc::new(SystemDisk))?;
    let mut queue = LinkQueue::in_directory(directory).map_err(failed)?;
    let Unvisited { urls, gaps } = Unvisited::read(directory, Some(ReasonKind::Scope))?;
    let mut known = 0;
    let collected = urls.each(|skipped| {
        if skipped.kind() != ReasonKind::Scope {
            return Ok(());
        }
        let url = skipped.target().map_err(io::Error::other)?;
        if log.has(url.key()) {
            known += 1;
            return Ok(());
        }
        if is_excluded(context, &url) {
            return Ok(());
        }
        let via = skipped.via.as_deref().map(PageUrl::of_stored);
        let linked_from = via.transpose().map_err(io::Error::other)?;
        queue.add(&LinkTarget { url, linked_from })
    });
    collected.map_err(failed)?;
    context.telemetry.set_links(LinkProgress {
        checked: known,
        all: Some(known + queue.links()),
    });
    Ok((queue, log, gaps))
}

/// Returns true if an expression of the user excludes a URL: then it must not be requested at all.
fn is_excluded(context: &CrawlContext, url: &PageUrl) -> bool {
    let scope = context.scope.read().unwrap_or_else(PoisonError::into_inner);
    scope.judge(url).is_err_and(|rule| rule.is_exclusion())
}
