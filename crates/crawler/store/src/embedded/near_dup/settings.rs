//! The settings that the signature tables depend on, and the state of the tables.

use std::sync::Arc;

use journal::StoreFault;
use neardup::tables::TableDesign;
use neardup::{Fingerprint, HashKey};
use serde::{Deserialize, Serialize};

use super::keys::MAX_TABLES;
use crate::embedded::earlier::EarlierCrawls;
use crate::rules::ComparisonOptions;

/// The tables of fingerprints, and the way to probe them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Design {
    pub(super) tables: TableDesign,
    /// Number of bits of a prefix that a probe flips.
    flips: u32,
}

impl Design {
    /// Returns the tables of this design; by default four, each led by a quarter of the bits. With
    /// up to seven errors, some quarter has at most one (see `neardup::tables::QuarterTables`), so
    /// these tables serve every distance.
    pub(super) fn of(tables: Option<&TableDesign>, distance: u32) -> Result<Self, StoreFault> {
        let Some(tables) = tables else {
            let tables =
                TableDesign::new(64, 3, &[4]).expect("four quarters of 64 bits is a design");
            return Ok(Self {
                tables,
                flips: u32::from(distance > 3),
            });
        };
        let is_fit = tables.bits() == 64
            && tables.distance() >= distance
            && tables.tables().len() <= MAX_TABLES;
        if !is_fit {
            return Err(StoreFault::Design {
                bits: tables.bits(),
                finds: tables.distance(),
                tables: tables.tables().len(),
                asked: distance,
            });
        }
        Ok(Self {
            tables: tables.clone(),
            flips: 0,
        })
    }

    /// Returns ranges of permuted fingerprints (table number, first, last) that contain everything
    /// within the distance of `probe`.
    pub(super) fn ranges(&self, probe: Fingerprint) -> impl Iterator<Item = (usize, u64, u64)> {
        let flips = self.flips;
        let tables = self.tables.tables().iter().enumerate();
        tables.flat_map(move |(number, permutation)| {
            let prefix = permutation.prefix_bits();
            let behind = u64::MAX.checked_shr(prefix).unwrap_or(0);
            let permuted = permutation.apply(probe.as_u64()) & !behind;
            let errors = (0..prefix * flips).map(|bit| 1 << (63 - bit));
            std::iter::once(0)
                .chain(errors)
                .map(move |error: u64| (number, permuted ^ error, permuted ^ error | behind))
        })
    }
}

/// The options of the signature index.
#[derive(Clone, Debug)]
pub(in crate::embedded) struct SignatureStoreOptions {
    pub(in crate::embedded) rules: ComparisonOptions,
    pub(in crate::embedded) key: HashKey,
    pub(in crate::embedded) earlier: Option<Arc<EarlierCrawls>>,
    /// True if all keys are in memory.
    pub(in crate::embedded) keys_in_memory: bool,
    /// The tables of fingerprints on disk; `None` for the default tables.
    pub(in crate::embedded) tables: Option<TableDesign>,
}

impl SignatureStoreOptions {
    pub(super) fn design(&self) -> Result<Design, StoreFault> {
        Design::of(self.tables.as_ref(), self.rules.thresholds.distance())
    }
}

/// The settings that the tables were made with. With other settings, they are rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::embedded) struct IndexSettings {
    scope: String,
    distance: u32,
    levels: Vec<u32>,
}

impl IndexSettings {
    pub(super) fn of(rules: &ComparisonOptions, design: &Design) -> Self {
        Self {
            scope: rules.scope.to_string(),
            distance: design.tables.distance(),
            levels: design.tables.levels().to_vec(),
        }
    }
}

/// The state of the tables on disk: part of the checkpoint, so that it changes atomically with the
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::embedded) struct IndexState {
    /// The number of the next document.
    pub(super) documents: u32,
    /// `None` if the tables are void.
    pub(super) settings: Option<IndexSettings>,
}

impl IndexState {
    /// Returns true if tables in this state can be used with these options. If not, a checkpoint
    /// with the default state must be durable before they are loaded, because loading empties them.
    pub(in crate::embedded) fn suits(
        &self,
        options: &SignatureStoreOptions,
    ) -> Result<bool, StoreFault> {
        Ok(self.settings == Some(IndexSettings::of(&options.rules, &options.design()?)))
    }

    /// Returns the options changed so that the tables can be used as they are.
    pub(in crate::embedded) fn with_stored(
        &self,
        options: SignatureStoreOptions,
    ) -> SignatureStoreOptions {
        let Some(settings) = &self.settings else {
            return options;
        };
        let scope = settings.scope.parse();
        let tables = TableDesign::new(64, settings.distance, &settings.levels);
        let distance = options.rules.thresholds.distance().min(settings.distance);
        let thresholds = options.rules.thresholds.at_distance(distance);
        match (scope, tables, thresholds) {
            (Ok(scope), Ok(tables), Ok(thresholds)) => SignatureStoreOptions {
                rules: ComparisonOptions {
                    scope,
                    thresholds,
                    ..options.rules
                },
                tables: Some(tables),
                ..options
            },
            // Tables with unknown settings are rebuilt.
            _ => options,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn design() -> impl Strategy<Value = (Design, u32)> {
        prop_oneof![
            (0..=7_u32).prop_map(|distance| (Design::of(None, distance).unwrap(), distance)),
            (0..=7_u32, 0..3_u32).prop_map(|(distance, more)| {
                let tables = TableDesign::new(64, distance, &[distance + 1 + more]).unwrap();
                let tables = if tables.tables().len() <= MAX_TABLES {
                    tables
                } else {
                    TableDesign::for_distance(distance).unwrap()
                };
                (Design::of(Some(&tables), distance).unwrap(), distance)
            }),
        ]
    }

    proptest! {
        #[test]
        fn everything_within_the_distance_lies_in_some_range(
            (design, distance) in design(), probe: u64,
            places in prop::collection::vec(0..64_u32, 0..=7),
        ) {
            let places = places.iter().take(distance as usize);
            let errors = places.fold(0, |errors, place| errors | 1_u64 << place);
            let held = probe ^ errors;
            let mut ranges = design.ranges(Fingerprint::new(probe));
            let found = ranges.any(|(table, low, high)| {
                (low..=high).contains(&design.tables.tables()[table].apply(held))
            });
            prop_assert!(found, "{held:x}");
        }
    }

    #[test]
    fn a_design_for_a_smaller_distance_is_refused() {
        let three = TableDesign::for_distance(3).unwrap();
        assert!(Design::of(Some(&three), 3).is_ok());
        assert!(matches!(
            Design::of(Some(&three), 4),
            Err(StoreFault::Design { .. })
        ));
        let narrow = TableDesign::new(32, 3, &[4]).unwrap();
        assert!(Design::of(Some(&narrow), 3).is_err());
        let many = TableDesign::new(64, 3, &[6, 5]).unwrap();
        assert!(many.tables().len() > MAX_TABLES && Design::of(Some(&many), 3).is_err());
    }

    #[test]
    fn an_index_state_is_pinned_to_the_byte() {
        let rules = ComparisonOptions {
            scope: crate::DuplicateScope::Host,
            ..ComparisonOptions::default()
        };
        let mark = IndexState {
            documents: 300,
            settings: Some(IndexSettings::of(&rules, &Design::of(None, 7).unwrap())),
        };
        let written = postcard::to_allocvec(&mark).unwrap();
        assert_eq!(written, [0xac, 2, 1, 4, b'h', b'o', b's', b't', 3, 1, 4]);
    }
}
