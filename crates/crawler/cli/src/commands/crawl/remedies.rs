//! The remedy for each fault that ends a crawl.

use std::path::Path;

use crawl::Fault;
use journal::StoreFault;
use messages::{CommandError, fault, pasted, remedy_of};
use settings::{Settings, crawl_directory};

/// Adds the remedy to a fault. Unless files were deleted, nothing is lost, and the same command
/// continues the crawl.
pub(super) fn explain(error: &Fault, settings: &Settings) -> CommandError {
    let directory = pasted(&settings.out);
    let remedy = match error {
        Fault::Store(StoreFault::Damaged { .. }) => {
            format!("`crawler verify {directory}` lists what is left")
        }
        Fault::Panicked(_) => "please report this with the end of crawl.log".to_owned(),
        Fault::NoSpace { .. } => format!(
            "nothing is lost: free some space (or lower --min-free), then continue with `crawler \
             --out {directory}`"
        ),
        Fault::Browser(_) => format!(
            "nothing is lost: continue with `crawler --out {directory}` once the browser runs, or \
             without it with `--render off{}`",
            without_pages_shown(settings)
        ),
        Fault::Gone { path } => of_gone(path, settings),
        Fault::Store(_)
        | Fault::Sink(_)
        | Fault::Reserve(_)
        | Fault::Spool(_)
        | Fault::Links(_)
        | Fault::Topic(_) => remedy_of(error, &settings.out),
    };
    fault(error).with_remedy(remedy)
}

/// Returns the flags that switch off what needs a browser.
fn without_pages_shown(settings: &Settings) -> String {
    let needy = [
        (settings.screenshots, " --screenshots=false"),
        (settings.render_post, " --render-post=false"),
    ];
    let given = needy.into_iter().filter(|(is_given, _)| *is_given);
    given.map(|(_, flag)| flag).collect()
}

/// Returns the remedy for a deleted directory.
fn of_gone(path: &Path, settings: &Settings) -> String {
    let (out, gone) = (pasted(&settings.out), path.display());
    if settings.out.exists() && crawl_directory::archive(&settings.out).exists() {
        return format!(
            "if {gone} was moved, put it back; otherwise rebuild it from the archive with `crawler \
             rebuild {out}`. The archive is complete up to the last save, and its links restore \
             the queue"
        );
    }
    format!(
        "if it was moved, put it back and continue with `crawler --out {out}`; if it was deleted, \
         its pages are lost and must be crawled again"
    )
}
