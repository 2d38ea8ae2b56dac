//! Every format gives the same documents.

use std::io::Write;
use std::path::PathBuf;

use corpus::{CorpusError, Documents, InputOptions};
use parquet::basic::Compression;
use proptest::prelude::*;

use crate::write::{self, FORMATS, Format, Packing, Pair, pack, read};

/// The bytes of "{\"id\":1,\"text\":\"packed with xz\"}\n", packed by `xz`.
const XZ: &[u8] = include_bytes!("one-line.jsonl.xz");

pub(crate) fn documents() -> impl Strategy<Value = Vec<Pair>> {
    let text = "(?s)[a-zäß€ \n\"\\\\{}]{0,60}";
    prop::collection::vec(text, 0..40).prop_map(|texts| {
        let id = |(number, text)| (format!("http://a.test/{number}"), text);
        texts.into_iter().enumerate().map(id).collect()
    })
}

fn two() -> Vec<Pair> {
    [("a", "one text"), ("b", "another")]
        .map(|(id, text)| (id.to_owned(), text.to_owned()))
        .into()
}

struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn options(&self) -> InputOptions {
        InputOptions::new(self.0.path())
    }

    /// Returns the reason for which the only content of a file is skipped.
    fn reason(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.write(name, bytes);
        let mut read = read(&[path], &self.options());
        assert_eq!(read.len(), 1, "{name}: {read:?}");
        read.remove(0).unwrap_err().reason
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_written_in_any_format_is_read(documents in documents()) {
        let directory = Directory::new();
        for format in FORMATS {
            let path = write::write(directory.0.path(), format, &documents);
            let expected: Vec<_> = documents.iter().cloned().map(Ok).collect();
            prop_assert_eq!(read(&[path], &directory.options()), expected, "{:?}", format);
        }
    }

    #[test]
    fn damaged_files_of_any_format_are_skipped_and_never_a_panic(
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let directory = Directory::new();
        for format in FORMATS {
            let path = write::write(directory.0.path(), format, &two());
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = to;
            let flipped = directory.write("flipped", &bytes);
            bytes.truncate(cut.index(bytes.len()));
            let cut = directory.write("cut", &bytes);
            for path in [flipped, cut] {
                let paths = [path];
                let read = Documents::below(&paths, &directory.options()).unwrap();
                prop_assert!(read.count() <= 200, "{:?}", format);
            }
        }
    }
}

#[test]
fn the_first_bytes_decide_on_the_format_whatever_the_name() {
    let directory = Directory::new();
    for (format, packing) in [
        (Format::Parquet(Compression::SNAPPY), Packing::None),
        (Format::ArrowFile, Packing::None),
        (Format::ArrowStream, Packing::Gzip),
        (Format::Warc(Packing::None), Packing::Bzip2),
    ] {
        let named = write::write(directory.0.path(), format, &two());
        let bytes = pack(&std::fs::read(named).unwrap(), packing);
        let path = directory.write("nameless", bytes);
        let expected: Vec<_> = two().into_iter().map(Ok).collect();
        assert_eq!(read(&[path], &directory.options()), expected, "{format:?}");
    }
}

#[test]
fn compressed_files_of_several_members_are_read_whole() {
    let directory = Directory::new();
    let [first, second] = [&two()[..1], &two()[1..]].map(write::lines);
    for packing in [Packing::Gzip, Packing::Zstandard, Packing::Bzip2] {
        let bytes = [pack(&first, packing), pack(&second, packing)].concat();
        let path = directory.write("a.jsonl", bytes);
        let expected: Vec<_> = two().into_iter().map(Ok).collect();
        assert_eq!(read(&[path], &directory.options()), expected, "{packing:?}");
    }
    let path = directory.write("a.jsonl", [XZ, XZ].concat());
    let line = || Ok(("1".to_owned(), "packed with xz".to_owned()));
    assert_eq!(read(&[path], &directory.options()), [line(), line()]);
}

