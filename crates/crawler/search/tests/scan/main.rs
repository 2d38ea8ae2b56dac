//! The index finds what a plain scan finds, in the order of BM25.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod plain;
mod segments;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use proptest::prelude::*;
use search::{Finder, IndexOptions, IndexPage, Query, Snippets, Writer};
use sinks::{ArchiveEnd, IndexText};
use testkit::Random;
use web::{CanonicalForm, PageUrl, Timestamp};

use self::plain::{Asked, Page, Words, ask, positions};

const DAY: u64 = 24 * 3_600_000;
const FILE: &str = "crawl-20261120182455-00001.warc.gz";

/// Words of several scripts; the first are frequent.
const VOCABULARY: &[&str] = &[
    "the",
    "of",
    "and",
    "page",
    "crawler",
    "archive",
    "Straßen",
    "wörter",
    "page's",
    "3.14",
    "можно",
    "искать",
    "東京",
    "東京都",
    "京都",
    "カタカナ",
    "search",
    "index",
    "word",
    "phrase",
    "été",
    "river",
    "stone",
    "glass",
    "The",
    "PAGE",
    "x_y",
    "example.org",
    "concurrent.futures",
    "futures",
    "__init__",
    "v2.0_beta",
    "한국어",
    "도시",
    "の",
    "東",
    "quiet",
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "willow",
    "engine",
    "signal",
    "zebra",
    "quartz",
    "jungle",
    "velvet",
];

fn random_pages(seed: u64, count: usize, length: usize) -> Vec<Page> {
    (0..count)
        .map(|number| {
            let random = &mut Random::of(seed, number as u64);
            let mut sentence = |words: usize| {
                let words = (0..words).map(|_| {
                    // The square of an even choice: the first words are much more frequent.
                    let most = random.below(VOCABULARY.len());
                    VOCABULARY[random.below(most + 1)]
                });
                words.collect::<Vec<_>>()
            };
            let text = sentence(length / 2).join(" ")
                + ", "
                + &sentence(length - length / 2).join(" ")
                + ".";
            let title = sentence(3).join(" ");
            let random = &mut Random::of(seed ^ 1, number as u64);
            Page {
                host: random
                    .pick(&[
                        "www.example.org",
                        "example.org",
                        "docs.example.com",
                        "example.net",
                    ])
                    .to_owned(),
                path: format!("/{number}"),
                title,
                text,
                language: random.pick(&["en", "de", "ja"]),
                day: random.below(700) as u64,
            }
        })
        .collect()
}

fn page(number: usize, page: &Page) -> IndexPage {
    let url = format!("https://{}{}", page.host, page.path);
    IndexPage {
        url: PageUrl::parse(&url, &CanonicalForm::default()).unwrap(),
        at: Timestamp::from_millis(page.day * DAY),
        file: FILE.into(),
        offset: number as u64,
        text: Box::new(IndexText {
            title: Some(page.title.clone()),
            language: Some(page.language.to_owned()),
            text: page.text.clone(),
        }),
    }
}

fn options(directory: &std::path::Path) -> IndexOptions {
    IndexOptions {
        directory: directory.join("search"),
        memory: 0,
        segments: NonZeroUsize::MIN,
        rules: "unique".to_owned(),
    }
}

fn end(pages: usize) -> Option<ArchiveEnd> {
    Some(ArchiveEnd {
        file: FILE.to_owned(),
        end: pages as u64,
    })
}

/// Returns an index of these pages, with a commit after this many each.
fn index(pages: &[Page], commit_every: usize) -> (tempfile::TempDir, Finder) {
    index_by(pages, commit_every, 1)
}

/// Returns an index of these pages with up to `segments` filled at a time.
fn index_by(pages: &[Page], commit_every: usize, segments: usize) -> (tempfile::TempDir, Finder) {
    let directory = tempfile::tempdir().unwrap();
    let options = segments::options(directory.path(), segments);
    let mut writer = Writer::create(&options).unwrap();
    for (number, one) in pages.iter().enumerate() {
        writer.add(page(number, one)).unwrap();
        if (number + 1) % commit_every == 0 {
            writer.commit(end(number + 1)).unwrap();
        }
    }
    writer.close(end(pages.len())).unwrap();
    let finder = Finder::open(&directory.path().join("search")).unwrap();
    assert_eq!(finder.pages(), pages.len() as u64);
    (directory, finder)
}

