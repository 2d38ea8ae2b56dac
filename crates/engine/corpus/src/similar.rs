//! Documents that are similar to a document.
//!
//! Every document is compared, so the result is complete at any distance. Both texts are available,
//! so resemblance is exact, and defined for texts of any length.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use batch::DocumentId;
use comparison::{ComparedPage, Decision, Frames, decide};
use messages::{CommandError, usage};
use neardup::{Fingerprint, HashKey, NormalText, Shingles, SignatureBuilder, Unit};
use web::{CanonicalForm, PageUrl};

use crate::document::{Content, Document, Skipped};
use crate::documents::{Documents, only_document};
use crate::in_batches::computed;
use crate::input_options::InputOptions;
use crate::nearest::Nearest;
use crate::reader::Reader;

/// A document that is similar to the document in question.
#[derive(Debug)]
pub struct SimilarDocument {
    /// The id of the document.
    pub document: DocumentId,
    /// Number of differing fingerprint bits.
    pub distance: u32,
    /// Exact resemblance, 0 to 1.
    pub resemblance: f64,
    /// Exact share of the shingles in question that the document contains, if requested.
    pub containment: Option<f64>,
    /// Decision by the texts; `None` if the documents are equal, or one of them has no text.
    pub by_texts: Option<Decision>,
}

/// The limits of a result.
#[derive(Clone, Copy, Debug)]
pub struct SimilarityLimits {
    /// Maximum number of differing fingerprint bits.
    pub distance: u32,
    /// Minimum resemblance.
    pub resemblance: f64,
    /// Minimum containment, if requested.
    pub containment: Option<f64>,
    /// Maximum number of documents.
    pub documents: usize,
}

/// Measures of texts: shingles, fingerprint and compared page.
pub struct TextMeasures {
    /// The reader of the texts.
    pub reader: Reader,
    /// The unit of shingles.
    pub unit: Unit,
    /// The builder of fingerprints.
    pub builder: SignatureBuilder,
}

/// The document in question, measured.
pub struct SimilarityQuery {
    measures: TextMeasures,
    digest: u128,
    shingles: Shingles,
    fingerprint: Fingerprint,
    page: Option<ComparedPage>,
    limits: SimilarityLimits,
}

/// A comparison with the document in question.
struct Comparison {
    distance: u32,
    resemblance: f64,
    containment: f64,
    by_texts: Option<Decision>,
}

impl TextMeasures {
    /// Returns the shingles and the fingerprint of a text.
    fn of(&self, content: &Content) -> (Shingles, Fingerprint) {
        // A partial text is not evidence of similarity.
        let text = match content.is_partial() {
            true => NormalText::of(""),
            false => self.reader.normal_text(content),
        };
        let shingles = Shingles::of_unit(&text, self.unit, HashKey::ZERO);
        (shingles, self.builder.fingerprint_of_words(&text))
    }

    fn page(&self, content: &Content) -> Option<ComparedPage> {
        self.reader.compared(&self.reader.read(content))
    }
}

impl SimilarityQuery {
    /// Measures the document in question.
    #[must_use]
    pub fn new(measures: TextMeasures, content: &Content, limits: SimilarityLimits) -> Self {
        let (shingles, fingerprint) = measures.of(content);
        Self {
            digest: content.digest(),
            shingles,
            fingerprint,
            page: measures.page(content),
            measures,
            limits,
        }
    }

    /// Returns true if the document has a text to search for in others.
    #[must_use]
    pub fn has_shingles(&self) -> bool {
        !self.shingles.is_empty()
    }

