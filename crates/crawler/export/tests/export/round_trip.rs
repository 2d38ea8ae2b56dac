//! Records read back equal in every form.

use export::{
    CHUNKS, ExtractedText, Form, LINKS, Link, PageSignatureRecord, QualitySignals, ROW_GROUP_BYTES,
    ROW_GROUP_ROWS, SIGNATURES, SKETCHES, TEXTS, Table, TextChunk, VISITS, Value,
};
use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use web::{PageDate, PageFields};

use crate::read_back::{
    RecordText, from_csv, from_jsonl, from_parquet, record_text, texts, visit, visits, written,
};

fn check(table: Table, records: &[Vec<Option<Value<'_>>>]) -> Result<(), TestCaseError> {
    let truth: Vec<RecordText> = records
        .iter()
        .map(|fields| record_text(&fields[..table.columns.len()]))
        .collect();
    prop_assert_eq!(
        &from_jsonl(table, &written(Form::Jsonl, table, records)),
        &truth
    );
    prop_assert_eq!(
        &from_parquet(written(Form::Parquet, table, records)),
        &truth
    );
    let mut without_empty = truth;
    for (column, field) in without_empty
        .iter_mut()
        .flat_map(|record| table.columns.iter().zip(record))
    {
        if column.nullable {
            *field = field.take().filter(|text| !text.is_empty());
        }
    }
    prop_assert_eq!(
        &from_csv(table, &written(Form::RawCsv, table, records)),
        &without_empty
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_visits_are_read_as_they_were_written_in_every_form(
        visits in prop::collection::vec(visits(), 0..12),
    ) {
        let records: Vec<Vec<_>> = visits.iter().map(|visit| visit.fields().to_vec()).collect();
        check(SKETCHES, &records)?;
        check(VISITS, &records)?;
    }

    #[test]
    fn any_links_are_read_as_they_were_written_in_every_form(
        links in prop::collection::vec([texts(), texts(), texts(), texts(), texts()], 0..12),
    ) {
        let records: Vec<Vec<_>> = links
            .iter()
            .map(|[source, target, anchor, rel, kind]| {
                Link { source, target, anchor, rel, kind }.fields().to_vec()
            })
            .collect();
        check(LINKS, &records)?;
    }

    #[test]
    fn any_texts_are_read_as_they_were_written_in_every_form(
        texts in prop::collection::vec((texts(), texts(), any::<bool>()), 0..12),
    ) {
        let statements = texts.iter().map(|(_, other, is_known)| PageFields {
            author: is_known.then(|| other.clone()),
            published: PageDate::find("1969-07-20").filter(|_| *is_known),
            tags: is_known.then(|| other.clone()),
            ..PageFields::default()
        });
        let statements: Vec<PageFields> = statements.collect();
        let texts: Vec<ExtractedText<'_>> = texts
            .iter()
            .zip(&statements)
            .map(|((text, other, is_known), statements)| {
                let other = Some(other.as_str()).filter(|_| *is_known);
                let stop_words = ["a"].into_iter().collect();
                ExtractedText {
                    url: "http://site.test/1",
                    final_url: "http://site.test/2",
                    text,
                    language: other,
                    language_confidence: is_known.then_some(0.5),
                    title: other,
                    fetched_at: web::Timestamp::from_millis(1_700_000_000_123),
                    digest: other,
                    cluster: "http://site.test/0",
                    quality: QualitySignals::of(text, Some(&stop_words).filter(|_| *is_known)),
                    kind: is_known.then_some("list"),
                    own_fields: other,
                    statements,
                    preferences: is_known
                        .then(|| "train=n (noai), search=y (ai.txt)".parse().unwrap()),
                }
            })
            .collect();
        let records: Vec<Vec<_>> = texts.iter().map(|text| text.fields().to_vec()).collect();
        check(TEXTS, &records)?;
        let chunks: Vec<TextChunk<'_>> = texts.iter().flat_map(TextChunk::of).collect();
        let records: Vec<Vec<_>> = chunks.iter().map(|chunk| chunk.fields().to_vec()).collect();
        check(CHUNKS, &records)?;
    }
}

/// Signatures of texts of up to sixty words: without text, without a sketch, with and without a
/// title, and with titles that have no counted word.
fn signatures() -> impl Strategy<Value = PageSignature> {
    let words = prop::collection::vec("[a-f]{1,3}", 0..60);
    let titles = || prop::option::of("[a-f]{1,3}( [a-z]{3,6})?");
    (any::<u64>(), words, titles(), titles(), any::<bool>()).prop_map(
        |(key, words, title, heading, has_main_content)| {
            let text = words.join(" ");
            let page = PageText {
                main_content: Some("abc").filter(|_| has_main_content),
                title: title.as_deref(),
                heading: heading.as_deref(),
                ..PageText::of(&text)
            };
            let key = HashKey::new(key);
            let builder = SignatureBuilder::new(Features::default(), key);
            builder.signature(key.digest(text.as_bytes()), Some(page))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_signatures_are_read_as_they_were_written_in_every_form(
        pages in prop::collection::vec((texts(), signatures()), 0..12),
    ) {
        let records: Vec<PageSignatureRecord<'_>> = pages
            .iter()
            .map(|(url, signature)| PageSignatureRecord::of(url, signature))
            .collect();
        let records: Vec<Vec<_>> = records.iter().map(|record| record.fields().to_vec()).collect();
        check(SIGNATURES, &records)?;
    }
}

#[test]
fn a_signature_has_the_bits_of_the_stored_sketches() {
    let words: Vec<String> = (0..100).map(|at| format!("word{at}")).collect();
    let text = words.join(" ");
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let signature = builder.signature(7, Some(PageText::of(&text)));
    let record = PageSignatureRecord::of("http://site.test/", &signature);
    let fields = record.fields();
    let list = |name| {
        let at = SIGNATURES
            .columns
            .iter()
            .position(|column| column.name == name);
        match fields[at.unwrap()] {
            Some(Value::Integers(numbers)) => numbers.to_vec(),
            other => panic!("{name}: {other:?}"),
        }
    };
    let text = signature.text.unwrap();
    let (sketch, bag) = (text.sketch.unwrap(), text.bag.unwrap());
    let bytes = |numbers: Vec<i64>| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    assert_eq!(bytes(list("minima")), sketch.to_bytes()[..128]);
    assert_eq!(bytes(list("bag")), bag.to_bytes()[4..]);
    let bands: Vec<u64> = sketch
        .bands()
        .iter()
        .map(|band| band & 0xffff_ffff)
        .collect();
    let exported: Vec<u64> = list("bands").iter().map(|&band| band as u64).collect();
    assert_eq!(exported, bands);
}

fn row_groups(bytes: Vec<u8>) -> Vec<i64> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let groups = reader.metadata().row_groups().iter();
    groups.map(|group| group.num_rows()).collect()
}

#[test]
fn a_row_group_ends_with_the_record_that_fills_it() {
    let links = |count: usize, anchor: &str| {
        let link = Link {
            source: "",
            target: "",
            anchor,
            rel: "",
            kind: "",
        };
        row_groups(written(
            Form::Parquet,
            LINKS,
            &vec![link.fields().to_vec(); count],
        ))
    };
    let most = ROW_GROUP_ROWS as i64;
    assert_eq!(links(ROW_GROUP_ROWS, ""), [most]);
    assert_eq!(links(ROW_GROUP_ROWS + 1, ""), [most, 1]);
    let eighth = "x".repeat(ROW_GROUP_BYTES / 8);
    assert_eq!(links(8, &eighth), [8]);
    assert_eq!(links(9, &eighth), [8, 1]);
    assert_eq!(links(0, ""), [0; 0]);
}

#[test]
fn a_single_record_equals_the_line_of_the_export() {
    let visit = visit(7);
    let line = written(Form::Jsonl, VISITS, &[visit.fields().to_vec()]);
    let row = serde_json::to_string(&export::VisitRow(&visit.record)).unwrap();
    assert_eq!(String::from_utf8(line).unwrap(), row + "\n");
}
