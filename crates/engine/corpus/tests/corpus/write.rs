//! Writers of files with documents.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field};
use corpus::{Content, Document, Documents, InputOptions, Skipped};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// An id and a text.
pub(crate) type Pair = (String, String);

/// A format of test files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Lines(Packing),
    Parquet(Compression),
    ArrowFile,
    ArrowStream,
    Warc(Packing),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstandard,
    Bzip2,
}

pub(crate) const FORMATS: [Format; 12] = [
    Format::Lines(Packing::None),
    Format::Lines(Packing::Gzip),
    Format::Lines(Packing::Zstandard),
    Format::Lines(Packing::Bzip2),
    Format::Parquet(Compression::UNCOMPRESSED),
    Format::Parquet(Compression::SNAPPY),
    Format::Parquet(Compression::LZ4_RAW),
    Format::ArrowFile,
    Format::ArrowStream,
    Format::Warc(Packing::None),
    Format::Warc(Packing::Gzip),
    Format::Warc(Packing::Zstandard),
];

/// Writes documents to a file whose name says nothing wrong.
pub(crate) fn write(directory: &Path, format: Format, documents: &[Pair]) -> PathBuf {
    let (name, bytes) = match format {
        Format::Lines(packing) => ("in.jsonl", pack(&lines(documents), packing)),
        Format::Parquet(codec) => ("in.parquet", parquet(&plain(documents), codec)),
        Format::ArrowFile => ("in.arrow", arrow_file(&plain(documents))),
        Format::ArrowStream => ("in.arrows", arrow_stream(&plain(documents))),
        Format::Warc(packing) => ("in.warc", warc(documents, packing)),
    };
    let path = directory.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Returns the extension of an output in this format.
pub(crate) fn extension(format: Format) -> &'static str {
    match format {
        Format::Lines(_) => "jsonl",
        Format::Parquet(_) => "parquet",
        Format::ArrowFile => "arrow",
        Format::ArrowStream => "arrows",
        Format::Warc(_) => "warc",
    }
}

pub(crate) fn lines(documents: &[Pair]) -> Vec<u8> {
    let line = |(id, text): &Pair| serde_json::json!({"id": id, "text": text}).to_string() + "\n";
    documents.iter().map(line).collect::<String>().into_bytes()
}

pub(crate) fn pack(bytes: &[u8], packing: Packing) -> Vec<u8> {
    match packing {
        Packing::None => bytes.to_owned(),
        Packing::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        Packing::Zstandard => zstd::encode_all(bytes, 1).unwrap(),
        Packing::Bzip2 => {
            let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
    }
}

/// Returns two batches with ids, texts and another column.
pub(crate) fn plain(documents: &[Pair]) -> Vec<RecordBatch> {
    let batch = |documents: &[Pair]| {
        let column = |part: fn(&Pair) -> &String| {
            let values = documents.iter().map(part);
            Arc::new(StringArray::from_iter_values(values)) as ArrayRef
        };
        let lengths = documents.iter().map(|(_, text)| text.len() as i64);
        RecordBatch::try_from_iter([
            ("id", column(|(id, _)| id)),
            (
                "length",
                Arc::new(Int64Array::from_iter_values(lengths)) as ArrayRef,
            ),
            ("text", column(|(_, text)| text)),
        ])
        .unwrap()
    };
    let (first, second) = documents.split_at(documents.len() / 2);
    vec![batch(first), batch(second)]
}

/// Returns batches with the texts in a column of each type that is read.
pub(crate) fn of_each_type(documents: &[Pair]) -> Vec<(&'static str, RecordBatch)> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..documents.len() as i64));
    let texts = || documents.iter().map(|(_, text)| text.as_str());
    let dictionary: DictionaryArray<Int32Type> = texts().collect();
    let strings: ArrayRef = Arc::new(StringArray::from_iter_values(texts()));
    let inner = Arc::new(Field::new("body", DataType::Utf8, false));
    let columns: [(&str, ArrayRef); 6] = [
        (
            "text",
            Arc::new(LargeStringArray::from_iter_values(texts())),
        ),
        ("text", Arc::new(StringViewArray::from_iter_values(texts()))),
        ("text", Arc::new(BinaryArray::from_iter_values(texts()))),
        ("text", Arc::new(dictionary)),
        ("text", Arc::clone(&strings)),
        ("page", Arc::new(StructArray::from(vec![(inner, strings)]))),
    ];
    columns
        .into_iter()
        .map(|(name, column)| {
            let batch = RecordBatch::try_from_iter([("id", Arc::clone(&ids)), (name, column)]);
            (name, batch.unwrap())
        })
        .collect()
}

pub(crate) fn parquet(batches: &[RecordBatch], codec: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(codec).build();
    let schema = batches[0].schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

pub(crate) fn arrow_file(batches: &[RecordBatch]) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    let options = options
        .try_with_compression(Some(CompressionType::LZ4_FRAME))
        .unwrap();
    let schema = batches[0].schema();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// Returns a record of an archive.
pub(crate) fn record(kind: &str, number: usize, more: &str, block: &[u8]) -> Vec<u8> {
    let mut record = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{kind}-{number}>\r\n\
         WARC-Date: 2026-01-01T00:00:00Z\r\n{more}Content-Length: {}\r\n\r\n",
        block.len()
    )
    .into_bytes();
    record.extend_from_slice(block);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

/// Returns an archive of requests and responses, each record packed by itself.
pub(crate) fn warc(documents: &[Pair], packing: Packing) -> Vec<u8> {
    let mut archive = pack(&record("warcinfo", 0, "", b"software: test\r\n"), packing);
    for (number, (id, text)) in documents.iter().enumerate() {
        let target = format!("WARC-Target-URI: {id}\r\n");
        let linked = format!("{target}WARC-Concurrent-To: <urn:uuid:response-{number}>\r\n");
        let media = "Content-Type: application/http;msgtype=response\r\n";
        let response =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}");
        let request = record("request", number, &linked, b"GET / HTTP/1.1\r\n\r\n");
        let response = record(
            "response",
            number,
            &format!("{target}{media}"),
            response.as_bytes(),
        );
        let metadata = record("metadata", number, &linked, b"via: test\r\n");
        for record in [request, response, metadata] {
            archive.extend(pack(&record, packing));
        }
    }
    archive
}

/// Reads documents.
pub(crate) fn read(paths: &[PathBuf], options: &InputOptions) -> Vec<Result<Pair, Skipped>> {
    let documents = Documents::below(paths, options).unwrap();
    documents.map(|document| document.map(pair)).collect()
}

fn pair(document: Document) -> Pair {
    let text = match document.content {
        Content::Text { text, .. } => text,
        Content::Body { bytes, .. } => String::from_utf8(bytes).unwrap(),
    };
    (document.id.into_string(), text)
}

/// Creates a file that is empty.
pub(crate) fn touch(path: &Path) {
    File::create(path).unwrap();
}
