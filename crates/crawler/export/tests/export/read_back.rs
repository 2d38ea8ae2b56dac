//! The three forms, read by readers of others; and visits to write.

use bytes::Bytes;
use export::{ExportInfo, Form, Kind, Table, TableWriter, Value, Visit};
use journal::{DiscoveredUrl, Fate, VisitRecord};
use neardup::Fingerprint;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value as Json;
use web::{CanonicalForm, PageDate, PageUrl, Timestamp};

pub(crate) const ABOUT: ExportInfo = ExportInfo {
    version: "0.0.0",
    algorithm: 1,
    zero_key: true,
    options: Vec::new(),
};

/// A record as text: different values have different texts, and null is `None`.
pub(crate) type RecordText = Vec<Option<String>>;

pub(crate) fn record_text(fields: &[Option<Value<'_>>]) -> RecordText {
    fields
        .iter()
        .map(|field| {
            field.map(|value| match value {
                Value::Text(text) => text.to_owned(),
                Value::Reason(reason) => reason.to_string(),
                Value::Number(number) => number.to_string(),
                Value::Bool(value) => value.to_string(),
                Value::Real(share) => format!("{:016x}", share.to_bits()),
                Value::Time(at) => at.as_millis().to_string(),
                Value::Date(date) => date.days_since_1970().to_string(),
                Value::Fingerprint(fingerprint) => fingerprint.as_u64().to_string(),
                Value::Bytes(bytes) => hex(bytes),
                Value::Integers(numbers) => format!("{numbers:?}"),
            })
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn written(form: Form, table: Table, records: &[Vec<Option<Value<'_>>>]) -> Vec<u8> {
    let mut writer = TableWriter::begin(form, table, &ABOUT, Vec::new()).unwrap();
    for fields in records {
        writer.write(fields).unwrap();
    }
    writer.finish().unwrap()
}

/// Returns a field of a text form, as defined by its column.
fn meant(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Text | Kind::U16 | Kind::U32 | Kind::U64 | Kind::Bool | Kind::Bytes(_) => {
            text.to_owned()
        }
        // CSV has the brackets of PostgreSQL.
        Kind::Integers => {
            let list = text.replace('{', "[").replace('}', "]");
            let numbers: Vec<i64> = serde_json::from_str(&list).unwrap();
            format!("{numbers:?}")
        }
        Kind::Real => format!("{:016x}", text.parse::<f64>().unwrap().to_bits()),
        Kind::Time => text.parse::<Timestamp>().unwrap().as_millis().to_string(),
        Kind::Date => PageDate::find(text).unwrap().days_since_1970().to_string(),
        Kind::Fingerprint => text.parse::<Fingerprint>().unwrap().as_u64().to_string(),
    }
}

pub(crate) fn from_jsonl(table: Table, bytes: &[u8]) -> Vec<RecordText> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.split_terminator('\n')
        .map(|line| {
            let object: serde_json::Map<String, Json> = serde_json::from_str(line).unwrap();
            assert_eq!(object.len(), table.columns.len());
            let fields = table
                .columns
                .iter()
                .map(|column| match &object[column.name] {
                    Json::Null => None,
                    Json::String(text) => Some(meant(column.kind, text)),
                    // Its own reader of shares is off by a bit now and then, so their digits are
                    // read by another.
                    Json::Number(_) if column.kind == Kind::Real => {
                        let (_, rest) = line.split_once(&format!("\"{}\":", column.name)).unwrap();
                        Some(meant(column.kind, rest.split([',', '}']).next().unwrap()))
                    }
                    Json::Number(number) => Some(meant(column.kind, &number.to_string())),
                    Json::Bool(value) => Some(value.to_string()),
                    Json::Array(_) => Some(meant(column.kind, &object[column.name].to_string())),
                    other => panic!("{other}"),
                });
            fields.collect()
        })
        .collect()
}

/// CSV has no null: an empty field of a nullable column is read as an empty text.
pub(crate) fn from_csv(table: Table, bytes: &[u8]) -> Vec<RecordText> {
    let mut reader = csv::Reader::from_reader(bytes);
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    assert_eq!(reader.headers().unwrap(), names);
    let records = reader.records().map(|record| {
        let record = record.unwrap();
        let fields = table.columns.iter().zip(&record).map(|(column, text)| {
            let is_nothing = text.is_empty() && column.nullable;
            (!is_nothing).then(|| meant(column.kind, text))
        });
        fields.collect()
    });
    records.collect()
}

pub(crate) fn from_parquet(bytes: Vec<u8>) -> Vec<RecordText> {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        let fields = row.get_column_iter().map(|(_, field)| match field {
            Field::Null => None,
            Field::Str(text) => Some(text.clone()),
            Field::Bool(value) => Some(value.to_string()),
            Field::UShort(number) => Some(number.to_string()),
            Field::UInt(number) => Some(number.to_string()),
            Field::ULong(number) => Some(number.to_string()),
            Field::Date(days) => Some(days.to_string()),
            Field::TimestampMillis(millis) => Some(millis.to_string()),
            Field::Double(share) => Some(format!("{:016x}", share.to_bits())),
            Field::Bytes(bytes) => Some(hex(bytes.data())),
            Field::ListInternal(list) => {
                let numbers = list.elements().iter().map(|field| match field {
                    Field::Long(number) => *number,
                    other => panic!("{other:?}"),
                });
                Some(format!("{:?}", numbers.collect::<Vec<i64>>()))
            }
            other => panic!("{other:?}"),
        });
        fields.collect()
    })
    .collect()
}

pub(crate) fn url(number: u32) -> PageUrl {
    PageUrl::parse(
        &format!("http://site.test/{number}"),
        &CanonicalForm::default(),
    )
    .unwrap()
}

/// Returns a visit with nearly all fields empty.
pub(crate) fn visit(number: u32) -> Visit {
    Visit {
        records_from: None,
        record: VisitRecord {
            kept: true,
            ..VisitRecord::new(
                DiscoveredUrl::new(url(number), 0, None),
                Fate::Unique,
                Timestamp::from_millis(1_790_000_000_000 + u64::from(number)),
            )
        },
        sketch: None,
        truncated: None,
        signature: None,
    }
}

/// Texts with characters that are special in one of the forms.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\x00\",'\\\\\r\n\t;=+@ -\u{7f}-\u{9f}\u{202a}-\u{202e}\
         \u{2028}\u{feff}a漢😀\u{10ffff}]{0,12}",
        Just("null".to_owned()),
        Just("\"".repeat(3)),
        Just("x".repeat(3_000)),
    ]
}

