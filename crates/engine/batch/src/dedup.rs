//! Duplicates among many documents.
//!
//! [`run`] takes signatures in the order of the documents and hands over [`Finding`]s of the
//! requested kind: duplicates of earlier documents, similar pairs, or clusters.
//!
//! **Equality comes first.** A document with the payload or the text of an earlier document counts
//! as the earlier one: its signature is not compared again (Broder et al. 1997, section 4: equal
//! documents are removed before anything is compared). So a million equal documents cost a million
//! look-ups, not their square.

mod candidates;
mod comparison;
mod decisions;
mod distinct_texts;
mod finding;
mod originals;
mod report;
mod similar_pairs;
mod stored_signatures;
mod texts;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use neardup::{BandDesign, BandedSignature, Thresholds};

pub use finding::{Cluster, Duplicate, Finding, Original, SimilarPair};
pub use texts::{DocumentTexts, NamedDocument, TextVerdict};

use self::distinct_texts::DistinctTexts;
use crate::control::Control;
use crate::document_id::DocumentId;
use crate::error::BatchError;
use crate::scratch::Scratch;

/// A document as the comparison sees it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The name of the document in findings. It need not be unique: documents are distinguished by
    /// their order.
    pub id: DocumentId,
    /// The signature that is compared. All documents of one run must have the same features and
    /// key, and bands of [`Options::bands`].
    pub signature: BandedSignature,
}

/// The kind of findings to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// Each document that repeats an earlier original, once.
    ///
    /// A document is compared with originals only, so chains do not occur: its original is the
    /// first with the same payload or text, else the most similar one, the earliest of equals.
    /// Findings come in the order of the documents.
    Duplicates,
    /// Every pair of similar documents.
    ///
    /// Candidates are documents whose fingerprints are within the distance or whose sketches share
    /// a band. Pairs come ordered by the first document of each of the two texts; without equal
    /// documents, this is the order of the pairs themselves. For *n* equal documents all n(n-1)/2
    /// pairs are streamed.
    Pairs,
    /// Every cluster of at least two documents, in the order of their first members, each in the
    /// order of its members.
    Clusters {
        /// If false, a cluster is an original and its [duplicates](FindingKind::Duplicates); if
        /// true, everything that a chain of similar pairs connects.
        chained: bool,
    },
}

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind of findings to look for.
    pub kind: FindingKind,
    /// The criterion of near duplicates.
    pub criterion: Thresholds,
    /// The figure that decides about candidates, if the criterion has a resemblance.
    pub verification: Verification,
    /// The texts that decide about candidates, before their signatures do.
    pub texts: Option<Arc<dyn DocumentTexts>>,
    /// The bands that make documents candidates, in addition to near fingerprints.
    pub bands: BandDesign,
    /// Hand over each original as well, before its duplicates, beginning with the originals of the
    /// reference. Only for [`FindingKind::Duplicates`].
    pub originals: bool,
    /// The approximate memory budget in bytes; up to 48 bytes per document come on top. At least
    /// [`MIN_MEMORY`](crate::MIN_MEMORY) are used.
    pub memory: usize,
    /// The number of threads that compare.
    pub workers: NonZeroUsize,
    /// The directory for data that exceed the memory, in files without names. It stays empty as
    /// long as the data fit in memory.
    pub scratch: PathBuf,
}

/// The resemblance that decides about candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The estimate of the sketches, as in a crawl. Its standard error at .80 is .026, so of the
    /// pairs exactly at a threshold half are found.
    Sketches,
    /// The exact resemblance of documents that have their [shingles](BandedSignature::shingles);
    /// sketches decide about other documents, and where the threshold [depends on the
    /// length](neardup::Thresholds::resemblance). Documents take four bytes per shingle, which go
    /// to temporary files where memory does not suffice.
    Shingles,
}

/// The memory of [`Options::new`]: half a GiB.
pub const DEFAULT_MEMORY: usize = 512 << 20;