#[test]
fn a_compressed_text_is_cut_at_a_bound_and_this_is_said() {
    let directory = Directory::new();
    let text = "again ".repeat(12 << 20);
    for packing in [Packing::Gzip, Packing::Zstandard] {
        let path = directory.write("bomb.txt", pack(text.as_bytes(), packing));
        let name = path.display().to_string();
        let mut documents = Documents::below(&[path], &directory.options()).unwrap();
        let document = documents.next().unwrap().unwrap();
        assert_eq!(document.content.len(), 64 << 20);
        let odd = documents.warnings().describe().unwrap();
        let cut = "1 document was truncated, because it is too long (the rest is compared \
            only by its digest)";
        assert_eq!(odd, format!("{cut}: {name}"));
    }
}

#[test]
fn a_decoder_that_asks_for_too_much_memory_is_refused() {
    let directory = Directory::new();
    let mut long = zstd::Encoder::new(Vec::new(), 1).unwrap();
    long.window_log(28).unwrap();
    long.include_contentsize(false).unwrap();
    long.write_all(b"a text").unwrap();
    let reason = directory.reason("long.txt", long.finish().unwrap());
    assert!(reason.to_lowercase().contains("memory"), "{reason}");
    // The dictionary of the first block becomes one of 4 GiB, with a right checksum.
    let mut header = XZ.to_vec();
    header[16] = 40;
    let end = 12 + 4 * (usize::from(header[12]) + 1);
    let mut crc = flate2::Crc::new();
    crc.update(&header[12..end - 4]);
    header[end - 4..end].copy_from_slice(&crc.sum().to_le_bytes());
    let reason = directory.reason("huge.txt", header);
    assert!(reason.contains("memory"), "{reason}");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let directory = Directory::new();
    let parquet = write::parquet(&write::plain(&two()), Compression::SNAPPY);
    for (name, bytes, part) in [
        (
            "a.txt",
            b"\x89PNG\r\n\x1a\n\0\0".to_vec(),
            "a PNG image, not a text",
        ),
        (
            "a.parquet.gz",
            pack(&parquet, Packing::Gzip),
            "Parquet within gzip: unpack it first",
        ),
        (
            "a.txt.gz",
            pack(&pack(b"text", Packing::Zstandard), Packing::Gzip),
            "Zstandard within gzip",
        ),
        ("a.txt.gz", pack(b"\x7fELF", Packing::Gzip), "an executable"),
        ("a.json", b"[{\"text\": \"one\"}]".to_vec(), "a JSON array"),
        ("a.parquet", parquet[..parquet.len() - 9].to_vec(), "arquet"),
        (
            "a.txt.gz",
            pack(&[b'a'; 1000], Packing::Gzip)[..20].to_vec(),
            "",
        ),
    ] {
        let reason = directory.reason(name, bytes);
        assert!(reason.contains(part), "{name}: {reason}");
    }
}

#[test]
fn texts_are_read_from_columns_of_every_type_of_text() {
    let directory = Directory::new();
    let mut expected: Vec<_> = two().into_iter().map(Ok).collect();
    for (number, pair) in expected.iter_mut().enumerate() {
        pair.as_mut().unwrap().0 = number.to_string();
    }
    for (name, batch) in write::of_each_type(&two()) {
        let mut options = directory.options();
        options.text_field = (name == "page").then(|| "page.body".to_owned());
        for bytes in [
            write::parquet(std::slice::from_ref(&batch), Compression::SNAPPY),
            write::arrow_file(std::slice::from_ref(&batch)),
            write::arrow_stream(std::slice::from_ref(&batch)),
        ] {
            let path = directory.write("table", bytes);
            assert_eq!(read(&[path], &options), expected, "{:?}", batch.schema());
        }
    }
}

#[test]
fn an_absent_column_is_reported_with_those_that_are_there() {
    let directory = Directory::new();
    let mut options = directory.options();
    options.text_field = Some("content".to_owned());
    for format in [
        Format::Parquet(Compression::SNAPPY),
        Format::ArrowFile,
        Format::ArrowStream,
    ] {
        let path = write::write(directory.0.path(), format, &two());
        let skipped = read(&[path], &options).remove(0).unwrap_err();
        assert_eq!(
            skipped.reason,
            "has no \"content\"; it has \"id\", \"length\", \"text\": choose one with --text-field"
        );
    }
    options.text_field = Some("length".to_owned());
    let path = write::write(directory.0.path(), Format::ArrowFile, &two());
    let skipped = read(&[path], &options).remove(0).unwrap_err();
    assert!(skipped.reason.contains("a string is required"), "{skipped}");
}

