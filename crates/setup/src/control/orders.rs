//! The orders of `control.toml`. Each order is carried out once, before the crawl starts or while
//! it runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Weak;

use crawl::control_file::ControlRecord;
use crawl::{FailedPages, Orders};
use journal::{PatternName, StoreFault};
use messages::{counted, printable};
use shared_store::SharedStore;
use store::{DistinctOrder, EmbeddedStore};
use tokio::runtime::Handle;

use crate::crawl_directory;

/// The store that carries out orders.
#[derive(Clone)]
pub enum OrderedStore {
    /// The store of a crawl.
    Own(Weak<EmbeddedStore>),
    /// The store of a node, which carries out orders about its own hosts.
    Shared(Weak<SharedStore>),
}

/// The result of carrying out orders.
#[derive(Default)]
pub(super) struct CarriedOut {
    /// Descriptions of the orders that need not be given again.
    pub(super) done: BTreeSet<String>,
    /// Effects, as sentences for the log.
    pub(super) effects: Vec<String>,
}

/// Returns the orders that are not carried out yet.
pub(super) fn pending(directory: &Path, orders: &Orders) -> Orders {
    // A new record replaces an unreadable one; repeated orders are harmless.
    let record = ControlRecord::of(&crawl_directory::state(directory)).unwrap_or_default();
    orders.without(&record.carried_out)
}

/// Carries out orders off the reactor, because they read the journal. Does nothing if the store is
/// already closed: the next session carries the orders out.
///
/// # Errors
/// [`StoreFault`] if the journal or the tables cannot be read or written.
pub(super) async fn carry_out(
    store: OrderedStore,
    orders: Orders,
) -> Result<CarriedOut, StoreFault> {
    let runtime = Handle::current();
    let carried_out = tokio::task::spawn_blocking(move || match store {
        OrderedStore::Own(store) => match store.upgrade() {
            Some(store) => runtime.block_on(all(&store, &orders)),
            None => Ok(CarriedOut::default()),
        },
        OrderedStore::Shared(store) => match store.upgrade() {
            Some(store) => runtime.block_on(of_node(&store, &orders)),
            None => Ok(CarriedOut::default()),
        },
    });
    match carried_out.await {
        Ok(carried_out) => carried_out,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

async fn all(store: &EmbeddedStore, orders: &Orders) -> Result<CarriedOut, StoreFault> {
    let mut carried_out = CarriedOut::default();
    for pattern in &orders.reopen {
        match store.reopen(pattern).await? {
            Some(queued) => carried_out.reopened(pattern, queued),
            None => {
                let effect = format!("{pattern} is not a URL pattern of this crawl");
                carried_out.effects.push(effect);
            }
        }
    }
    let found = match orders.distinct.is_empty() {
        true => Vec::new(),
        false => store.declare_distinct(&orders.distinct).await?,
    };
    for (url, effect) in orders.distinct.iter().zip(found) {
        carried_out.declared(url.as_str(), &effect);
    }
    for pages in &orders.retry {
        let queued = store.retry_failed(|row| pages.select(row)).await?;
        carried_out.retried(pages, queued);
    }
    Ok(carried_out)
}

/// Carries out the orders that concern hosts of this node.
async fn of_node(store: &SharedStore, orders: &Orders) -> Result<CarriedOut, StoreFault> {
    let mut carried_out = CarriedOut::default();
    for pattern in &orders.reopen {
        // The pattern may be on another node.
        if let Some(queued) = store.reopen(pattern).await? {
            carried_out.reopened(pattern, queued);
        }
    }
    for (url, effect) in store.declare_distinct(&orders.distinct).await? {
        carried_out.declared(url.as_str(), &effect);
    }
    for pages in &orders.retry {
        let queued = store.retry_failed(|row| pages.select(row)).await?;
        carried_out.retried(pages, queued);
    }
    Ok(carried_out)
}

impl CarriedOut {
    fn reopened(&mut self, pattern: &PatternName, queued: u64) {
        self.done.insert(format!("reopen {pattern}"));
        self.effects.push(format!(
            "{pattern} is open again, and {queued} excluded URLs are queued"
        ));
    }

    fn retried(&mut self, pages: &FailedPages, queued: u64) {
        self.done.insert(format!("retry {pages}"));
        let effect = format!("{} queued again ({pages})", counted(queued, "failed page"));
        self.effects.push(effect);
    }

    fn declared(&mut self, url: &str, effect: &DistinctOrder) {
        if *effect != DistinctOrder::NotVisited {
            self.done.insert(format!("distinct {url}"));
        }
        self.effects.push(sentence(url, effect));
    }
}

/// Returns a sentence that describes the effect of an order.
pub fn sentence(url: &str, effect: &DistinctOrder) -> String {
    let url = printable(url);
    match effect {
        DistinctOrder::Queued { original } => {
            let original = printable(original.as_str());
            format!("{url} is requeued, and is never again compared with {original}")
        }
        DistinctOrder::Done => format!("{url} has already been declared distinct"),
        DistinctOrder::Archived(fate) => {
            let fate = fate.as_str();
            format!("{url} is not a duplicate that was not archived: its verdict is {fate}")
        }
        DistinctOrder::NotVisited => format!("{url} was not visited in this crawl"),
    }
}
