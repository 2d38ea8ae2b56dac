//! Random crawls of a web with redirects that change their targets: kills, interrupts, failures and
//! returns lose no URL, and no URL is visited twice.

use std::collections::{BTreeMap, BTreeSet};

use journal::FinishedVisit;
use proptest::prelude::*;
use store::{FrontierRules, Lease, Settlement};
use tokio::runtime::Runtime;
use web::PageUrl;

use crate::backend::{Backend, End, Promise, Session};
use crate::fixtures::*;
use crate::property::holds;
use crate::sentence::{Sentence, properties};

pub(crate) const PROPERTIES: &[Sentence] = &properties!(
    &[Promise::Sessions],
    no_url_is_lost_or_visited_twice_by_redirects_that_change,
);

/// Number of stories, for a store that can afford them.
const STORIES: u32 = 1_000;

/// A page of the random web, by its number. All hosts are of one domain, because a redirect to
/// another domain is not part of a visit in every store.
fn page(number: u8) -> PageUrl {
    url(&format!("http://h{}.a.test/{number}", number % 3))
}

/// A link to a page; true if it was found on an unarchived page.
type Link = (u8, bool);

#[derive(Clone, Debug)]
enum Event {
    Discover(Vec<Link>),
    Lease(usize),
    /// A visit in progress is redirected to this page.
    Redirect(usize, u8),
    End {
        which: usize,
        ending: Ending,
        links: Vec<Link>,
    },
    Flush,
    /// The session ends.
    Reopen(End),
}

/// The end of a visit.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Again,
    Returned,
    /// The page is recorded immediately, with everything that its redirects reached.
    Ended,
    /// The page is archived. If true, it is settled after the next archived page.
    Archived(bool),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let links = || proptest::collection::vec((0..12_u8, any::<bool>()), 0..4);
    let ending = prop_oneof![
        2 => Just(Ending::Again),
        1 => Just(Ending::Returned),
        2 => Just(Ending::Ended),
        2 => any::<bool>().prop_map(Ending::Archived),
    ];
    let event = prop_oneof![
        4 => links().prop_map(Event::Discover),
        4 => (1..4_usize).prop_map(Event::Lease),
        5 => (0..4_usize, 0..12_u8).prop_map(|(which, page)| Event::Redirect(which, page)),
        5 => (0..4_usize, ending, links())
            .prop_map(|(which, ending, links)| Event::End { which, ending, links }),
        1 => Just(Event::Flush),
        1 => Just(Event::Reopen(End::InOrder)),
        1 => Just(Event::Reopen(End::Death)),
        1 => any::<u8>().prop_map(|parts| Event::Reopen(End::DeathInFlush(parts))),
    ];
    proptest::collection::vec(event, 1..40)
}

/// A visit in progress, and the pages that its redirects reached.
struct Visit {
    lease: Lease,
    reached: Vec<PageUrl>,
}

/// A crawl, and the expectations about it.
struct Story {
    session: Box<dyn Session>,
    in_flight: Vec<Visit>,
    /// An archived visit that is settled after the next one.
    late: Option<(Visit, Vec<Link>, u64)>,
    archived: u64,
    discovered: BTreeSet<PageUrl>,
    /// Pages that do not need another visit.
    done: BTreeSet<PageUrl>,
    /// Archived visits that are settled and wait for earlier visits.
    early: BTreeMap<u64, Vec<PageUrl>>,
    recorded: u64,
}

impl Story {
    async fn begin(backend: &dyn Backend) -> Self {
        let rules = FrontierRules {
            per_host: 2,
            ..FrontierRules::default()
        };
        Self {
            session: begin(backend, rules).await,
            in_flight: Vec::new(),
            late: None,
            archived: 0,
            discovered: BTreeSet::new(),
            done: BTreeSet::new(),
            early: BTreeMap::new(),
            recorded: 0,
        }
    }

    async fn take(mut self, event: &Event) -> Self {
        match event {
            Event::Discover(links) => {
                let found = self.links(links);
                discover(self.session.frontier().as_ref(), found).await;
            }
            Event::Lease(want) => self.lease(*want).await,
            Event::Redirect(which, target) => self.redirect(*which, &page(*target)).await,
            Event::End { .. } if self.in_flight.is_empty() => {}
            Event::End {
                which,
                ending,
                links,
            } => {
                let visit = self.in_flight.remove(which % self.in_flight.len());
                self.end(visit, *ending, links).await;
            }
            Event::Flush => self.session.flush().await,
            Event::Reopen(end) => return self.reopen(*end).await,
        }
        self
    }

