//! The records against a map, under random changes and reopenings; their bytes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = TextSignature> {
    let sketch = prop::collection::vec(any::<u8>(), SKETCH_BYTES)
        .prop_map(|bytes| Sketch::from_bytes(bytes.as_array().unwrap()));
    let bag = prop::collection::vec(any::<u8>(), BAG_BYTES)
        .prop_map(|bytes| BagSketch::from_bytes(bytes.as_array().unwrap()));
    let title_terms =
        prop::collection::vec(any::<u8>(), 1..=16).prop_map(|words| title_terms(&words));
    let numbers = (any::<u128>(), any::<u32>(), any::<u64>());
    let parts = (
        prop::option::of(sketch),
        prop::option::of(bag),
        prop::option::of(title_terms),
    );
    (numbers, any::<Option<u128>>(), parts).prop_map(
        |((digest, words, fingerprint), own, (sketch, bag, title_terms))| TextSignature {
            digest,
            words,
            main_content: own,
            fingerprint: Fingerprint::new(fingerprint),
            sketch,
            bag,
            title_terms,
        },
    )
}

/// Returns title terms of these words, of which the first half counts.
fn title_terms(words: &[u8]) -> TitleTerms {
    let mut bytes = vec![words.len() as u8 / 2, words.len() as u8];
    bytes.extend(words.iter().flat_map(|&word| [word, 7]));
    TitleTerms::from_bytes(&bytes).unwrap()
}

fn record() -> impl Strategy<Value = SignatureRecord> {
    let text = prop::option::of(text().prop_map(Box::new));
    (any::<(u64, u64, u64)>(), any::<u128>(), text).prop_map(
        |((position, page, group), payload, text)| SignatureRecord {
            position,
            page: UrlKey::from_u64(page),
            group,
            signature: PageSignature { payload, text },
        },
    )
}

fn a_text() -> TextSignature {
    TextSignature {
        digest: 0x0102,
        words: 77,
        main_content: Some(u128::MAX),
        fingerprint: Fingerprint::new(0xfedc_ba98_7654_3210),
        sketch: Some(Sketch::from_bytes(&std::array::from_fn(|byte| byte as u8))),
        bag: Some(BagSketch::from_bytes(&std::array::from_fn(|byte| {
            200 - byte as u8
        }))),
        title_terms: Some(title_terms(&[1, 2, 3])),
    }
}

fn a_record(text: Option<TextSignature>) -> SignatureRecord {
    SignatureRecord {
        position: 1 << 40,
        page: UrlKey::from_u64(0x1122_3344_5566_7788),
        group: 9,
        signature: PageSignature {
            payload: 0xabcd,
            text: text.map(Box::new),
        },
    }
}

#[test]
fn a_block_of_records_is_pinned_to_the_byte() {
    let mut block = Block::default();
    block[0] = Some(a_record(None));
    block[2] = Some(a_record(Some(a_text())));
    block[15] = Some(a_record(Some(TextSignature {
        main_content: None,
        sketch: None,
        bag: None,
        title_terms: None,
        ..a_text()
    })));
    let bytes = encode(&block);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, include_str!("../../../../golden/cards.hex").trim());
    assert_eq!(decode(&bytes).unwrap(), block);
}

#[test]
fn the_largest_block_is_a_value_that_the_database_takes() {
    let text = TextSignature {
        title_terms: Some(title_terms(&[9; neardup::MAX_TITLE_TERMS])),
        ..a_text()
    };
    let full: Block = std::array::from_fn(|_| Some(a_record(Some(text.clone()))));
    let bytes = encode(&full);
    assert_eq!(bytes.len(), 1 + SLOTS * 347);
    assert!(bytes.len() < 6 << 10);
}

