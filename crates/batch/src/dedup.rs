//! Which of many documents say the same.
//!
//! [`run`] takes signatures in order and hands over [`Finding`]s of the kind that was asked for:
//! duplicates of earlier documents, alike pairs, or clusters.
//!
//! **Equality comes first.** A document with the payload of an earlier one counts as that one, and
//! so does a document with its text: its signature is not looked at again, whatever it says (Broder
//! et al. 1997, section 4: equal documents are taken out before anything is compared). So a million
//! equal documents cost a million look-ups, not their square.

mod distinct_texts;
mod encoding;
mod finding;
mod originals;
mod report;
mod similar_pairs;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use neardup::{PageSignature, Thresholds};

pub use finding::{Cluster, Duplicate, Finding, Members, SimilarPair, distance, resemblance};

use crate::control::Control;
use crate::error::BatchError;
use crate::scratch::Scratch;

/// A document as the comparison sees it.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it is called in findings. It need not be unique: documents are told apart by their
    /// order.
    pub id: String,
    /// All that it is judged by. Paint all documents of one run with the same features and key.
    pub signature: PageSignature,
}

/// What is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// Each document that an earlier original says already, once.
    ///
    /// A document is compared with originals only, so there are no chains: the first with the same
    /// payload, else the first with the same text, else the most alike, of equals the first.
    /// Findings come as soon as they are known, and as long as the originals fit into memory that
    /// is at once and in the order of the documents.
    Duplicates,
    /// Every pair of documents that are alike.
    ///
    /// Looked for among documents whose fingerprints are within the distance or whose sketches
    /// share a band. Pairs come ordered by the first document of each of the two texts; without
    /// equal documents that is the order of the pairs themselves. Of *n* equal documents come all
    /// n(n-1)/2 pairs, streamed.
    Pairs,
    /// Every cluster of two documents or more, in the order of their first members, each in the
    /// order of its members.
    Clusters {
        /// False: a cluster is an original and its [duplicates](Wanted::Duplicates). True: what any
        /// chain of alike pairs connects.
        chained: bool,
    },
}

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is to be found.
    pub kind: FindingKind,
    /// Where alike begins.
    pub thresholds: Thresholds,
    /// Bytes of memory to stay within, about; for pairs and clusters, up to 32 bytes a document
    /// come on top. At least [`LEAST_MEMORY`](crate::LEAST_MEMORY) are used.
    pub memory: usize,
    /// How many threads compare.
    pub workers: NonZeroUsize,
    /// Where what exceeds the memory is written, in files without names. Nothing is written while
    /// all fits.
    pub scratch: PathBuf,
}

/// The memory of [`Options::new`]: half a GiB.
pub const DEFAULT_MEMORY: usize = 512 << 20;

impl Options {
    /// Finds `wanted` with the usual thresholds, half a GiB of memory and one thread.
    #[must_use]
    pub fn new(kind: FindingKind, scratch: impl Into<PathBuf>) -> Self {
        Self {
            kind,
            thresholds: Thresholds::default(),
            memory: DEFAULT_MEMORY,
            workers: NonZeroUsize::MIN,
            scratch: scratch.into(),
        }
    }

    /// What names, or pairs that wait for their order, may take of it, in bytes.
    fn memory_for_reports(&self) -> usize {
        self.memory.max(crate::LEAST_MEMORY) / 8
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many documents were compared.
    pub documents: u64,
    /// How many findings were handed over.
    pub findings: u64,
    /// How many bytes went to temporary files.
    pub spilled: u64,
}

/// Compares `documents` and hands each finding to `found`. The first error of either of them, or of
/// its own, ends it.
///
/// # Errors
/// Those of `documents` and of `found` as they are, and [`BatchError`].
pub fn run<E: From<BatchError>>(
    documents: impl IntoIterator<Item = Result<Document, E>>,
    options: &Options,
    control: Control<'_>,
    mut found: impl FnMut(Finding<'_>) -> Result<(), E>,
) -> Result<Summary, E> {
    let scratch = Scratch::new(&options.scratch);
    let mut findings = 0;
    let counted = |finding: Finding<'_>| {
        findings += 1;
        found(finding)
    };
    let documents = documents.into_iter();
    let documents = match options.kind {
        FindingKind::Duplicates => {
            report::duplicates(documents, options, &scratch, control, counted)?
        }
        FindingKind::Pairs => report::pairs(documents, options, &scratch, control, counted)?,
        FindingKind::Clusters { chained: false } => {
            report::clusters(documents, options, &scratch, control, counted)?
        }
        FindingKind::Clusters { chained: true } => {
            report::chains(documents, options, &scratch, control, counted)?
        }
    };
    Ok(Summary {
        documents,
        findings,
        spilled: scratch.written(),
    })
}