fn found(finder: &Finder, query: &str) -> Vec<usize> {
    let query = Query::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let hits = finder.search(&query, search::MAX_HITS, 0).unwrap();
    assert_eq!(finder.count(&query).unwrap(), hits.len());
    let mut found: Vec<usize> = hits
        .iter()
        .map(|hit| hit.location.offset as usize)
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn two_hundred_random_queries_find_what_a_plain_scan_finds() {
    finds_what_a_plain_scan_finds(1);
}

#[test]
fn an_index_filled_by_several_threads_finds_what_a_plain_scan_finds() {
    finds_what_a_plain_scan_finds(3);
}

fn finds_what_a_plain_scan_finds(segments: usize) {
    let pages = random_pages(1, 1_500, 30);
    let all: Vec<Words> = pages.iter().map(Words::of).collect();
    let (_directory, finder) = index_by(&pages, 700, segments);
    let random = &mut Random::of(2, 0);
    let mut fruitful = 0;
    for _ in 0..200 {
        let asked = ask(random, &pages, 2);
        let scanned: Vec<usize> = (0..pages.len())
            .filter(|&number| asked.fits(&pages[number], &all[number]))
            .collect();
        assert_eq!(found(&finder, &asked.typed()), scanned, "{}", asked.typed());
        fruitful += usize::from(!scanned.is_empty() && scanned.len() < pages.len());
    }
    assert!(fruitful > 150, "only {fruitful} queries say anything");
}

/// Returns a page without a title for each text.
fn untitled_pages(texts: &[&str]) -> Vec<Page> {
    let page = |text: &&str| Page {
        title: String::new(),
        text: (*text).to_owned(),
        ..random_pages(1, 1, 3).remove(0)
    };
    texts.iter().map(page).collect()
}

/// `futures` found 41 of 77 pages that show `concurrent.futures`.
#[test]
fn a_part_of_a_word_is_found_beside_the_whole() {
    let texts = [
        "use concurrent.futures now",
        "use concurrent futures now",
        "the futures market",
        "call __init__ or init",
        "pi is 3.14",
    ];
    let (_directory, finder) = index(&untitled_pages(&texts), 100);
    for (query, numbers) in [
        ("futures", &[0, 1, 2][..]),
        ("concurrent", &[0, 1]),
        ("concurrent.futures", &[0]),
        ("\"concurrent futures\"", &[0, 1]),
        ("\"use concurrent.futures now\"", &[0]),
        ("\"use concurrent futures now\"", &[0, 1]),
        ("\"futures now\"", &[0, 1]),
        ("\"concurrent now\"", &[]),
        ("\"use futures\"", &[]),
        ("-concurrent.futures futures", &[1, 2]),
        ("init", &[3]),
        ("__init__", &[3]),
        ("14", &[]),
    ] {
        assert_eq!(found(&finder, query), numbers, "{query}");
    }
}

#[test]
fn characters_without_spaces_are_found_wherever_they_stand() {
    let texts = [
        "東京都に住む",
        "京都に行く",
        "東",
        "東 京",
        "スーパーコンピュータ",
        "in 東 now",
        "in 東京 now",
    ];
    let (_directory, finder) = index(&untitled_pages(&texts), 100);
    for (query, numbers) in [
        ("東京", &[0, 6][..]),
        ("東", &[0, 2, 3, 5, 6]),
        ("京都", &[0, 1]),
        ("に", &[0, 1]),
        ("都に", &[0, 1]),
        ("コンピュータ", &[4]),
        ("\"in 東\"", &[5, 6]),
        ("\"in 東 now\"", &[5]),
        ("\"東 now\"", &[5]),
        ("\"京 now\"", &[6]),
        ("東 -京", &[2, 5]),
        ("東都", &[]),
    ] {
        assert_eq!(found(&finder, query), numbers, "{query}");
    }
}

/// BM25 with k₁ = 1.2 and b = 0.75 over one field, word by word, of every page. Fields shorter than
/// 40 words are exact in the index.
fn bm25(query: &[&str], fields: &[Vec<String>]) -> Vec<f64> {
    let count = fields.len() as f64;
    let average = fields.iter().map(Vec::len).sum::<usize>() as f64 / count;
    let mut scores = vec![0.0; fields.len()];
    for word in query {
        let occurs =
            |field: &Vec<String>| field.iter().filter(|other| *other == word).count() as f64;
        let times: Vec<f64> = fields.iter().map(occurs).collect();
        let pages = times.iter().filter(|times| **times > 0.0).count() as f64;
        let idf = (1.0 + (count - pages + 0.5) / (pages + 0.5)).ln();
        for ((score, times), field) in scores.iter_mut().zip(times).zip(fields) {
            *score +=
                idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * field.len() as f64 / average));
        }
    }
    scores
}