impl Options {
    /// Creates options for findings of `kind` with the thresholds and bands of a crawl, half a GiB
    /// of memory and one thread.
    #[must_use]
    pub fn new(kind: FindingKind, scratch: impl Into<PathBuf>) -> Self {
        Self {
            kind,
            criterion: Thresholds::default(),
            verification: Verification::Sketches,
            texts: None,
            bands: BandDesign::SKETCH,
            originals: false,
            memory: DEFAULT_MEMORY,
            workers: NonZeroUsize::MIN,
            scratch: scratch.into(),
        }
    }
}

/// A run in progress: its options, and the storage and the control that all its steps share.
#[derive(Clone, Copy)]
struct Run<'a> {
    options: &'a Options,
    scratch: &'a Scratch,
    control: Control<'a>,
}

impl Run<'_> {
    /// Returns the memory to use, in bytes.
    fn memory(self) -> usize {
        self.options.memory.max(crate::MIN_MEMORY)
    }
}

/// The summary of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of documents compared, without the reference.
    pub documents: u64,
    /// The number of documents of the reference.
    pub reference: u64,
    /// The number of findings handed over.
    pub findings: u64,
    /// The number of bytes written to temporary files.
    pub spilled: u64,
}

/// Compares `documents` and hands each finding to `found`. The first error of `documents`, of
/// `found` or of the comparison ends the run.
///
/// ```
/// use batch::dedup::{Document, Finding, FindingKind, Options, run};
/// use batch::{BatchError, Control};
/// use neardup::{Features, HashKey, PageText, SignatureBuilder};
///
/// let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
/// let documents = [("a", "To be, or not to be"), ("b", "to be or not to be")].map(|(id, text)| {
///     let payload = HashKey::ZERO.digest(text.as_bytes());
///     let signature = builder.signature(payload, Some(PageText::of(text)));
///     Ok::<_, BatchError>(Document { id: id.into(), signature: signature.into() })
/// });
/// let options = Options::new(FindingKind::Duplicates, std::env::temp_dir());
/// let mut found = Vec::new();
/// let summary = run(documents, &options, Control::none(), |finding| {
///     if let Finding::Duplicate(duplicate) = finding {
///         found.push(format!("{} of {}", duplicate.document, duplicate.duplicate_of));
///     }
///     Ok(())
/// })?;
/// assert_eq!((summary.documents, found), (2, vec!["b of a".to_owned()]));
/// # Ok::<(), BatchError>(())
/// ```
///
/// # Errors
/// The errors of `documents` and of `found` as they are, and [`BatchError`].
pub fn run<E: From<BatchError>>(
    documents: impl IntoIterator<Item = Result<Document, E>>,
    options: &Options,
    control: Control<'_>,
    found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<Summary, E> {
    run_against([], documents, options, control, found)
}

/// Compares `documents` with a reference and with each other, as if the reference came first.
/// Findings are about `documents` only: a document of the reference is never a duplicate, a pair or
/// a cluster has at least one other document.
///
/// # Errors
/// The errors of `reference`, of `documents` and of `found` as they are, and [`BatchError`].
pub fn run_against<E: From<BatchError>>(
    reference: impl IntoIterator<Item = Result<Document, E>>,
    documents: impl IntoIterator<Item = Result<Document, E>>,
    options: &Options,
    control: Control<'_>,
    mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<Summary, E> {
    let scratch = Scratch::new(&options.scratch);
    let mut findings = 0;
    let counted = |finding: Finding<'_>| {
        findings += u64::from(!matches!(finding, Finding::Original(_)));
        found(finding)
    };
    let run = Run {
        options,
        scratch: &scratch,
        control,
    };
    let texts = DistinctTexts::read(reference.into_iter(), documents.into_iter(), run)?;
    match options.kind {
        FindingKind::Duplicates => run.duplicates(&texts, counted)?,
        FindingKind::Pairs => run.pairs(&texts, counted)?,
        FindingKind::Clusters { chained: false } => run.clusters(&texts, counted)?,
        FindingKind::Clusters { chained: true } => run.chains(&texts, counted)?,
    }
    let reference = texts.reference().into();
    Ok(Summary {
        documents: texts.documents() - reference,
        reference,
        findings,
        spilled: scratch.written(),
    })
}
