//! The URL patterns of a crawl, and links classified as traps, for `crawler patterns`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use journal::{ExcludedLinks, History, Record};
use messages::CommandError;
use serde::Serialize;
use store::{Example, PatternReport, PatternState, Patterns, ScriptUse};

/// Maximum number of examples per rule.
const EXAMPLES: usize = 3;

/// A pattern of URLs.
#[derive(Serialize)]
pub struct Pattern<'a> {
    /// The pattern.
    pub pattern: String,
    /// `open`, `poor` or `closed`.
    pub state: &'static str,
    /// Number of visits.
    pub visited: u64,
    /// Number of new pages.
    pub new: u64,
    /// Number of pages that repeat others.
    pub repeated: u64,
    /// Pages that were gone, or excluded after they were fetched.
    pub nothing: u64,
    /// Pages off topic in a focused crawl.
    #[serde(skip_serializing_if = "is_zero")]
    pub off_topic: u64,
    /// URLs excluded unvisited.
    pub excluded: u64,
    /// The use of the scripts of its pages, if some that have text without them were rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Scripts>,
    /// Examples of its URLs.
    pub examples: &'a [Example],
}

/// The use of the scripts of a pattern's pages, and the rendered pages that decided on it.
#[derive(Serialize)]
pub struct Scripts {
    /// `probing`, `static` or `run`.
    #[serde(rename = "use")]
    pub used: ScriptUse,
    /// Number of pages whose scripts were run.
    pub rendered: u32,
    /// Number of these whose scripts brought text or links.
    pub adding: u32,
}

/// A rule that classified links as traps.
#[derive(Default, Serialize)]
pub struct Rule {
    /// Number of links that it excluded.
    pub links: u64,
    /// Some of these links.
    pub examples: Vec<String>,
}

/// A rule that classified links as traps, with its name: a line of `--format json`.
#[derive(Serialize)]
pub struct TrapLine<'a> {
    /// The name of the rule.
    pub trap: &'a str,
    /// The rule.
    #[serde(flatten)]
    pub rule: &'a Rule,
}

/// The patterns of a crawl, and its rules that found traps.
pub struct TrapsFound {
    patterns: Patterns,
    /// The rules, by name.
    pub rules: BTreeMap<String, Rule>,
}

impl TrapsFound {
    /// Reads the journal of the store in `state`.
    pub fn read(state: &Path) -> Result<Self, CommandError> {
        let (mut patterns, mut rules) = (Patterns::default(), BTreeMap::<String, Rule>::new());
        for record in History::open(state)? {
            let record = record?;
            patterns.apply(&record);
            if let Record::Settled(settled) = record {
                for links in settled.visit.excluded {
                    rules.entry(links.rule.clone()).or_default().add(&links);
                }
            }
        }
        Ok(Self { patterns, rules })
    }

    /// Returns the patterns: closed ones first, and of each state the most visited ones first.
    #[must_use]
    pub fn reports(&self) -> Vec<PatternReport<'_>> {
        let mut reports: Vec<PatternReport<'_>> = self.patterns.reports().collect();
        reports.sort_by_key(|report| {
            let state = match report.state {
                PatternState::Closed => 0,
                PatternState::Poor => 1,
                PatternState::Open => 2,
            };
            (state, Reverse(report.visited))
        });
        reports
    }
}

impl Rule {
    fn add(&mut self, excluded: &ExcludedLinks) {
        self.links += excluded.links;
        let example = excluded.example.to_string();
        if self.examples.len() < EXAMPLES && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }
}

/// Returns true for a zero count, which is omitted: the crawl has no topic.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl<'a> Pattern<'a> {
    /// Returns the pattern that a report is about.
    pub fn of(report: &'a PatternReport<'a>) -> Self {
        Self {
            pattern: format!("{}{}", report.host, report.pattern.as_str()),
            state: report.state.as_str(),
            visited: report.visited,
            new: report.new,
            repeated: report.repeated,
            nothing: report.nothing,
            off_topic: report.off_topic,
            excluded: report.excluded,
            scripts: report.scripts.scripts().map(|used| Scripts {
                used,
                rendered: report.scripts.rendered,
                adding: report.scripts.adding,
            }),
            examples: report.examples,
        }
    }
}
