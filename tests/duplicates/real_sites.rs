//! Crawls with the shipped defaults of sites on which pages were lost. They are modelled on the
//! real ones in docs/measurements/quality.md.
//!
//! A text is lost if none of its pages was archived ([`KnownSite::lost`]). No crawl here may lose
//! one; tests that bound the cost state the number of requests.

use std::collections::{BTreeMap, BTreeSet};

use testkit::Server;
use testkit::known_sites::{self, KnownSite};

use crate::support::{Crawl, KEY};

/// A second hash key beside [`KEY`]: estimates, and so verdicts near a threshold, depend on the
/// key.
const OTHER_KEY: &str = "00000000000000a7";

/// A finished crawl, with the truth about its site.
struct Ended {
    known: KnownSite,
    server: Server,
    crawl: Crawl,
    verdicts: BTreeMap<String, String>,
    /// Pages in the archive, those that a later page contains included.
    kept: BTreeSet<String>,
    /// Pages that were not archived as copies of a page with another text.
    wrongly_merged: Vec<(String, String)>,
}

/// Crawls a site with the shipped defaults, but without politeness and search index.
fn crawl(known: KnownSite) -> Ended {
    crawl_with(known, KEY, &[])
}

fn crawl_with(known: KnownSite, key: &str, options: &[&str]) -> Ended {
    let server = Server::spawn_thread(known.site());
    let seeds: Vec<String> = known
        .seeds()
        .iter()
        .map(|address| url(&server, address))
        .collect();
    let crawl = Crawl::keyless(&server, &known.hosts())
        .with(&[
            "--delay",
            "0",
            "--delay-factor",
            "0",
            "--no-index",
            "--hash-key",
            key,
        ])
        .with(options)
        .seeds(&seeds);
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted", "{summary}");
    let address = |value: &serde_json::Value| {
        let url = value.as_str()?.strip_prefix("http://")?;
        Some(url.replacen(&format!(":{}", server.port()), "", 1))
    };
    let (mut verdicts, mut wrongly_merged) = (BTreeMap::new(), Vec::new());
    // The visits of unarchived pages have a place in the archive, too: that of a note.
    let archived = crawl.archived();
    let kept = archived
        .iter()
        .filter_map(|url| address(&url.as_str().into()))
        .collect();
    for visit in crawl.visits() {
        let page = address(&visit["url"]).unwrap();
        verdicts.insert(page.clone(), visit["verdict"].as_str().unwrap().to_owned());
        if let Some(original) = address(&visit["duplicate_of"])
            && !known.say_the_same(&page, &original)
        {
            wrongly_merged.push((page, original));
        }
    }
    Ended {
        known,
        server,
        crawl,
        verdicts,
        kept,
        wrongly_merged,
    }
}

fn url(server: &Server, address: &str) -> String {
    let (host, path) = address.split_once('/').unwrap();
    server.url(host, &format!("/{path}"))
}

impl Ended {
    /// Returns the pages with this verdict below this address.
    fn count(&self, verdict: &str, below: &str) -> usize {
        let all = self.verdicts.iter();
        all.filter(|(address, actual)| *actual == verdict && address.starts_with(below))
            .count()
    }

    /// Returns the requested pages below this address.
    fn visited(&self, below: &str) -> usize {
        let log = self.server.log();
        let asked = log.iter().map(|hit| format!("{}{}", hit.host, hit.target));
        let asked: BTreeSet<String> = asked.filter(|address| address.starts_with(below)).collect();
        self.known
            .addresses()
            .filter(|page| asked.contains(*page))
            .count()
    }

    /// Returns the number of requests for pages on all hosts.
    fn requests(&self) -> usize {
        let log = self.server.log();
        let is_page = |target: &str| !["/robots.txt", "/sitemap.xml"].contains(&target);
        log.iter().filter(|hit| is_page(&hit.target)).count()
    }

    /// Returns the addresses of archived pages that count as pages of their own.
    fn archived(&self) -> impl Iterator<Item = &str> {
        let archived = self
            .verdicts
            .iter()
            .filter(|(_, verdict)| ["unique", "changed"].contains(&verdict.as_str()));
        archived.map(|(address, _)| address.as_str())
    }

    /// Asserts that at most so many per cent of the archived pages repeat another one.
    #[track_caller]
    fn repeats_at_most(&self, percent: usize) -> &Self {
        let (archived, repeats) = (self.archived().count(), self.known.repeats(self.archived()));
        let mut by_view = BTreeMap::<String, usize>::new();
        for address in &repeats {
            *by_view.entry(KnownSite::view_of(address)).or_default() += 1;
        }
        assert!(
            100 * repeats.len() <= percent * archived,
            "{} of {archived} archived pages repeat another: {by_view:?}",
            repeats.len()
        );
        self
    }

    /// Returns the pages whose text no archived page has.
    fn lost(&self) -> Vec<&str> {
        self.known.lost(self.kept.iter().map(String::as_str))
    }

