//! Kept documents are those that were chosen, in the format and order of their files.

use std::path::{Path, PathBuf};

use batch::dedup::FindingKind;
use corpus::{
    Documents, IdRanges, InputOptions, KeepError, KeptDocuments, KeptSummary, ResultTable,
    TableFormat,
};
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;

use crate::formats::documents;
use crate::write::{self, FORMATS, Format, Packing, Pair, pack, read};

struct Kept {
    directory: tempfile::TempDir,
}

impl Kept {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn keep(
        &self,
        paths: &[PathBuf],
        output: &Path,
        survives: impl FnMut(u64) -> bool,
    ) -> Result<KeptSummary, KeepError> {
        let mut options = InputOptions::new(self.directory.path());
        let kept = KeptDocuments::prepare(paths, &mut options, output)?;
        let mut documents = Documents::below(paths, &options).unwrap();
        let seen = documents.input_digest();
        documents.by_ref().for_each(drop);
        kept.write(&seen, survives)
    }

    /// Returns the error of preparing an output.
    fn refused(&self, paths: &[PathBuf], output: &Path) -> String {
        let mut options = InputOptions::new(self.directory.path());
        KeptDocuments::prepare(paths, &mut options, output)
            .unwrap_err()
            .to_string()
    }

    fn read(&self, path: &Path) -> Vec<Pair> {
        let read = read(
            &[path.to_owned()],
            &InputOptions::new(self.directory.path()),
        );
        read.into_iter().map(Result::unwrap).collect()
    }

