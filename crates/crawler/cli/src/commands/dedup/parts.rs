//! `dedup --unit paragraph|line`: finds parts of documents that occurred before with the same words
//! and signs ([`corpus::PartUnit`]).

use batch::{Control, DocumentId, PartOptions, PartSummary, PartedDocument, RepeatedPart};
use corpus::json_id::JsonId;
use corpus::{Documents, KeptSummary, PartUnit, RepeatedParts};
use messages::{CommandError, counted, counted_as, printable, say, usage};
use serde::Serialize;
use settings::input::unwritable;

use super::DedupRun;
use super::findings::{DedupError, Findings, Output};
use super::survivors;
use crate::output::{self, Format};

/// A part that repeats an earlier one.
#[derive(Serialize)]
struct PartLine<'a> {
    document: JsonId<&'a DocumentId>,
    /// The number of the part in the text, from 1.
    part: u32,
    duplicate_of: JsonId<&'a DocumentId>,
    part_of: u32,
}

impl DedupRun<'_> {
    /// Finds the parts that occurred before.
    pub(super) fn compare_parts(&self, unit: PartUnit) -> Result<(), CommandError> {
        self.refuse_tables()?;
        let mut reference: Vec<Documents> = Vec::new();
        for path in &self.args.against {
            reference.push(self.open(std::slice::from_ref(path))?);
        }
        let documents = self.open(&self.args.paths)?;
        let input_digest = documents.input_digest();
        let options = PartOptions {
            memory: self.options.memory,
            scratch: self.options.scratch.clone(),
        };
        let never = std::sync::atomic::AtomicBool::new(false);
        let survivors = self.survivors.borrow();
        if let Some(survivors) = &*survivors {
            survivors.check_rewritable()?;
        }
        let scratch = &self.options.scratch;
        let mut repeated_parts = match &*survivors {
            Some(_) => Some(RepeatedParts::new(scratch).map_err(unwritable(scratch))?),
            None => None,
        };
        let findings = Findings::of(self.args)?;
        let compared = findings.write_all(|output| {
            batch::repeated_parts(
                self.parted(reference.into_iter().flatten(), unit),
                self.parted(documents, unit),
                &options,
                Control::new(&self.progress, &never),
                |repeated| {
                    if let Some(parts) = &mut repeated_parts {
                        parts.add(repeated.number, repeated.part)?;
                    }
                    write(output, &repeated)
                },
            )
        });
        self.progress.end();
        let Some(summary) = compared.map_err(|error| self.explain(error))? else {
            return Ok(());
        };
        if summary.documents == 0 {
            return Err(self.skipped.borrow().no_document("to compare"));
        }
        let kept = match (&*survivors, repeated_parts) {
            (Some(survivors), Some(parts)) => {
                survivors.write_without(parts, &input_digest, unit)?
            }
            _ => None,
        };
        self.say_parts(&summary, unit, kept.as_ref());
        self.skipped.borrow().check_complete()
    }

    fn refuse_tables(&self) -> Result<(), CommandError> {
        let Some(format) = self.args.finding_form().table() else {
            return Ok(());
        };
        let error = usage(format!(
            "--format {format} supports documents only, not paragraphs or lines"
        ));
        Err(error.with_remedy("use json or table"))
    }

    fn say_parts(&self, summary: &PartSummary, unit: PartUnit, kept: Option<&KeptSummary>) {
        if self.args.work.quiet {
            return;
        }
        say(&format!(
            "{} of {}: {}{}",
            counted(summary.documents, "document"),
            counted(summary.parts, unit.noun()),
            counted_as(
                summary.repeated,
                "repeats an earlier one",
                "repeat an earlier one"
            ),
            self.skipped_note()
        ));
        if let (Some(kept), Some(output)) = (kept, &self.args.keep) {
            say(&survivors::closing(kept, output));
        }
    }

    fn parted<'s>(
        &'s self,
        documents: impl Iterator<Item = Result<corpus::Document, corpus::Skipped>> + 's,
        unit: PartUnit,
    ) -> impl Iterator<Item = Result<PartedDocument, DedupError>> + 's {
        let least = self.args.verdict.min_words.unwrap_or(1).max(1);
        documents.filter_map(move |document| match document {
            Ok(document) => {
                let page = self.reader.read(&document.content);
                let text = self.reader.text(&page).map_or("", |page| page.text);
                let parts = unit.digests(text, least);
                Some(Ok(PartedDocument {
                    parts,
                    id: document.id,
                }))
            }
            Err(skipped) => {
                self.skipped.borrow_mut().add(&skipped);
                None
            }
        })
    }
}

fn write(output: &mut Output<'_>, repeated: &RepeatedPart<'_>) -> Result<(), DedupError> {
    let Output::Lines(out, format) = output else {
        return Ok(()); // Parts are not written as tables: see `refuse_tables`.
    };
    let line = PartLine {
        document: JsonId(repeated.document),
        part: repeated.part + 1,
        duplicate_of: JsonId(repeated.duplicate_of),
        part_of: repeated.part_of + 1,
    };
    match format {
        Format::Json => output::json_line(*out, &line)?,
        Format::Table => writeln!(
            out,
            "{}:{}  repeats  {}:{}",
            printable(repeated.document),
            line.part,
            printable(repeated.duplicate_of),
            line.part_of
        )?,
    }
    Ok(())
}
