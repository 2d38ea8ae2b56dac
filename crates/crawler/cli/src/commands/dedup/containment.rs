//! `dedup --containment`: finds documents that are part of other documents, exactly.

use std::sync::atomic::AtomicBool;

use batch::{Containment, ContainmentOptions, Control, DocumentId, ShingledDocument};
use corpus::json_id::JsonId;
use messages::{CommandError, counted, printable, say, usage};
use neardup::{HashKey, NormalText, Shingles};
use serde::Serialize;

use super::DedupRun;
use super::findings::{DedupError, Findings, Output};
use crate::output::{self, Format};

/// A document that another one contains.
#[derive(Serialize)]
struct ContainmentLine<'a> {
    document: JsonId<&'a DocumentId>,
    contained_in: JsonId<&'a DocumentId>,
    containment: f64,
}

impl DedupRun<'_> {
    /// Finds the ordered pairs of documents whose containment is at least `least`.
    pub(super) fn find_contained(&self, least: f64) -> Result<(), CommandError> {
        if !(least > 0.0 && least <= 1.0) {
            return Err(usage(format!("--containment {least} is not valid"))
                .with_remedy("must be above 0 and at most 1"));
        }
        if let Some(format) = self.args.finding_form().table() {
            let error = usage(format!("--format {format} does not support --containment"));
            return Err(error.with_remedy("use json or table"));
        }
        let options = ContainmentOptions {
            least,
            memory: self.options.memory,
            workers: self.options.workers,
            scratch: self.options.scratch.clone(),
        };
        let never = AtomicBool::new(false);
        let (reader, unit) = (self.reader.clone(), self.args.features.shingles());
        let shingled = corpus::computed(self.open(&self.args.paths)?, move |document| {
            // A partial text proves nothing about the rest.
            let text = match document.content.is_partial() {
                true => NormalText::of(""),
                false => reader.normal_text(&document.content),
            };
            Shingles::of_unit(&text, unit, HashKey::ZERO)
        });
        let documents = shingled.filter_map(|document| match document {
            Ok((id, shingles)) => Some(Ok(ShingledDocument { id, shingles })),
            Err(skipped) => {
                self.skipped.borrow_mut().add(&skipped);
                None
            }
        });
        let compared = Findings::of(self.args)?.write_all(|output| {
            let control = Control::new(&self.progress, &never);
            batch::containments(documents, &options, control, |found| write(output, &found))
        });
        self.progress.end();
        let Some(summary) = compared.map_err(|error| self.explain(error))? else {
            return Ok(());
        };
        if summary.documents == 0 {
            return Err(self.skipped.borrow().no_document("to compare"));
        }
        if !self.args.work.quiet {
            say(&format!(
                "{}: {} with a containment of {least} or more{}",
                counted(summary.documents, "document"),
                counted(summary.found, "ordered pair"),
                self.skipped_note()
            ));
            self.say_warnings();
        }
        self.skipped.borrow().check_complete()
    }
}

fn write(output: &mut Output<'_>, found: &Containment<'_>) -> Result<(), DedupError> {
    let Output::Lines(out, format) = output else {
        return Ok(()); // Not written as tables: see `find_contained`.
    };
    let Containment {
        document,
        contained_in,
        containment,
    } = *found;
    match format {
        Format::Json => output::json_line(
            *out,
            &ContainmentLine {
                document: JsonId(document),
                contained_in: JsonId(contained_in),
                containment,
            },
        )?,
        Format::Table => writeln!(
            out,
            "{containment:.4}  {}  in  {}",
            printable(document),
            printable(contained_in)
        )?,
    }
    Ok(())
}
