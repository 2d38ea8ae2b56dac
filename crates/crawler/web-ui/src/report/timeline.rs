//! Pages over time.

use std::time::Duration;

use serde::Serialize;
use statistics::VisitSums;
use web::Timestamp;

use crate::charts::{Column, Part, Plot, columns, part};
use crate::{caps, format};

/// A part of the crawl's time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Its beginning.
    #[serde(serialize_with = "super::rfc_3339")]
    pub at: Timestamp,
    /// The sums over its visits.
    #[serde(flatten)]
    pub sums: VisitSums,
    /// URLs that waited at its end.
    pub queued: u64,
}

/// Pages over time, in at most [`caps::POINTS`] points of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The length of each point.
    pub seconds_per_point: f64,
    /// The points in their order; those without visits are there, too.
    pub points: Vec<Point>,
}

const PARTS: [Part; 4] = [
    part("s-unique", "unique"),
    part("s-changed", "changed"),
    part("s-near", "duplicates"),
    part("s-failed", "failed"),
];
/// Labels of the horizontal scale, which are as long as the narrowest screen has room for.
const LABELS: usize = 4;
const QUEUED: [Part; 1] = [part("s-excluded", "waiting")];

impl Timeline {
    /// Makes a timeline of points in their order, each `span` long. Points are added up until
    /// [`caps::POINTS`] suffice for the time from the first to the last.
    pub fn of(points: impl IntoIterator<Item = Point>, span: Duration) -> Self {
        let given: Vec<Point> = points.into_iter().collect();
        let (Some(first), Some(last)) = (given.first(), given.last()) else {
            return Self::default();
        };
        let begin = first.at;
        let span = span.max(Duration::from_millis(1));
        let spans = last.at.since(begin).as_millis() / span.as_millis() + 1;
        let together = u32::try_from(spans.div_ceil(caps::POINTS as u128)).unwrap_or(u32::MAX);
        let width = span.saturating_mul(together);
        let mut timeline = Self {
            seconds_per_point: width.as_secs_f64(),
            points: Vec::new(),
        };
        for point in &given {
            let place = point.at.since(begin).as_millis() / width.as_millis();
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            timeline.add(point, place.min(caps::POINTS - 1), begin, width);
        }
        timeline
    }

    /// Adds a point at a place that is not before the last one.
    fn add(&mut self, point: &Point, place: usize, begin: Timestamp, width: Duration) {
        while self.points.len() <= place {
            let queued = self.points.last().map_or(0, |last| last.queued);
            let before = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
            self.points.push(Point {
                at: begin + width.saturating_mul(before),
                queued,
                ..Point::default()
            });
        }
        let sum = &mut self.points[place];
        sum.sums += point.sums;
        sum.queued = point.queued;
    }

    /// Draws the pages of each point.
    pub(crate) fn pages_plot(&self) -> Plot {
        let values = |Point { sums, .. }: &Point| {
            vec![sums.unique, sums.changed, sums.duplicates, sums.failed]
        };
        self.plot(
            "Pages over time",
            "One column per period of the crawl: unique pages, duplicates and failures, stacked. \
             The table contains the numbers.",
            &PARTS,
            values,
        )
    }

    /// Returns true if URLs waited at the end of a point.
    pub(crate) fn has_queue(&self) -> bool {
        self.points.iter().any(|point| point.queued > 0)
    }

    /// Draws the URLs that waited at the end of each point.
    pub(crate) fn queue_plot(&self) -> Plot {
        self.plot(
            "Waiting URLs over time",
            "One column per period of the crawl: the URLs queued at its end. The table contains \
             the numbers.",
            &QUEUED,
            |point| vec![point.queued],
        )
    }

    fn plot(
        &self,
        title: &str,
        description: &str,
        parts: &[Part],
        values: impl Fn(&Point) -> Vec<u64>,
    ) -> Plot {
        let drawn: Vec<Column> = self
            .points
            .iter()
            .map(|point| Column {
                label: format::time(point.at),
                values: values(point),
            })
            .collect();
        columns(title, description, parts, &drawn, usize::MAX)
    }

    /// Returns the labels of the horizontal scale, one per point: the time when the point begins,
    /// with the date if the crawl takes several days; empty for points without a label.
    pub(crate) fn scale(&self) -> Vec<String> {
        let Some((first, last)) = self.points.first().zip(self.points.last()) else {
            return Vec::new();
        };
        let is_of_days = last.at.since(first.at) > Duration::from_secs(24 * 60 * 60);
        let cut = if is_of_days {
            "2026-".len()
        } else {
            "2026-11-23 ".len()
        };
        let every = self.points.len().div_ceil(LABELS);
        let points = self.points.iter().enumerate();
        let labels = points.map(|(place, point)| match place % every {
            0 => format::minute(point.at)[cut..].to_owned(),
            _ => String::new(),
        });
        labels.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn point(minute: u64, pages: u64, queued: u64) -> Point {
        Point {
            at: Timestamp::from_millis(minute * 60_000),
            sums: VisitSums {
                pages,
                ..VisitSums::default()
            },
            queued,
        }
    }

    #[test]
    fn a_minute_without_visits_is_a_point_with_the_queue_of_the_one_before() {
        let timeline = Timeline::of([point(5, 1, 9), point(7, 2, 4)], MINUTE);
        assert_eq!(
            timeline.points,
            [point(5, 1, 9), point(6, 0, 9), point(7, 2, 4)]
        );
        assert_eq!(timeline.seconds_per_point, 60.0);
        assert_eq!(Timeline::of([], MINUTE), Timeline::default());
    }

    #[test]
    fn the_scale_has_times_where_points_begin() {
        let scale = |minutes: &[u64]| {
            let points = minutes.iter().map(|minute| point(*minute, 1, 0));
            Timeline::of(points, MINUTE).scale()
        };
        assert_eq!(scale(&[5, 6, 7]), ["00:05", "00:06", "00:07"]);
        assert_eq!(scale(&[0, 5]), ["00:00", "", "00:02", "", "00:04", ""]);
        let of_days = scale(&[0, 3 * 24 * 60]);
        let labels: Vec<&String> = of_days.iter().filter(|label| !label.is_empty()).collect();
        assert!(labels.len() <= LABELS, "{labels:?}");
        assert_eq!(labels[0], "01-01 00:00");
    }

    #[test]
    fn the_points_of_a_long_crawl_are_added_up() {
        for minutes in [120, 121, 1_000, 100_000] {
            let timeline =
                Timeline::of((0..minutes).map(|minute| point(minute, 1, minute)), MINUTE);
            assert!(timeline.points.len() <= caps::POINTS, "{minutes}");
            assert!(timeline.points.len() > caps::POINTS / 3, "{minutes}");
            let pages: u64 = timeline.points.iter().map(|point| point.sums.pages).sum();
            assert_eq!(pages, minutes);
            assert_eq!(timeline.points.last().unwrap().queued, minutes - 1);
        }
        // A crawl that was continued after years.
        let timeline = Timeline::of([point(0, 1, 0), point(5_000_000, 1, 0)], MINUTE);
        assert!(timeline.points.len() <= caps::POINTS);
    }
}
