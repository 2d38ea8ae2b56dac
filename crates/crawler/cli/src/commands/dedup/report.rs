//! The report of a comparison: one HTML page without scripts. It helps to judge whether the
//! thresholds suit the corpus.
//!
//! Invariant: its size does not depend on the corpus. Examples are the first pairs of each degree
//! of resemblance. The least similar pairs come first, because their verdicts are the most likely
//! to be wrong.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::Path;

use batch::BatchError;
use batch::dedup::{Cluster, Finding, FindingKind, Summary};
use corpus::FingerprintDistribution;
use disk::OutputFile;
use indicatif::HumanCount;
use messages::CommandError;
use neardup::MatchKind;
use settings::input::unwritable;

use super::{DedupRun, closing, expected_recall};

/// Number of bars for resemblances from 0 to 1.
const BARS: usize = 20;

/// Maximum number of examples per bar.
const EXAMPLES: usize = 3;

/// Maximum number of clusters listed.
const LARGEST: usize = 20;

/// Counts and examples of a report.
#[derive(Default)]
pub(super) struct Report {
    same_bytes: u64,
    same_words: u64,
    near: u64,
    resemblances: [u64; BARS],
    /// Number of pairs at each distance; at most 65 entries.
    distances: Vec<u64>,
    examples: [Vec<Example>; BARS],
    /// The largest clusters, each with its size and its first member.
    clusters: BTreeSet<(usize, String)>,
}

struct Example {
    one: String,
    other: String,
    distance: u32,
    resemblance: f64,
}

impl Report {
    /// Counts a finding.
    ///
    /// # Errors
    /// [`BatchError`] if the id of a member cannot be read back.
    pub(super) fn add(&mut self, finding: &Finding<'_>) -> Result<(), BatchError> {
        match finding {
            Finding::Duplicate(found) => {
                self.add_match(found.match_kind);
                self.add_example(found.document, found.duplicate_of, found.match_kind);
            }
            Finding::Pair(found) => {
                self.add_match(found.match_kind);
                self.add_example(found.b, found.a, found.match_kind);
            }
            Finding::Cluster(cluster) => {
                cluster
                    .match_kinds()
                    .flatten()
                    .for_each(|match_kind| self.add_match(match_kind));
                self.add_cluster(cluster)?;
            }
            Finding::Original(_) => {}
        }
        Ok(())
    }

    fn add_match(&mut self, match_kind: MatchKind) {
        match match_kind {
            MatchKind::SamePayload => self.same_bytes += 1,
            MatchKind::SameText => self.same_words += 1,
            MatchKind::Near {
                distance,
                resemblance,
            } => {
                self.near += 1;
                self.resemblances[bar_of(resemblance)] += 1;
                let distance = distance as usize;
                self.distances
                    .resize(self.distances.len().max(distance + 1), 0);
                self.distances[distance] += 1;
            }
        }
    }

    fn add_example(&mut self, one: &str, other: &str, match_kind: MatchKind) {
        let MatchKind::Near {
            distance,
            resemblance,
        } = match_kind
        else {
            return;
        };
        let examples = &mut self.examples[bar_of(resemblance)];
        if examples.len() < EXAMPLES {
            examples.push(Example {
                one: one.to_owned(),
                other: other.to_owned(),
                distance,
                resemblance,
            });
        }
    }

    fn add_cluster(&mut self, cluster: &Cluster<'_>) -> Result<(), BatchError> {
        let least = self.clusters.first().map_or(0, |(len, _)| *len);
        if self.clusters.len() == LARGEST && cluster.len() <= least {
            return Ok(());
        }
        if let Some(first) = cluster.members().next() {
            self.clusters.insert((cluster.len(), first?.into_string()));
        }
        if self.clusters.len() > LARGEST {
            self.clusters.pop_first();
        }
        Ok(())
    }

    /// Writes the page.
    pub(super) fn write(
        &self,
        path: &Path,
        summary: &Summary,
        run: &DedupRun<'_>,
        fingerprints: Option<&FingerprintDistribution>,
    ) -> Result<(), CommandError> {
        let mut page = self.page(summary, run);
        if let Some(fingerprints) = fingerprints {
            page.push_str("<h2>Fingerprints by number of 1-bits</h2>\n");
            chart(&mut page, fingerprints.by_ones());
            page.push_str("<h2>Fingerprints by first seven bits</h2>\n");
            chart(&mut page, fingerprints.by_first_bits());
        }
        let written = OutputFile::replacing(path).and_then(|mut draft| {
            draft.write_all(page.as_bytes())?;
            draft.complete()
        });
        written.map_err(unwritable(path))
    }

