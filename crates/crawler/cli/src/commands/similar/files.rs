//! `crawler similar` without a crawl: finds documents that are similar to a document, or
//! fingerprints near its fingerprint.
//!
//! Every document is compared, so the result is complete at any distance. Both texts are available,
//! so resemblance is exact, and defined for texts of any length.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use batch::{DocumentId, Repository};
use comparison::{ComparedPage, Frames, decide};
use corpus::json_id::JsonId;
use corpus::named_fingerprints::NamedFingerprints;
use corpus::{Content, Document, Documents, InputOptions, Reader};
use inspect::similar::{ByTexts, NEAR, SLACK};
use messages::{CommandError, fault, printable, usage};
use neardup::tables::MAX_DISTANCE;
use neardup::{Fingerprint, HashKey, NormalText, Shingles, SignatureBuilder, Unit};
use serde::Serialize;
use settings::skip_report::SkipReport;
use web::{CanonicalForm, PageUrl};

use super::is_url;
use crate::args::SimilarArgs;
use crate::output::{self, Format};

/// A document that is similar to the document in question.
#[derive(Serialize)]
struct Hit {
    document: JsonId<DocumentId>,
    /// Number of differing fingerprint bits.
    distance: u32,
    /// Exact resemblance, 0 to 1; absent if only fingerprints are available.
    resemblance: Option<f64>,
    /// Exact share of the shingles in question that the document contains, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    containment: Option<f64>,
    /// Decision by the texts; absent if only fingerprints are available.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    by_texts: Option<ByTexts>,
}

impl Hit {
    /// Returns the sort key of hits.
    fn nearness(&self) -> f64 {
        self.containment.or(self.resemblance).unwrap_or(0.0)
    }
}

/// Measures of texts: shingles, fingerprint and compared page.
struct Measures {
    reader: Reader,
    unit: Unit,
    builder: SignatureBuilder,
}

impl Measures {
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

/// The document in question, measured.
struct Question {
    measures: Measures,
    digest: u128,
    shingles: Shingles,
    fingerprint: Fingerprint,
    page: Option<ComparedPage>,
    /// Minimum resemblance of a hit.
    resemblance: f64,
    /// Minimum containment of a hit, if requested.
    containment: Option<f64>,
}

/// A comparison with the document in question.
struct Comparison {
    distance: u32,
    resemblance: f64,
    containment: f64,
    by_texts: Option<ByTexts>,
}

impl Question {
    fn new(args: &SimilarArgs, measures: Measures, content: &Content) -> Self {
        let (shingles, fingerprint) = measures.of(content);
        Self {
            digest: content.digest(),
            shingles,
            fingerprint,
            page: measures.page(content),
            measures,
            resemblance: args.resemblance.unwrap_or(match args.containment {
                Some(_) => 0.0,
                None => NEAR,
            }),
            containment: args.containment,
        }
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
        let by_texts =
            pages.map(|(own, other)| ByTexts::of(&decide(own, &other, Frames::default(), false)));
        Comparison {
            by_texts,
            ..compared
        }
    }

