//! An index with several segments that are filled at a time.

use std::num::NonZeroUsize;
use std::path::Path;

use search::{Finder, IndexOptions, MIN_MEMORY, Query, Writer};
use testkit::Random;

use super::plain::{Page, ask};
use super::{end, index_by, page, random_pages};

/// Returns options with memory for this many segments.
pub(crate) fn options(directory: &Path, segments: usize) -> IndexOptions {
    IndexOptions {
        memory: MIN_MEMORY * segments as u64,
        segments: NonZeroUsize::new(segments).unwrap(),
        ..super::options(directory)
    }
}

/// Returns the offsets of all pages in an index.
fn pages_in(directory: &Path) -> Vec<u64> {
    let finder = Finder::open(&options(directory, 1).directory).unwrap();
    let mut pages = Vec::new();
    finder.locations(|place| pages.push(place.offset)).unwrap();
    pages.sort_unstable();
    pages
}

/// Equal scores were ordered by segment, and segments have random names.
#[test]
fn hits_have_the_same_order_regardless_of_the_number_of_segments() {
    // Each text is on ten pages, which have the same score for each query.
    let texts = random_pages(11, 40, 12);
    let pages: Vec<Page> = (0..400_u64)
        .map(|number| Page {
            path: format!("/{number}"),
            day: number / 3 % 50,
            ..texts[number as usize % 40].clone()
        })
        .collect();
    let indexes = [(1, 400), (3, 400), (3, 90), (1, 30)];
    let indexes = indexes.map(|(segments, every)| index_by(&pages, every, segments));
    let random = &mut Random::of(12, 0);
    let mut queries: Vec<String> = (0..60).map(|_| ask(random, &pages, 1).typed()).collect();
    // A union adds its words in another order in each segment, so the last bits of scores differ.
    queries.retain(|typed| !typed.contains(" OR "));
    queries.extend(["-nowhere", "page", "the of"].map(str::to_owned));
    let mut tied = 0;
    for typed in queries {
        let query = Query::parse(&typed).unwrap();
        for (limit, offset) in [(1_000, 0), (7, 0), (10, 15)] {
            let [expected, others @ ..] = indexes.each_ref().map(|(_directory, finder)| {
                let hits = finder.search(&query, limit, offset).unwrap();
                tied += hits
                    .windows(2)
                    .filter(|two| two[0].score == two[1].score)
                    .count();
                hits.into_iter()
                    .map(|hit| hit.location.offset)
                    .collect::<Vec<_>>()
            });
            for found in others {
                assert_eq!(found, expected, "{typed}, {limit} from {offset}");
            }
        }
    }
    assert!(tied > 1_000, "{tied}");
}

#[test]
fn a_commit_contains_the_pages_before_it_and_no_others() {
    let pages = random_pages(13, 400, 60);
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(&options(directory.path(), 3)).unwrap();
    let mut left = pages.iter().enumerate();
    let mut add = |writer: &mut Writer, count| {
        for (number, one) in left.by_ref().take(count) {
            writer.add(page(number, one)).unwrap();
        }
    };
    let mut committed = 0;
    // Each commit is followed by one page that it does not contain.
    for more in [1, 0, 150, 1, 243] {
        add(&mut writer, more);
        committed += more + usize::from(committed > 0);
        writer.commit(end(committed)).unwrap();
        add(&mut writer, 1);
        let expected: Vec<u64> = (0..committed as u64).collect();
        assert_eq!(pages_in(directory.path()), expected);
    }
    writer.close(end(400)).unwrap();
    assert_eq!(pages_in(directory.path()), (0..400).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_is_dropped_leaves_the_last_commit() {
    let pages = random_pages(17, 300, 60);
    let directory = tempfile::tempdir().unwrap();
    let options = options(directory.path(), 3);
    let mut writer = Writer::create(&options).unwrap();
    for (number, one) in pages.iter().enumerate() {
        writer.add(page(number, one)).unwrap();
        if number == 99 {
            writer.commit(end(100)).unwrap();
        }
    }
    drop(writer);
    assert_eq!(pages_in(directory.path()), (0..100).collect::<Vec<_>>());
    let mut writer = Writer::open(&options, end(100).as_ref()).unwrap();
    for (number, one) in pages.iter().enumerate().skip(100) {
        writer.add(page(number, one)).unwrap();
    }
    writer.close(end(300)).unwrap();
    assert_eq!(pages_in(directory.path()), (0..300).collect::<Vec<_>>());
}
