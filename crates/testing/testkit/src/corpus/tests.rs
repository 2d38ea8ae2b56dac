use std::collections::{BTreeSet, VecDeque};

use super::*;
use crate::http::Request;
use crate::judge::{resemblance, shingles, visible_text};

const PORT: u16 = 40_000;

fn html(corpus: &Corpus, page: usize) -> String {
    String::from_utf8(corpus.html(page, PORT).to_vec()).unwrap()
}

/// A corpus of which only the numbers matter: its texts are few.
fn numbered(texts: Corpus, pages: usize, hosts: usize, seed: u64) -> Corpus {
    Corpus { seed, ..texts }.grown(pages, hosts)
}

fn within(share: f64, expected: usize, actual: usize) -> bool {
    (actual as f64 - expected as f64).abs() <= share * expected as f64
}

#[test]
fn pages_have_the_expected_size_and_links() {
    for (corpus, size, text) in [
        (Corpus::plain(400, 1), 26 * 1024, 24 * 1024),
        (Corpus::real_shaped(400, 1), 170 * 1024, 9_000),
    ] {
        for page in (0..400).step_by(23) {
            let html = html(&corpus, page);
            assert!(
                within(0.04, size, html.len()),
                "{} bytes of HTML",
                html.len()
            );
            let visible = visible_text(&html).len();
            assert!(within(0.08, text, visible), "{visible} bytes of text");

            let linked: Vec<usize> = html
                .split("<a href=\"")
                .skip(1)
                .map(|rest| corpus.page_at(rest.split_once('"').unwrap().0).unwrap())
                .collect();
            assert_eq!(linked, corpus.links(page));
            assert!(linked.len() == LINKS);
        }
    }
}

#[test]
fn a_tenth_are_copies_spread_evenly_over_the_pages() {
    let corpus = numbered(Corpus::plain(1, 0), 20_000, 64, 2);
    assert!((1_990..=2_000).contains(&corpus.planted().len()));
    for quarter in 0..4 {
        let pages = quarter * 5_000..(quarter + 1) * 5_000;
        let copies = corpus
            .planted()
            .iter()
            .filter(|copy| pages.contains(&copy.page))
            .count();
        assert!((490..=500).contains(&copies), "{copies}");
    }
    for change in [
        Change::Nothing,
        Change::Date,
        Change::Counter,
        Change::Sentence,
    ] {
        let copies = corpus
            .planted()
            .iter()
            .filter(|copy| copy.change == change)
            .count();
        assert!((400..=600).contains(&copies), "{change}: {copies}");
    }
    let near = corpus
        .planted()
        .iter()
        .filter(|copy| copy.page - copy.original < 1_000)
        .count();
    assert!(
        within(0.3, 2_000 * 15 / 100, near),
        "few lie close to their original: {near}"
    );
    for copy in corpus.planted() {
        assert!(copy.original < copy.page && corpus.copy(copy.original).is_none());
        assert_eq!(corpus.copy(copy.page), Some(*copy));
    }
}

#[test]
fn copies_are_alike_and_exact_ones_equal() {
    let corpus = Corpus::plain(1_000, 3);
    for copy in corpus.planted().iter().step_by(3) {
        let (one, other) = (html(&corpus, copy.original), html(&corpus, copy.page));
        assert_eq!(one == other, copy.change == Change::Nothing, "{copy:?}");
        let alike = resemblance(
            &shingles(&visible_text(&one)),
            &shingles(&visible_text(&other)),
        );
        assert!(alike > 0.97, "{copy:?}: {alike}");
    }
}

#[test]
fn distinct_pages_are_far_from_alike() {
    for corpus in [Corpus::plain(1_000, 4), Corpus::real_shaped(1_000, 4)] {
        let texts: Vec<_> = (0..1_000)
            .filter(|&page| corpus.copy(page).is_none())
            .step_by(45)
            .map(|page| shingles(&visible_text(&html(&corpus, page))))
            .collect();
        for (place, one) in texts.iter().enumerate() {
            for other in &texts[..place] {
                let alike = resemblance(one, other);
                assert!(alike < 0.3, "{alike}");
            }
        }
    }
}

/// Follows links as a crawler does, those of the copies it recognises left out.
fn reached(corpus: &Corpus) -> usize {
    let mut queue: VecDeque<usize> = corpus
        .seeds(PORT)
        .iter()
        .map(|seed| corpus.page_at(seed).unwrap())
        .collect();
    let mut queued: BTreeSet<usize> = queue.iter().copied().collect();
    let mut judged = BTreeSet::new();
    while let Some(page) = queue.pop_front() {
        if judged.insert(corpus.original(page)) {
            queue.extend(
                corpus
                    .links(page)
                    .into_iter()
                    .filter(|&link| queued.insert(link)),
            );
        }
    }
    queued.len()
}

