//! `crawler fingerprint` and `crawler compare`: likeness of files, without a crawl.
//!
//! HTML files are judged by their main content, as in a crawl; everything else as text. The hash key is zero, so that
//! fingerprints can be compared between machines.

use std::path::Path;

use neardup::{
    Features, Fingerprint, HashKey, NormalText, PageText, Painter, Portrait, Shingles, Sketch, Thresholds,
    Width,
};
use serde::Serialize;
use web::{CanonicalForm, Document, Hints, PageUrl, ReadLimits};

use crate::args::{CompareArgs, FingerprintArgs, LikenessArgs};
use crate::complaint::{Complaint, usage};
use crate::output::{self, Format};

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

/// A file as the judge sees it.
struct Read {
    bytes: Vec<u8>,
    document: Document,
}

pub(crate) fn fingerprint(args: &FingerprintArgs) -> Result<(), Complaint> {
    let features = features(&args.likeness);
    let mut lines = Vec::new();
    for path in &args.paths {
        let file = Read::open(path)?;
        let fingerprint = features.fingerprint(&NormalText::of(file.text().text), HashKey::ZERO);
        lines.push((fingerprint, path));
    }
    output::to_stdout(|out| {
        lines
            .iter()
            .try_for_each(|(fingerprint, path)| writeln!(out, "{fingerprint}  {}", path.display()))
    })
}

pub(crate) fn compare(args: &CompareArgs) -> Result<(), Complaint> {
    let features = features(&args.likeness);
    let thresholds = Thresholds::new(args.likeness.distance, args.likeness.resemblance);
    let thresholds = thresholds.map_err(|error| Complaint::of_usage(&error))?;
    let (a, b) = (Read::open(&args.a)?, Read::open(&args.b)?);
    let comparison = Comparison::of(&a, &b, features, &thresholds);
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &comparison),
        Format::Table => output::columns(out, &comparison.lines()),
    })
}

impl Comparison {
    fn of(a: &Read, b: &Read, features: Features, thresholds: &Thresholds) -> Self {
        let (normal_a, normal_b) = (NormalText::of(a.text().text), NormalText::of(b.text().text));
        let fingerprint = |text: &NormalText| features.fingerprint(text, HashKey::ZERO);
        let (fingerprint_a, fingerprint_b) = (fingerprint(&normal_a), fingerprint(&normal_b));
        let shingles = |text: &NormalText| Shingles::of(text, Width::VERIFICATION, HashKey::ZERO);
        let (shingles_a, shingles_b) = (shingles(&normal_a), shingles(&normal_b));
        let painter = Painter::new(features, HashKey::ZERO);
        let (portrait_a, portrait_b) = (a.portrait(&painter), b.portrait(&painter));
        let verdict = match thresholds.likeness(&portrait_a, &portrait_b) {
            Some(neardup::Likeness::Near { .. }) => "near-duplicate",
            Some(_) => "exact-duplicate",
            None => "distinct",
        };
        Self {
            distance: Fingerprint::distance(fingerprint_a, fingerprint_b),
            resemblance: shingles_a.resemblance(&shingles_b),
            resemblance_estimate: sketch(&portrait_a)
                .zip(sketch(&portrait_b))
                .map(|(a, b)| a.resemblance(b)),
            containment_a_in_b: shingles_a.containment_in(&shingles_b),
            containment_b_in_a: shingles_b.containment_in(&shingles_a),
            fingerprint_a: fingerprint_a.to_string(),
            fingerprint_b: fingerprint_b.to_string(),
            verdict,
        }
    }

    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let share = |share: f64| Some(format!("{share:.4}"));
        vec![
            ("verdict", Some(self.verdict.to_owned())),
            ("distance", Some(format!("{} of 64 bits", self.distance))),
            ("resemblance", share(self.resemblance)),
            ("estimated", self.resemblance_estimate.and_then(share)),
            ("a in b", share(self.containment_a_in_b)),
            ("b in a", share(self.containment_b_in_a)),
            ("fingerprint a", Some(self.fingerprint_a.clone())),
            ("fingerprint b", Some(self.fingerprint_b.clone())),
        ]
    }
}

impl Read {
    fn open(path: &Path) -> Result<Self, Complaint> {
        let bytes = super::read_input(path)?;
        let form = CanonicalForm::default();
        let url = PageUrl::parse("http://localhost/", &form).map_err(usage)?;
        let media = super::media_type(path, &bytes);
        let hints = Hints {
            url: &url,
            content_type: Some(media),
            x_robots_tag: &[],
            agent: "crawler",
        };
        let document = web::read(&bytes, &hints, &form, &ReadLimits::default());
        Ok(Self { bytes, document })
    }

    fn text(&self) -> PageText<'_> {
        crawl::page_text(&self.document, true)
    }

    fn portrait(&self, painter: &Painter) -> Portrait {
        painter.portrait(HashKey::ZERO.digest(&self.bytes), Some(self.text()))
    }
}

fn sketch(portrait: &Portrait) -> Option<&Sketch> {
    portrait.text.as_ref().and_then(|text| text.sketch.as_ref())
}

fn features(args: &LikenessArgs) -> Features {
    let features = args.features.unwrap_or_default();
    args.weights
        .map_or(features, |weights| Features { weights, ..features })
}
