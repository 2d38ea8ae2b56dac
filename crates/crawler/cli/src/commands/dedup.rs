//! `crawler dedup`: finds near-duplicates among many documents.
//!
//! Documents are read and get their signatures on all cores; `batch` compares the signatures. The
//! signatures come from the documents themselves, or from the files of earlier runs and of other
//! machines ([`signatures`]). Findings are written as they are found ([`findings`]). The remaining
//! documents are read a second time and kept.
//!
//! Invariant: the outcome depends only on the documents and their order, not on memory, threads,
//! shards or interruptions.

mod containment;
mod findings;
mod index;
mod labels;
mod parts;
mod progress;
mod report;
mod signatures;
mod survivors;

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use batch::dedup::{self, Document, Finding, FindingKind, Options, Summary, Verification};
use batch::signature_file::{Extent, MergedShards, SignatureHeader};
use batch::{BatchError, Control};
use corpus::{
    FileTexts, FingerprintDistribution, InputDigest, InputOptions, KeptSummary, Reader, Warnings,
};
use indicatif::{HumanBytes, HumanCount};
use messages::{CommandError, counted, counted_as, fault, say};
use neardup::{BandDesign, SignatureBuilder, Sketch};
use settings::skip_report::SkipReport;

use self::findings::{DedupError, Findings};
use self::index::IndexDraft;
use self::progress::DedupProgress;
use self::report::Report;
use self::survivors::Survivors;
use crate::args::DedupArgs;
use crate::output;
use settings::input::document_reader;
use settings::settings_as_input;

/// A run of the command: its options and the state that all its steps share.
struct DedupRun<'a> {
    args: &'a DedupArgs,
    input: InputOptions,
    reader: Reader,
    survivors: RefCell<Option<Survivors>>,
    signature_builder: SignatureBuilder,
    options: Options,
    /// Resemblance that the bands are designed for.
    resemblance: f64,
    progress: DedupProgress,
    skipped: RefCell<SkipReport>,
    /// InputDigest of the documents, once they are read.
    input_digest: RefCell<Option<InputDigest>>,
    /// The warnings of all documents.
    warnings: RefCell<Vec<Warnings>>,
}

/// The outcome of a comparison whose findings are written.
struct Compared {
    summary: Summary,
    /// Index for later runs. It does not have its final name yet.
    index: Option<IndexDraft>,
}

pub(crate) fn run(args: &DedupArgs) -> Result<(), CommandError> {
    let run = DedupRun::of(args)?;
    if let Some(unit) = args.unit.of_parts() {
        return run.compare_parts(unit);
    }
    if let Some(least) = args.containment {
        return run.find_contained(least);
    }
    if let Some(labels) = &args.labels {
        return run.evaluate(labels);
    }
    let Some(Compared { summary, index }) = run.compare()? else {
        return run.skipped.borrow().check_complete();
    };
    let kept = run.keep()?;
    // Last: the next run finds the documents of the index as known, and does not keep them.
    if let Some(index) = index {
        index.complete()?;
    }
    run.say_closing(&summary, kept.as_ref());
    run.skipped.borrow().check_complete()
}

impl<'a> DedupRun<'a> {
    fn of(args: &'a DedupArgs) -> Result<Self, CommandError> {
        args.check_outputs()?;
        settings_as_input::refuse(&args.paths)?;
        let reader = document_reader(args.main_content.is_none_or(|switch| switch.is_on()));
        let mut input = args.input.options(args.work.temp_dir.as_deref());
        let survivors = Survivors::of(args, &mut input)?;
        let signature_builder = args
            .features
            .signature_builder(&args.paths, &mut input, &reader)?
            .min_words(args.verdict.min_words());
        let (mut options, resemblance) = options(args)?;
        if options.criterion.asks_texts() {
            options.texts = Some(Arc::new(FileTexts::new(reader.clone(), input.clone())));
        }
        let signature_builder = match options.verification {
            Verification::Shingles => signature_builder.keeping_shingles(),
            Verification::Sketches => signature_builder,
        };
        Ok(Self {
            args,
            input,
            reader,
            survivors: RefCell::new(survivors),
            signature_builder,
            options,
            resemblance,
            progress: DedupProgress::new(args.work.quiet),
            skipped: RefCell::default(),
            input_digest: RefCell::default(),
            warnings: RefCell::default(),
        })
    }

