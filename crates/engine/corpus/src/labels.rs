//! Labels of pairs of documents, and how well rules agree with them.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 5.1, plot precision and recall by distance.) Only
//! labelled pairs that a comparison finds count. The rule of the comparison is scored next to the
//! rule "within n bits", for each n up to the largest distance of a labelled pair.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use batch::dedup::Document;
use messages::{CommandError, usage};
use neardup::Fingerprint;
use serde::{Deserialize, Serialize};

/// A label in the input.
#[derive(Deserialize)]
struct LabelLine {
    a: LabelledId,
    b: LabelledId,
    label: Label,
}

/// An id in the input. Ids are compared as text, because columns do not distinguish numbers from
/// strings.
#[derive(Deserialize)]
#[serde(untagged)]
enum LabelledId {
    Text(String),
    Number(serde_json::Number),
}

impl LabelledId {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Label {
    Same,
    Different,
}

/// The labels, by pairs of ids in the order of the ids.
#[derive(Debug)]
pub struct Labels(BTreeMap<(String, String), Label>);

/// The result of a comparison of labelled documents.
pub struct LabelEvaluation<'l> {
    labels: &'l Labels,
    labelled: HashSet<&'l str>,
    /// Labelled pairs that the rule of the comparison finds.
    found: HashSet<(String, String)>,
    /// Fingerprints by id; `None` for a document without a text.
    fingerprints: HashMap<String, Option<Fingerprint>>,
}

/// The score of a rule against the labels.
#[derive(Debug, Serialize)]
pub struct Score {
    /// `dedup`, the rule of the comparison, or `distance`.
    pub rule: &'static str,
    /// Maximum distance of the rule `distance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// Pairs labelled `same` that the rule finds.
    pub true_positives: u64,
    /// Pairs labelled `different` that the rule finds.
    pub false_positives: u64,
    /// Pairs labelled `same` that the rule does not find.
    pub false_negatives: u64,
    /// Pairs labelled `different` that the rule does not find.
    pub true_negatives: u64,
    /// `None` if the rule finds no duplicates.
    pub precision: Option<f64>,
    /// `None` if no label marks a pair as duplicates.
    pub recall: Option<f64>,
    /// `None` without pairs that are found or labelled as duplicates.
    pub f1: Option<f64>,
}

impl Labels {
    /// Reads a file of labels: JSON objects, or tab-separated columns.
    ///
    /// # Errors
    /// The file cannot be read, contains no label, or a line is not a label.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
        let mut labels = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |reason: &str| {
                let place = format!("{}:{number}: {reason}", path.display());
                usage(place).with_remedy(
                    "a line is {\"a\":ID,\"b\":ID,\"label\":\"same\"}, or the three values \
                     separated by tabs; a label is same or different",
                )
            };
            let LabelLine { a, b, label } =
                parsed(line).ok_or_else(|| wrong("no labelled pairs"))?;
            let (a, b) = (a.into_text(), b.into_text());
            if a == b {
                return Err(wrong("a document cannot be paired with itself"));
            }
            if labels
                .insert(ordered(a, b), label)
                .is_some_and(|before| before != label)
            {
                return Err(wrong("the pair has both labels"));
            }
        }
        match labels.is_empty() {
            true => Err(usage(format!("{} has no label", path.display()))),
            false => Ok(Self(labels)),
        }
    }

    /// Returns the number of labelled pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.0.len() as u64
    }

    /// Returns the number of pairs that are labelled `same`.
    #[must_use]
    pub fn same_pairs(&self) -> u64 {
        let same = self.0.values().filter(|label| **label == Label::Same);
        same.count() as u64
    }
}

impl<'l> LabelEvaluation<'l> {
    /// Begins an evaluation before the documents are compared.
    #[must_use]
    pub fn new(labels: &'l Labels) -> Self {
        Self {
            labels,
            labelled: labels.0.keys().flat_map(|(a, b)| [&**a, &**b]).collect(),
            found: HashSet::new(),
            fingerprints: HashMap::new(),
        }
    }

