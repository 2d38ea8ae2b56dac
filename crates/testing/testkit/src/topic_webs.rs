//! Generated webs for focused crawls, with the truth about each page.
//!
//! Every page is a function of its address. Pages have one of [`TOPICS`]; a crawl looks for the
//! first, which [`WORDS`] name.
//!
//! | host | its pages |
//! |---|---|
//! | `sea.test` | on topic, all of them |
//! | `land.test` | of the other topics |
//! | `half.test` | on topic and off topic in turn |
//! | `tunnel.test` | tunnels of one to four pages off topic, with pages on topic behind each |
//! | `farm.test` | stuffed with the topic's words, each page different, without end |
//!
//! Of the links on a page of the first three, [`TopicWeb::stays`] percent lead to pages of its own
//! topic; [`TopicWeb::lies`] percent have the words of a topic that is not their target's. (Links
//! within topics: Davison, "Topical locality in the web", SIGIR 2000; tunnels: Bergmark, Lagoze and
//! Sbityakov, ECDL 2002.)

use std::fmt::Write as _;

use crate::http::{Reply, Request, Site};
use crate::prose::Prose;
use crate::random::{Random, fnv};

/// The words of the topic that a crawl looks for, as `--topic` takes them.
pub const WORDS: &str = "tidal power turbines";

/// The host of the pages that are stuffed with these words.
pub const FARM: &str = "farm.test";

/// The host of the tunnels.
pub const TUNNELS: &str = "tunnel.test";

/// The hosts whose pages have topics.
const HOSTS: [&str; 3] = ["sea.test", "land.test", "half.test"];

/// The longest tunnel, in pages off topic.
pub const LONGEST_TUNNEL: u64 = 4;

/// The on-topic pages behind each tunnel.
const BEHIND_TUNNEL: u64 = 5;

/// The links on a page.
const LINKS: usize = 12;

/// The words of the topics; the first is the one that is looked for.
pub const TOPICS: [[&str; 10]; 4] = [
    [
        "tidal",
        "power",
        "turbines",
        "estuary",
        "barrage",
        "tides",
        "current",
        "generator",
        "lagoon",
        "sluice",
    ],
    [
        "bread",
        "dough",
        "yeast",
        "oven",
        "flour",
        "crust",
        "baker",
        "loaf",
        "sourdough",
        "rye",
    ],
    [
        "chess",
        "bishop",
        "opening",
        "endgame",
        "pawn",
        "rook",
        "gambit",
        "castling",
        "knight",
        "checkmate",
    ],
    [
        "violin",
        "bow",
        "sonata",
        "luthier",
        "strings",
        "orchestra",
        "concerto",
        "rosin",
        "fingerboard",
        "vibrato",
    ],
];

/// A web of topics.
#[derive(Clone, Copy, Debug)]
pub struct TopicWeb {
    /// Determines texts and links.
    pub seed: u64,
    /// The pages of each of the hosts with topics.
    pub pages: u64,
    /// The share of links that stay within their page's topic, in percent.
    pub stays: u8,
    /// The share of links whose words are those of another topic, in percent.
    pub lies: u8,
}

impl TopicWeb {
    /// Returns the addresses of the front pages, without a port: the farm's is not among them, but
    /// every tenth page links there.
    #[must_use]
    pub fn seeds() -> Vec<String> {
        let fronts = HOSTS.into_iter().chain([TUNNELS]);
        fronts.map(|host| format!("http://{host}/")).collect()
    }