    fn page(&self, summary: &Summary, run: &DedupRun<'_>) -> String {
        let kind = run.options.kind;
        let mut page = String::from(HEAD);
        let sentence = closing(summary, kind, &run.skipped_note());
        let criterion = criterion(run);
        let duplicates = self.same_bytes + self.same_words + self.near;
        let noun = match kind {
            FindingKind::Pairs => "Similar pairs",
            _ => "Duplicates",
        };
        let rows = [
            ("Result", sentence),
            ("Criterion", criterion),
            ("Candidates", expected_recall(&run.options, run.resemblance)),
            (noun, HumanCount(duplicates).to_string()),
            (
                "with the same bytes",
                HumanCount(self.same_bytes).to_string(),
            ),
            (
                "with the same words",
                HumanCount(self.same_words).to_string(),
            ),
            ("nearly the same", HumanCount(self.near).to_string()),
        ];
        page.push_str("<table>\n");
        for (name, value) in rows {
            let _ = writeln!(page, "<tr><th>{name}<td>{}", Escaped(&value));
        }
        page.push_str("</table>\n");
        if self.near > 0 {
            page.push_str("<h2>Resemblance of near duplicates</h2>\n");
            let bars = (0_u32..).zip(self.resemblances).map(|(bar, count)| {
                let from = f64::from(bar) / BARS as f64;
                (format!("{from:.2}"), count)
            });
            chart(&mut page, bars);
            page.push_str("<h2>Distance of fingerprints, in bits</h2>\n");
            let distances = self.distances.iter().copied().enumerate();
            let shown = distances.map(|(distance, count)| (distance.to_string(), count));
            chart(&mut page, shown);
        }
        self.write_examples(&mut page);
        self.write_clusters(&mut page);
        page
    }

    fn write_examples(&self, page: &mut String) {
        let mut examples = self.examples.iter().flatten().peekable();
        if examples.peek().is_none() {
            return;
        }
        page.push_str("<h2>Examples, least similar first</h2>\n<table>\n");
        page.push_str("<tr><th>resemblance<th>bits<th>document<th>original\n");
        for example in examples {
            let _ = writeln!(
                page,
                "<tr><td>{:.3}<td>{}<td>{}<td>{}",
                example.resemblance,
                example.distance,
                Escaped(&example.one),
                Escaped(&example.other)
            );
        }
        page.push_str("</table>\n");
    }

    fn write_clusters(&self, page: &mut String) {
        if self.clusters.is_empty() {
            return;
        }
        page.push_str("<h2>Largest clusters</h2>\n<table>\n<tr><th>documents<th>first\n");
        for (len, first) in self.clusters.iter().rev() {
            let len = HumanCount(*len as u64);
            let _ = writeln!(page, "<tr><td>{len}<td>{}", Escaped(first));
        }
        page.push_str("</table>\n");
    }
}

/// Returns the bar of a resemblance, 0 to 1.
fn bar_of(resemblance: f64) -> usize {
    ((resemblance * BARS as f64) as usize).min(BARS - 1)
}

fn criterion(run: &DedupRun<'_>) -> String {
    let criterion = run.options.criterion;
    let distance = criterion.distance();
    if !criterion.needs_bands() {
        return format!("fingerprints within {distance} bits");
    }
    let resemblance = match run.args.verdict.asked_resemblance(&run.args.features) {
        Some(resemblance) => format!("a resemblance of {resemblance} or more"),
        None => "the resemblance of a crawl, by length".to_owned(),
    };
    format!("{resemblance}; candidates are within {distance} bits or share a band")
}

/// Writes horizontal bars, without the empty ones at both ends.
fn chart(page: &mut String, bars: impl Iterator<Item = (String, u64)>) {
    let bars: Vec<(String, u64)> = bars.collect();
    let most = bars
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let first = bars.iter().position(|(_, count)| *count > 0).unwrap_or(0);
    let last = bars.iter().rposition(|(_, count)| *count > 0).unwrap_or(0);
    page.push_str("<table class=chart>\n");
    for (name, count) in &bars[first..=last] {
        let percent = *count as f64 * 100.0 / most as f64;
        let count = HumanCount(*count);
        let _ = writeln!(
            page,
            "<tr><th>{name}<td><i style=\"width:{percent:.1}%\"></i><td>{count}"
        );
    }
    page.push_str("</table>\n");
}

/// Text that is escaped for HTML.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                other if other.is_control() => f.write_char('\u{fffd}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

const HEAD: &str = "\
<!doctype html>
<html lang=en>
<meta charset=utf-8>
<meta name=viewport content=\"width=device-width\">
<title>Near duplicates</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th { font-weight: 600; text-align: left; white-space: nowrap }
th, td { padding: .2rem .8rem .2rem 0; vertical-align: top; overflow-wrap: anywhere }
.chart th, .chart td:last-child { width: 5rem; font-variant-numeric: tabular-nums }
.chart i { background: #4a7ab5; display: block; height: 1rem }
</style>
<h1>Near duplicates</h1>
";
