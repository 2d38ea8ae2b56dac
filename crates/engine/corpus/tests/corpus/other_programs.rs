//! Files as other programs write them: cells that are no text, columns in another order,
//! directories with more than data, and pipes.

use std::io::Cursor;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, IntervalYearMonthArray, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use corpus::{Documents, InputOptions, KeptDocuments};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::write::{self, read};

/// Writes columns of bytes that the file calls strings, as writers do that do not check them.
fn unchecked_strings(path: &Path, columns: &[(&str, &[&[u8]])]) {
    let field = |data_type: DataType| {
        let fields = columns
            .iter()
            .map(move |(name, _)| Field::new(*name, data_type.clone(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    };
    let arrays = columns
        .iter()
        .map(|(_, cells)| Arc::new(BinaryArray::from_iter_values(cells.iter())) as ArrayRef);
    let schema = field(DataType::Binary);
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).unwrap();
    let strings = ArrowSchemaConverter::new()
        .convert(&field(DataType::Utf8))
        .unwrap();
    let options = ArrowWriterOptions::new()
        .with_parquet_schema(strings)
        .with_skip_arrow_metadata(true);
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Keeps every document of the inputs, and returns the path of the output.
fn kept(directory: &Path, inputs: &[PathBuf], name: &str) -> PathBuf {
    let output = directory.join(name);
    let mut options = InputOptions::new(directory);
    let prepared = KeptDocuments::prepare(inputs, &mut options, &output).unwrap();
    let mut documents = Documents::below(inputs, &options).unwrap();
    let seen = documents.input_digest();
    documents.by_ref().for_each(drop);
    prepared.write(&seen, |_| true).unwrap();
    output
}

/// One such cell cost all rows of the file, and the message named a false place.
#[test]
fn a_cell_that_is_no_utf8_costs_its_row_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    unchecked_strings(
        &path,
        &[
            ("id", &[b"1", b"2", b"3"]),
            ("text", &[b"one", b"\xffo", b"two"]),
        ],
    );
    let rows = read(&[path], &InputOptions::new(directory.path()));
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0], Ok(("1".to_owned(), "one".to_owned())));
    assert_eq!(rows[2], Ok(("3".to_owned(), "two".to_owned())));
    let skipped = rows[1].as_ref().unwrap_err();
    assert!(
        skipped
            .reason
            .starts_with("row 2 has a \"text\" that is not UTF-8"),
        "{skipped}"
    );
    assert!(skipped.is_loss);
}

/// As in Parquet; one cell cost the whole batch, which may be the file.
#[test]
fn a_cell_of_an_arrow_file_that_is_no_utf8_costs_its_row_and_no_other() {
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["one", "Xone", "two"]));
    let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let file = file.into_inner().unwrap();
    for mut table in [file, write::arrow_stream(&[batch])] {
        let is_cell = |at: &usize| table[*at..].starts_with(b"oneXone");
        let cell = (0..table.len()).find(is_cell).unwrap();
        table[cell + 3] = 0xff;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        std::fs::write(&path, table).unwrap();
        let rows = read(&[path], &InputOptions::new(directory.path()));
        assert_eq!(rows.len(), 3);
        let text = |row: usize| rows[row].as_ref().unwrap().1.as_str();
        assert_eq!((text(0), text(2)), ("one", "two"));
        let skipped = rows[1].as_ref().unwrap_err();
        assert!(
            skipped
                .reason
                .starts_with("row 2 has a \"text\" that is not UTF-8"),
            "{skipped}"
        );
    }
}

