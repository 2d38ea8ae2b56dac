//! The signature store decides as a signature index in memory does, under random flushes,
//! reopenings and deaths.

use std::path::Path;

use contract::MemoryStore;
use contract::store::{NearDupIndex as _, Verdict as TheirVerdict};
use journal::Page;
use neardup::tables::TableDesign;
use neardup::{Fingerprint, PageSignature, SKETCH_BYTES, Sketch, TextSignature, Thresholds};
use proptest::prelude::*;

use crate::embedded::checkpoint::Flush;
use crate::embedded::{EmbeddedStore, StoreOptions, audit};
use crate::fixtures::{at, options, url};
use crate::frontier::FrontierRules;
use crate::near_dup::{NearDupIndex, Verdict};
use crate::rules::{ComparisonOptions, DuplicateScope};

/// A variant of a page; pages of one family are more or less alike.
#[derive(Clone, Debug)]
struct Variant {
    family: u8,
    payload: u8,
    digest: u8,
    /// Bits of the fingerprint that differ from the family's.
    errors: Vec<u8>,
    /// The number of the 256 minima that differ from the family's.
    strange: u8,
    /// The bands that are the family's.
    bands: u8,
    words: u32,
    shape: u8,
}

fn variant() -> impl Strategy<Value = Variant> {
    let errors = prop::collection::vec(0..64_u8, 0..9);
    let (strange, words) = (
        0..110_u8,
        prop_oneof![Just(100_u32), Just(500), Just(2_000)],
    );
    (
        0..3_u8,
        0..40_u8,
        0..40_u8,
        errors,
        strange,
        any::<u8>(),
        words,
        0..12_u8,
    )
        .prop_map(
            |(family, payload, digest, errors, strange, bands, words, shape)| Variant {
                family,
                payload,
                digest,
                errors,
                strange,
                bands,
                words,
                shape,
            },
        )
}

impl Variant {
    fn signature(&self) -> PageSignature {
        let mut sketch = [self.family; SKETCH_BYTES];
        let (minima, bands) = sketch.split_at_mut(SKETCH_BYTES - 32);
        for minimum in minima.iter_mut().take(self.strange.into()) {
            *minimum = self.family ^ 0xf0 ^ self.payload << 4;
        }
        for (number, band) in bands.chunks_exact_mut(4).enumerate() {
            if self.bands >> number & 1 == 0 {
                band.copy_from_slice(&(u32::from(self.digest) << 8 | number as u32).to_le_bytes());
            }
        }
        let errors = self
            .errors
            .iter()
            .fold(0, |errors, bit| errors | 1_u64 << bit);
        let text = TextSignature {
            digest: u128::from(self.digest) << 64 | u128::from(self.family),
            words: self.words,
            main_content: (self.shape == 1).then_some(u128::from(self.family)),
            fingerprint: Fingerprint::new(
                (u64::from(self.family) * 0x0123_4567_89ab_cdef) ^ errors,
            ),
            sketch: (self.shape != 2).then(|| Sketch::from_bytes(&sketch)),
            bag: None,
            title_terms: None,
        };
        PageSignature {
            payload: self.payload.into(),
            text: (self.shape != 3).then(|| Box::new(text)),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A page, and the page that it calls canonical.
    Admit(u8, Variant, Option<u8>),
    Forget(u8),
    /// Two pages are distinct by the word of a user.
    Separate(u8, u8),
    /// A complete checkpoint.
    Checkpoint,
    /// A flush is begun; what follows happens while it is being written.
    Flush,
    /// The flush is written.
    Flushed,
    /// The flush is written, and the process dies before the checkpoint.
    CutShort {
        keys_in_memory: bool,
        design: u8,
    },
    /// The process dies.
    Killed {
        keys_in_memory: bool,
        design: u8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        24 => (0..40_u8, variant(), prop::option::of(0..40_u8))
            .prop_map(|(page, variant, canonical)| Step::Admit(page, variant, canonical)),
        4 => (0..40_u8).prop_map(Step::Forget),
        4 => (0..40_u8, 0..40_u8).prop_map(|(page, other)| Step::Separate(page, other)),
        1 => Just(Step::Checkpoint),
        2 => Just(Step::Flush),
        2 => Just(Step::Flushed),
        1 => (any::<bool>(), 0..4_u8)
            .prop_map(|(keys_in_memory, design)| Step::CutShort { keys_in_memory, design }),
        1 => (any::<bool>(), 0..4_u8)
            .prop_map(|(keys_in_memory, design)| Step::Killed { keys_in_memory, design }),
    ];
    prop::collection::vec(step, 1..90)
}

fn design(number: u8, distance: u32) -> Option<TableDesign> {
    match number {
        0 | 1 => None,
        2 => Some(TableDesign::for_distance(distance).unwrap()),
        // Fewer blocks for large distances, whose tables are many.
        _ => Some(TableDesign::new(64, distance, &[distance + 2]).unwrap()),
    }
}

/// A store, and the flush that is in flight.
struct Subject<'a> {
    directory: &'a Path,
    options: StoreOptions,
    store: EmbeddedStore,
    in_flight: Option<Flush>,
}

impl<'a> Subject<'a> {
    fn open(directory: &'a Path, options: StoreOptions) -> Self {
        let store = EmbeddedStore::open(directory, &options).unwrap();
        Self {
            directory,
            options,
            store,
            in_flight: None,
        }
    }

