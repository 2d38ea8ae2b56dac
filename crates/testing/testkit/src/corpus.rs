//! As many pages as a benchmark wants, with the truth about which of them are copies.
//!
//! A tenth of the pages are planted copies of earlier ones, spread evenly; all others are really
//! different texts. Nothing is stored but a pool of paragraphs: a page is drawn from it by its
//! number each time it is asked for, so that a server of 20,000 pages is small and costs a few
//! microseconds a page.
//!
//! Every page can be reached although a crawler does not follow the links of the copies that it
//! leaves out: a page hangs below a distinct page of its host, and a copy has the links of its
//! original, so it does not matter which of the two is met first.

mod pool;
mod shell;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;

use crate::http::{Reply, Site};
use crate::prose::MONTHS;
use crate::random::Random;
use pool::{Pool, first_words};
use shell::Shell;

/// Links on a page.
const LINKS: usize = 20;
/// Pages hanging below a distinct page of the same host, where copies do not make it necessary to
/// hang more.
const BRANCHES: usize = 4;
/// One page in this many is a planted copy.
const PLANTED_ONE_IN: usize = 10;
/// Host names, unless asked otherwise; fewer where a host would have less than twenty pages.
const HOSTS: usize = 64;

/// A generated web of numbered pages.
#[derive(Debug)]
pub struct Corpus {
    seed: u64,
    hosts: Vec<String>,
    pages: Vec<Page>,
    planted: Vec<Planted>,
    pool: Pool,
    shell: Shell,
}

/// The fixed properties of a page; its text is drawn on request.
#[derive(Debug)]
struct Page {
    copy: Option<Planted>,
    children: Vec<u32>,
}

/// A page that says what an earlier page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The number of the copy.
    pub page: usize,
    /// The number of the page it was made from, which is smaller and itself no copy.
    pub original: usize,
    /// The difference.
    pub change: Change,
}

/// The difference between a planted copy and its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not at all: the same bytes.
    Nothing,
    /// The date of the last change.
    Date,
    /// The date and the counter of visits.
    Counter,
    /// A sentence.
    Sentence,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Date => "date",
            Self::Counter => "counter",
            Self::Sentence => "sentence",
        })
    }
}

/// The score of a crawl: the copies that it found, and the originals that it lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The copies there were.
    pub planted: usize,
    /// Pairs of which one page was not archived. It does not matter whether the copy or the
    /// original came first.
    pub caught: usize,
    /// Distinct pages of which nothing was kept.
    pub lost: usize,
}

impl Corpus {
    /// Pages of 26 KiB of HTML, 24 KiB of it text.
    #[must_use]
    pub fn plain(pages: usize, seed: u64) -> Self {
        Self::new(pages, seed, Shell::plain())
    }

    /// Pages of 170 KiB of HTML around 9 KB of text, as content management systems make them:
    /// inline styles and scripts, a long menu, deep nesting, many attributes.
    #[must_use]
    pub fn real_shaped(pages: usize, seed: u64) -> Self {
        Self::new(pages, seed, Shell::real(seed))
    }

    fn new(pages: usize, seed: u64, shell: Shell) -> Self {
        let pool = Pool::new(pages * shell.text, seed);
        Self {
            seed,
            hosts: Vec::new(),
            pages: Vec::new(),
            planted: Vec::new(),
            pool,
            shell,
        }
        .grown(pages, HOSTS.min(pages / 20))
    }

    /// The same number of pages over another number of host names (by default 64, fewer for less
    /// than 1,280 pages).
    #[must_use]
    pub fn with_hosts(self, hosts: usize) -> Self {
        let pages = self.pages.len();
        self.grown(pages, hosts)
    }

    fn grown(self, pages: usize, hosts: usize) -> Self {
        let hosts = hosts.clamp(1, pages.max(1));
        let planted = plant(pages, hosts, self.seed);
        Self {
            hosts: (0..hosts)
                .map(|host| format!("w{host:02}.corpus.test"))
                .collect(),
            pages: grow(pages, hosts, &planted),
            planted,
            ..self
        }
    }

