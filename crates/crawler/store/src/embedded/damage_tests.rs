//! A flipped bit in any file of the database: it is reported, or the written values are read.
//!
//! The engine takes damage near the end of its log for a torn write, and goes back to the state
//! before it. Nothing is lost if everything in it goes back together, the watermark too: the
//! journal has the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use journal::StoreFault;
use neardup::PageSignature;
use web::UrlKey;

use super::checkpoint::meta::Meta;
use super::database::Database;
use super::near_dup::records::{SignatureRecord, SignatureRecords};
use super::tables::{Posting, SortedTables, Table};

const FLUSHES: u64 = 6;
const WATERMARK: &str = "checkpoint";
const TABLES: [Table; 2] = [Table::new(1), Table::new(2)];

/// The contents of a database after a number of flushes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    watermark: Option<u64>,
    tables: [Vec<Posting>; 2],
    records: BTreeMap<u32, SignatureRecord>,
}

fn posting(number: u64) -> Posting {
    Posting::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15), number as u32)
}

fn added(flush: u64, table: usize) -> Vec<Posting> {
    // Enough for the last flushes to write new generations.
    let mut postings: Vec<Posting> = (0..4_000)
        .map(|n| posting(flush * 10_000 + n + table as u64))
        .collect();
    postings.sort_unstable();
    postings
}

fn records(flush: u64) -> Vec<(u32, SignatureRecord)> {
    let record = |document: u32| SignatureRecord {
        position: flush,
        page: UrlKey::from_u64(u64::from(document)),
        group: 7,
        signature: PageSignature {
            payload: u128::from(document),
            text: None,
        },
    };
    // Every flush rewrites some.
    (flush as u32 * 30..flush as u32 * 30 + 50)
        .map(|document| (document, record(document)))
        .collect()
}

/// Writes a database and returns its contents after each flush. In the middle of the last flush its
/// files are copied to `killed`.
fn write(path: &Path, killed: &Path) -> Vec<Contents> {
    let mut history = vec![Contents::default()];
    let database = Database::open(path).unwrap();
    let meta = Meta::open(&database).unwrap();
    let (tables, stack) = (
        SortedTables::open(&database).unwrap(),
        SignatureRecords::open(&database).unwrap(),
    );
    for flush in 1..=FLUSHES {
        meta.begin_flush().unwrap();
        let mut contents = history.last().unwrap().clone();
        for (number, table) in TABLES.into_iter().enumerate() {
            let added = added(flush, number);
            tables.unite(table, &added).unwrap();
            contents.tables[number].extend(added);
            contents.tables[number].sort_unstable();
            if flush == FLUSHES && number == 0 {
                database.flush().unwrap();
                copy_all(path, killed);
            }
        }
        stack.update(&records(flush), &[]).unwrap();
        contents.records.extend(records(flush));
        contents.watermark = Some(flush);
        meta.end_flush(WATERMARK, &flush).unwrap();
        history.push(contents);
    }
    history
}

fn read(path: &Path) -> Result<Contents, StoreFault> {
    let database = Database::open(path)?;
    let meta = Meta::open(&database)?;
    let (tables, stack) = (
        SortedTables::open(&database)?,
        SignatureRecords::open(&database)?,
    );
    let mut contents = Contents {
        watermark: meta.get(WATERMARK)?,
        ..Contents::default()
    };
    for (into, table) in contents.tables.iter_mut().zip(TABLES) {
        let mut scan = tables.all(table)?;
        while scan.next_block(into)? {}
    }
    stack.each(|document, record| {
        contents.records.insert(document, record.clone());
    })?;
    if meta.is_flush_in_progress()? {
        // The tables may be ahead of the watermark; replaying the journal from there corrects them.
        let end = (contents.watermark.unwrap_or(0) + 1).min(FLUSHES);
        for (number, table) in TABLES.into_iter().enumerate() {
            tables.unite(table, &added(end, number))?;
            contents.tables[number].clear();
            let mut scan = tables.all(table)?;
            while scan.next_block(&mut contents.tables[number])? {}
        }
        stack.update(&records(end), &[])?;
        contents.records.extend(records(end));
        contents.watermark = Some(end);
    }
    Ok(contents)
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, target).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_any_file_is_reported_or_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let closed = directory.path().join("closed");
    let killed = directory.path().join("killed");
    let history = write(&closed, &killed);
    assert_eq!(&read(&closed).unwrap(), history.last().unwrap());
    for whole in [closed, killed] {
        turn_bits(&whole, &directory.path().join("broken"), &history);
    }
}

/// Turns a bit in a copy of `whole`, at many places one after the other.
fn turn_bits(whole: &Path, broken: &Path, history: &[Contents]) {
    let (mut reported, mut equal) = (0, 0);
    for file in files_below(whole) {
        let length = std::fs::metadata(&file).unwrap().len() as usize;
        // Small files byte by byte, the log at arbitrary places of its messages.
        let step = (length / 100).max(1);
        for (number, place) in (0..length).step_by(step).enumerate() {
            let place = (place + number * 37 % step).min(length - 1);
            if broken.exists() {
                std::fs::remove_dir_all(broken).unwrap();
            }
            copy_all(whole, broken);
            let target = broken.join(file.strip_prefix(whole).unwrap());
            let mut bytes = std::fs::read(&target).unwrap();
            bytes[place] ^= 1 << (number % 8);
            std::fs::write(&target, bytes).unwrap();
            match read(broken) {
                Err(StoreFault::Tables { .. }) => reported += 1,
                Err(fault) => panic!("{} at {place}: {fault}", file.display()),
                Ok(found) => {
                    let expected = &history[found.watermark.unwrap_or(0) as usize];
                    let at = found.watermark;
                    assert!(
                        found == *expected,
                        "{} at {place}: not the contents at {at:?}",
                        file.display()
                    );
                    equal += 1;
                }
            }
        }
    }
    println!("{reported} reported, {equal} equal");
    assert!(
        reported > 0 && equal > 0,
        "{reported} reported, {equal} equal"
    );
}
