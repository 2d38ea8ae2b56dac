//! The actions of `control.toml`. Each action is applied once, before the crawl starts or while
//! it runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Weak;

use journal::{PatternName, StoreFault};
use messages::{counted, printable};
use policy::control_file::ControlRecord;
use policy::{Actions, FailedPages};
use settings::crawl_directory;
use shared_store::SharedStore;
use store::{DistinctEffect, EmbeddedStore};
use tokio::runtime::Handle;

/// The store that applies actions.
#[derive(Clone)]
pub enum ActionStore {
    /// The store of a crawl.
    Own(Weak<EmbeddedStore>),
    /// The store of a node, which applies actions about its own hosts.
    Shared(Weak<SharedStore>),
}

/// The result of applying actions.
#[derive(Default)]
pub(super) struct Applied {
    /// Descriptions of the actions that need not be given again.
    pub(super) done: BTreeSet<String>,
    /// Effects, as sentences for the log.
    pub(super) effects: Vec<String>,
}

/// Returns the actions that are not applied yet.
pub(super) fn pending(directory: &Path, actions: &Actions) -> Actions {
    // A new record replaces an unreadable one; repeated actions are harmless.
    let record = ControlRecord::of(&crawl_directory::state(directory)).unwrap_or_default();
    actions.without(&record.applied)
}

/// Applies actions off the reactor, because they read the journal. Does nothing if the store is
/// already closed: the next session applies the actions.
///
/// # Errors
/// [`StoreFault`] if the journal or the tables cannot be read or written.
pub(super) async fn apply(store: ActionStore, actions: Actions) -> Result<Applied, StoreFault> {
    let runtime = Handle::current();
    let applied = tokio::task::spawn_blocking(move || match store {
        ActionStore::Own(store) => match store.upgrade() {
            Some(store) => runtime.block_on(all(&store, &actions)),
            None => Ok(Applied::default()),
        },
        ActionStore::Shared(store) => match store.upgrade() {
            Some(store) => runtime.block_on(of_node(&store, &actions)),
            None => Ok(Applied::default()),
        },
    });
    match applied.await {
        Ok(applied) => applied,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

async fn all(store: &EmbeddedStore, actions: &Actions) -> Result<Applied, StoreFault> {
    let mut applied = Applied::default();
    for pattern in &actions.reopen {
        match store.reopen(pattern).await? {
            Some(queued) => applied.reopened(pattern, queued),
            None => {
                let effect = format!("{pattern} is not a URL pattern of this crawl");
                applied.effects.push(effect);
            }
        }
    }
    let found = match actions.distinct.is_empty() {
        true => Vec::new(),
        false => store.declare_distinct(&actions.distinct).await?,
    };
    for (url, effect) in actions.distinct.iter().zip(found) {
        applied.declared(url.as_str(), &effect);
    }
    for pages in &actions.retry {
        let queued = store.retry_failed(|visit| pages.select(visit)).await?;
        applied.retried(pages, queued);
    }
    Ok(applied)
}

/// Applies the actions that concern hosts of this node.
async fn of_node(store: &SharedStore, actions: &Actions) -> Result<Applied, StoreFault> {
    let mut applied = Applied::default();
    for pattern in &actions.reopen {
        // The pattern may be on another node.
        if let Some(queued) = store.reopen(pattern).await? {
            applied.reopened(pattern, queued);
        }
    }
    for (url, effect) in store.declare_distinct(&actions.distinct).await? {
        applied.declared(url.as_str(), &effect);
    }
    for pages in &actions.retry {
        let queued = store.retry_failed(|visit| pages.select(visit)).await?;
        applied.retried(pages, queued);
    }
    Ok(applied)
}

impl Applied {
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

    fn declared(&mut self, url: &str, effect: &DistinctEffect) {
        if *effect != DistinctEffect::NotVisited {
            self.done.insert(format!("distinct {url}"));
        }
        self.effects.push(sentence(url, effect));
    }
}

/// Returns a sentence that describes the effect of an action.
pub fn sentence(url: &str, effect: &DistinctEffect) -> String {
    let url = printable(url);
    match effect {
        DistinctEffect::Queued { original } => {
            let original = printable(original.as_str());
            format!("{url} is requeued, and is never again compared with {original}")
        }
        DistinctEffect::Done => format!("{url} has already been declared distinct"),
        DistinctEffect::Archived(fate) => {
            let fate = fate.as_str();
            format!("{url} is not a duplicate that was not archived: its verdict is {fate}")
        }
        DistinctEffect::NotVisited => format!("{url} was not visited in this crawl"),
    }
}