    /// Returns the names of the files in the directory.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn numbered(count: usize) -> Vec<Pair> {
    let pair = |n| (format!("http://a.test/{n}"), format!("text number {n}"));
    (0..count).map(pair).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_kept_is_read_again_in_every_format(
        documents in documents(),
        chosen in prop::collection::vec(any::<bool>(), 40),
    ) {
        for format in FORMATS {
            let kept = Kept::new();
            let input = write::write(kept.directory.path(), format, &documents);
            let expected: Vec<Pair> = documents
                .iter()
                .zip(&chosen)
                .filter(|(_, chosen)| **chosen)
                .map(|(document, _)| document.clone())
                .collect();
            let mut outputs = vec![write::extension(format).to_owned()];
            if !matches!(format, Format::Parquet(_) | Format::ArrowFile) {
                outputs.push(format!("{}.gz", outputs[0]));
                outputs.push(format!("{}.zst", outputs[0]));
            }
            for extension in outputs {
                let output = kept.path(&format!("kept.{extension}"));
                let summary =
                    kept.keep(std::slice::from_ref(&input), &output, |n| chosen[n as usize]);
                let summary = summary.unwrap();
                prop_assert_eq!(summary.documents, documents.len() as u64);
                prop_assert_eq!(summary.kept, expected.len() as u64);
                prop_assert_eq!(summary.bytes, output.metadata().unwrap().len());
                prop_assert_eq!(kept.read(&output), expected.clone(), "{:?} {}", format, extension);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn texts_that_are_replaced_are_read_again_and_the_others_stay(
        documents in documents(),
        texts in prop::collection::vec(prop::option::of(".{0,20}"), 40),
    ) {
        for format in FORMATS {
            let kept = Kept::new();
            let input = write::write(kept.directory.path(), format, &documents);
            let paths = [input];
            let output = kept.path(&format!("kept.{}", write::extension(format)));
            let mut options = InputOptions::new(kept.directory.path());
            let prepared = KeptDocuments::prepare(&paths, &mut options, &output).unwrap();
            let mut read = Documents::below(&paths, &options).unwrap();
            let seen = read.input_digest();
            read.by_ref().for_each(drop);
            let written = prepared.write_texts(&seen, |number, _document| {
                let text = texts[number as usize].clone();
                Ok(text.map_or(corpus::Kept::Whole, corpus::Kept::WithText))
            });
            if matches!(format, Format::Warc(_)) {
                let is_refused = matches!(written, Err(KeepError::Unsupported { .. }));
                prop_assert!(is_refused);
                continue;
            }
            prop_assert_eq!(written.unwrap().kept, documents.len() as u64);
            let expected: Vec<Pair> = documents
                .iter()
                .zip(&texts)
                .map(|((id, own), text)| (id.clone(), text.clone().unwrap_or(own.clone())))
                .collect();
            prop_assert_eq!(kept.read(&output), expected, "{:?}", format);
        }
    }
}

/// Nothing is left of an output if it is not known what to keep.
#[test]
fn an_error_of_the_choice_leaves_nothing() {
    let kept = Kept::new();
    let paths = [kept.write("in.jsonl", "{\"text\": \"one\"}\n")];
    let mut options = InputOptions::new(kept.directory.path());
    let output = kept.path("out.jsonl");
    let prepared = KeptDocuments::prepare(&paths, &mut options, &output).unwrap();
    let mut read = Documents::below(&paths, &options).unwrap();
    let seen = read.input_digest();
    read.by_ref().for_each(drop);
    let written = prepared.write_texts(&seen, |_, _| Err(std::io::Error::other("gone")));
    assert!(
        matches!(written, Err(KeepError::Choice { .. })),
        "{written:?}"
    );
    assert_eq!(kept.names(), ["in.jsonl"]);
}

#[test]
fn lines_are_kept_byte_by_byte_and_bad_ones_are_left_out() {
    let kept = Kept::new();
    let lines = "{\"text\": \"one\",   \"extra\": [1, 2.50]}\r\nnonsense\n\n{\"text\":\"two\"}";
    let input = kept.write("in.jsonl", lines);
    let output = kept.path("out.jsonl");
    let summary = kept.keep(&[input], &output, |_| true).unwrap();
    assert_eq!((summary.documents, summary.kept), (2, 2));
    assert_eq!(
        std::fs::read_to_string(output).unwrap(),
        "{\"text\": \"one\",   \"extra\": [1, 2.50]}\r\n{\"text\":\"two\"}\n"
    );
}

#[test]
fn several_files_become_one_in_the_order_of_reading() {
    let kept = Kept::new();
    let documents = numbered(5);
    for format in [
        Format::Lines(Packing::Gzip),
        Format::Parquet(Compression::SNAPPY),
        Format::ArrowFile,
        Format::Warc(Packing::Gzip),
    ] {
        let paths: Vec<PathBuf> = [&documents[3..], &documents[..3]]
            .iter()
            .enumerate()
            .map(|(number, part)| {
                let path = write::write(kept.directory.path(), format, part);
                let numbered =
                    kept.path(&format!("{number}-{}", path.file_name().unwrap().display()));
                std::fs::rename(path, &numbered).unwrap();
                numbered
            })
            .collect();
        let output = kept.path(&format!("kept.{}", write::extension(format)));
        kept.keep(&paths, &output, |n| n != 1).unwrap();
        let expected = [3, 0, 1, 2].map(|n| documents[n].clone());
        assert_eq!(kept.read(&output), expected, "{format:?}");
    }
}

#[test]
fn a_parquet_file_keeps_its_schema_its_metadata_and_its_codecs() {
    let kept = Kept::new();
    for (name, batch) in write::of_each_type(&numbered(9)) {
        let input = kept.write("in.parquet", write::parquet(&[batch], Compression::SNAPPY));
        let output = kept.path("out.parquet");
        let mut options = InputOptions::new(kept.directory.path());
        options.text_field = (name == "page").then(|| "page.body".to_owned());
        let paths = [input.clone()];
        let prepared = KeptDocuments::prepare(&paths, &mut options, &output).unwrap();
        let mut documents = Documents::below(&paths, &options).unwrap();
        let seen = documents.input_digest();
        assert_eq!(
            documents
                .by_ref()
                .filter(|document| document.is_ok())
                .count(),
            9
        );
        prepared.write(&seen, |n| n % 2 == 0).unwrap();
        let open = |path: &Path| SerializedFileReader::new(std::fs::File::open(path).unwrap());
        let (before, after) = (open(&input).unwrap(), open(&output).unwrap());
        let (before, after) = (before.metadata(), after.metadata());
        let (one, two) = (before.file_metadata(), after.file_metadata());
        assert_eq!(one.schema(), two.schema());
        assert_eq!(one.key_value_metadata(), two.key_value_metadata());
        assert_eq!(two.num_rows(), 5);
        let codec = after.row_group(0).column(0).compression();
        assert_eq!(codec, Compression::SNAPPY);
    }
}

#[test]
fn records_that_refer_to_a_kept_page_are_kept_with_it_as_they_are() {
    let kept = Kept::new();
    let documents = numbered(3);
    let whole = write::warc(&documents, Packing::Gzip);
    let input = kept.write("in.warc.gz", &whole);
    let output = kept.path("out.warc.gz");
    kept.keep(std::slice::from_ref(&input), &output, |_| true)
        .unwrap();
    assert_eq!(std::fs::read(&output).unwrap(), whole, "member by member");
    kept.keep(&[input], &kept.path("out.warc"), |n| n == 1)
        .unwrap();
    let text = String::from_utf8(std::fs::read(kept.path("out.warc")).unwrap()).unwrap();
    let kinds: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("WARC-Record-ID: <urn:uuid:"))
        .collect();
    assert_eq!(
        kinds,
        ["warcinfo-0>", "request-1>", "response-1>", "metadata-1>"]
    );
}

#[test]
fn an_archive_in_one_piece_is_refused_before_the_work() {
    let kept = Kept::new();
    let whole = pack(&write::warc(&numbered(3), Packing::None), Packing::Gzip);
    let input = kept.write("in.warc.gz", whole);
    let reason = kept.refused(&[input], &kept.path("out.warc.gz"));
    assert!(reason.contains("compressed in one piece"), "{reason}");
}

#[test]
fn kept_files_are_listed_or_copied_into_a_directory() {
    let kept = Kept::new();
    for name in ["a.txt", "b.html", "sub/c.txt"] {
        kept.write(&format!("in/{name}"), format!("<p>text of {name}"));
    }
    let input = kept.path("in");
    let list = kept.path("kept.txt");
    kept.keep(std::slice::from_ref(&input), &list, |n| n != 1)
        .unwrap();
    let expected: String = ["a.txt", "sub/c.txt"]
        .map(|name| format!("{}\n", input.join(name).display()))
        .concat();
    assert_eq!(std::fs::read_to_string(list).unwrap(), expected);
    let copies = kept.path("kept/");
    kept.keep(std::slice::from_ref(&input), &copies, |n| n != 1)
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(copies.join("sub/c.txt")).unwrap(),
        "<p>text of sub/c.txt"
    );
    assert!(!copies.join("b.html").exists());
    let error = kept
        .keep(&[input], &copies, |_| true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not empty"), "{error}");
}

#[test]
fn inputs_that_make_no_sense_together_are_refused_before_the_work() {
    let kept = Kept::new();
    let lines = kept.write("a.jsonl", write::lines(&numbered(1)));
    let text = kept.write("a.txt", "text");
    let output = kept.path("out.jsonl");
    let reason = kept.refused(&[lines.clone(), text], &output);
    let name = kept.directory.path().display();
    assert_eq!(
        reason,
        format!(
            "all inputs of one output must have the same format: {name}/a.jsonl is JSON lines, and \
             {name}/a.txt is a text"
        )
    );
    let reason = kept.refused(std::slice::from_ref(&lines), &kept.path("out.parquet"));
    assert!(
        reason.ends_with("has the name of Parquet, but the inputs are JSON lines"),
        "{reason}"
    );
    let within = kept.refused(&[kept.directory.path().to_owned()], &output);
    assert!(within.contains("choose a file elsewhere"), "{within}");
    let batches = write::plain(&numbered(2));
    let fewer = batches[0].project(&[0, 2]).unwrap();
    let a = kept.write("a.arrow", write::arrow_file(&batches));
    let b = kept.write("b.arrow", write::arrow_file(&[fewer]));
    let reason = kept.refused(&[a, b], &kept.path("out.arrow"));
    assert!(
        reason.ends_with("differ, \"length\" is only in the first"),
        "{reason}"
    );
}

#[test]
fn an_input_that_changes_between_the_readings_leaves_no_output() {
    let kept = Kept::new();
    let documents = numbered(4);
    for format in FORMATS {
        for again in [&documents[..3], &documents[1..], &numbered(5)[..]] {
            let input = write::write(kept.directory.path(), format, &documents);
            let output = kept.path(&format!("kept.{}", write::extension(format)));
            let paths = [input];
            let mut options = InputOptions::new(kept.directory.path());
            let prepared = KeptDocuments::prepare(&paths, &mut options, &output).unwrap();
            let mut read = Documents::below(&paths, &options).unwrap();
            let seen = read.input_digest();
            read.by_ref().for_each(drop);
            write::write(kept.directory.path(), format, again);
            let error = prepared.write(&seen, |_| true).unwrap_err();
            assert!(
                matches!(error, KeepError::Changed { .. }),
                "{format:?}: {error}"
            );
            assert!(
                !kept.names().iter().any(|name| name.starts_with("kept")),
                "{format:?}"
            );
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_with_the_bytes_written_and_leaves_nothing() {
    let kept = Kept::new();
    for format in FORMATS {
        let input = write::write(kept.directory.path(), format, &numbered(2_000));
        let error = kept
            .keep(&[input], Path::new("/dev/full"), |_| true)
            .unwrap_err();
        let KeepError::Write { source, .. } = &error else {
            panic!("{format:?}: {error:?}");
        };
        assert_eq!(source.kind(), std::io::ErrorKind::StorageFull, "{format:?}");
        assert!(
            error
                .to_string()
                .starts_with("cannot write /dev/full after "),
            "{error}"
        );
    }
}

#[test]
fn findings_are_tables_that_are_read_again() {
    let kept = Kept::new();
    for (format, name) in [
        (TableFormat::Parquet, "f.parquet"),
        (TableFormat::Arrow, "f.arrow"),
    ] {
        let path = kept.path(name);
        let mut table =
            ResultTable::create(&path, format, FindingKind::Duplicates, IdRanges::default())
                .unwrap();
        for number in 0..20_000 {
            table
                .write_pair(
                    &format!("d{number}").into(),
                    &"original".into(),
                    3,
                    0.875,
                    "words",
                )
                .unwrap();
        }
        assert_eq!(table.finish().unwrap(), path.metadata().unwrap().len());
        let mut options = InputOptions::new(kept.directory.path());
        options.text_field = Some("duplicate_of".to_owned());
        options.id_field = Some("document".to_owned());
        let rows = read(&[path], &options);
        assert_eq!(rows.len(), 20_000);
        assert_eq!(
            rows[19_999],
            Ok(("d19999".to_owned(), "original".to_owned()))
        );
        let path = kept.path(&format!("clusters-{name}"));
        let mut table = ResultTable::create(
            &path,
            format,
            FindingKind::Clusters { chained: false },
            IdRanges::default(),
        )
        .unwrap();
        table.write_member(0, &"a".into()).unwrap();
        drop(table);
        assert!(!path.exists(), "an unfinished table leaves nothing");
    }
    assert_eq!(kept.names(), ["f.arrow", "f.parquet"]);
}
