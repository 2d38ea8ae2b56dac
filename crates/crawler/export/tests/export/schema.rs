//! The schema and metadata of a Parquet file, which are a contract.

use std::fmt::Write as _;

use export::{AuditTable, BROKEN_LINKS, CHUNKS, Form, LINKS, SIGNATURES, SKETCHES, TEXTS};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::printer::print_schema;

use crate::read_back::{visit, written};

#[test]
fn the_schemas_are_those_that_are_documented() {
    let mut text = String::new();
    let audit = AuditTable::ALL.map(AuditTable::table);
    let tables = [SKETCHES, LINKS, BROKEN_LINKS, TEXTS, CHUNKS, SIGNATURES];
    let others = audit.iter().filter(|table| **table != BROKEN_LINKS);
    for table in tables.iter().chain(others).copied() {
        let bytes = written(Form::Parquet, table, &[]);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let file = reader.metadata().file_metadata();
        let mut schema = Vec::new();
        print_schema(&mut schema, file.schema());
        text.push_str(std::str::from_utf8(&schema).unwrap());
        writeln!(text, "created by {}", file.created_by().unwrap()).unwrap();
        for note in file.key_value_metadata().unwrap() {
            writeln!(text, "{} = {}", note.key, note.value.as_deref().unwrap()).unwrap();
        }
        text.push('\n');
    }
    let golden = include_str!("../../golden/schemas.txt");
    assert_eq!(
        text, golden,
        "columns are a contract: bless this only with a new version of the schema"
    );
}

#[test]
fn queried_columns_have_statistics_and_sketches_have_none() {
    let mut visit = visit(1);
    visit.record.fingerprint = Some(neardup::Fingerprint::new(u64::MAX));
    visit.sketch = Some([7; neardup::SKETCH_BYTES]);
    let bytes = written(Form::Parquet, SKETCHES, &[visit.fields().to_vec()]);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    for column in reader.metadata().row_group(0).columns() {
        let name = column.column_path().string();
        assert_eq!(column.statistics().is_some(), name != "sketch", "{name}");
        assert!(
            column.compression() != parquet::basic::Compression::UNCOMPRESSED,
            "{name}"
        );
    }
}
