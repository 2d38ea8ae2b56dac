//! `dedup --labels`: compares the verdict and each distance with the user's labels
//! ([`corpus::labels`]).
//!
//! Only labelled pairs that `--pairs` would print count.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use batch::Control;
use batch::dedup::{self, Finding, FindingKind};
use corpus::labels::{LabelEvaluation, Labels, Score};
use messages::{CommandError, counted, say, usage};

use super::DedupRun;
use super::findings::{DedupError, Findings, Output};
use crate::output::{self, Format};

impl DedupRun<'_> {
    /// Prints how well the rule of the options and each distance agree with the labels in a file.
    pub(super) fn evaluate(&self, path: &Path) -> Result<(), CommandError> {
        let labels = Labels::read(path)?;
        if let Some(format) = self.args.finding_form().table() {
            let error = usage(format!("--format {format} does not support --labels"));
            return Err(error.with_remedy("use json or table"));
        }
        let evaluation = self.compare_labelled(&labels)?;
        if let Some(missing) = evaluation.missing() {
            return Err(usage(format!(
                "{} names the document {missing}, which is not in the input",
                path.display()
            )));
        }
        self.write_scores(&evaluation.scores())?;
        self.say_labels(&labels);
        self.skipped.borrow().check_complete()
    }

    /// Compares all documents. Returns the findings about labelled documents.
    fn compare_labelled<'l>(
        &self,
        labels: &'l Labels,
    ) -> Result<LabelEvaluation<'l>, CommandError> {
        let evaluation = RefCell::new(LabelEvaluation::new(labels));
        let documents = self.signed_corpus()?.map(|signed| {
            let (_, document) = signed?;
            let added = evaluation.borrow_mut().add_document(&document);
            added.map_err(DedupError::Cli)?;
            Ok(document)
        });
        let mut options = self.options.clone();
        options.kind = FindingKind::Pairs;
        let never = AtomicBool::new(false);
        let control = Control::new(&self.progress, &never);
        let compared = dedup::run(documents, &options, control, |finding| {
            if let Finding::Pair(pair) = finding {
                evaluation.borrow_mut().add_found(pair.a, pair.b);
            }
            Ok(())
        });
        self.progress.end();
        compared.map_err(|error| self.explain(error))?;
        Ok(evaluation.into_inner())
    }

    fn write_scores(&self, scores: &[Score]) -> Result<(), CommandError> {
        let written = Findings::of(self.args)?.write_all(|output| {
            let Output::Lines(out, format) = output else {
                return Ok(()); // Not written as tables: see `evaluate`.
            };
            let mut scores = scores.iter();
            scores.try_for_each(|score| write(*out, score, *format))
        });
        written.map_err(|error| self.explain(error)).map(drop)
    }

    fn say_labels(&self, labels: &Labels) {
        if self.args.work.quiet {
            return;
        }
        let pairs = counted(labels.pairs(), "labelled pair");
        say(&format!(
            "{pairs}, {} of them the same",
            labels.same_pairs()
        ));
        self.say_warnings();
    }
}

fn write(out: &mut dyn Write, score: &Score, format: Format) -> Result<(), DedupError> {
    if format == Format::Json {
        return Ok(output::json_line(out, score)?);
    }
    let rule = match score.distance {
        Some(bits) => format!("within {bits:>2} bits"),
        None => "dedup".to_owned(),
    };
    let share = |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{share:.4}"));
    writeln!(
        out,
        "{rule:<14}  precision {:<6}  recall {:<6}  F1 {:<6}  {} right, {} wrong, {} missed",
        share(score.precision),
        share(score.recall),
        share(score.f1),
        score.true_positives,
        score.false_positives,
        score.false_negatives
    )?;
    Ok(())
}