#[test]
fn a_forgotten_document_has_no_record_and_may_get_another() {
    let directory = tempfile::tempdir().unwrap();
    let records = SignatureRecords::open(&Database::open(directory.path()).unwrap()).unwrap();
    let (picture, text) = (a_record(None), a_record(Some(a_text())));
    records
        .update(&[(3, picture.clone()), (u32::MAX, text.clone())], &[])
        .unwrap();
    records.update(&[], &[3, 4]).unwrap();
    assert_eq!(records.get(3).unwrap(), None);
    assert_eq!(records.get(u32::MAX).unwrap().as_ref(), Some(&text));
    records.update(&[(3, text.clone())], &[]).unwrap();
    assert_eq!(records.get(3).unwrap(), Some(text));
    assert_eq!(records.count().unwrap(), 2);
}

#[test]
fn reading_all_records_reports_a_lost_block() {
    let directory = tempfile::tempdir().unwrap();
    let records = SignatureRecords::open(&Database::open(directory.path()).unwrap()).unwrap();
    let all: Vec<(u32, SignatureRecord)> =
        (0..40).map(|document| (document, a_record(None))).collect();
    records.update(&all, &[]).unwrap();
    let mut batch = Batch::default();
    batch.remove(&1_u32.to_be_bytes());
    records.tree.apply(batch).unwrap();
    assert!(matches!(
        records.each(|_, _| ()),
        Err(StoreFault::Tables { .. })
    ));
}

#[derive(Clone, Debug)]
enum Step {
    Update(BTreeMap<u32, Option<SignatureRecord>>),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let document = prop_oneof![0..200_u32, u32::MAX - 20..=u32::MAX];
    let update =
        prop::collection::btree_map(document, prop::option::weighted(0.7, record()), 0..60);
    prop::collection::vec(
        prop_oneof![5 => update.prop_map(Step::Update), 1 => Just(Step::Reopen)],
        1..10,
    )
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(
        records in prop::collection::vec(prop::option::of(record()), SLOTS),
    ) {
        let block: Block = records.try_into().unwrap();
        prop_assert_eq!(decode(&encode(&block)).unwrap(), block);
    }

    #[test]
    fn any_bytes_are_records_or_none(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400), is_version: bool,
    ) {
        if let (true, Some(version)) = (is_version, bytes.first_mut()) {
            *version = VERSION;
        }
        if let Some(block) = decode(&bytes) {
            prop_assert_eq!(encode(&block), bytes);
        }
    }

    #[test]
    fn changed_bytes_are_other_records_or_none(
        records in prop::collection::vec(prop::option::of(record()), SLOTS),
        place: prop::sample::Index, byte: u8,
    ) {
        let mut bytes = encode(&records.try_into().unwrap());
        let length = bytes.len();
        bytes[place.index(length)] = byte;
        if let Some(block) = decode(&bytes) {
            prop_assert_eq!(encode(&block), bytes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn records_hold_the_same_as_a_map(steps in steps()) {
        let directory = tempfile::tempdir().unwrap();
        let open = || SignatureRecords::open(&Database::open(directory.path()).unwrap()).unwrap();
        let mut records = open();
        let mut map = BTreeMap::new();
        for step in steps {
            match step {
                Step::Update(changes) => {
                    let put = changes.iter();
                    let put = put.filter_map(|(&of, record)| Some((of, record.clone()?)));
                    let put: Vec<(u32, SignatureRecord)> = put.collect();
                    let gone = changes.iter().filter(|(_, record)| record.is_none());
                    let gone: Vec<u32> = gone.map(|(&of, _)| of).collect();
                    // A flush that was cut short, then the whole flush.
                    records.update(&put[..put.len() / 2], &[]).unwrap();
                    records.update(&put, &gone).unwrap();
                    map.extend(put);
                    gone.iter().for_each(|of| { map.remove(of); });
                }
                Step::Reopen => {
                    drop(records);
                    records = open();
                }
            }
        }
        let mut found = Vec::new();
        records.each(|document, record| found.push((document, record.clone()))).unwrap();
        prop_assert_eq!(records.count().unwrap(), map.len() as u64);
        for document in (0..220).chain(u32::MAX - 30..=u32::MAX) {
            prop_assert_eq!(records.get(document).unwrap(), map.get(&document).cloned());
        }
        prop_assert_eq!(found, map.into_iter().collect::<Vec<_>>());
    }
}