/// Any visit.
pub(crate) fn visits() -> impl Strategy<Value = Visit> {
    let fates = prop::sample::select(vec![
        Fate::Unique,
        Fate::ExactDuplicate,
        Fate::NearDuplicate,
        Fate::Failed,
        Fate::Excluded,
    ]);
    let texts = || option::of(texts());
    let urls = || option::of(any::<u32>().prop_map(url));
    // The last time that has a date.
    let moments = prop_oneof![0..=253_402_207_200_999_u64, Just(0)];
    (
        (
            any::<u32>(),
            urls(),
            option::of(any::<u16>()),
            moments,
            any::<u32>(),
            urls(),
            texts(),
        ),
        (
            any::<u64>(),
            texts(),
            texts(),
            texts(),
            fates,
            urls(),
            option::of(any::<u32>()),
        ),
        (
            option::of(prop_oneof![
                0.0..=1.0_f64,
                any::<f64>().prop_filter("a number", |share| share.is_finite())
            ]),
            option::of(any::<u64>()),
            texts(),
            texts(),
            option::of(any::<u64>()),
            option::of(any::<[u8; 32]>()),
            any::<bool>(),
        ),
    )
        .prop_map(|(first, second, third)| {
            let mut visit = visit(first.0);
            let record = &mut visit.record;
            (
                record.final_url,
                record.status,
                record.depth,
                record.via,
                record.content_type,
            ) = (first.1, first.2, first.4, first.5, first.6);
            record.fetched_at = Timestamp::from_millis(first.3);
            (record.bytes, record.charset, record.language, record.title) =
                (second.0, second.1, second.2, second.3);
            (record.fate, record.duplicate_of, record.distance) = (second.4, second.5, second.6);
            record.resemblance = third.0;
            record.fingerprint = third.1.map(Fingerprint::new);
            (record.warc_file, record.warc_offset) = (third.3, third.4);
            record.details.needs_scripts = third.6;
            record.details.rendered = third.6.then(|| journal::Rendered::Failed(String::new()));
            let stated = "train=n (noai), search=y (ai.txt)";
            record.details.preferences = third.6.then(|| stated.parse().unwrap());
            record.reason = third.2.map(journal::Reason::said);
            visit.sketch = third
                .5
                .map(|bytes| std::array::from_fn(|at| bytes[at % 32] ^ at as u8));
            visit
        })
}