    /// Asserts that a page of every text was archived.
    #[track_caller]
    fn lost_nothing(&self) -> &Self {
        let lost = self.lost();
        let unseen = lost
            .iter()
            .filter(|address| !self.verdicts.contains_key(**address));
        assert!(
            lost.is_empty(),
            "{} of {} texts are lost, {} of them never reached; {} pages are wrongly merged, such \
             as {:?}; lost: {:?}",
            lost.len(),
            self.known.texts(),
            unseen.count(),
            self.wrongly_merged.len(),
            &self.wrongly_merged[..self.wrongly_merged.len().min(5)],
            &lost[..lost.len().min(10)]
        );
        self
    }
}

#[test]
fn an_api_reference_with_small_pages_in_a_large_frame_loses_no_page() {
    for key in [KEY, OTHER_KEY] {
        let ended = crawl_with(known_sites::api_reference(), key, &[]);
        ended.lost_nothing();
        ended.crawl.is_sound();
    }
}

#[test]
fn a_manual_in_two_versions_with_equal_index_pages_loses_no_page() {
    for key in [KEY, OTHER_KEY] {
        let ended = crawl_with(known_sites::two_versions(true), key, &[]);
        ended.lost_nothing();
        assert_eq!(ended.visited("manual.test/15/"), 176);
        ended.crawl.is_sound();
    }
}

#[test]
fn language_editions_behind_equal_index_pages_lose_no_page() {
    for key in [KEY, OTHER_KEY] {
        let ended = crawl_with(known_sites::language_editions(), key, &[]);
        ended.lost_nothing();
        for edition in ["handbook.test/de/", "handbook.test/fr/"] {
            assert_eq!(ended.visited(edition), 101, "{edition}");
        }
        ended.crawl.is_sound();
    }
}

#[test]
fn a_version_whose_index_repeats_that_of_another_version_is_archived_without_being_a_seed() {
    let ended = crawl(known_sites::two_versions(false));
    ended.lost_nothing();
    assert_eq!(ended.visited("manual.test/15/"), 176);
    // 75 changed pages, 15 new ones.
    assert!(
        ended.count("unique", "manual.test/15/") >= 90,
        "{:?}",
        ended.verdicts
    );
    ended.crawl.is_sound();
}

/// Closing the folder `/de/` for its copies also lost its translations: 60 pages.
#[test]
fn translations_are_archived_although_most_of_their_folder_is_not_translated() {
    let ended = crawl(known_sites::half_translated());
    ended.lost_nothing();
    let translated = ended.verdicts.iter().filter(|(address, verdict)| {
        address.ends_with(".de.html") && !address.contains("index") && *verdict == "unique"
    });
    assert_eq!(translated.count(), 60);
    ended.crawl.is_sound();
}

/// Comment markup on each post emptied both threads, and the rest was the frame: .89 alike.
#[test]
fn two_forum_threads_of_one_template_with_other_posts_are_both_kept() {
    let ended = crawl(known_sites::two_threads());
    ended.lost_nothing();
    assert_eq!(ended.count("unique", "forum.test/showthread.php"), 2);
    assert_eq!(ended.requests(), 3);
    ended.crawl.is_sound();
}

#[test]
fn a_tag_page_and_its_twin_with_the_same_words_both_lead_to_their_articles() {
    let ended = crawl(known_sites::tag_twins());
    ended.lost_nothing();
    assert_eq!(ended.visited("blog.test/article/"), 60);
    assert_eq!(ended.requests(), 63);
    ended.crawl.is_sound();
}