    /// Ends the session: visits that were not recorded do not count.
    async fn reopen(mut self, end: End) -> Self {
        self.in_flight.clear();
        self.late = None;
        self.early.clear();
        (self.archived, self.recorded) = (0, 0);
        self.session = self.session.reopen(end, at(0)).await;
        self
    }

    fn links(&mut self, links: &[Link]) -> Vec<journal::DiscoveredUrl> {
        let found = |(number, is_probed): &Link| {
            let found = journal::DiscoveredUrl::new(page(*number), 1, None);
            if *is_probed { found.probed() } else { found }
        };
        let found: Vec<_> = links.iter().map(found).collect();
        let urls = found.iter().map(|found| found.url.clone());
        self.discovered.extend(urls);
        found
    }

    async fn lease(&mut self, want: usize) {
        for lease in leases(self.session.frontier().as_ref(), 0, want).await {
            let early = self.early.values().flatten();
            let is_new =
                !self.done.contains(lease.url()) && !early.clone().any(|url| url == lease.url());
            assert!(is_new, "{} is visited twice", lease.url());
            let reached = Vec::new();
            self.in_flight.push(Visit { lease, reached });
        }
    }

    /// Follows a redirect; a redirect to a page that needs its own visit ends the visit.
    async fn redirect(&mut self, which: usize, target: &PageUrl) {
        if self.in_flight.is_empty() {
            return;
        }
        let number = which % self.in_flight.len();
        let visit = &mut self.in_flight[number];
        if visit.lease.url() == target || visit.reached.contains(target) {
            return;
        }
        let frontier = self.session.frontier();
        if frontier.claim(&visit.lease, target).await.unwrap() {
            visit.reached.push(target.clone());
        } else {
            let visit = self.in_flight.remove(number);
            self.end(visit, Ending::Ended, &[]).await;
        }
    }

    async fn end(&mut self, visit: Visit, ending: Ending, links: &[Link]) {
        let archive_sequence = match ending {
            Ending::Again => return self.settle(visit.lease, again(at(0))).await,
            Ending::Returned => return self.settle(visit.lease, Settlement::Returned).await,
            Ending::Ended => None,
            Ending::Archived(is_late) => {
                self.archived += 1;
                let archive_sequence = self.archived - 1;
                if is_late && self.late.is_none() {
                    self.late = Some((visit, links.to_vec(), archive_sequence));
                    return;
                }
                Some(archive_sequence)
            }
        };
        self.finish(visit, links, archive_sequence).await;
        if archive_sequence.is_some()
            && let Some((visit, links, archive_sequence)) = self.late.take()
        {
            self.finish(visit, &links, Some(archive_sequence)).await;
        }
    }

    /// Settles a visit that brought a page.
    async fn finish(&mut self, visit: Visit, links: &[Link], archive_sequence: Option<u64>) {
        let Visit { lease, reached } = visit;
        let mut done = reached.clone();
        done.push(lease.url().clone());
        let Settlement::Done(ended) = done_with(&lease, archive_sequence, self.links(links)) else {
            unreachable!("it is the end of a visit");
        };
        let settlement = Settlement::Done(FinishedVisit { reached, ..ended });
        self.settle(lease, settlement).await;
        let Some(archive_sequence) = archive_sequence else {
            return self.record(done);
        };
        self.early.insert(archive_sequence, done);
        while let Some(done) = self.early.remove(&self.recorded) {
            self.recorded += 1;
            self.record(done);
        }
    }

    fn record(&mut self, done: Vec<PageUrl>) {
        for url in done {
            assert!(self.done.insert(url.clone()), "{url} was visited twice");
        }
    }

    async fn settle(&self, lease: Lease, settlement: Settlement) {
        settle(self.session.frontier().as_ref(), lease, settlement, 0).await;
    }

    /// Visits everything that is waiting. Pages do not redirect any more.
    async fn visit_rest(&mut self) {
        loop {
            self.lease(1).await;
            let Some(visit) = self.in_flight.pop() else {
                return;
            };
            self.end(visit, Ending::Ended, &[]).await;
        }
    }
}

fn no_url_is_lost_or_visited_twice_by_redirects_that_change(
    backend: &dyn Backend,
    runtime: &Runtime,
) {
    holds(backend, STORIES, file!(), &events(), |events| {
        runtime.block_on(async {
            let mut story = Story::begin(backend).await;
            for event in &events {
                story = story.take(event).await;
            }
            story = story.reopen(End::Death).await;
            story.visit_rest().await;
            let lost: Vec<_> = story.discovered.difference(&story.done).collect();
            prop_assert_eq!(lost, Vec::<&PageUrl>::new());
            prop_assert_eq!(story.session.frontier().stats().queued, 0);
            agree(story.session).await;
            Ok(())
        })
    });
}