    /// Returns the header of signature files of this run.
    fn header(&self, extent: Extent) -> SignatureHeader {
        SignatureHeader {
            parameters_digest: self.signature_builder.parameters_digest(),
            bands: self.options.bands,
            extent,
            shingles: self.options.verification == Verification::Shingles,
        }
    }

    /// Compares all documents. Returns `None` if there is nothing to summarize: for a shard only
    /// the signatures are written, or the reader of the findings went away.
    fn compare(&self) -> Result<Option<Compared>, CommandError> {
        let args = self.args;
        let files = match (&args.merge[..], &args.signatures) {
            ([], None) => Vec::new(),
            ([], Some(path)) => {
                let written = self.write_signatures(path)?;
                if let Some(shard) = args.shard {
                    self.say_shard(shard.number(), shard.of(), written);
                    return Ok(None);
                }
                vec![path.clone()]
            }
            (merged, _) => merged.to_vec(),
        };
        let reference = self.reference()?;
        if files.is_empty() {
            let documents = self.signed_corpus()?.map(|signed| Ok(signed?.1));
            return self.compare_with(reference, documents);
        }
        let files: Vec<_> = files
            .iter()
            .map(|path| self.open_signatures(path))
            .collect::<Result<_, _>>()?;
        let merged = || MergedShards::open(&files).map_err(|error| self.explain(error.into()));
        if self.survivors.borrow().is_some() && !args.merge.is_empty() {
            self.check_corpus(merged()?)?;
        }
        let merged = merged()?;
        self.compare_with(reference, merged.map(|document| Ok(document?)))
    }

    /// Compares documents with a reference and with each other, and writes the results.
    fn compare_with(
        &self,
        reference: impl Iterator<Item = Result<Document, DedupError>>,
        documents: impl Iterator<Item = Result<Document, DedupError>>,
    ) -> Result<Option<Compared>, CommandError> {
        let never = AtomicBool::new(false);
        let control = Control::new(&self.progress, &never);
        let mut index = self.begin_index()?;
        let mut report = self.args.report.as_ref().map(|_| Report::default());
        let distribution = report.as_ref().map(|_| {
            let bits = self.args.features.bits();
            RefCell::new(FingerprintDistribution::new(bits))
        });
        let findings = Findings::of(self.args)?;
        let ids = findings.ids.clone();
        let reference = reference.inspect(|document| {
            if let Ok(document) = document {
                ids.add_reference(&document.id);
            }
        });
        let documents = documents.inspect(|document| {
            if let Ok(document) = document {
                ids.add(&document.id);
            }
            if let (Some(distribution), Ok(document)) = (&distribution, document) {
                distribution.borrow_mut().add(&document.signature.signature);
            }
        });
        let mut survivors = self.survivors.borrow_mut();
        let compared = findings.write_all(|output| {
            let options = &self.options;
            dedup::run_against(reference, documents, options, control, |finding| {
                if let (Some(index), Finding::Original(original)) = (&mut index, &finding) {
                    index.add(original)?;
                }
                if let Some(report) = &mut report {
                    report.add(&finding)?;
                }
                if let (Some(survivors), Finding::Duplicate(found)) = (&mut *survivors, &finding) {
                    survivors.leave_out(found.number);
                }
                findings::write(output, &finding, self.options.criterion.needs_bands())
            })
        });
        self.progress.end();
        let Some(summary) = compared.map_err(|error| self.explain(error))? else {
            return Ok(None);
        };
        if summary.documents == 0 && summary.reference == 0 {
            return Err(self.skipped.borrow().no_document("to compare"));
        }
        if let (Some(report), Some(path)) = (report, &self.args.report) {
            let distribution = distribution.map(RefCell::into_inner);
            report.write(path, &summary, self, distribution.as_ref())?;
        }
        Ok(Some(Compared { summary, index }))
    }

    /// Begins the index for later runs, if requested.
    fn begin_index(&self) -> Result<Option<IndexDraft>, CommandError> {
        let header = self.header(Extent::Originals);
        let path = self.args.save_index.as_ref();
        path.map(|path| IndexDraft::begin(path, &self.args.against, &header))
            .transpose()
    }

    /// Writes the documents that do not repeat an earlier one, if requested.
    fn keep(&self) -> Result<Option<KeptSummary>, CommandError> {
        let (survivors, input_digest) = (self.survivors.borrow(), self.input_digest.borrow());
        let both = survivors.as_ref().zip(input_digest.as_ref());
        let kept = both.map(|(survivors, input_digest)| survivors.write(input_digest));
        Ok(kept.transpose()?.flatten())
    }