    /// Returns the names of all hosts.
    #[must_use]
    pub fn hosts() -> Vec<&'static str> {
        HOSTS.into_iter().chain([TUNNELS, FARM]).collect()
    }

    /// Returns true if the page at this path of a host is on topic; false for a page of the farm,
    /// whatever its words, and for one that does not exist.
    #[must_use]
    pub fn is_on_topic(&self, host: &str, path: &str) -> bool {
        match host {
            TUNNELS => path.starts_with("/behind/"),
            _ => self
                .page_of(host, path)
                .is_some_and(|page| page.topic() == 0),
        }
    }

    /// Returns the number of pages that are on topic.
    #[must_use]
    pub fn on_topic(&self) -> u64 {
        // The front page of `half.test` is on topic, and so is every other one.
        self.pages + self.pages.div_ceil(2) + LONGEST_TUNNEL * BEHIND_TUNNEL
    }

    /// Returns the web as a site of all its hosts.
    #[must_use]
    pub fn site(self) -> Site {
        Site::new(move |request| self.answer(request))
    }

    fn answer(self, request: &Request) -> Reply {
        match (&*request.host, request.path()) {
            (_, "/robots.txt") => Reply::status(404),
            (FARM, path) => self.farm(path, request),
            (TUNNELS, path) => self.tunnel(path),
            (host, path) => match self.page_of(host, path) {
                Some(page) => self.page(page, request),
                None => Reply::status(404),
            },
        }
    }

    fn page_of(self, host: &str, path: &str) -> Option<TopicPage> {
        let host = HOSTS.iter().position(|name| *name == host)? as u64;
        let number = match path {
            "/" => 0,
            path => path.strip_prefix("/page/")?.parse().ok()?,
        };
        (number < self.pages).then_some(TopicPage { host, number })
    }

    fn page(self, page: TopicPage, request: &Request) -> Reply {
        let mut random = Random::of(self.seed, page.key());
        let mut links = Vec::new();
        // The next two pages of the host, so that each page can be reached.
        for next in [2 * page.number + 1, 2 * page.number + 2] {
            links.push(TopicPage {
                number: next,
                ..page
            });
        }
        while links.len() < LINKS {
            let stays = random.below(100) < usize::from(self.stays);
            let link = TopicPage {
                host: random.below(HOSTS.len()) as u64,
                number: random.below(self.pages.max(1) as usize) as u64,
            };
            if (link.topic() == page.topic()) == stays
                || (stays && page.topic() > 0 && link.topic() > 0)
            {
                links.push(link);
            }
        }
        let mut written = Vec::new();
        for link in links.into_iter().filter(|link| link.number < self.pages) {
            let lies = random.below(100) < usize::from(self.lies);
            let told = match lies {
                true => (link.topic() + 1 + random.below(TOPICS.len() - 1)) % TOPICS.len(),
                false => link.topic(),
            };
            let target = format!(
                "http://{}{}{}",
                HOSTS[link.host as usize],
                port(request),
                link.path()
            );
            written.push((target, words(told, 3, &mut random)));
        }
        if page.number % 10 == 9 {
            let target = format!("http://{FARM}{}/{}", port(request), page.number);
            written.push((target, words(0, 3, &mut random)));
        }
        self.written(page.topic(), page.key(), &written)
    }

    /// The front page leads into the tunnels; `/tunnel/LENGTH/STEP` one further, and the last step
    /// to `/behind/LENGTH/NUMBER`.
    fn tunnel(self, path: &str) -> Reply {
        let mut parts = path.split('/').skip(1);
        let kind = parts.next().unwrap_or_default();
        let numbers: Vec<u64> = parts.map_while(|part| part.parse().ok()).collect();
        let key = fnv(path);
        let mut random = Random::of(self.seed, key);
        match (kind, &numbers[..]) {
            ("", _) => {
                let into = (1..=LONGEST_TUNNEL).map(|length| format!("/tunnel/{length}/1"));
                let links: Vec<_> = into
                    .map(|target| (target, words(1, 2, &mut random)))
                    .collect();
                self.written(1, key, &links)
            }
            ("tunnel", &[length @ 1..=LONGEST_TUNNEL, step]) if (1..=length).contains(&step) => {
                let links: Vec<(String, String)> = match step == length {
                    true => (0..BEHIND_TUNNEL)
                        .map(|number| format!("/behind/{length}/{number}"))
                        .map(|target| (target, words(0, 2, &mut random)))
                        .collect(),
                    false => vec![(
                        format!("/tunnel/{length}/{}", step + 1),
                        words(1, 2, &mut random),
                    )],
                };
                self.written(1, key, &links)
            }
            ("behind", &[1..=LONGEST_TUNNEL, 0..BEHIND_TUNNEL]) => self.written(0, key, &[]),
            _ => Reply::status(404),
        }
    }

    /// A page of nothing but the topic's words, in an order of its own, with links to others.
    fn farm(self, path: &str, request: &Request) -> Reply {
        let key = fnv(path);
        let mut random = Random::of(self.seed, key);
        let target = |random: &mut Random| {
            let number = random.next() % 1_000_000;
            format!("http://{FARM}{}/{number}", port(request))
        };
        let links: Vec<(String, String)> = (0..LINKS)
            .map(|_| (target(&mut random), words(0, 3, &mut random)))
            .collect();
        let text = words(0, 300, &mut random);
        html(
            &format!("{} {key}", words(0, 3, &mut random)),
            &text,
            &links,
        )
    }

    /// Writes a page: prose of its own, and sentences with the words of its topic.
    fn written(self, topic: usize, key: u64, links: &[(String, String)]) -> Reply {
        let mut random = Random::of(self.seed ^ 1, key);
        let mut prose = Prose::new(self.seed, key);
        let mut text = String::new();
        for _ in 0..8 {
            let sentence = words(topic, 6, &mut random);
            let _infallible = write!(text, "{} {sentence}. ", prose.paragraph(15));
        }
        let title = format!("{} {}", words(topic, 2, &mut random), prose.title());
        html(&title, &text, links)
    }
}

/// A page of a host with topics.
#[derive(Clone, Copy, Debug)]
struct TopicPage {
    host: u64,
    number: u64,
}

impl TopicPage {
    fn topic(self) -> usize {
        let other = 1 + self.number as usize % (TOPICS.len() - 1);
        match (self.host, self.number % 2) {
            (0, _) | (2, 0) => 0,
            _ => other,
        }
    }

    fn key(self) -> u64 {
        self.host << 32 | self.number
    }