#[test]
fn every_page_is_reached_without_the_links_of_copies() {
    let mut corpus = Corpus::plain(1, 0);
    for pages in [1, 2, 9, 100, 3_000] {
        for hosts in [1, 3, 10, 64, 1_000] {
            for seed in 0..3 {
                corpus = numbered(corpus, pages, hosts, seed);
                assert_eq!(
                    reached(&corpus),
                    pages,
                    "{pages} pages, {hosts} hosts, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_url_belongs_to_one_page() {
    let corpus = Corpus::plain(200, 5).with_hosts(7);
    for page in 0..200 {
        assert_eq!(corpus.page_at(&corpus.url(page, PORT)), Some(page));
    }
    for url in [
        "http://w00.corpus.test/p/000001",
        "http://w04.corpus.test/p/000200",
        "http://w01.corpus.test/p/1",
        "http://w00.corpus.test/",
        "http://other.test/p/000000",
        "nonsense",
    ] {
        assert_eq!(corpus.page_at(url), None, "{url}");
    }
}

#[test]
fn hosts_on_domains_of_their_own_have_the_same_pages() {
    let corpus = Corpus::plain(200, 5).with_hosts(7).on_domains();
    assert_eq!(corpus.hosts()[..2], ["w00.test", "w01.test"]);
    for page in 0..200 {
        assert_eq!(corpus.page_at(&corpus.url(page, PORT)), Some(page));
    }
}

#[test]
fn the_site_answers_for_every_page_and_for_nothing_else() {
    let corpus = Arc::new(Corpus::plain(30, 6).with_hosts(3));
    let site = corpus.site();
    for page in 0..30 {
        let reply = site.answer(&Request::get(&corpus.url(page, PORT)));
        assert_eq!(
            (reply.code(), reply.body()),
            (200, &corpus.html(page, PORT))
        );
    }
    for url in [
        "http://w00.corpus.test/robots.txt",
        "http://w00.corpus.test/p/000030",
    ] {
        assert_eq!(site.answer(&Request::get(url)).code(), 404);
    }
}

#[test]
fn a_seed_determines_the_web() {
    let (one, same, other) = (
        Corpus::plain(100, 7),
        Corpus::plain(100, 7),
        Corpus::plain(100, 8),
    );
    assert_eq!(one.html(99, PORT), same.html(99, PORT));
    assert_ne!(one.html(99, PORT), other.html(99, PORT));
    assert_ne!(one.planted(), other.planted());
}

#[test]
fn the_score_counts_caught_copies_and_lost_pages() {
    let corpus = Corpus::plain(500, 9);
    let planted = corpus.planted().len();
    let url = |page: usize| corpus.url(page, PORT);
    let copies: Vec<String> = corpus.planted().iter().map(|copy| url(copy.page)).collect();
    assert_eq!(
        corpus.score(&copies),
        Score {
            planted,
            caught: planted,
            lost: 0
        }
    );
    assert_eq!(
        corpus.score(&[] as &[String]),
        Score {
            planted,
            caught: 0,
            lost: 0
        }
    );

    let copy = corpus.planted()[0];
    let siblings: Vec<usize> = corpus
        .planted()
        .iter()
        .filter(|other| other.original == copy.original)
        .map(|copy| copy.page)
        .collect();
    let mut cluster: Vec<String> = siblings.iter().map(|&page| url(page)).collect();
    cluster[0] = url(copy.original);
    assert_eq!(
        corpus.score(&cluster),
        Score {
            planted,
            caught: siblings.len(),
            lost: 0
        },
        "the original instead"
    );
    cluster.push(url(copy.page));
    assert_eq!(
        corpus.score(&cluster),
        Score {
            planted,
            caught: siblings.len(),
            lost: 1
        },
        "all of them"
    );

    let alone = (0..500)
        .find(|&page| {
            corpus.copy(page).is_none() && corpus.planted().iter().all(|copy| copy.original != page)
        })
        .unwrap();
    assert_eq!(
        corpus.score([url(alone), "http://other.test/".into()]),
        Score {
            planted,
            caught: 0,
            lost: 1
        }
    );
}

#[test]
fn the_truth_has_one_line_per_copy() {
    let corpus = Corpus::plain(100, 10);
    let mut truth = Vec::new();
    corpus.write_truth(PORT, &mut truth).unwrap();
    let truth = String::from_utf8(truth).unwrap();
    assert_eq!(truth.lines().count(), corpus.planted().len());
    let first = corpus.planted()[0];
    let expected = format!(
        "{}\t{}\t{}",
        corpus.url(first.page, PORT),
        corpus.url(first.original, PORT),
        first.change
    );
    assert_eq!(truth.lines().next(), Some(expected.as_str()));
}
