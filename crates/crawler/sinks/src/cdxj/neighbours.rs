//! Responses and their requests, which are neighbours in a file.

use super::capture::Capture;
use super::post::PostQuery;
use crate::warc::parsed::Record;

/// The records of a file with their captures, each held back until its neighbour is known.
#[derive(Default)]
pub(super) struct Neighbours(Option<(Record, Option<Capture>)>);

impl Neighbours {
    /// Takes the next record; returns the one before.
    pub(super) fn push(
        &mut self,
        record: Record,
        capture: Option<Capture>,
    ) -> Option<(Record, Option<Capture>)> {
        let mut next = (record, capture);
        if let Some(before) = &mut self.0 {
            join(before, &mut next);
        }
        self.0.replace(next)
    }

    /// Returns the last record.
    pub(super) fn pop(&mut self) -> Option<(Record, Option<Capture>)> {
        self.0.take()
    }
}

/// Extends the key of a response whose request is its neighbour.
fn join(first: &mut (Record, Option<Capture>), second: &mut (Record, Option<Capture>)) {
    let names = second.0.field("WARC-Concurrent-To") == Some(first.0.id());
    if !names || first.0.target() != second.0.target() {
        return;
    }
    let (request, response) = match (first.0.kind(), second.0.kind()) {
        ("response", "request") => (second, first),
        ("request", "response") => (first, second),
        _ => return,
    };
    if let Some(post) = PostQuery::of(&request.0.block) {
        let url = request.0.target().unwrap_or_default();
        let capture = response.1.take();
        response.1 = capture.and_then(|capture| capture.of_post(url, &post));
    }
}