#[test]
fn hits_come_in_the_order_of_bm25() {
    let pages = random_pages(3, 400, 12);
    let (_directory, finder) = index(&pages, 150);
    let part = |part: fn(&Page) -> &str| {
        pages
            .iter()
            .map(|page| {
                let positions = positions(part(page)).into_iter();
                positions.flat_map(|at| at.words).collect()
            })
            .collect::<Vec<Vec<String>>>()
    };
    let (titles, texts) = (part(|page| &page.title), part(|page| &page.text));
    for query in [
        &["page"][..],
        &["archive", "stone"],
        &["willow"],
        &["the", "zebra", "search"],
    ] {
        let parsed = Query::parse(&query.join(" ")).unwrap();
        let hits = finder.search(&parsed, 1_000, 0).unwrap();
        assert!(!hits.is_empty(), "{query:?}");
        let (of_title, of_text) = (bm25(query, &titles), bm25(query, &texts));
        for hit in &hits {
            let number = hit.location.offset as usize;
            let expected = of_title[number] + of_text[number];
            let apart = (f64::from(hit.score) - expected).abs();
            assert!(
                apart < 1e-3 * expected,
                "{query:?}: {} is not {expected}",
                hit.score
            );
        }
        assert!(hits.windows(2).all(|two| two[0].score >= two[1].score));
        let second = finder.search(&parsed, 5, 3).unwrap();
        let scores = |hits: &[search::Hit]| hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
        assert_eq!(
            scores(&second),
            scores(&hits[3.min(hits.len())..8.min(hits.len())])
        );
    }
}

#[test]
fn a_hit_describes_its_page() {
    let pages = random_pages(5, 50, 20);
    let (_directory, finder) = index(&pages, 10);
    let hits = finder
        .search(&Query::parse("-nowhere").unwrap(), 100, 0)
        .unwrap();
    assert_eq!(hits.len(), pages.len());
    for hit in hits {
        let expected = page(
            hit.location.offset as usize,
            &pages[hit.location.offset as usize],
        );
        assert_eq!(hit.url, expected.url.as_str());
        assert_eq!(
            (hit.title, hit.language),
            (expected.text.title, expected.text.language)
        );
        assert_eq!(
            (hit.at, hit.location.file.as_str(), hit.score),
            (expected.at, FILE, 0.0)
        );
    }
}

#[test]
fn pages_beyond_the_archive_are_deleted_and_the_others_stay() {
    let pages = random_pages(7, 60, 10);
    for settled in [None, end(0), end(1), end(25), end(59), end(60), end(99)] {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(&options(directory.path())).unwrap();
        for (number, one) in pages.iter().enumerate() {
            writer.add(page(number, one)).unwrap();
            if number == 29 {
                writer.commit(end(30)).unwrap();
            }
        }
        // Pages after the end that the commit covers are added again by the next session
        // from there.
        writer.commit(end(40)).unwrap();
        drop(writer);
        let writer = Writer::open(&options(directory.path()), settled.as_ref()).unwrap();
        let left = settled.as_ref().map_or(0, |end| end.end.min(40));
        assert_eq!(writer.covered().map_or(0, |end| end.end), left);
        let finder = Finder::open(&directory.path().join("search")).unwrap();
        let mut places = BTreeMap::new();
        finder
            .locations(|place| *places.entry(place.offset).or_insert(0) += 1)
            .unwrap();
        assert_eq!(
            places,
            (0..left).map(|number| (number, 1)).collect(),
            "{settled:?}"
        );
        assert_eq!(found(&finder, "-nowhere").len() as u64, left);
    }
}