    fn path(self) -> String {
        match self.number {
            0 => "/".to_owned(),
            number => format!("/page/{number}"),
        }
    }
}

/// Returns `count` words of a topic.
fn words(topic: usize, count: usize, random: &mut Random) -> String {
    let words: Vec<&str> = (0..count).map(|_| random.pick(&TOPICS[topic])).collect();
    words.join(" ")
}

fn port(request: &Request) -> String {
    request
        .port
        .map_or(String::new(), |port| format!(":{port}"))
}

fn html(title: &str, text: &str, links: &[(String, String)]) -> Reply {
    let mut html = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\
         <body><main><h1>{title}</h1><p>{text}</p><ul>"
    );
    for (target, words) in links {
        let _infallible = write!(html, "<li><a href=\"{target}\">{words}</a></li>");
    }
    html.push_str("</ul></main></body></html>\n");
    Reply::html(html)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const WEB: TopicWeb = TopicWeb {
        seed: 3,
        pages: 120,
        stays: 80,
        lies: 0,
    };

    fn body(site: &Site, url: &str) -> String {
        let reply = site.answer(&Request::get(url));
        assert_eq!(reply.code(), 200, "{url}");
        String::from_utf8(reply.body().to_vec()).unwrap()
    }

    /// Returns the links of a page: their URLs and words.
    fn links(site: &Site, url: &str) -> Vec<(String, String)> {
        let host = url.split('/').nth(2).unwrap();
        let body = body(site, url);
        let absolute = |target: &str| match target.starts_with('/') {
            true => format!("http://{host}{target}"),
            false => target.to_owned(),
        };
        let link = |rest: &str| {
            let (target, rest) = rest.split_once("\">").unwrap();
            (absolute(target), rest.split('<').next().unwrap().to_owned())
        };
        body.split("<a href=\"").skip(1).map(link).collect()
    }

    fn is_on_topic(url: &str) -> bool {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        WEB.is_on_topic(host, path)
    }

    #[test]
    fn every_page_on_topic_can_be_reached_and_the_farm_is_never_on_topic() {
        let site = WEB.site();
        let mut queue = TopicWeb::seeds();
        let mut seen: HashSet<String> = queue.iter().cloned().collect();
        while let Some(url) = queue.pop() {
            for (link, _) in links(&site, &url) {
                if !link.contains(FARM) && seen.insert(link.clone()) {
                    queue.push(link);
                }
            }
        }
        let on_topic = seen.iter().filter(|url| is_on_topic(url)).count() as u64;
        assert_eq!(on_topic, WEB.on_topic());
        assert!(!WEB.is_on_topic(FARM, "/9"));
    }

    #[test]
    fn most_links_stay_within_the_topic_of_their_page() {
        let site = WEB.site();
        let (mut stay, mut all) = (0, 0);
        for number in 1..WEB.pages {
            for (link, _) in links(&site, &format!("http://sea.test/page/{number}")) {
                all += usize::from(!link.contains(FARM));
                stay += usize::from(is_on_topic(&link));
            }
        }
        let share = 100 * stay / all;
        assert!((75..90).contains(&share), "{share} %");
    }

    #[test]
    fn words_of_links_are_those_of_their_targets_unless_they_lie() {
        for lies in [0, 30, 100] {
            let site = TopicWeb { lies, ..WEB }.site();
            let (mut lied, mut all) = (0, 0);
            for number in 1..WEB.pages {
                for (link, words) in links(&site, &format!("http://half.test/page/{number}")) {
                    if link.contains(FARM) {
                        continue;
                    }
                    let told = TOPICS[0].contains(&words.split(' ').next().unwrap());
                    all += usize::from(is_on_topic(&link));
                    lied += usize::from(is_on_topic(&link) && !told);
                }
            }
            let share = 100 * lied / all;
            let expected = usize::from(lies);
            assert!(share.abs_diff(expected) <= 5, "{share} %, not {lies} %");
        }
    }

    #[test]
    fn a_tunnel_of_each_length_has_so_many_pages_off_topic_before_the_first_on_topic() {
        let site = WEB.site();
        for (length, (entrance, _)) in (1..).zip(links(&site, "http://tunnel.test/")) {
            let (mut url, mut off_topic) = (entrance, 0);
            while !is_on_topic(&url) {
                off_topic += 1;
                url = links(&site, &url).remove(0).0;
            }
            assert_eq!(off_topic, length);
        }
    }

    #[test]
    fn pages_of_the_farm_are_all_different_and_have_nothing_but_the_words() {
        let site = WEB.site();
        let farm = |number| body(&site, &format!("http://{FARM}/{number}"));
        let pages: HashSet<String> = (0..100).map(farm).collect();
        assert_eq!(pages.len(), 100);
        assert_eq!(farm(1), farm(1));
        let text = farm(1);
        let text = text
            .split("<p>")
            .nth(1)
            .unwrap()
            .split("</p>")
            .next()
            .unwrap();
        assert!(
            text.split(' ').all(|word| TOPICS[0].contains(&word)),
            "{text}"
        );
    }
}
