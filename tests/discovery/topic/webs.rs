//! Focused crawls of generated webs, in which the topic of each page is known: links that lie,
//! hosts half on topic, tunnels.

use testkit::Server;
use testkit::topic_webs::{FARM, LONGEST_TUNNEL, TUNNELS, TopicWeb, WORDS};

use crate::support::Crawl;

const WEB: TopicWeb = TopicWeb {
    seed: 11,
    pages: 150,
    stays: 70,
    lies: 0,
};

/// Returns a crawl of a web from these hosts, one page at a time. The farm is no part of it.
fn crawl_of(server: &Server, hosts: &[&str]) -> Crawl {
    let seeds: Vec<String> = hosts.iter().map(|host| server.url(host, "/")).collect();
    Crawl::of(server, &TopicWeb::hosts())
        .seeds(&seeds)
        .with(&["--concurrency", "1", "--no-index"])
}

/// Returns the pages in the order of their visits: host and path.
fn visited(server: &Server) -> Vec<(String, String)> {
    let log = server.log();
    log.pages()
        .map(|hit| (hit.host.clone(), hit.target.clone()))
        .collect()
}

/// Returns the number of pages on topic among the first `most` that a crawl visits.
fn harvest(web: TopicWeb, options: &[&str], most: usize) -> usize {
    let server = Server::spawn_thread(web.site());
    // A host off topic, and one that is half on topic.
    let hosts = ["land.test", "half.test"];
    let pages = most.to_string();
    let crawl = crawl_of(&server, &hosts).with(options);
    let summary = crawl.with(&["--max-pages", &pages]).complete();
    assert_eq!(summary["pages"], most as u64);
    let visited = visited(&server);
    let on_topic = visited.iter();
    on_topic
        .filter(|(host, path)| web.is_on_topic(host, path))
        .count()
}

#[test]
fn the_first_visits_bring_twice_what_breadth_first_brings_even_where_links_lie() {
    for lies in [0, 30] {
        let web = TopicWeb { lies, ..WEB };
        let breadth_first = harvest(web, &[], 60);
        let focused = harvest(web, &["--topic", WORDS], 60);
        assert!(
            focused >= 2 * breadth_first,
            "{lies} % lie: {focused} against {breadth_first} of 60"
        );
    }
}

#[test]
fn pages_on_topic_are_found_and_archived_behind_tunnels_and_on_mixed_hosts() {
    let web = TopicWeb { lies: 30, ..WEB };
    let server = Server::spawn_thread(web.site());
    let hosts = ["sea.test", "land.test", "half.test", TUNNELS];
    let crawl = crawl_of(&server, &hosts).with(&["--topic", WORDS]);
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");
    let place = |url: &str| {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        (host.split(':').next().unwrap().to_owned(), path.to_owned())
    };
    let (mut archived, mut poor, mut of_tunnels) = (0, 0, 0);
    for (url, verdict) in crawl.verdicts() {
        let (host, path) = place(&url);
        assert_ne!(host, FARM);
        match (web.is_on_topic(&host, &path), &*verdict) {
            (true, "unique") => archived += 1,
            (true, "off-topic") => poor += 1,
            (true, other) => panic!("{url}: {other}"),
            // Links of other hosts' pages have words of every topic, and their words count.
            (false, verdict) if host == TUNNELS => {
                assert_eq!(verdict, "off-topic", "{url}");
                of_tunnels += 1;
            }
            (false, _) => {}
        }
    }
    // All are visited. Words are drawn at random, and one page in a hundred has too few of them.
    assert_eq!(archived + poor, web.on_topic());
    assert!(100 * poor < archived, "{poor} of {archived}");
    // The front page, and tunnels of one to four pages.
    assert_eq!(of_tunnels, 1 + LONGEST_TUNNEL * (LONGEST_TUNNEL + 1) / 2);
}
