//! `crawler retry`: requeues failed pages. Needs exclusive access to the crawl, or a line in its
//! control.toml.

use messages::{CommandError, counted, pasted, say, usage};
use settings::crawl_directory;
use setup::crawl_store::apply;
use setup::shared::OpenCrawl;

use crate::args::RetryArgs;

pub(crate) fn run(args: &RetryArgs) -> Result<(), CommandError> {
    let pages = args.pages();
    let line = format!("retry = [{:?}]", pages.to_string());
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    if crawl.is_replica() {
        return Err(
            usage("retry changes the crawl, but --store only reads it").with_remedy(format!(
                "write `{line}` into a file F, and send it to all nodes with `crawler control F`"
            )),
        );
    }
    let directory = crawl.directory();
    crawl_directory::state_of(directory)?;
    let select = |visit: &_| pages.select(visit);
    let queued = apply(directory, &line, async |store| {
        store.retry_failed(select).await
    })?;
    let shown = pasted(directory);
    say(&match queued {
        0 => format!("no failed page to retry ({pages}); `crawler export {shown}` lists them all"),
        queued => format!(
            "{} queued again; `crawler --out {shown}` requests them",
            counted(queued, "failed page")
        ),
    });
    Ok(())
}
