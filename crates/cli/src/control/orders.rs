//! The orders of `control.toml`: each is carried out once, while the crawl runs or before it does.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Weak;

use crawl::Orders;
use crawl::control_file::ControlRecord;
use store::StoreFault;
use store::embedded::{DistinctOrder, EmbeddedStore};
use tokio::runtime::Handle;

use crate::crawl_directory;
use crate::terminal::printable;

/// The result of carrying out orders.
pub(super) struct CarriedOut {
    /// The orders that need not be given again, in words.
    pub(super) done: BTreeSet<String>,
    /// The effects, in sentences for the log.
    pub(super) effects: Vec<String>,
}

/// Returns the orders that were not carried out before.
pub(super) fn pending(directory: &Path, orders: &Orders) -> Orders {
    // An unreadable record is replaced by a new one; repeated orders do no harm.
    let record = ControlRecord::of(&crawl_directory::state(directory)).unwrap_or_default();
    orders.without(&record.carried_out)
}

/// Carries out orders off the reactor, because they read the journal. Does nothing if the store is
/// closed by then: the next session carries them out.
///
/// # Errors
/// [`StoreFault`] if the journal or the tables cannot be read or written.
pub(super) async fn carry_out(
    store: Weak<EmbeddedStore>,
    orders: Orders,
) -> Result<CarriedOut, StoreFault> {
    let runtime = Handle::current();
    let carried_out = tokio::task::spawn_blocking(move || match store.upgrade() {
        Some(store) => runtime.block_on(all(&store, &orders)),
        None => Ok(CarriedOut {
            done: BTreeSet::new(),
            effects: Vec::new(),
        }),
    });
    match carried_out.await {
        Ok(carried_out) => carried_out,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

async fn all(store: &EmbeddedStore, orders: &Orders) -> Result<CarriedOut, StoreFault> {
    let (mut done, mut effects) = (BTreeSet::new(), Vec::new());
    for pattern in &orders.reopen {
        let queued = store.reopen(pattern).await?;
        if queued.is_some() {
            done.insert(format!("reopen {pattern}"));
        }
        effects.push(match queued {
            Some(queued) => {
                format!("{pattern} is open again, and {queued} URLs wait that were left out")
            }
            None => format!("{pattern} is no pattern of this crawl"),
        });
    }
    let found = match orders.distinct.is_empty() {
        true => Vec::new(),
        false => store.declare_distinct(&orders.distinct).await?,
    };
    for (url, effect) in orders.distinct.iter().zip(found) {
        if effect != DistinctOrder::NotVisited {
            done.insert(format!("distinct {url}"));
        }
        effects.push(sentence(url.as_str(), &effect));
    }
    Ok(CarriedOut { done, effects })
}

/// Returns the effect of an order in a sentence.
pub(crate) fn sentence(url: &str, effect: &DistinctOrder) -> String {
    let url = printable(url);
    match effect {
        DistinctOrder::Queued { original } => {
            let original = printable(original.as_str());
            format!("{url} waits to be visited again, and is never compared with {original} again")
        }
        DistinctOrder::Done => format!("{url} was declared distinct before"),
        DistinctOrder::NotLeftOut(fate) => {
            let fate = fate.as_str();
            format!("{url} was not left out as a duplicate of another page: it is {fate}")
        }
        DistinctOrder::NotVisited => format!("{url} was not visited by this crawl"),
    }
}
