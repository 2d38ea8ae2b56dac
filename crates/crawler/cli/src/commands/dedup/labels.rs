//! `dedup --labels`: compares the verdict and each distance with the user's labels.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 5.1, plot precision and recall by distance.) Only
//! labelled pairs that `--pairs` would print count. The rule of the options is scored next to the
//! rule "within n bits", for each n up to the largest distance of a labelled pair.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use batch::Control;
use batch::dedup::{self, Document, Finding, FindingKind};
use messages::{CommandError, counted, say, usage};
use neardup::Fingerprint;
use serde::{Deserialize, Serialize};
use settings::input::unreadable;

use super::DedupRun;
use super::findings::{DedupError, Findings, Output};
use crate::output::{self, Format};

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
type Labels = BTreeMap<(String, String), Label>;

/// The findings about labelled documents.
struct Compared {
    /// Labelled pairs that the rule of the options finds.
    found: HashSet<(String, String)>,
    /// Fingerprints by id; `None` for a document without a text.
    fingerprints: HashMap<String, Option<Fingerprint>>,
}

/// The score of a rule against the labels.
#[derive(Serialize)]
struct Score {
    /// `dedup`, the rule of the options, or `distance`.
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    true_positives: u64,
    false_positives: u64,
    false_negatives: u64,
    true_negatives: u64,
    /// `None` if the rule finds no duplicates.
    precision: Option<f64>,
    /// `None` if no label marks a pair as duplicates.
    recall: Option<f64>,
    f1: Option<f64>,
}

impl DedupRun<'_> {
    /// Prints how well the rule of the options and each distance agree with the labels in a file.
    pub(super) fn evaluate(&self, path: &Path) -> Result<(), CommandError> {
        let labels = read(path)?;
        if let Some(format) = self.args.finding_form().table() {
            let error = usage(format!("--format {format} does not support --labels"));
            return Err(error.with_remedy("use json or table"));
        }
        let compared = self.compare_labelled(&labels)?;
        let mut labelled = labels.keys().flat_map(|(a, b)| [a, b]);
        if let Some(missing) = labelled.find(|id| !compared.fingerprints.contains_key(*id)) {
            return Err(usage(format!(
                "{} names the document {missing}, which is not in the input",
                path.display()
            )));
        }
        self.write_scores(&compared.scores(&labels))?;
        self.say_labels(&labels);
        self.skipped.borrow().check_complete()
    }

    /// Compares all documents. Returns the findings about labelled documents.
    fn compare_labelled(&self, labels: &Labels) -> Result<Compared, CommandError> {
        let labelled: HashSet<&str> = labels.keys().flat_map(|(a, b)| [&**a, &**b]).collect();
        let fingerprints = RefCell::new(HashMap::new());
        let documents = self.signed_corpus()?.map(|signed| {
            let (_, document) = signed?;
            if labelled.contains(&*document.id) {
                note_fingerprint(&mut fingerprints.borrow_mut(), &document)?;
            }
            Ok(document)
        });
        let mut options = self.options.clone();
        options.kind = FindingKind::Pairs;
        let never = AtomicBool::new(false);
        let control = Control::new(&self.progress, &never);
        let mut found = HashSet::new();
        let compared = dedup::run(documents, &options, control, |finding| {
            if let Finding::Pair(pair) = finding {
                let key = ordered(pair.a.to_string(), pair.b.to_string());
                if labels.contains_key(&key) {
                    found.insert(key);
                }
            }
            Ok(())
        });
        self.progress.end();
        compared.map_err(|error| self.explain(error))?;
        Ok(Compared {
            found,
            fingerprints: fingerprints.into_inner(),
        })
    }

    fn write_scores(&self, scores: &[Score]) -> Result<(), CommandError> {
        let written = Findings::of(self.args)?.write_all(|output| {
            let Output::Lines(out, format) = output else {
                return Ok(()); // Not written as tables: see `evaluate`.
            };
            scores
                .iter()
                .try_for_each(|score| score.write(*out, *format))
        });
        written.map_err(|error| self.explain(error)).map(drop)
    }

    fn say_labels(&self, labels: &Labels) {
        if self.args.work.quiet {
            return;
        }
        let same = labels.values().filter(|label| **label == Label::Same);
        let same = same.count() as u64;
        let pairs = counted(labels.len() as u64, "labelled pair");
        say(&format!("{pairs}, {same} of them the same"));
        self.say_warnings();
    }
}

/// Notes the fingerprint of a labelled document. Refuses a second document with its id.
fn note_fingerprint(
    fingerprints: &mut HashMap<String, Option<Fingerprint>>,
    document: &Document,
) -> Result<(), DedupError> {
    let text = document.signature.signature.text.as_deref();
    let fingerprint = text.map(|text| text.fingerprint);
    let before = fingerprints.insert(document.id.to_string(), fingerprint);
    if before.is_some() {
        let error = usage(format!("two documents have the id {}", document.id));
        return Err(DedupError::Cli(
            error.with_remedy("labels require distinct ids"),
        ));
    }
    Ok(())
}

impl Compared {
    /// Returns the scores of the rule of the options and of each distance of a labelled pair.
    fn scores(&self, labels: &Labels) -> Vec<Score> {
        let mut scores = vec![Score::of("dedup", None, labels, |pair| {
            self.found.contains(pair)
        })];
        let most = labels.keys().filter_map(|pair| self.distance(pair)).max();
        scores.extend((0..=most.unwrap_or_default()).map(|bits| {
            let is_within = |pair: &_| self.distance(pair).is_some_and(|distance| distance <= bits);
            Score::of("distance", Some(bits), labels, is_within)
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
            let counted = labels
                .iter()
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

    fn write(&self, out: &mut dyn Write, format: Format) -> Result<(), DedupError> {
        if format == Format::Json {
            return Ok(output::json_line(out, self)?);
        }
        let rule = match self.distance {
            Some(bits) => format!("within {bits:>2} bits"),
            None => "dedup".to_owned(),
        };
        let share =
            |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{share:.4}"));
        writeln!(
            out,
            "{rule:<14}  precision {:<6}  recall {:<6}  F1 {:<6}  {} right, {} wrong, {} missed",
            share(self.precision),
            share(self.recall),
            share(self.f1),
            self.true_positives,
            self.false_positives,
            self.false_negatives
        )?;
        Ok(())
    }
}

fn ordered(a: String, b: String) -> (String, String) {
    if a <= b { (a, b) } else { (b, a) }
}

/// Reads a file of labels: JSON objects, or tab-separated columns.
fn read(path: &Path) -> Result<Labels, CommandError> {
    let text = std::fs::read_to_string(path).map_err(unreadable(path))?;
    let mut labels = Labels::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |reason: &str| {
            let place = format!("{}:{number}: {reason}", path.display());
            usage(place).with_remedy(
                "a line is {\"a\":ID,\"b\":ID,\"label\":\"same\"}, or the three values separated \
                 by tabs; a label is same or different",
            )
        };
        let LabelLine { a, b, label } = parsed(line).ok_or_else(|| wrong("no labelled pairs"))?;
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
        false => Ok(labels),
    }
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