/// `--keep` of such a file failed, with "cannot read the rows with all columns" and code 1: nothing
/// was written.
#[test]
fn a_cell_of_an_arrow_file_is_kept_as_it_is_in_a_column_of_strings() {
    let column = |cells: [&str; 3]| Arc::new(StringArray::from_iter_values(cells)) as ArrayRef;
    let columns = [
        ("text", column(["one", "Xone", "two"])),
        ("author", column(["Yann", "b", "c"])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    file.write(&batch).unwrap();
    let file = file.into_inner().unwrap();
    for mut table in [file, write::arrow_stream(&[batch])] {
        for cell in [&b"Xone"[..], b"Yann"] {
            let is_cell = |at: &usize| table[*at..].starts_with(cell);
            let cell = (0..table.len()).find(is_cell).unwrap();
            table[cell] = 0xff;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.arrow");
        std::fs::write(&path, table).unwrap();
        let output = kept(directory.path(), &[path], "kept.arrow");
        let rows = read(
            std::slice::from_ref(&output),
            &InputOptions::new(directory.path()),
        );
        let texts: Vec<&str> = rows.iter().map(|row| &*row.as_ref().unwrap().1).collect();
        assert_eq!(texts, ["one", "two"]);
        let kept = std::fs::read(output).unwrap();
        let has = |cell: &[u8]| kept.windows(cell.len()).any(|part| part == cell);
        assert!(has(b"\xffann") && !has(b"\xffone"));
        let schema = match kept.starts_with(b"ARROW1") {
            true => FileReader::try_new(Cursor::new(kept), None)
                .unwrap()
                .schema(),
            false => StreamReader::try_new(&*kept, None).unwrap().schema(),
        };
        assert_eq!(schema.field(1).data_type(), &DataType::Utf8);
    }
}

/// `--keep` said that the inputs had changed while they were read.
#[test]
fn a_cell_of_another_column_is_kept_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    unchecked_strings(
        &path,
        &[("text", &[b"one", b"two"]), ("author", &[b"\xff", b"b"])],
    );
    let output = kept(directory.path(), &[path], "kept.parquet");
    let file = SerializedFileReader::new(std::fs::File::open(output).unwrap()).unwrap();
    let group = file.get_row_group(0).unwrap();
    let ColumnReader::ByteArrayColumnReader(mut column) = group.get_column_reader(1).unwrap()
    else {
        panic!("the column is of bytes");
    };
    let (mut cells, mut levels) = (Vec::<ByteArray>::new(), Vec::new());
    column
        .read_records(9, Some(&mut levels), None, &mut cells)
        .unwrap();
    assert_eq!(
        cells.iter().map(ByteArray::data).collect::<Vec<_>>(),
        [&b"\xff"[..], b"b"]
    );
}

/// The months of each interval became 0 in the kept rows.
#[test]
fn intervals_keep_their_months() {
    let directory = tempfile::tempdir().unwrap();
    let batch = &write::plain(&[("1".to_owned(), "one".to_owned())])[1];
    let months: ArrayRef = Arc::new(IntervalYearMonthArray::from(vec![7]));
    let mut columns: Vec<(&str, ArrayRef)> = vec![("months", months)];
    columns.push(("text", Arc::clone(batch.column(2))));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = directory.path().join("a.parquet");
    std::fs::write(&path, write::parquet(&[batch], Compression::SNAPPY)).unwrap();
    let output = kept(directory.path(), &[path], "kept.parquet");
    let file = SerializedFileReader::new(std::fs::File::open(output).unwrap()).unwrap();
    let group = file.get_row_group(0).unwrap();
    let ColumnReader::FixedLenByteArrayColumnReader(mut column) =
        group.get_column_reader(0).unwrap()
    else {
        panic!("the column is of intervals");
    };
    let mut cells = Vec::new();
    column.read_records(9, None, None, &mut cells).unwrap();
    assert_eq!(cells[0].data(), [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// Shards whose columns have another order were refused.
#[test]
fn tables_go_together_whatever_the_order_of_their_columns() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = [("a", [0, 1, 2]), ("b", [2, 0, 1])].map(|(name, order)| {
        let batch = &write::plain(&[(name.to_owned(), format!("text {name}"))])[1];
        let path = directory.path().join(format!("{name}.parquet"));
        let batch = batch.project(&order).unwrap();
        std::fs::write(&path, write::parquet(&[batch], Compression::SNAPPY)).unwrap();
        path
    });
    let output = kept(directory.path(), &[first, second], "kept.parquet");
    let rows = read(&[output], &InputOptions::new(directory.path()));
    let row = |name: &str| Ok((name.to_owned(), format!("text {name}")));
    assert_eq!(rows, [row("a"), row("b")]);
}

/// `_SUCCESS` and READMEs were documents, links were passed over in silence, and a pipe hung.
#[test]
fn a_directory_has_its_data_and_what_is_not_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir(path("blobs")).unwrap();
    std::fs::create_dir(path("set")).unwrap();
    std::fs::write(path("blobs/0a"), "{\"id\": 1, \"text\": \"one\"}\n").unwrap();
    for (name, bytes) in [
        ("set/_SUCCESS", ""),
        ("set/.part.crc", "crc\0"),
        ("set/README.md", "about"),
        ("set/dataset_info.json", "{\n}"),
    ] {
        std::fs::write(path(name), bytes).unwrap();
    }
    symlink("../blobs/0a", path("set/a.jsonl")).unwrap();
    symlink(".", path("set/again")).unwrap();
    symlink("nowhere", path("set/broken")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(path("set/pipe"))
        .status();
    assert!(pipe.unwrap().success());
    let mut documents = Documents::below(&[path("set")], &InputOptions::new("")).unwrap();
    let read: Vec<_> = documents.by_ref().collect();
    assert_eq!(&*read[0].as_ref().unwrap().id, "1");
    let named = read[1..]
        .iter()
        .map(|skipped| &skipped.as_ref().unwrap_err().reason);
    let named: Vec<&str> = named
        .map(|reason| reason.split(',').next().unwrap())
        .collect();
    assert_eq!(named[0], "a link to a directory");
    assert!(named[1].contains("No such file"), "{named:?}");
    assert_eq!(named[2..], ["a pipe or a device"]);
    let odd = documents.warnings().describe().unwrap();
    assert!(odd.starts_with("3 files were skipped"), "{odd}");
}

/// A packed file of less than 64 KiB with something behind its end lost every line.
#[test]
fn what_lies_behind_a_packed_file_costs_no_line() {
    let directory = tempfile::tempdir().unwrap();
    let lines = write::lines(&[("1".to_owned(), "one".to_owned())]);
    let packed = write::pack(&lines, write::Packing::Gzip);
    for (behind, is_padded) in [(&[0; 700][..], true), (b"garbage", false)] {
        let path = directory.path().join("a.jsonl.gz");
        std::fs::write(&path, [&packed[..], behind].concat()).unwrap();
        let rows = read(&[path], &InputOptions::new(directory.path()));
        assert_eq!(rows[0], Ok(("1".to_owned(), "one".to_owned())));
        assert_eq!(rows.len() == 1, is_padded, "{rows:?}");
    }
}
