//! Sorted tables and signature records in the database alone, without a journal or an index in
//! memory.
//!
//! Disk space is the size of the directory after a flush, garbage included. The lookup of a page
//! reads, in the four tables of fingerprints, all postings that agree in the 16 leading bits, as a
//! search within 3 bits does.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use neardup::{Fingerprint, PageSignature, SKETCH_BYTES, Sketch, TextSignature};
use store::{Database, Posting, SignatureRecord, SignatureRecords, SortedTables, Table};
use web::UrlKey;

use crate::Failure;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Pages, and URLs seen
    #[arg(long, default_value_t = 10_000_000)]
    count: u32,
    /// Further flushes, each of another hundredth
    #[arg(long, default_value_t = 3)]
    folds: u32,
    /// Lookups
    #[arg(long, default_value_t = 20_000)]
    lookups: u32,
    /// Directory to write to [default: a temporary directory]
    #[arg(long)]
    directory: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CardsOptions {
    /// Documents
    #[arg(long, default_value_t = 1_000_000)]
    count: u32,
    /// Lookups
    #[arg(long, default_value_t = 20_000)]
    lookups: u32,
}

/// Tables of one kind in a database of their own.
struct Sort {
    name: &'static str,
    tables: u8,
    posting: fn(u8, u32) -> Posting,
    /// The number of leading bits of a key that a lookup compares.
    prefix: u32,
}

const SORTS: [Sort; 3] = [
    Sort {
        name: "fingerprints, 4 tables",
        tables: 4,
        posting: |table, page| {
            Posting::new(
                mix(u64::from(page)).rotate_left(16 * u32::from(table)),
                page,
            )
        },
        prefix: 16,
    },
    Sort {
        name: "bands, 8 tables",
        tables: 8,
        posting: |table, page| {
            Posting::new(mix(u64::from(page) << 8 | u64::from(table)) >> 32, page)
        },
        prefix: 64,
    },
    Sort {
        name: "URLs seen, 1 table",
        tables: 1,
        posting: |_, page| Posting::new(mix(!u64::from(page)), 0),
        prefix: 64,
    },
];

/// Returns uniform numbers without repetition (the finaliser of SplitMix64; Steele, Lea and Flood,
/// OOPSLA 2014).
fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

pub(crate) fn measure(options: &Options) -> Result<(), Failure> {
    let temporary = tempfile::tempdir()?;
    let directory = options.directory.as_deref().unwrap_or(temporary.path());
    for (number, sort) in (0..).zip(&SORTS) {
        measure_sort(options, sort, &directory.join(format!("{number}")))?;
    }
    Ok(())
}

fn measure_sort(options: &Options, sort: &Sort, path: &Path) -> Result<(), Failure> {
    println!("{}: {} pages", sort.name, options.count);
    let database = Database::open(path)?;
    let tables = SortedTables::open(&database)?;
    let mut pages = options.count;
    fold(&database, &tables, sort, 0..pages)?;
    for _ in 0..options.folds {
        let more = options.count / 100;
        fold(&database, &tables, sort, pages..pages + more)?;
        pages += more;
    }
    drop((database, tables));

    let (opened, (database, tables)) = timed(|| {
        let database = Database::open(path)?;
        let tables = SortedTables::open(&database)?;
        Ok((database, tables))
    })?;
    let (loading, held) = timed(|| {
        let (mut held, mut block) = (0, Vec::new());
        for table in 0..sort.tables {
            let mut scan = tables.all(Table::new(table))?;
            while scan.next_block(&mut block)? {
                held += block.len() as u64;
                block.clear();
            }
        }
        Ok(held)
    })?;
    println!(
        "  opened in {opened:.2} s, read in {loading:.2} s: {:.1} M postings/s on one thread",
        held as f64 / loading / 1e6
    );

    let others = u64::MAX.checked_shr(sort.prefix).unwrap_or(0);
    let (looking, found) = timed(|| {
        let mut found = 0;
        for number in 0..options.lookups {
            let page = (mix(u64::from(number)) % u64::from(pages)) as u32;
            for table in 0..sort.tables {
                let key = (sort.posting)(table, page).key;
                let keys = key & !others..=key | others;
                tables.range(Table::new(table), keys, |posting| {
                    found += u64::from(posting.key == key);
                    ControlFlow::Continue(())
                })?;
            }
        }
        Ok(found)
    })?;
    let expected = u64::from(options.lookups) * u64::from(sort.tables);
    if found < expected {
        return Err(format!("{found} of {expected} were found").into());
    }
    println!(
        "  {:.0} lookups/s of a page, {:.1} µs each ({} tables, from the database alone)\n",
        f64::from(options.lookups) / looking,
        looking * 1e6 / f64::from(options.lookups),
        sort.tables
    );
    drop(database);
    Ok(())
}