#[test]
fn later_files_are_after_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(&options(directory.path())).unwrap();
    let one = &random_pages(7, 1, 10)[0];
    for (file, offset) in [
        ("crawl-1-00001.warc.gz", 90),
        ("crawl-1-00002.warc.gz", 10),
        ("crawl-1-00002.warc.gz", 50),
        ("crawl-1-00010.warc.gz", 5),
    ] {
        let mut page = page(0, one);
        (page.file, page.offset) = (file.into(), offset);
        writer.add(page).unwrap();
    }
    let last = ArchiveEnd {
        file: "crawl-1-00010.warc.gz".to_owned(),
        end: 100,
    };
    writer.close(Some(last)).unwrap();
    let settled = ArchiveEnd {
        file: "crawl-1-00002.warc.gz".to_owned(),
        end: 50,
    };
    let writer = Writer::open(&options(directory.path()), Some(&settled)).unwrap();
    assert_eq!(writer.covered(), Some(&settled));
    let mut places = Vec::new();
    let finder = Finder::open(&directory.path().join("search")).unwrap();
    finder
        .locations(|place| places.push((place.file, place.offset)))
        .unwrap();
    places.sort();
    assert_eq!(
        places,
        [
            ("crawl-1-00001.warc.gz".to_owned(), 90),
            ("crawl-1-00002.warc.gz".to_owned(), 10)
        ]
    );
}

/// Each page was a segment of its own, and cost ten times as much.
#[test]
fn the_minimum_memory_holds_many_pages_in_a_segment() {
    let directory = tempfile::tempdir().unwrap();
    let least = IndexOptions {
        memory: search::MIN_MEMORY,
        ..options(directory.path())
    };
    let mut writer = Writer::create(&least).unwrap();
    for (number, one) in random_pages(3, 40, 20).iter().enumerate() {
        writer.add(page(number, one)).unwrap();
    }
    writer.close(end(40)).unwrap();
    let finder = Finder::open(&least.directory).unwrap();
    assert_eq!((finder.pages(), finder.segments()), (40, 1));
}

#[test]
fn an_index_with_other_rules_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    Writer::create(&options(directory.path()))
        .unwrap()
        .close(None)
        .unwrap();
    let other = IndexOptions {
        rules: "kept".to_owned(),
        ..options(directory.path())
    };
    let Err(fault) = Writer::open(&other, None) else {
        panic!("it was opened");
    };
    assert!(
        fault
            .to_string()
            .contains("different rules: unique, not kept"),
        "{fault}"
    );
}

#[test]
fn an_index_with_any_wrong_byte_opens_or_is_reported_as_damaged() {
    let pages = random_pages(9, 40, 12);
    let (directory, finder) = index(&pages, 20);
    drop(finder);
    let query = Query::parse("page OR \"of the\" OR lang:de").unwrap();
    let files: Vec<_> = std::fs::read_dir(directory.path().join("search"))
        .unwrap()
        .map(|item| item.unwrap().path())
        .collect();
    let mut damaged = 0;
    for file in files.iter().filter(|file| file.is_file()) {
        let sound = std::fs::read(file).unwrap();
        for place in 0..sound.len().min(5) {
            let mut bytes = sound.clone();
            let at = place * (sound.len() - 1) / 4;
            bytes[at] ^= 0x55;
            std::fs::write(file, &bytes).unwrap();
            let opened = Finder::open(&directory.path().join("search"));
            let checked = opened.and_then(|finder| {
                let damaged = finder.damaged_files()?;
                finder.search(&query, 100, 0).map(|_| damaged)
            });
            damaged += usize::from(!checked.is_ok_and(|damaged| damaged.is_empty()));
            if place == 2 {
                drop(Writer::open(&options(directory.path()), end(40).as_ref()));
            }
            std::fs::write(file, &sound).unwrap();
        }
    }
    assert!(damaged > 10, "{damaged}");
}

