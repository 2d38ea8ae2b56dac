//! The similarity measures of the literature side by side: each estimate with the exact value, and
//! with the standard error that theory predicts at that value.
//!
//! Both texts are available, so the true resemblance and the true cosine are known. For 19 of 20
//! pairs, an estimate should be within two standard errors of the true value.

use classics::minhash::{BitsKept, Family, Grouping, MinHash, MinHasher};
use classics::samples::{MinS, ModM, Sketch1997};
use messages::CommandError;
use neardup::{FingerprintBits, Shingles, Sketch, WeightedFeatures};
use serde::Serialize;

/// A family of similarity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureKind {
    /// All of them
    All,
    /// Exact resemblance and containment
    Shingles,
    /// Minima of permutations
    Minhash,
    /// Lowest bits of each minimum
    BBit,
    /// The smallest hashes
    MinS,
    /// Hashes divisible by a number
    ModM,
    /// Groups of minima
    SuperShingles,
    /// Differing bits of fingerprints
    Simhash,
}

/// Default number of minima.
const MINIMA: usize = 128;

/// Number of super-shingle groups that near-duplicates share.
const GROUPS_OF_NEAR_DUPLICATES: usize = 2;

/// An estimate of one quantity by one measure.
#[derive(Debug, Serialize)]
pub struct Measure {
    /// Name of the measure with its parameters, such as `minhash 128`.
    pub measure: String,
    /// Quantity that it estimates: `count_a`, `count_b` (shingles), `resemblance`,
    /// `containment_a_in_b`, `containment_b_in_a`, `cosine`, `distance` (bits), `agreeing_groups`
    /// or `two_groups_agree`.
    pub quantity: &'static str,
    /// Absent if the sample is empty.
    pub value: Option<f64>,
    /// True value of the quantity. For counts, the expected value.
    pub exact: f64,
    /// Standard error of the estimate. 0 for exact measures, absent for yes-or-no measures.
    pub standard_error: Option<f64>,
}

/// Sets and vectors of a document that are measured.
pub struct MeasuredDocument {
    /// Its shingles.
    pub shingles: Shingles,
    /// Its weighted features.
    pub features: WeightedFeatures,
}

/// The requested measures.
pub struct Measures<'a> {
    kinds: &'a [MeasureKind],
    minima: usize,
    bits: FingerprintBits,
    /// The classical family of hash functions, with the textbook error.
    permuted: MinHasher,
    fast: MinHasher,
}

/// Two documents and their exact values.
struct MeasuredPair<'a> {
    a: &'a MeasuredDocument,
    b: &'a MeasuredDocument,
    resemblance: f64,
    a_in_b: f64,
    b_in_a: f64,
}

impl<'a> Measures<'a> {
    /// Creates measures of these kinds with the given number of minima and of fingerprint bits.
    pub fn new(
        kinds: &'a [MeasureKind],
        minima: Option<usize>,
        bits: FingerprintBits,
    ) -> Result<Self, CommandError> {
        let minima = minima.unwrap_or(MINIMA);
        let hasher = |family| MinHasher::new(family, minima).map_err(refused);
        Ok(Self {
            kinds,
            minima,
            bits,
            permuted: hasher(Family::Permutations)?,
            fast: hasher(Family::Fast)?,
        })
    }

    /// Returns the estimates for two documents.
    pub fn of(
        &self,
        a: &MeasuredDocument,
        b: &MeasuredDocument,
    ) -> Result<Vec<Measure>, CommandError> {
        let pair = MeasuredPair {
            resemblance: a.shingles.resemblance(&b.shingles),
            a_in_b: a.shingles.containment_in(&b.shingles),
            b_in_a: b.shingles.containment_in(&a.shingles),
            a,
            b,
        };
        let mut measures = Vec::new();
        if self.has(MeasureKind::Shingles) {
            measures.extend(pair.exact());
        }
        if self.has(MeasureKind::Minhash) {
            for (name, hasher) in [("minhash", &self.permuted), ("minhash fast", &self.fast)] {
                let name = format!("{name} {}", self.minima);
                measures.extend(pair.minhash(&name, hasher)?);
            }
        }
        if self.has(MeasureKind::BBit) {
            measures.extend(self.b_bit(&pair)?);
        }
        if self.has(MeasureKind::MinS) {
            measures.push(self.min_s(&pair)?);
        }
        if self.has(MeasureKind::ModM) {
            measures.extend(pair.mod_m()?);
        }
        if self.has(MeasureKind::SuperShingles) {
            measures.extend(pair.super_shingles()?);
        }
        if self.has(MeasureKind::Simhash) {
            measures.extend(self.simhash(&pair));
        }
        Ok(measures)
    }