#[test]
fn documents_without_an_id_are_named_by_file_and_place() {
    let directory = Directory::new();
    let path = directory.write("a.jsonl", "{\"text\": \"one\"}\n\n{\"text\": \"two\"}\n");
    let name = path.display().to_string();
    let ids = |paths: &[PathBuf], options: &InputOptions| -> Vec<String> {
        read(paths, options)
            .into_iter()
            .map(|pair| pair.unwrap().0)
            .collect()
    };
    assert_eq!(
        ids(&[path], &directory.options()),
        [format!("{name}:1"), format!("{name}:3")]
    );
    let batches: Vec<_> = write::plain(&two())
        .iter()
        .map(|batch| batch.project(&[2]).unwrap())
        .collect();
    let path = directory.write("a.arrow", write::arrow_file(&batches));
    let name = path.display().to_string();
    assert_eq!(
        ids(&[path], &directory.options()),
        [format!("{name}:1"), format!("{name}:2")]
    );
}

#[test]
fn a_pattern_stands_for_its_matches_unless_a_file_is_called_so() {
    let directory = Directory::new();
    directory.write("b.jsonl", write::lines(&two()[..1]));
    directory.write("a.jsonl", write::lines(&two()[1..]));
    directory.write("c.other", "no document");
    let pattern = directory.0.path().join("*.jsonl");
    let ids = |pattern: &PathBuf| -> Vec<String> {
        let read = read(std::slice::from_ref(pattern), &directory.options());
        read.into_iter().map(|pair| pair.unwrap().0).collect()
    };
    assert_eq!(ids(&pattern), ["b", "a"], "in the order of the names");
    directory.write("*.jsonl", write::lines(&two()[1..]));
    assert_eq!(ids(&pattern), ["b"]);
    let absent = directory.0.path().join("*.parquet");
    let error = Documents::below(&[absent], &directory.options())
        .err()
        .unwrap();
    assert!(matches!(error, CorpusError::NoMatch { .. }), "{error}");
}

#[test]
fn a_file_that_vanishes_after_it_was_listed_is_skipped_and_the_next_is_read() {
    let directory = Directory::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        directory.write(name, name);
    }
    let paths = [directory.0.path().to_owned()];
    let mut documents = Documents::below(&paths, &directory.options()).unwrap();
    assert!(documents.next().unwrap().is_ok());
    std::fs::remove_file(directory.0.path().join("b.txt")).unwrap();
    let skipped = documents.next().unwrap().unwrap_err();
    assert!(skipped.culprit.ends_with("b.txt"), "{skipped}");
    assert!(documents.next().unwrap().unwrap().id.ends_with("c.txt"));
    assert!(documents.next().is_none());
}

#[test]
fn a_row_group_of_one_text_a_hundred_thousand_times_is_read_row_by_row() {
    let directory = Directory::new();
    let text = "the same text ".repeat(20);
    let documents: Vec<Pair> = (0..100_000)
        .map(|n| (n.to_string(), text.clone()))
        .collect();
    let bytes = write::parquet(&write::plain(&documents), Compression::SNAPPY);
    assert!(bytes.len() < 1 << 20, "it is in a dictionary once");
    let path = directory.write("same.parquet", bytes);
    let read = Documents::below(&[path], &directory.options()).unwrap();
    assert_eq!(read.filter(Result::is_ok).count(), 100_000);
}

#[test]
fn empty_files_of_every_kind_are_no_fault() {
    let directory = Directory::new();
    for (name, documents) in [
        ("a.jsonl", 0),
        ("a.txt", 1),
        ("a.jsonl.gz", 0),
        ("a.warc", 0),
    ] {
        let path = directory.0.path().join(name);
        write::touch(&path);
        let read = read(&[path], &directory.options());
        assert_eq!(read.len(), documents, "{name}");
    }
}
