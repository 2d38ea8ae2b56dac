//! Fillers on a disk that fails.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicUsize;

use sinks::IndexText;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, FileHandle, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};
use web::{CanonicalForm, PageUrl, Timestamp};

use super::*;
use crate::fault::IndexFault;
use crate::writer::guarded;

/// A directory in which only some files can be made.
#[derive(Clone, Debug)]
struct FailingDirectory {
    below: RamDirectory,
    files: Arc<AtomicUsize>,
    panics: bool,
}

impl Directory for FailingDirectory {
    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let one_less = |left: usize| left.checked_sub(1);
        let left = self
            .files
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        match left {
            Ok(_) => self.below.open_write(path),
            Err(_) if self.panics => panic!("no files are left"),
            Err(_) => {
                let full = io::ErrorKind::StorageFull.into();
                Err(OpenWriteError::wrap_io_error(full, path.to_owned()))
            }
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.below.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.below.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.below.exists(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.below.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.below.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.below.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.below.watch(callback)
    }
}

/// Returns fillers of three segments on a disk that fails after this many files.
fn fillers(files: usize, panics: bool) -> Fillers {
    let directory = FailingDirectory {
        below: RamDirectory::create(),
        files: Arc::new(AtomicUsize::new(files)),
        panics,
    };
    let (fields, schema) = Fields::schema();
    let mut index = Index::create(directory, schema, tantivy::IndexSettings::default()).unwrap();
    index.set_tokenizers(Fields::tokenizers());
    let segments = NonZeroUsize::new(3).unwrap();
    Fillers::new(&index, fields, 3 * MIN_MEMORY, segments)
}

fn page(number: u64) -> BudgetedPage {
    let url = format!("https://example.org/{number}");
    let page = IndexPage {
        url: PageUrl::parse(&url, &CanonicalForm::default()).unwrap(),
        at: Timestamp::from_millis(number),
        file: "a.warc.gz".into(),
        offset: number,
        text: Box::new(IndexText {
            title: None,
            language: None,
            text: "some words ".repeat(100),
        }),
    };
    (page, None)
}

/// Adds pages and flushes them: returns the number of pages in segments.
fn add_and_flush(fillers: &mut Fillers, pages: u64) -> tantivy::Result<u32> {
    let mut written = Vec::new();
    for number in 0..pages {
        written.extend(fillers.add(page(number))?);
    }
    written.extend(fillers.flush()?);
    Ok(written.iter().map(SegmentMeta::max_doc).sum())
}

#[test]
fn segments_contain_every_page_once() {
    let mut fillers = fillers(usize::MAX, false);
    for pages in [0, 1, 500, 2, 0] {
        assert_eq!(add_and_flush(&mut fillers, pages).unwrap(), pages as u32);
    }
}

#[test]
fn memory_for_fewer_segments_fills_fewer() {
    let of = |memory, segments| {
        let model = fillers(usize::MAX, false).filler;
        let segments = NonZeroUsize::new(segments).unwrap();
        let fillers = Fillers::new(&model.index, model.fields, memory, segments);
        (fillers.threads.get(), fillers.filler.memory as u64)
    };
    assert_eq!(of(0, 4), (1, MIN_MEMORY));
    assert_eq!(of(2 * MIN_MEMORY - 1, 4), (1, 2 * MIN_MEMORY - 1));
    assert_eq!(of(2 * MIN_MEMORY, 4), (2, MIN_MEMORY));
    assert_eq!(of(32 << 20, 1), (1, 32 << 20));
    assert_eq!(of(96 << 20, 3), (3, 32 << 20));
}

#[test]
fn a_full_disk_is_reported_once_and_no_page_is_accepted_after_it() {
    // A segment has six files.
    for files in 0..6 {
        let mut fillers = fillers(files, false);
        let error = add_and_flush(&mut fillers, 300).unwrap_err();
        let fault = IndexFault::of(Path::new("search"), &error);
        let IndexFault::Io { source, .. } = fault else {
            panic!("{fault:?}");
        };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{files}");
        assert!(fillers.add(page(0)).is_err());
        assert!(fillers.flush().is_err());
    }
}

#[test]
fn a_panic_in_a_thread_is_damage() {
    for files in [0, 3] {
        let mut fillers = fillers(files, true);
        let result = guarded(Path::new("search"), || add_and_flush(&mut fillers, 300));
        let fault = result.unwrap_err();
        assert!(fault.to_string().contains("no files are left"), "{fault}");
        assert!(fillers.flush().is_err());
    }
}

#[test]
fn dropped_fillers_do_not_write_their_segments() {
    let mut fillers = fillers(usize::MAX, false);
    for number in 0..50 {
        fillers.add(page(number)).unwrap();
    }
    let output = fillers.crew.as_ref().map(|crew| Arc::clone(&crew.output));
    drop(fillers);
    let output = Arc::into_inner(output.unwrap()).expect("the threads have ended");
    assert!(output.written.into_inner().unwrap().is_empty());
}