    fn flush(&mut self) {
        let store = &self.store;
        let (mut signatures, mut queue) = (store.signatures(), store.queue());
        let last = &store.last_checkpoint.try_lock().unwrap().checkpoint;
        self.in_flight = Some(Flush::of(
            &mut queue,
            &mut signatures,
            store.journal.end(),
            last,
        ));
    }

    fn end_flush(&mut self) {
        if let Some(flush) = self.in_flight.take() {
            flush.write(&self.store.database, &self.store.meta).unwrap();
            self.store.signatures().end_flush();
            self.store.queue().end_flush(&flush.queue);
        }
    }

    fn reopened(self, keys_in_memory: bool, number: u8) -> Self {
        let Self {
            directory,
            options,
            store,
            in_flight,
        } = self;
        drop((store, in_flight));
        let distance = options.comparison.thresholds.distance();
        let options = StoreOptions {
            keys_in_memory,
            tables: design(number, distance),
            ..options
        };
        Self::open(directory, options)
    }

    async fn step(mut self, step: &Step) -> Self {
        match *step {
            Step::Admit(..) | Step::Forget(_) | Step::Separate(..) => {}
            Step::Checkpoint => {
                self.in_flight = None;
                crate::Frontier::checkpoint(&self.store, None)
                    .await
                    .unwrap();
            }
            Step::Flush => self.flush(),
            Step::Flushed => self.end_flush(),
            Step::CutShort {
                keys_in_memory,
                design,
            } => {
                if self.in_flight.is_none() {
                    self.flush();
                }
                if let Some(flush) = self.in_flight.take() {
                    flush.signatures.write().unwrap();
                }
                return self.reopened(keys_in_memory, design);
            }
            Step::Killed {
                keys_in_memory,
                design,
            } => return self.reopened(keys_in_memory, design),
        }
        self
    }
}

fn page(number: u8) -> Page {
    let url = url(&format!(
        "http://h{}.one{}.test/{number}",
        number % 3,
        number % 2
    ));
    Page {
        final_url: url.clone(),
        url,
        at: at(number.into()),
    }
}

/// Returns a verdict of either store as text: here the types of the library are not those of the
/// test.
macro_rules! comparable {
    ($verdict:expr, $Verdict:ident) => {
        match $verdict {
            // A repeated verdict of a kept duplicate does not name the page with the same bytes.
            $Verdict::Retained(original, retained) => format!(
                "{retained:?} of {:?} {:?}",
                original.page.url, original.match_kind
            ),
            other => format!("{other:?}"),
        }
    };
}

/// Returns the rules as the library knows them.
fn theirs(rules: ComparisonOptions) -> contract::store::ComparisonOptions {
    contract::store::ComparisonOptions {
        thresholds: rules.thresholds,
        scope: rules.scope.as_str().parse().unwrap(),
        per_cluster: rules.per_cluster,
    }
}

async fn play(
    rules: ComparisonOptions,
    keys_in_memory: bool,
    number: u8,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let memory = MemoryStore::new(Default::default(), theirs(rules), None);
    let directory = tempfile::tempdir().unwrap();
    let mut subject = Subject::open(
        directory.path(),
        StoreOptions {
            comparison: rules,
            keys_in_memory,
            tables: design(number, rules.thresholds.distance()),
            ..options(FrontierRules::default())
        },
    );
    for step in steps {
        match step {
            Step::Admit(number, variant, canonical) => {
                let canonical = canonical.map(|number| page(number).url);
                let (page, signature) = (page(*number), variant.signature());
                let expected = memory
                    .admit(&page, &signature, canonical.as_ref())
                    .await
                    .unwrap();
                let verdict = subject
                    .store
                    .admit(&page, &signature, canonical.as_ref())
                    .await
                    .unwrap();
                let verdict = comparable!(verdict, Verdict);
                prop_assert_eq!(verdict, comparable!(expected, TheirVerdict), "{:?}", step);
            }
            Step::Forget(number) => {
                memory.forget(page(*number).key()).await.unwrap();
                subject.store.forget(page(*number).key()).await.unwrap();
            }
            Step::Separate(one, other) => {
                let (one, other) = (page(*one).url, page(*other).url);
                memory.separate(&one, &other).await.unwrap();
                subject.store.separate(&one, &other).await.unwrap();
            }
            other => subject = subject.step(other).await,
        }
    }
    drop(subject);
    let findings = audit(directory.path()).unwrap().findings;
    prop_assert!(findings.is_empty(), "{:?}", findings);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_store_on_disk_decides_as_one_in_memory(
        distance in 0..=7_u32, resemblance in prop_oneof![Just(None), Just(Some(0.6))],
        scope in prop_oneof![
            2 => Just(DuplicateScope::Crawl),
            1 => Just(DuplicateScope::Domain),
            1 => Just(DuplicateScope::Host),
        ],
        per_cluster in 1..4_u32, keys_in_memory: bool, design in 0..4_u8, steps in steps(),
    ) {
        let rules = ComparisonOptions {
            thresholds: Thresholds::new(distance, resemblance).unwrap(),
            scope,
            per_cluster: per_cluster.try_into().unwrap(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(play(rules, keys_in_memory, design, &steps))?;
    }
}