    /// Returns the similar documents, nearest first; ties are in document order. The document `own`
    /// is the document in question, a file or a URL. Calls `skip` for documents that cannot be
    /// read.
    pub fn nearest(
        self,
        documents: Documents,
        own: &str,
        mut skip: impl FnMut(&Skipped),
    ) -> Vec<SimilarDocument> {
        let is_itself = |id: &str| Path::new(id) == Path::new(own) || is_page(id, own);
        let query = Arc::new(self);
        let mut nearest = Nearest::new(query.limits.documents, |one: &SimilarDocument, two| {
            let by_nearness = two.nearness().total_cmp(&one.nearness());
            by_nearness.then(one.distance.cmp(&two.distance))
        });
        let asked = Arc::clone(&query);
        for document in computed(documents, move |document| asked.compare(document)) {
            match document {
                Ok((id, compared)) => {
                    let is_within = compared.distance <= query.limits.distance;
                    if is_within && query.is_near(&compared) && !is_itself(&id) {
                        nearest.push(SimilarDocument {
                            document: id,
                            distance: compared.distance,
                            resemblance: compared.resemblance,
                            containment: query.limits.containment.map(|_| compared.containment),
                            by_texts: compared.by_texts,
                        });
                    }
                }
                Err(reason) => skip(&reason),
            }
        }
        nearest.sorted()
    }

    fn compare(&self, document: &Document) -> Comparison {
        if document.content.digest() == self.digest {
            return Comparison {
                distance: 0,
                resemblance: 1.0,
                containment: 1.0,
                by_texts: None,
            };
        }
        let (shingles, fingerprint) = self.measures.of(&document.content);
        let compared = Comparison {
            distance: self.fingerprint.distance(fingerprint),
            resemblance: self.shingles.resemblance(&shingles),
            containment: self.shingles.containment_in(&shingles),
            by_texts: None,
        };
        let own = self.page.as_ref().filter(|_| self.is_near(&compared));
        let pages = own.and_then(|own| Some((own, self.measures.page(&document.content)?)));
        let by_texts = pages.map(|(own, other)| decide(own, &other, Frames::default(), false));
        Comparison {
            by_texts,
            ..compared
        }
    }

    /// Returns true if resemblance and containment suffice.
    fn is_near(&self, compared: &Comparison) -> bool {
        let least = self.limits.containment;
        let is_contained = least.is_none_or(|least| compared.containment >= least);
        compared.resemblance >= self.limits.resemblance && is_contained
    }
}

impl SimilarDocument {
    /// Returns the sort key.
    fn nearness(&self) -> f64 {
        self.containment.unwrap_or(self.resemblance)
    }
}

/// Returns the content of the document in question: a file, or the newest capture of a URL in these
/// archives.
///
/// # Errors
/// The file is not one readable document, or the archives do not contain the page.
pub fn content_of(
    what: &str,
    within: &[PathBuf],
    input: &InputOptions,
) -> Result<Content, CommandError> {
    match is_url(what) {
        true => content_of_page(what, within, input),
        false => only_document(Path::new(what), input)
            .map(|document| document.content)
            .map_err(|error| CommandError::of_usage(&error)),
    }
}

fn content_of_page(
    url: &str,
    within: &[PathBuf],
    input: &InputOptions,
) -> Result<Content, CommandError> {
    let documents =
        Documents::below(within, input).map_err(|error| CommandError::of_usage(&error))?;
    // The comparison reads the documents again, and names unreadable ones.
    let captures = documents.flatten().filter(|page| is_page(&page.id, url));
    captures.last().map(|page| page.content).ok_or_else(|| {
        usage(format!(
            "the archives do not contain a page with the URL {url}"
        ))
        .with_remedy("give an archived page, or a file")
    })
}

/// Returns true for the URL of a page, as opposed to a file.
#[must_use]
pub fn is_url(what: &str) -> bool {
    what.starts_with("http://") || what.starts_with("https://")
}

/// Returns true if this is the id of the page with this URL.
fn is_page(id: &str, url: &str) -> bool {
    let key = |url: &str| PageUrl::parse(url, &CanonicalForm::default()).map(|url| url.key());
    id == url || (is_url(url) && is_url(id) && key(id).is_ok_and(|one| key(url) == Ok(one)))
}