/// A copy of six pages, the victim's seed among them, without links and on another domain, cost all
/// 200 pages of the victim.
#[test]
fn a_thief_that_answers_first_takes_neither_the_seed_of_its_victim_nor_the_pages_behind_it() {
    let known = known_sites::thief(200);
    // The thief is crawled completely before the first request to the victim.
    let server = Server::spawn_thread(known.site());
    let (thief, victim): (Vec<String>, Vec<String>) = known
        .seeds()
        .iter()
        .map(|address| url(&server, address))
        .partition(|url| url.contains("thief.test"));
    let crawl = Crawl::of(&server, &known.hosts()).with(&["--no-index"]);
    let thief_first = crawl.write("thief.txt", thief.join("\n"));
    let both = crawl.write("both.txt", [thief, victim.clone()].concat().join("\n"));
    for seeds in [thief_first, both] {
        let run = crawl.run_with(&["--seeds", seeds.to_str().unwrap()]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let log = server.log();
    let visited: BTreeSet<&str> = log.targets("victim.test").into_iter().collect();
    let pages = known
        .addresses()
        .filter_map(|page| page.strip_prefix("victim.test"));
    let never: Vec<&str> = pages.filter(|page| !visited.contains(page)).collect();
    assert!(
        never.is_empty(),
        "{} of 200 were never visited: {never:?}",
        never.len()
    );
    assert_eq!(crawl.visit(&victim[0])["verdict"], "unique");
    crawl.is_sound();
}

#[test]
fn a_thief_and_its_victim_crawled_in_parallel_are_both_archived() {
    let ended = crawl_with(known_sites::thief(200), KEY, &["--concurrency", "1"]);
    ended.lost_nothing();
    assert_eq!(ended.visited("victim.test/"), 200);
    assert_eq!(ended.verdicts["victim.test/"], "unique");
    ended.crawl.is_sound();
}

/// About 200 of 2,000 were visited and almost none was kept; the others were closed unseen.
#[test]
fn no_page_of_2000_products_of_one_template_is_not_archived() {
    let ended = crawl(known_sites::products(2_000, 800, 120));
    ended.lost_nothing();
    assert_eq!(ended.visited("shop.test/product/"), 2_000);
    assert_eq!(ended.count("unique", "shop.test/product/"), 2_000);
    assert_eq!(ended.requests(), 2_021);
    ended.crawl.is_sound();
}

#[test]
fn products_with_16_own_words_beside_200_common_ones_are_all_archived() {
    let ended = crawl(known_sites::products(200, 200, 16));
    ended.lost_nothing();
    assert_eq!(ended.count("unique", "shop.test/product/"), 200);
    ended.crawl.is_sound();
}

/// 415 to 1,080 of the 2,700 were lost to the 300 before them.
#[test]
fn a_forum_whose_first_300_threads_say_deleted_keeps_the_2700_others() {
    let ended = crawl(known_sites::deleted_threads(300, 2_700));
    ended.lost_nothing();
    assert_eq!(ended.count("unique", "forum.test/showthread.php"), 2_701);
    ended.crawl.is_sound();
}

/// Articles of the mirrored site; with its 20 sections and its front page, 2,021 pages.
const MIRRORED: u64 = 2_000;

#[test]
fn a_full_mirror_that_is_crawled_behind_its_original_costs_at_most_200_requests() {
    let known = known_sites::mirror(MIRRORED);
    let server = Server::spawn_thread(known.site());
    let [mirror, original] =
        ["mirror.test", "original.test"].map(|host| server.url(host, "/index.html"));
    let crawl = Crawl::of(&server, &known.hosts()).with(&["--no-index"]);
    let first = crawl.write("original.txt", &original);
    let both = crawl.write("both.txt", format!("{original}\n{mirror}"));
    for seeds in [first, both] {
        let run = crawl.run_with(&["--seeds", seeds.to_str().unwrap()]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let log = server.log();
    let of_pages = |host: &str| {
        let targets = log.targets(host);
        targets
            .iter()
            .filter(|target| target.ends_with(".html"))
            .count()
    };
    assert_eq!(of_pages("original.test"), 2_021);
    let more = of_pages("mirror.test");
    assert!((1..=200).contains(&more), "{more}");
    crawl.is_sound();
}

#[test]
fn a_full_mirror_that_is_crawled_beside_its_original_costs_at_most_200_requests() {
    let ended = crawl(known_sites::mirror(MIRRORED));
    ended.lost_nothing();
    let more = ended.requests() - 2_021;
    assert!(more <= 200, "{more}");
    ended.crawl.is_sound();
}

/// Four of five archived pages of a shop, and half of those of a blog, repeated another: their
/// frames were compared, and a printed page is a part of its article. Where both hosts of the blog
/// answered at the same time, a fifth did: neither view was known when the other was judged.
#[test]
fn a_blog_and_a_shop_with_views_in_a_changing_frame_are_archived_once_and_lose_nothing() {
    for key in [KEY, OTHER_KEY] {
        for known in [known_sites::blog(120), known_sites::shop(120)] {
            let ended = crawl_with(known, key, &[]);
            ended.lost_nothing().repeats_at_most(15);
            ended.crawl.is_sound();
        }
    }
}

/// Of the 217 contents of this wiki 105 were lost: revisions that differ in a paragraph taught that
/// articles change by themselves. Comparisons of two revisions are lost still, up to twelve: one
/// has all that another one says, or differs from it in a number that many revisions change.
#[test]
fn a_wiki_with_old_revisions_is_archived_once_and_loses_nothing_but_comparisons() {
    for (key, max_old) in [(KEY, 3), (OTHER_KEY, 0)] {
        // One request at a time. With four, a busy machine answers in orders in which one revision
        // of the 217 contents is lost, too: in about one run of four.
        let in_order = ["--concurrency-per-host", "1"];
        let ended = crawl_with(known_sites::wiki(40, max_old), key, &in_order);
        let lost = ended.lost();
        assert!(
            lost.iter().all(|page| page.contains("?do=diff")),
            "{lost:?}"
        );
        assert!(lost.len() <= 16, "{lost:?}");
        ended.repeats_at_most(15);
        ended.crawl.is_sound();
    }
}
