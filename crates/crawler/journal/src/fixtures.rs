//! Pages and visits of the unit tests.

use web::{CanonicalForm, PageUrl, Timestamp};

use crate::discovered_url::DiscoveredUrl;
use crate::visit_record::{Fate, VisitRecord};

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn link(text: &str, depth: u32) -> DiscoveredUrl {
    let url = PageUrl::parse(text, &CanonicalForm::default()).unwrap();
    DiscoveredUrl::new(url, depth, None)
}

pub(crate) fn visit(discovered: &DiscoveredUrl, fate: Fate) -> VisitRecord {
    VisitRecord {
        status: Some(200),
        bytes: 10,
        kept: fate == Fate::Unique,
        ..VisitRecord::new(discovered.clone(), fate, at(1))
    }
}