#[test]
fn a_snippet_shows_the_words_where_they_stand_together() {
    let filler = "nothing of interest stands in this part of the text. ".repeat(20);
    let text = format!(
        "A lantern first.\n{filler}The copper\tlantern of the quiet harbour, 東京都. {filler}"
    );
    for (query, marked) in [
        ("copper harbour", &["copper", "harbour"][..]),
        ("\"quiet harbour\" harbour", &["quiet harbour"]),
        ("\"copper lantern\"", &["copper lantern"]),
        ("京都", &["京都"]),
        ("京 copper", &["copper", "京"]),
        ("copper host:example.org -harbour", &["copper"]),
        ("nowhere", &[]),
    ] {
        let query = Query::parse(query).unwrap();
        let snippet = Snippets::of(&query).cut(&text);
        let shown: Vec<&str> = snippet
            .found
            .iter()
            .map(|place| &snippet.text[place.clone()])
            .collect();
        assert_eq!(shown, marked, "{snippet:?}");
        assert!(
            snippet.text.len() < 300 && !snippet.text.contains(['\n', '\t']),
            "{snippet:?}"
        );
        assert_eq!(snippet.cut_before, !marked.is_empty());
    }
}

#[test]
fn a_snippet_marks_parts_and_wholes() {
    let text = "First use concurrent.futures now, then futures of __init__.";
    for (query, marked) in [
        ("futures", &["futures", "futures"][..]),
        ("concurrent.futures", &["concurrent.futures"]),
        ("\"concurrent futures now\"", &["concurrent.futures now"]),
        (
            "\"use concurrent.futures now\"",
            &["use concurrent.futures now"],
        ),
        ("\"futures of\" init", &["futures of", "init"]),
        ("\"concurrent now\"", &[]),
    ] {
        let query = Query::parse(query).unwrap();
        let snippet = Snippets::of(&query).cut(text);
        let shown: Vec<&str> = snippet
            .found
            .iter()
            .map(|place| &snippet.text[place.clone()])
            .collect();
        assert_eq!(shown, marked, "{snippet:?}");
    }
}

/// A match ended after the shown text, and `crawler search` panicked.
#[test]
fn a_phrase_that_is_cut_off_between_its_words_ends_where_the_text_does() {
    let text = "é é京東東\n京東京京. é.東東\n.京京\né.é京東a京éaé .éa\n\
         é\né\n東 京   a京.東 a京京éa.....  a京京..東.a京é 京東\na a京 b\nc\n\
    aa京.\n a京é京 \n東京東.\n京東a京\n \n京b..\n  ..  .c\n";
    let query = Query::parse("é \"b c\"").unwrap();
    let snippet = Snippets::of(&query).cut(text);
    assert!(!snippet.found.is_empty());
    for place in snippet.found {
        assert!(
            snippet
                .text
                .get(place)
                .is_some_and(|found| !found.is_empty())
        );
    }
}

proptest! {
    #[test]
    fn a_snippet_of_any_text_marks_words_of_the_query(
        text in "[a-c 東京é\n.]{0,400}|\\PC{0,300}",
        query in "[abcé東京]{1,2}( \"[abc] [abc]\")?",
    ) {
        let query = Query::parse(&query).unwrap();
        let snippet = Snippets::of(&query).cut(&text);
        let mut end = 0;
        for place in &snippet.found {
            prop_assert!(place.start >= end && place.end > place.start);
            end = place.end;
            prop_assert!(snippet.text.get(place.clone()).is_some());
        }
    }

}

proptest! {
    // Each case is an index on the disk.
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn any_pages_are_found_as_a_plain_scan_finds_them(seed in any::<u64>()) {
        let pages = random_pages(seed, 12, 8);
        let all: Vec<Words> = pages.iter().map(Words::of).collect();
        let (_directory, finder) = index(&pages, 5);
        let random = &mut Random::of(seed, 1);
        for _ in 0..40 {
            let asked: Asked = ask(random, &pages, 3);
            let fits = |&number: &usize| asked.fits(&pages[number], &all[number]);
            let scanned: Vec<usize> = (0..pages.len()).filter(fits).collect();
            prop_assert_eq!(found(&finder, &asked.typed()), scanned, "{}", asked.typed());
        }
    }
}