    fn has(&self, kind: MeasureKind) -> bool {
        self.kinds.contains(&kind) || self.kinds.contains(&MeasureKind::All)
    }

    fn b_bit(&self, pair: &MeasuredPair<'_>) -> Result<Vec<Measure>, CommandError> {
        let (a, b) = pair.hashed(&self.fast);
        let mut measures = Vec::new();
        for bits in [
            BitsKept::One,
            BitsKept::Two,
            BitsKept::Four,
            BitsKept::Eight,
        ] {
            let reduced = a.b_bit(bits).zip(b.b_bit(bits));
            let estimate = reduced.as_ref().map(|(a, b)| a.resemblance(b));
            measures.push(pair.of_resemblance(
                format!("{}-bit {}", bits as u32, self.minima),
                estimate.transpose().map_err(refused)?,
                reduced.map(|(a, _)| a.standard_error(pair.resemblance)),
            ));
        }
        let sketches = Sketch::of(&pair.a.shingles).zip(Sketch::of(&pair.b.shingles));
        measures.push(pair.of_resemblance(
            "sketch of a crawl (4-bit 256)".to_owned(),
            sketches.as_ref().map(|(a, b)| a.resemblance(b)),
            sketches.map(|_| Sketch::standard_error(pair.resemblance)),
        ));
        Ok(measures)
    }

    fn min_s(&self, pair: &MeasuredPair<'_>) -> Result<Measure, CommandError> {
        let sample = |document: &MeasuredDocument| {
            MinS::of(&document.shingles, self.minima).map_err(refused)
        };
        let (a, b) = (sample(pair.a)?, sample(pair.b)?);
        Ok(pair.of_resemblance(
            format!("min-s {}", self.minima),
            Some(a.resemblance(&b)),
            Some(a.standard_error(&b, pair.resemblance)),
        ))
    }

    fn simhash(&self, pair: &MeasuredPair<'_>) -> [Measure; 2] {
        let exact = pair.a.features.cosine(&pair.b.features);
        let (a, b) = (pair.a.features.fingerprint(), pair.b.features.fingerprint());
        let distance = a.lowest(self.bits).distance(b.lowest(self.bits));
        let name = format!("simhash {}", self.bits.get());
        let differs = exact.acos() / std::f64::consts::PI;
        let bits = f64::from(self.bits.get());
        [
            Measure {
                measure: name.clone(),
                quantity: "distance",
                value: Some(f64::from(distance)),
                exact: bits * differs,
                standard_error: Some((bits * differs * (1.0 - differs)).sqrt()),
            },
            Measure {
                measure: name,
                quantity: "cosine",
                value: Some(self.bits.cosine(distance)),
                exact,
                standard_error: Some(self.bits.cosine_error(exact)),
            },
        ]
    }
}

