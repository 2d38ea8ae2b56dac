//! The shipped verdict: what `dedup` says of the pages of a set, as if each were a file.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use batch::dedup::{
    Document, DocumentTexts, Finding, FindingKind, NamedDocument, Options, TextVerdict, run,
};
use batch::{BatchError, Control};
use comparison::{ComparedPage, Frames, Outcome, decide};

use crate::measured::Measured;
use crate::score::Pairs;
use crate::sets::page::Page;
use crate::threads;

/// The findings of `dedup`.
#[derive(Debug)]
pub(crate) struct Shipped {
    /// Pages that are alike: `dedup --pairs`.
    pub(crate) pairs: Pairs,
    /// Originals, each with a page that is left out for it: `dedup`.
    pub(crate) left_out: Pairs,
}

/// The texts of the pages, whose ids are their numbers.
#[derive(Debug)]
struct Texts(Vec<ComparedPage>);

impl Shipped {
    pub(crate) fn of(pages: &[Page], measured: &Measured) -> Result<Self, BatchError> {
        let texts = threads::each(pages.len(), |number| pages[number].compared());
        let texts: Arc<dyn DocumentTexts> = Arc::new(Texts(texts));
        Ok(Self {
            pairs: found(FindingKind::Pairs, measured, &texts)?,
            left_out: found(FindingKind::Duplicates, measured, &texts)?,
        })
    }
}

/// Returns the findings of a run, ascending.
fn found(
    kind: FindingKind,
    measured: &Measured,
    texts: &Arc<dyn DocumentTexts>,
) -> Result<Pairs, BatchError> {
    // Nothing is written there: the signatures of a set fit into memory.
    let mut options = Options::new(kind, "target");
    options.texts = Some(Arc::clone(texts));
    options.workers = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let documents = measured.pages.iter().enumerate().map(|(number, page)| {
        Ok(Document {
            id: number.to_string().into(),
            signature: page.signature.clone().into(),
        })
    });
    let mut pairs = Pairs::new();
    run(documents, &options, Control::none(), |finding| {
        let (earlier, later) = match finding {
            Finding::Pair(pair) => (pair.a, pair.b),
            Finding::Duplicate(duplicate) => (duplicate.duplicate_of, duplicate.document),
            Finding::Original(_) | Finding::Cluster(_) => return Ok(()),
        };
        let number = |id: &str| id.parse().expect("the id of a page is its number");
        pairs.push((number(earlier), number(later)));
        Ok::<_, BatchError>(())
    })?;
    pairs.sort_unstable();
    Ok(pairs)
}

/// By the rule of `corpus::FileTexts`.
impl DocumentTexts for Texts {
    fn compare(
        &self,
        document: NamedDocument<'_>,
        earlier: NamedDocument<'_>,
    ) -> Option<TextVerdict> {
        let text = |named: NamedDocument<'_>| self.0.get(named.id.parse::<usize>().ok()?);
        let decision = decide(text(document)?, text(earlier)?, Frames::default(), false);
        match decision.outcome {
            Outcome::Repeat | Outcome::View => Some(TextVerdict::Repeats),
            Outcome::ViewOfPage => Some(TextVerdict::Contains),
            Outcome::Distinct => Some(TextVerdict::Distinct),
            Outcome::Undecided => None,
        }
    }
}
