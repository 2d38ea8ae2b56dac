//! Pages, visits and options of the unit tests.
//!
//! `contract::fixtures` has the same for tests outside this crate. A unit test cannot use it: that
//! crate is built on the library, whose types are not those of the test.

use std::sync::Arc;

use disk::SystemDisk;
use journal::{ArchiveSpan, DiscoveredUrl, Fate, FinishedVisit, VisitRecord};
use neardup::{Features, HashKey};
use web::{CanonicalForm, PageUrl, Timestamp};

use crate::embedded::StoreOptions;
use crate::frontier::{Frontier, FrontierRules, Lease, LeaseFilter, Settlement, Supply};
use crate::rules::ComparisonOptions;

pub(crate) fn options(rules: FrontierRules) -> StoreOptions {
    StoreOptions {
        rules,
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: at(0),
        disk: Arc::new(SystemDisk),
    }
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

pub(crate) fn link(text: &str, depth: u32) -> DiscoveredUrl {
    DiscoveredUrl::new(url(text), depth, None)
}

/// Returns the settlement of a visit that failed and is repeated at this time.
pub(crate) fn again(at: Timestamp) -> Settlement {
    let reason = journal::Reason::said("no response");
    Settlement::Again {
        at,
        reason,
        counts: true,
    }
}

pub(crate) fn visit(lease: &Lease, fate: Fate) -> VisitRecord {
    VisitRecord {
        status: Some(200),
        bytes: 10,
        kept: fate == Fate::Unique,
        ..VisitRecord::new(lease.discovered().clone(), fate, at(1))
    }
}

pub(crate) fn done(lease: &Lease) -> Settlement {
    done_with(lease, None, Vec::new())
}

/// Returns the end of a visit that is archived under `archive_sequence`, and found these links.
pub(crate) fn done_with(
    lease: &Lease,
    archive_sequence: Option<u64>,
    links: Vec<DiscoveredUrl>,
) -> Settlement {
    let archived = archive_sequence.map(|archive_sequence| ArchiveSpan {
        archive_sequence,
        file: "a.warc.gz".to_owned(),
        end: (archive_sequence + 1) * 100,
    });
    Settlement::Done(FinishedVisit {
        archived,
        finds: links,
        ..FinishedVisit::new(visit(lease, Fate::Unique))
    })
}

pub(crate) async fn leases(frontier: &dyn Frontier, now: u64, want: usize) -> Vec<Lease> {
    let supply = frontier.lease(at(now), want, LeaseFilter::All).await;
    match supply.unwrap() {
        Supply::Leases(leases) => leases,
        Supply::NothingBefore(_) | Supply::Exhausted => Vec::new(),
    }
}