    /// Converts an error for the user, with its remedy.
    fn explain(&self, error: DedupError) -> CommandError {
        let error = match error {
            DedupError::Cli(error) => return error,
            DedupError::Output(error) => return fault(&error),
            DedupError::Batch(error) => error,
        };
        match error {
            BatchError::Scratch { written, .. } => fault(&error).with_remedy(format!(
                "{} were written there for {} documents; choose another --temp-dir or a larger \
                 --memory",
                HumanBytes(written),
                HumanCount(self.progress.documents_read())
            )),
            BatchError::OtherSignatures { .. } => CommandError::of_usage(&error).with_remedy(
                "run all shards with the same --features, --resemblance and other \
                    options",
            ),
            // Files named by the user.
            BatchError::Read { .. }
            | BatchError::Damaged { .. }
            | BatchError::Unfinished { .. }
            | BatchError::OtherFormat { .. }
            | BatchError::OtherAlgorithm { .. }
            | BatchError::Shards(_) => CommandError::of_usage(&error),
            _ => fault(&error),
        }
    }

    fn say_shard(&self, number: u32, of: u32, written: u64) {
        if !self.args.work.quiet {
            say(&format!(
                "shard {number} of {of}: signatures of {} written{}",
                counted(written, "document"),
                self.skipped_note()
            ));
        }
    }

    fn say_closing(&self, summary: &Summary, kept: Option<&KeptSummary>) {
        if self.args.work.quiet {
            return;
        }
        say(&closing(summary, self.options.kind, &self.skipped_note()));
        if let (Some(kept), Some(output)) = (kept, &self.args.keep) {
            say(&survivors::closing(kept, output));
        }
        if let Some(report) = self.args.report.as_deref().filter(|path| path.is_file()) {
            output::say_written(report, "a report", "open it in a browser");
        }
        let (bands, kind) = (self.options.bands, self.options.kind);
        let is_promised = kind == FindingKind::Pairs || bands != BandDesign::SKETCH;
        if is_promised && self.options.criterion.needs_bands() {
            say(&expected_recall(&self.options, self.resemblance));
        }
        self.say_warnings();
    }

    fn say_warnings(&self) {
        for odd in self.warnings.borrow().iter().filter_map(Warnings::describe) {
            say(&odd);
        }
    }

    fn skipped_note(&self) -> String {
        match self.skipped.borrow().count() {
            0 => String::new(),
            some => format!(", {} skipped", HumanCount(some)),
        }
    }
}

/// Returns the options of the run, and the resemblance that its bands are designed for.
fn options(args: &DedupArgs) -> Result<(Options, f64), CommandError> {
    let mut options = Options::new(args.finding_kind(), args.work.temp_dir());
    options.criterion = args.verdict.criterion(&args.features)?;
    options.verification = args.verdict.verification(&args.features, args.exact)?;
    let (bands, resemblance) = args.verdict.bands(&args.features, args.recall)?;
    options.bands = bands;
    options.originals = args.save_index.is_some();
    options.workers = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    options.memory = args.work.memory().unwrap_or(options.memory);
    Ok((options, resemblance))
}

/// Describes the share of pairs with this resemblance that a run finds.
fn expected_recall(options: &Options, resemblance: f64) -> String {
    let recall = options.bands.recall(resemblance);
    let bands = format!(
        "{} bands of {} rows",
        options.bands.bands(),
        options.bands.rows()
    );
    match options.verification {
        Verification::Shingles => {
            format!("expected recall {recall:.3} at a resemblance of {resemblance:.2} ({bands})")
        }
        Verification::Sketches => format!(
            "{bands} find {recall:.3} of the pairs at a resemblance of {resemblance:.2}; sketches \
             decide with a standard error of {:.3}",
            Sketch::standard_error(resemblance)
        ),
    }
}

fn closing(summary: &Summary, kind: FindingKind, skipped: &str) -> String {
    let count = summary.findings;
    let found = match kind {
        FindingKind::Duplicates => {
            counted_as(count, "repeats an earlier one", "repeat an earlier one")
        }
        FindingKind::Pairs => counted(count, "similar pair"),
        FindingKind::Clusters { .. } => counted(count, "cluster"),
    };
    let reference = match summary.reference {
        0 => String::new(),
        some => format!(" against {}", HumanCount(some)),
    };
    format!(
        "{}{reference}: {found}{skipped}",
        counted(summary.documents, "document")
    )
}