impl MeasuredPair<'_> {
    fn exact(&self) -> [Measure; 5] {
        let measure = |quantity, exact| Measure {
            measure: "shingles".to_owned(),
            quantity,
            value: Some(exact),
            exact,
            standard_error: Some(0.0),
        };
        [
            measure("count_a", self.a.shingles.len() as f64),
            measure("count_b", self.b.shingles.len() as f64),
            measure("resemblance", self.resemblance),
            measure("containment_a_in_b", self.a_in_b),
            measure("containment_b_in_a", self.b_in_a),
        ]
    }

    fn hashed(&self, hasher: &MinHasher) -> (MinHash, MinHash) {
        (hasher.of(&self.a.shingles), hasher.of(&self.b.shingles))
    }

    fn minhash(&self, name: &str, hasher: &MinHasher) -> Result<[Measure; 3], CommandError> {
        let (a, b) = self.hashed(hasher);
        let error = a.standard_error(self.resemblance);
        let contained = |one: &MinHash, other: &MinHash, exact, quantity| {
            let containment = one.containment_in(other).map_err(refused)?;
            let sizes = (one.size() + other.size()) as f64 / (one.size() as f64).max(1.0);
            // The slope of J(|A|+|B|) / (|A|(1+J)).
            let slope = sizes / (1.0 + self.resemblance).powi(2);
            Ok::<Measure, CommandError>(Measure {
                measure: name.to_owned(),
                quantity,
                value: Some(containment),
                exact,
                standard_error: Some(error * slope),
            })
        };
        let resemblance = a.resemblance(&b).map_err(refused)?;
        Ok([
            self.of_resemblance(name.to_owned(), Some(resemblance), Some(error)),
            contained(&a, &b, self.a_in_b, "containment_a_in_b")?,
            contained(&b, &a, self.b_in_a, "containment_b_in_a")?,
        ])
    }

    fn mod_m(&self) -> Result<[Measure; 4], CommandError> {
        let modulus = ModM::MODULUS_1997;
        let sample =
            |document: &MeasuredDocument| ModM::of(&document.shingles, modulus).map_err(refused);
        let (a, b) = (sample(self.a)?, sample(self.b)?);
        let contained = |one: &ModM, other: &ModM, exact, quantity| {
            Ok::<Measure, CommandError>(Measure {
                measure: format!("mod-m {modulus}"),
                quantity,
                value: one.containment_in(other).map_err(refused)?,
                exact,
                standard_error: Some(one.containment_error(other, exact)),
            })
        };
        let (old_a, old_b) = (
            Sketch1997::of(&self.a.shingles),
            Sketch1997::of(&self.b.shingles),
        );
        Ok([
            self.of_resemblance(
                format!("mod-m {modulus}"),
                a.resemblance(&b).map_err(refused)?,
                Some(a.standard_error(&b, self.resemblance)),
            ),
            contained(&a, &b, self.a_in_b, "containment_a_in_b")?,
            contained(&b, &a, self.b_in_a, "containment_b_in_a")?,
            self.of_resemblance(
                format!("mod-m {modulus}, 40 bits"),
                old_a.resemblance(&old_b),
                Some(old_a.standard_error(&old_b, self.resemblance)),
            ),
        ])
    }

    fn super_shingles(&self) -> Result<[Measure; 2], CommandError> {
        let grouping = Grouping::FETTERLY;
        let (groups, minima) = (grouping.groups(), grouping.minima());
        let hasher = MinHasher::new(Family::Permutations, groups * minima).map_err(refused)?;
        let keys = |document: &MeasuredDocument| {
            let keys = hasher.of(&document.shingles).super_shingles(grouping);
            keys.map_err(refused)
        };
        let agreeing = match keys(self.a)?.zip(keys(self.b)?) {
            Some((a, b)) => Some(a.agreeing(&b).map_err(refused)?),
            None => None,
        };
        let agrees = self.resemblance.powf(minima as f64);
        let name = format!("super-shingles {groups} × {minima}");
        let near = |agreeing| f64::from(u8::from(agreeing >= GROUPS_OF_NEAR_DUPLICATES));
        Ok([
            Measure {
                measure: name.clone(),
                quantity: "agreeing_groups",
                value: agreeing.map(|agreeing| agreeing as f64),
                exact: groups as f64 * agrees,
                standard_error: Some((groups as f64 * agrees * (1.0 - agrees)).sqrt()),
            },
            Measure {
                measure: name,
                quantity: "two_groups_agree",
                value: agreeing.map(near),
                exact: grouping.probability(self.resemblance, GROUPS_OF_NEAR_DUPLICATES),
                standard_error: None,
            },
        ])
    }

    fn of_resemblance(
        &self,
        measure: String,
        value: Option<f64>,
        standard_error: Option<f64>,
    ) -> Measure {
        Measure {
            measure,
            quantity: "resemblance",
            value,
            exact: self.resemblance,
            standard_error,
        }
    }
}

/// Returns the error for a sample that cannot be made or compared.
fn refused<E: std::error::Error>(error: E) -> CommandError {
    CommandError::of_usage(&error)
}