fn fold(
    database: &Database,
    tables: &SortedTables,
    sort: &Sort,
    pages: std::ops::Range<u32>,
) -> Result<(), Failure> {
    let mut folding = 0.0;
    let (mut live, mut held) = (0, 0);
    let mut postings: Vec<Posting> = Vec::new();
    for table in 0..sort.tables {
        postings.clear();
        postings.extend(pages.clone().map(|page| (sort.posting)(table, page)));
        postings.sort_unstable();
        let (seconds, ()) = timed(|| Ok(tables.unite(Table::new(table), &postings)?))?;
        folding += seconds;
        let summary = tables.summary(Table::new(table))?;
        live += summary.bytes;
        held = summary.postings;
    }
    let (flushing, ()) = timed(|| Ok(database.flush()?))?;
    let disk = database.size_on_disk()?;
    println!(
        "  {} more in {folding:.1} s + {flushing:.1} s of flush; of each page {:.1} bytes in \
         blocks, {:.1} on disk",
        pages.len(),
        live as f64 / held as f64,
        disk as f64 / held as f64
    );
    Ok(())
}

pub(crate) fn measure_cards(options: &CardsOptions) -> Result<(), Failure> {
    const AT_ONCE: u32 = 50_000;
    let directory = tempfile::tempdir()?;
    let database = Database::open(directory.path())?;
    let cards = SignatureRecords::open(&database)?;
    let (writing, ()) = timed(|| {
        for first in (0..options.count).step_by(AT_ONCE as usize) {
            let end = options.count.min(first.saturating_add(AT_ONCE));
            let added: Vec<(u32, SignatureRecord)> = (first..end)
                .map(|document| (document, card(document)))
                .collect();
            cards.update(&added, &[])?;
            database.flush()?;
        }
        Ok(())
    })?;
    println!(
        "{} cards with text in {writing:.1} s, {:.0} bytes each on disk",
        options.count,
        database.size_on_disk()? as f64 / f64::from(options.count)
    );
    let (looking, ()) = timed(|| {
        for number in 0..options.lookups {
            let document = (mix(u64::from(number)) % u64::from(options.count)) as u32;
            if cards.get(document)? != Some(card(document)) {
                return Err(format!("the card of {document} is another").into());
            }
        }
        Ok(())
    })?;
    println!(
        "{:.0} cards/s looked up, {:.1} µs each",
        f64::from(options.lookups) / looking,
        looking * 1e6 / f64::from(options.lookups)
    );
    Ok(())
}

/// Returns the signature of a text without a main content of its own, as most are.
fn card(document: u32) -> SignatureRecord {
    let part = |salt: u64| mix(salt << 32 | u64::from(document));
    let sketch: [u8; SKETCH_BYTES] = std::array::from_fn(|byte| part(100 + byte as u64 / 8) as u8);
    SignatureRecord {
        position: u64::from(document) * 300,
        page: UrlKey::from_u64(part(1)),
        group: part(2),
        signature: PageSignature {
            payload: u128::from(part(3)) << 64 | u128::from(part(4)),
            text: Some(Box::new(TextSignature {
                digest: u128::from(part(5)) << 64 | u128::from(part(6)),
                words: document % 1_000,
                main_content: None,
                fingerprint: Fingerprint::new(part(7)),
                sketch: Some(Sketch::from_bytes(&sketch)),
                bag: None,
                title_terms: None,
            })),
        },
    }
}

/// Returns the seconds that the work took, and its result.
fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(f64, T), Failure> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    let now = std::time::Instant::now;
    let begun = now();
    let done = work()?;
    Ok((begun.elapsed().as_secs_f64(), done))
}