    /// The same pages on hosts of registrable domains of their own. All hosts are of one otherwise.
    #[must_use]
    pub fn on_domains(mut self) -> Self {
        let count = self.hosts.len();
        self.hosts = (0..count).map(|host| format!("w{host:02}.test")).collect();
        self
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns true if there is no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The copies, by number.
    #[must_use]
    pub fn planted(&self) -> &[Planted] {
        &self.planted
    }

    /// Returns the original that `page` is a copy of, and the change; `None` if it is no copy.
    #[must_use]
    pub fn copy(&self, page: usize) -> Option<Planted> {
        self.pages.get(page)?.copy
    }

    /// The host names.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.clone()
    }

    /// The first page of each host: from them everything can be reached.
    #[must_use]
    pub fn seeds(&self, port: u16) -> Vec<String> {
        (0..self.hosts.len().min(self.len()))
            .map(|page| self.url(page, port))
            .collect()
    }

    /// Returns the URL of `page`.
    #[must_use]
    pub fn url(&self, page: usize, port: u16) -> String {
        format!("http://{}:{port}/p/{page:06}", self.host(page))
    }

    /// Returns the page at `url`, whatever its port.
    #[must_use]
    pub fn page_at(&self, url: &str) -> Option<usize> {
        let request = crate::http::Request::get(url);
        self.find(&request.host, &request.target)
    }

    fn find(&self, host: &str, target: &str) -> Option<usize> {
        let page: usize = target
            .strip_prefix("/p/")
            .filter(|number| number.len() == 6)?
            .parse()
            .ok()?;
        (page < self.len() && host == self.host(page)).then_some(page)
    }

    /// The pages that `page` links to, in order.
    #[must_use]
    pub fn links(&self, page: usize) -> Vec<usize> {
        let original = self.original(page);
        let mut links: Vec<usize> = self.pages[original]
            .children
            .iter()
            .map(|&child| child as usize)
            .collect();
        let mut random = Random::of(self.seed ^ 0x11, original as u64);
        while links.len() < LINKS {
            links.push(random.below(self.len()));
        }
        links
    }

    /// The HTML of `page`, whose links go to `port`.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn html(&self, page: usize, port: u16) -> Bytes {
        let original = self.original(page);
        let mut facts = Random::of(self.seed ^ 0x22, original as u64);
        let zone = self.pool.zone(&mut facts);
        let (mut day, mut counter) = (facts.below(9_000), facts.below(1_000_000));
        let mut sections =
            self.pool
                .sections(zone, &mut facts, self.shell.paragraphs, self.shell.text);
        let title = first_words(sections[0].text, 5);
        let anchors: Vec<&[u8]> = sections
            .iter()
            .map(|section| first_words(section.text, 3))
            .collect();

        let mut other = Random::of(self.seed ^ 0x33, page as u64);
        match self.pages[page].copy.map(|copy| copy.change) {
            None | Some(Change::Nothing) => {}
            Some(Change::Date) => day += 1 + other.below(900),
            Some(Change::Counter) => {
                day += 1 + other.below(900);
                counter += 1 + other.below(1_000);
            }
            Some(Change::Sentence) => {
                let place = other.below(sections.len());
                sections[place] =
                    self.pool
                        .with_another_sentence(zone, &mut other, sections[place]);
            }
        }