    /// Returns true if resemblance and containment suffice.
    fn is_near(&self, compared: &Comparison) -> bool {
        let is_contained = self
            .containment
            .is_none_or(|least| compared.containment >= least);
        compared.resemblance >= self.resemblance && is_contained
    }
}

/// Lists documents below these paths that are similar to the document in question: a file, or a
/// document in the paths, given by its URL.
pub(super) fn like_documents(
    args: &SimilarArgs,
    within: &[PathBuf],
    what: &str,
    reader: Reader,
) -> Result<(), CommandError> {
    let mut input = args.input.options(None);
    let builder = args
        .features
        .signature_builder(within, &mut input, &reader)?;
    let content = match is_url(what) {
        true => content_of_page(what, within, &input)?,
        false => only(what, &input)?,
    };
    let unit = args.features.shingles();
    let measures = Measures {
        reader,
        unit,
        builder,
    };
    let question = Arc::new(Question::new(args, measures, &content));
    if args.containment.is_some() && question.shingles.is_empty() {
        return Err(usage(format!(
            "{what} has no words to search for in other texts"
        )));
    }
    let is_itself = |id: &str| Path::new(id) == Path::new(what) || is_page(id, what);
    let (mut nearest, mut skipped) = (Nearest::new(args.most()), SkipReport::default());
    let most = args.distance.unwrap_or(u64::BITS);
    let documents =
        Documents::below(within, &input).map_err(|error| CommandError::of_usage(&error))?;
    let asked = Arc::clone(&question);
    for document in corpus::computed(documents, move |document| asked.compare(document)) {
        match document {
            Ok((id, compared)) => {
                let is_near = compared.distance <= most && question.is_near(&compared);
                if is_near && !is_itself(&id) {
                    nearest.push(Hit {
                        document: JsonId(id),
                        distance: compared.distance,
                        resemblance: Some(compared.resemblance),
                        containment: args.containment.map(|_| compared.containment),
                        by_texts: compared.by_texts,
                    });
                }
            }
            Err(reason) => skipped.add(&reason),
        }
    }
    print(args, &nearest.sorted())?;
    skipped.check_complete()
}

/// Returns the content of the newest capture of a page in these archives.
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

/// Returns true if this is the id of the page with this URL.
fn is_page(id: &str, url: &str) -> bool {
    let key = |url: &str| PageUrl::parse(url, &CanonicalForm::default()).map(|url| url.key());
    id == url || (is_url(url) && is_url(id) && key(id).is_ok_and(|one| key(url) == Ok(one)))
}

/// Lists fingerprints of a file that are near the fingerprint of the document in question.
pub(super) fn near_fingerprints(
    args: &SimilarArgs,
    within: &Path,
    name: &str,
) -> Result<(), CommandError> {
    let asked = [
        ("resemblance", args.resemblance),
        ("containment", args.containment),
    ];
    if let Some((option, _)) = asked.iter().find(|(_, share)| share.is_some()) {
        let message = format!(
            "--{option} needs texts, but a file of fingerprints does not contain \
            any"
        );
        return Err(usage(message).with_remedy("use --distance, or give the documents"));
    }
    let file = NamedFingerprints::open(within)?;
    let reader = Reader::new(true);
    let what = PathBuf::from(name);
    let mut input = args.input.options(None);
    let builder =
        args.features
            .signature_builder(std::slice::from_ref(&what), &mut input, &reader)?;
    file.check_builder(&builder)?;
    let own = reader.fingerprint(&builder, &only(name, &input)?);
    // One more, because the document itself may be a hit.
    let mut nearest = Nearest::new(args.most().saturating_add(1));
    each_near(
        &file.fingerprints,
        own,
        args.distance,
        |position, distance| {
            nearest.push(Hit {
                document: JsonId(position.into()),
                distance,
                resemblance: None,
                containment: None,
                by_texts: None,
            });
        },
    )?;
    let (mut ids, mut hits) = (file.ids()?, nearest.sorted());
    for hit in &mut hits {
        let position = hit.document.0.number().map(u64::try_from);
        if let Some(Ok(position)) = position {
            hit.document = JsonId(file.name(&mut ids, position)?);
        }
    }
    hits.retain(|hit| hit.document != JsonId(name.into()));
    hits.truncate(args.most());
    print(args, &hits)
}

/// Calls `visit` with the position and distance of every fingerprint within a distance, or of every
/// fingerprint if no distance is given. An index is probed; it supports distances up to
/// [`MAX_DISTANCE`].
fn each_near(
    within: &Repository,
    own: Fingerprint,
    distance: Option<u32>,
    mut visit: impl FnMut(u64, u32),
) -> Result<(), CommandError> {
    match (within, distance) {
        (Repository::Index(index), Some(distance @ 0..=MAX_DISTANCE)) => {
            let found = index.read().within(own, distance);
            for near in found.map_err(|error| fault(&error))? {
                visit(near.position, near.distance);
            }
        }
        (Repository::Index(index), _) => {
            let path = index.path().display();
            let message = format!("{path} is an index, which supports at most {MAX_DISTANCE} bits");
            let remedy =
                format!("give --distance, 0 to {MAX_DISTANCE}, or the file of fingerprints itself");
            return Err(usage(message).with_remedy(remedy));
        }
        (Repository::File(file), _) => {
            let most = distance.unwrap_or(u64::BITS);
            let mut blocks = file.read().map_err(|error| fault(&error))?;
            while let Some(block) = blocks.next_block().map_err(|error| fault(&error))? {
                for (position, bits) in (block.position..).zip(block.bits) {
                    let distance = own.distance(Fingerprint::new(*bits));
                    if distance <= most {
                        visit(position, distance);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the content of the document in question.
fn only(what: &str, input: &InputOptions) -> Result<Content, CommandError> {
    corpus::only_document(Path::new(what), input)
        .map(|document| document.content)
        .map_err(|error| CommandError::of_usage(&error))
}

/// The nearest hits so far, and a few more.
struct Nearest {
    hits: Vec<Hit>,
    most: usize,
}

impl Nearest {
    const fn new(most: usize) -> Self {
        Self {
            hits: Vec::new(),
            most,
        }
    }

    fn push(&mut self, hit: Hit) {
        self.hits.push(hit);
        if self.hits.len() > self.most.max(SLACK).saturating_mul(2) {
            self.cut();
        }
    }

    /// Returns the hits, nearest first; ties are in document order.
    fn sorted(mut self) -> Vec<Hit> {
        self.cut();
        self.hits
    }

    fn cut(&mut self) {
        self.hits.sort_by(|one, two| {
            let by_nearness = two.nearness().total_cmp(&one.nearness());
            by_nearness.then(one.distance.cmp(&two.distance))
        });
        self.hits.truncate(self.most);
    }
}

fn print(args: &SimilarArgs, hits: &[Hit]) -> Result<(), CommandError> {
    output::to_stdout(|out| {
        for hit in hits {
            match Format::or_fitting(args.format) {
                Format::Json => output::json_line(out, hit)?,
                Format::Table => {
                    let share = hit.containment.or(hit.resemblance);
                    let share = share.map(|share| format!("{share:.4}  "));
                    let document = printable(&hit.document.0);
                    let (share, distance) = (share.unwrap_or_default(), hit.distance);
                    let said = ByTexts::shown(hit.by_texts.as_ref());
                    writeln!(out, "{share}{distance:>2} bits  {document}{said}")?;
                }
            }
        }
        Ok(())
    })
}
