//! Visits by minute.
//!
//! A point begins at a multiple of its span since 1970, so that two neighbours become one when the
//! span doubles, and a revoked visit is taken back from the point that has it now.

use std::time::Duration;

use journal::VisitRecord;
use web::Timestamp;

use crate::limits::MAX_POINTS;
use crate::visit_sums::VisitSums;

/// The shortest span of a point.
const MINUTE: u64 = 60_000;

/// The visits of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelinePoint {
    /// The beginning of the span.
    pub at: Timestamp,
    /// Its length, the same for all points.
    pub span: Duration,
    /// The sums over its visits.
    pub sums: VisitSums,
    /// URLs in the queue after the last visit of the span.
    pub queued: u64,
}

/// At most [`MAX_POINTS`] points in the order of their times; Spans without a visit are omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    span: u64,
    points: Vec<TimelinePoint>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            span: MINUTE,
            points: Vec::new(),
        }
    }
}

impl Timeline {
    pub(crate) fn points(&self) -> &[TimelinePoint] {
        &self.points
    }

    /// Adds a visit. `queued` URLs are in the queue after it.
    pub(crate) fn count(&mut self, visit: &VisitRecord, queued: u64) {
        let begin = self.begin_of(visit.fetched_at);
        let place = match self.points.binary_search_by_key(&begin, |point| point.at) {
            Ok(place) => place,
            Err(place) => {
                let empty = self.empty(begin);
                self.points.insert(place, empty);
                place
            }
        };
        let point = &mut self.points[place];
        point.queued = queued;
        point.sums.count(visit);
        while self.points.len() > MAX_POINTS {
            self.double();
        }
    }

    /// Takes back a visit that was added.
    pub(crate) fn take_back(&mut self, visit: &VisitRecord) {
        let begin = self.begin_of(visit.fetched_at);
        if let Ok(place) = self.points.binary_search_by_key(&begin, |point| point.at) {
            self.points[place].sums.take_back(visit);
        }
    }

    fn begin_of(&self, at: Timestamp) -> Timestamp {
        Timestamp::from_millis(at.as_millis() / self.span * self.span)
    }

    fn empty(&self, at: Timestamp) -> TimelinePoint {
        TimelinePoint {
            at,
            span: Duration::from_millis(self.span),
            sums: VisitSums::default(),
            queued: 0,
        }
    }

    /// Doubles the span of all points.
    fn double(&mut self) {
        self.span *= 2;
        let mut doubled: Vec<TimelinePoint> = Vec::with_capacity(self.points.len());
        for mut point in std::mem::take(&mut self.points) {
            point.at = self.begin_of(point.at);
            point.span = Duration::from_millis(self.span);
            match doubled.last_mut().filter(|last| last.at == point.at) {
                Some(last) => {
                    last.sums += point.sums;
                    last.queued = point.queued;
                }
                None => doubled.push(point),
            }
        }
        self.points = doubled;
    }
}

#[cfg(test)]
mod tests {
    use journal::{DiscoveredUrl, Fate};
    use web::{CanonicalForm, PageUrl};

    use super::*;

    fn visit(minute: u64) -> VisitRecord {
        let url = PageUrl::parse("http://a.test/", &CanonicalForm::default()).unwrap();
        let at = Timestamp::from_millis(minute * MINUTE + 1);
        VisitRecord::new(DiscoveredUrl::new(url, 0, None), Fate::Unique, at)
    }

    #[test]
    fn beyond_the_cap_points_become_one_and_a_visit_is_taken_back_from_where_it_is() {
        let mut timeline = Timeline::default();
        let most = MAX_POINTS as u64;
        for minute in 0..most {
            timeline.count(&visit(minute), minute);
        }
        assert_eq!(timeline.points().len(), MAX_POINTS);
        timeline.count(&visit(most), most);
        let points = timeline.points();
        assert_eq!(points.len(), MAX_POINTS / 2 + 1);
        assert_eq!(points[0].span, Duration::from_millis(2 * MINUTE));
        assert_eq!((points[0].sums.unique, points[0].queued), (2, 1));
        timeline.take_back(&visit(1));
        assert_eq!(timeline.points()[0].sums.unique, 1);
    }

    #[test]
    fn times_that_are_far_apart_have_a_point_each() {
        let mut timeline = Timeline::default();
        for minute in [0, u64::MAX / MINUTE - 1, 5_000_000] {
            timeline.count(&visit(minute), 0);
        }
        assert_eq!(timeline.points().len(), 3);
        assert!(timeline.points().is_sorted_by_key(|point| point.at));
    }
}
