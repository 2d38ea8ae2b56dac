//! `crawler similar` without a crawl: finds documents that are similar to a document
//! ([`corpus::similar`]), or fingerprints near its fingerprint.

use std::path::{Path, PathBuf};

use batch::DocumentId;
use corpus::json_id::JsonId;
use corpus::named_fingerprints::{NamedFingerprints, NearFingerprint};
use corpus::similar::{
    SimilarDocument, SimilarityLimits, SimilarityQuery, TextMeasures, content_of,
};
use corpus::{Documents, Reader};
use inspect::similar::{ByTexts, NEAR};
use messages::{CommandError, printable, usage};
use serde::Serialize;
use settings::skip_report::SkipReport;

use crate::args::SimilarArgs;
use crate::output;
use settings::input::document_reader;

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

impl From<SimilarDocument> for Hit {
    fn from(similar: SimilarDocument) -> Self {
        Self {
            document: JsonId(similar.document),
            distance: similar.distance,
            resemblance: Some(similar.resemblance),
            containment: similar.containment,
            by_texts: similar.by_texts.as_ref().map(ByTexts::of),
        }
    }
}

impl From<NearFingerprint> for Hit {
    fn from(near: NearFingerprint) -> Self {
        Self {
            document: JsonId(near.document),
            distance: near.distance,
            resemblance: None,
            containment: None,
            by_texts: None,
        }
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
    let content = content_of(what, within, &input)?;
    let measures = TextMeasures {
        reader,
        unit: args.features.shingles(),
        builder,
    };
    let limits = SimilarityLimits {
        distance: args.distance.unwrap_or(u64::BITS),
        resemblance: args.resemblance.unwrap_or(match args.containment {
            Some(_) => 0.0,
            None => NEAR,
        }),
        containment: args.containment,
        documents: args.most(),
    };
    let query = SimilarityQuery::new(measures, &content, limits);
    if args.containment.is_some() && !query.has_shingles() {
        return Err(usage(format!(
            "{what} has no words to search for in other texts"
        )));
    }
    let documents =
        Documents::below(within, &input).map_err(|error| CommandError::of_usage(&error))?;
    let mut skipped = SkipReport::default();
    let nearest = query.nearest(documents, what, |reason| skipped.add(reason));
    print(args, nearest.into_iter().map(Hit::from))?;
    skipped.check_complete()
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
    let reader = document_reader(true);
    let what = PathBuf::from(name);
    let mut input = args.input.options(None);
    let builder =
        args.features
            .signature_builder(std::slice::from_ref(&what), &mut input, &reader)?;
    file.check_builder(&builder)?;
    let document =
        corpus::only_document(&what, &input).map_err(|error| CommandError::of_usage(&error))?;
    let own = reader.fingerprint(&builder, &document.content);
    let hits = file.nearest(own, name, args.distance, args.most())?;
    print(args, hits.into_iter().map(Hit::from))
}

fn print(args: &SimilarArgs, hits: impl Iterator<Item = Hit>) -> Result<(), CommandError> {
    let columns = &["document", "distance", "resemblance", "containment"];
    output::list(&args.list, columns, |list| {
        for hit in hits {
            list.write(&hit, |out| {
                let share = hit.containment.or(hit.resemblance);
                let share = share.map(|share| format!("{share:.4}  "));
                let document = printable(&hit.document.0);
                let (share, distance) = (share.unwrap_or_default(), hit.distance);
                let said = ByTexts::shown(hit.by_texts.as_ref());
                writeln!(out, "{share}{distance:>2} bits  {document}{said}")
            })?;
        }
        Ok(())
    })
}