        let links = self.links(page);
        let port = format!(":{port}/p/");
        let mut html = Vec::with_capacity(self.shell.size + 4_096);
        self.shell.open(&mut html, title, &date(day), counter);
        let count = sections.len();
        for (place, section) in sections.into_iter().enumerate() {
            self.shell.open_section(&mut html, section);
            for link in place * links.len() / count..(place + 1) * links.len() / count {
                let target = links[link];
                html.extend_from_slice(b" <a href=\"http://");
                html.extend_from_slice(self.host(target).as_bytes());
                html.extend_from_slice(port.as_bytes());
                html.extend_from_slice(&six_digits(target));
                html.extend_from_slice(b"\">");
                html.extend_from_slice(anchors[(link + 1) % count]);
                html.extend_from_slice(b"</a>");
            }
            self.shell.close_section(&mut html);
        }
        self.shell.close(&mut html);
        html.into()
    }

    /// The corpus as a site, under all its host names.
    #[must_use]
    pub fn site(self: &Arc<Self>) -> Site {
        let corpus = Arc::clone(self);
        Site::new(
            move |request| match corpus.find(&request.host, &request.target) {
                Some(page) => Reply::html(corpus.html(page, request.port.unwrap_or(80))),
                None => Reply::status(404),
            },
        )
    }

    /// The truth as text: a line a copy, its URL, the original's and the change, between tabs.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_truth(&self, port: u16, mut out: impl Write) -> io::Result<()> {
        for Planted {
            page,
            original,
            change,
        } in &self.planted
        {
            writeln!(
                out,
                "{}\t{}\t{change}",
                self.url(*page, port),
                self.url(*original, port)
            )?;
        }
        Ok(())
    }

    /// Compares the URLs of the pages that a crawl left out with the truth. Other URLs are passed
    /// over.
    pub fn score<U: AsRef<str>>(&self, left_out: impl IntoIterator<Item = U>) -> Score {
        let mut cluster_sizes: HashMap<usize, usize> = HashMap::new();
        for copy in &self.planted {
            *cluster_sizes.entry(copy.original).or_insert(1) += 1;
        }
        let mut gone: Vec<usize> = left_out
            .into_iter()
            .filter_map(|url| self.page_at(url.as_ref()))
            .collect();
        gone.sort_unstable();
        gone.dedup();
        let mut gone_of_cluster: HashMap<usize, usize> = HashMap::new();
        for page in gone {
            *gone_of_cluster.entry(self.original(page)).or_default() += 1;
        }
        let mut score = Score {
            planted: self.planted.len(),
            caught: 0,
            lost: 0,
        };
        for (original, gone) in gone_of_cluster {
            let size = cluster_sizes.get(&original).copied().unwrap_or(1);
            score.caught += gone.min(size - 1);
            score.lost += usize::from(gone == size);
        }
        score
    }

    fn host(&self, page: usize) -> &str {
        &self.hosts[page % self.hosts.len()]
    }

    fn original(&self, page: usize) -> usize {
        self.pages[page].copy.map_or(page, |copy| copy.original)
    }
}

/// The number as in a URL; a corpus has at most a million pages.
fn six_digits(mut number: usize) -> [u8; 6] {
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    digits
}

/// Returns the planted copies: one page in ten, at an unpredictable place, of any earlier page. The
/// first page of each host is no copy.
fn plant(pages: usize, hosts: usize, seed: u64) -> Vec<Planted> {
    let mut originals = Vec::with_capacity(pages);
    let mut planted = Vec::with_capacity(pages / PLANTED_ONE_IN);
    for first in (0..pages).step_by(PLANTED_ONE_IN) {
        let mut random = Random::of(seed ^ 0x44, first as u64);
        let copy = first + random.below(PLANTED_ONE_IN);
        for page in first..pages.min(first + PLANTED_ONE_IN) {
            if page != copy || page < hosts {
                originals.push(page);
                continue;
            }
            let change = random.pick(&[
                Change::Nothing,
                Change::Date,
                Change::Counter,
                Change::Sentence,
            ]);
            planted.push(Planted {
                page,
                original: random.pick(&originals),
                change,
            });
        }
    }
    planted
}

/// Hangs every page below an earlier distinct page of its host.
fn grow(pages: usize, hosts: usize, planted: &[Planted]) -> Vec<Page> {
    let mut grown: Vec<Page> = (0..pages)
        .map(|_| Page {
            copy: None,
            children: Vec::new(),
        })
        .collect();
    for copy in planted {
        grown[copy.page].copy = Some(*copy);
    }
    for host in 0..hosts {
        let mut distinct = Vec::new();
        for (place, page) in (host..pages).step_by(hosts).enumerate() {
            if place > 0 {
                let parent: usize = distinct[((place - 1) / BRANCHES).min(distinct.len() - 1)];
                grown[parent]
                    .children
                    .push(u32::try_from(page).expect("fewer pages than a u32 counts"));
            }
            if grown[page].copy.is_none() {
                distinct.push(page);
            }
        }
    }
    grown
}

/// `day` days after the first of January 2000, in a calendar of equal months: it need only look
/// like a date.
fn date(day: usize) -> String {
    format!(
        "{} {} {}",
        1 + day % 28,
        MONTHS[day / 28 % 12],
        2000 + day / (28 * 12)
    )
}

#[cfg(test)]
mod tests;
