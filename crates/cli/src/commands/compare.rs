//! `crawler fingerprint`, `crawler compare` and `crawler frequencies`: files without a crawl.
//!
//! HTML files are compared by their main content, as in a crawl; everything else as text. The hash
//! key is zero, so that fingerprints can be compared between machines.

use std::path::PathBuf;

use neardup::{
    Features, Fingerprint, HashKey, NormalText, PageSignature, Shingles, SignatureBuilder, Sketch,
    Thresholds, Unit, Width,
};
use serde::Serialize;

use super::column;
use crate::args::{CompareArgs, FingerprintArgs, FrequenciesArgs, LikenessArgs};
use crate::cli_error::{CliError, usage};
use crate::documents::{self, Documents, Reader};
use crate::features::{self, FeatureSettings};
use crate::output::{self, Format};
use crate::terminal::{printable, say};

#[derive(Serialize)]
struct Comparison {
    distance: u32,
    resemblance: f64,
    resemblance_estimate: Option<f64>,
    containment_a_in_b: f64,
    containment_b_in_a: f64,
    fingerprint_a: String,
    fingerprint_b: String,
    verdict: &'static str,
}

/// A document with its signature.
struct ComparedDocument {
    text: NormalText,
    fingerprint: Fingerprint,
    signature: PageSignature,
}

pub(crate) fn fingerprint(args: &FingerprintArgs) -> Result<(), CliError> {
    let reader = Reader::new(true)?;
    let signature_builder = args.likeness.signature_builder(&args.paths, &reader)?;
    let mut skipped = None;
    let documents = Documents::below(&args.paths)?;
    output::to_stdout(|out| {
        for document in documents {
            match document {
                Ok(document) => {
                    let fingerprint = reader.fingerprint(&signature_builder, &document.content);
                    let digits = args.likeness.digits(fingerprint);
                    writeln!(out, "{digits}  {}", printable(&document.id))?;
                }
                Err(more) => {
                    say(&printable(&more.to_string()));
                    skipped = Some(more);
                }
            }
        }
        Ok(())
    })?;
    skipped.map_or(Ok(()), |skipped| {
        Err(usage(format!("not everything could be read: {skipped}")))
    })
}

pub(crate) fn frequencies(args: &FrequenciesArgs) -> Result<(), CliError> {
    let feature_settings = FeatureSettings::new(
        args.features.unwrap_or_default(),
        args.stop_words.as_deref(),
        None,
    )?;
    let counted = feature_settings.count(&args.paths, &Reader::new(true)?)?;
    features::write(&counted, args.output.as_deref())
}

pub(crate) fn compare(args: &CompareArgs) -> Result<(), CliError> {
    let thresholds = args.likeness.thresholds()?;
    let reader = Reader::new(true)?;
    let signature_builder = args
        .likeness
        .signature_builder(&[args.a.clone(), args.b.clone()], &reader)?;
    let compared = |path| -> Result<ComparedDocument, CliError> {
        let document = documents::only(path)?;
        Ok(ComparedDocument {
            text: reader.normal_text(&document.content),
            fingerprint: reader.fingerprint(&signature_builder, &document.content),
            signature: reader.signature(&signature_builder, &document.content),
        })
    };
    let (a, b) = (compared(&args.a)?, compared(&args.b)?);
    let comparison = Comparison::of(&a, &b, &args.likeness, &thresholds);
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &comparison),
        Format::Table => output::columns(out, &comparison.lines()),
    })
}

impl Comparison {
    fn of(
        a: &ComparedDocument,
        b: &ComparedDocument,
        args: &LikenessArgs,
        thresholds: &Thresholds,
    ) -> Self {
        let width = args.shingles();
        let shingles = |text: &NormalText| Shingles::of(text, width, HashKey::ZERO);
        let (shingles_a, shingles_b) = (shingles(&a.text), shingles(&b.text));
        let sketches = Sketch::of(&shingles_a).zip(Sketch::of(&shingles_b));
        let verdict = match thresholds.likeness(&a.signature, &b.signature) {
            Some(neardup::Likeness::Near { .. }) => "near-duplicate",
            Some(_) => "exact-duplicate",
            None => "distinct",
        };
        Self {
            distance: a.fingerprint.distance(b.fingerprint),
            resemblance: shingles_a.resemblance(&shingles_b),
            resemblance_estimate: sketches.map(|(a, b)| a.resemblance(&b)),
            containment_a_in_b: shingles_a.containment_in(&shingles_b),
            containment_b_in_a: shingles_b.containment_in(&shingles_a),
            fingerprint_a: args.digits(a.fingerprint),
            fingerprint_b: args.digits(b.fingerprint),
            verdict,
        }
    }

    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let share = |share: f64| Some(format!("{share:.4}"));
        vec![
            column("verdict", Some(self.verdict)),
            column("distance", Some(format!("{} of 64 bits", self.distance))),
            column("resemblance", share(self.resemblance)),
            column("estimated", self.resemblance_estimate.and_then(share)),
            column("a in b", share(self.containment_a_in_b)),
            column("b in a", share(self.containment_b_in_a)),
            column("fingerprint a", Some(&self.fingerprint_a)),
            column("fingerprint b", Some(&self.fingerprint_b)),
        ]
    }
}

impl LikenessArgs {
    fn features(&self) -> Features {
        let features = self.features.unwrap_or_default();
        self.weights.map_or(features, |weights| Features {
            weights,
            ..features
        })
    }

    /// Returns the signature builder for these documents, under the zero key. Reads all of them
    /// first if words are weighted by their frequency in them.
    pub(crate) fn signature_builder(
        &self,
        paths: &[PathBuf],
        reader: &Reader,
    ) -> Result<SignatureBuilder, CliError> {
        let feature_settings = FeatureSettings::new(
            self.features(),
            self.stop_words.as_deref(),
            self.frequencies.as_deref(),
        )?;
        let fingerprinter = feature_settings
            .learned_from(paths, reader)?
            .fingerprinter()?;
        let signature_builder = SignatureBuilder::new(fingerprinter, HashKey::ZERO);
        Ok(match self.is_halved() {
            true => signature_builder.halved(),
            false => signature_builder,
        })
    }

    fn is_halved(&self) -> bool {
        self.bits == "32"
    }

    fn digits(&self, fingerprint: Fingerprint) -> String {
        match self.is_halved() {
            true => fingerprint.halved().to_string(),
            false => fingerprint.to_string(),
        }
    }

    /// Returns the width of the shingles of resemblance and containment: the requested runs of
    /// words, or else those of a crawl's verdict.
    fn shingles(&self) -> Width {
        match self.features.map(|features| features.unit) {
            Some(Unit::Words(width)) => width,
            _ => Width::VERIFICATION,
        }
    }

    pub(crate) fn thresholds(&self) -> Result<Thresholds, CliError> {
        Thresholds::new(self.distance, self.resemblance).map_err(|error| CliError::of_usage(&error))
    }
}