    /// Notes the fingerprint of a document that will be compared, if it is labelled.
    ///
    /// # Errors
    /// A labelled document has the id of an earlier one.
    pub fn add_document(&mut self, document: &Document) -> Result<(), CommandError> {
        if !self.labelled.contains(&*document.id) {
            return Ok(());
        }
        let text = document.signature.signature.text.as_deref();
        let fingerprint = text.map(|text| text.fingerprint);
        let before = (self.fingerprints).insert(document.id.to_string(), fingerprint);
        if before.is_some() {
            let error = usage(format!("two documents have the id {}", document.id));
            return Err(error.with_remedy("labels require distinct ids"));
        }
        Ok(())
    }

    /// Notes a pair that the rule of the comparison finds.
    pub fn add_found(&mut self, a: &str, b: &str) {
        let pair = ordered(a.to_owned(), b.to_owned());
        if self.labels.0.contains_key(&pair) {
            self.found.insert(pair);
        }
    }

    /// Returns the first labelled id that no document has.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        let mut labelled = self.labels.0.keys().flat_map(|(a, b)| [a, b]);
        let missing = labelled.find(|id| !self.fingerprints.contains_key(*id));
        missing.map(String::as_str)
    }

    /// Returns the scores of the rule of the comparison and of each distance of a labelled pair.
    #[must_use]
    pub fn scores(&self) -> Vec<Score> {
        let mut scores = vec![Score::of("dedup", None, self.labels, |pair| {
            self.found.contains(pair)
        })];
        let distances = self.labels.0.keys().filter_map(|pair| self.distance(pair));
        let most = distances.max();
        scores.extend((0..=most.unwrap_or_default()).map(|bits| {
            let is_within = |pair: &_| self.distance(pair).is_some_and(|distance| distance <= bits);
            Score::of("distance", Some(bits), self.labels, is_within)
        }));
        scores
    }

    fn distance(&self, (a, b): &(String, String)) -> Option<u32> {
        let [a, b] = [a, b].map(|id| self.fingerprints.get(id).copied().flatten());
        a.zip(b).map(|(a, b)| a.distance(b))
    }
}

impl Score {
    fn of(
        rule: &'static str,
        distance: Option<u32>,
        labels: &Labels,
        calls_same: impl Fn(&(String, String)) -> bool,
    ) -> Self {
        let count = |label: Label, called: bool| {
            let counted = (labels.0.iter())
                .filter(|(pair, given)| **given == label && calls_same(pair) == called);
            counted.count() as u64
        };
        let (right, wrong) = (count(Label::Same, true), count(Label::Different, true));
        let missed = count(Label::Same, false);
        let share = |of: u64| (of > 0).then(|| right as f64 / of as f64);
        let both = 2 * right + wrong + missed;
        Self {
            rule,
            distance,
            true_positives: right,
            false_positives: wrong,
            false_negatives: missed,
            true_negatives: count(Label::Different, false),
            precision: share(right + wrong),
            recall: share(right + missed),
            f1: (both > 0).then(|| 2.0 * right as f64 / both as f64),
        }
    }
}

fn ordered(a: String, b: String) -> (String, String) {
    if a <= b { (a, b) } else { (b, a) }
}

fn parsed(line: &str) -> Option<LabelLine> {
    if line.trim_start().starts_with('{') {
        return serde_json::from_str(line).ok();
    }
    let mut columns = line.trim_end_matches('\r').split('\t');
    let mut id = || Some(LabelledId::Text(columns.next()?.to_owned()));
    let (a, b) = (id()?, id()?);
    let label = match columns.next()? {
        "same" => Label::Same,
        "different" => Label::Different,
        _ => return None,
    };
    let line = LabelLine { a, b, label };
    columns.next().is_none().then_some(line)
}
