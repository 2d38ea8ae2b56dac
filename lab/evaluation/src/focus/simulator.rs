//! Orders of visits by rules of the literature, over the links between the pages.
//!
//! A simulator knows what a crawler knows at each moment: the URLs that visited pages link to, with
//! their anchor texts, and the relevance of visited pages. Politeness is that of a crawl: a host
//! answers in a tenth of a second and rests for a second, and any number of hosts are asked at a
//! time. There are no failures, no duplicates and no traps, so a simulated order of visits is a
//! little better than that of the same rule in a crawl.
//!
//! A hub that is a seed was visited before the first turn, and speaks for its links like a page on
//! topic, since a user chose it. Further hubs are off topic, and wait for their turn.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::documents::Documents;
use super::formula::{Formula, InVain, Witness};
use super::judgement::Judgement;
use super::learning::{Features, LinkModel};
use super::rules::Rule;
use crate::random::{Random, mix};

/// The time between two requests to a host, in milliseconds: an answer and a rest.
const TURN: u64 = 1_100;

/// The visits after which [`Rule::Batches`] trains its model anew, and judges all waiting links.
const BATCH: usize = 250;

/// A visit of a simulated crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimulatedVisit {
    /// The milliseconds since the crawl began.
    pub(crate) at: u64,
    pub(crate) page: u32,
}

/// A URL that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    priority: f64,
    sequence: u64,
    page: u32,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The greatest is visited first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_priority = self.priority.total_cmp(&other.priority);
        by_priority.then(other.sequence.cmp(&self.sequence))
    }
}

/// The knowledge about a URL.
#[derive(Clone, Debug, Default)]
struct Known {
    depth: u32,
    sequence: u64,
    priority: f64,
    /// The off-topic pages in a row before it.
    run: u32,
    lowest_parent: f64,
    features: Features,
    /// The parent's relevance, and the share of the topic in the words of the link.
    evidence: (f64, f64),
}

/// Judged pages, and the on-topic ones among them.
#[derive(Clone, Copy, Debug, Default)]
struct Harvest(u32, u32);

impl Harvest {
    fn add(&mut self, is_on_topic: bool) {
        self.0 += 1;
        self.1 += u32::from(is_on_topic);
    }

    /// Returns the share of on-topic pages, drawn towards `prior` as by two pages.
    fn share(self, prior: f64) -> f64 {
        (f64::from(self.1) + 2.0 * prior) / (f64::from(self.0) + 2.0)
    }
}

/// A simulated crawl.
struct Simulation<'a> {
    documents: &'a Documents,
    judgement: &'a Judgement<'a>,
    seeds: &'a [u32],
    rule: Rule,
    known: Vec<Option<Known>>,
    visited: Vec<bool>,
    queues: Vec<BinaryHeap<Waiting>>,
    /// The time at which each host may be asked again.
    ready: Vec<u64>,
    hosts: Vec<Harvest>,
    /// The pages off topic of each host since its last one on topic.
    dry: Vec<u32>,
    directories: Vec<Harvest>,
    all: Harvest,
    model: LinkModel,
    random: Random,
    sequence: u64,
}

/// Returns the first `most` visits by a rule, without those of hubs. Of hosts that are ready within
/// `anticipation` milliseconds, the one with the best page is asked.
pub(crate) fn simulate(
    documents: &Documents,
    judgement: &Judgement<'_>,
    seeds: &[u32],
    rule: Rule,
    anticipation: u64,
    most: usize,
) -> Vec<SimulatedVisit> {
    let (pages, hosts) = (documents.pages.len(), documents.hosts.names.len());
    let mut simulation = Simulation {
        documents,
        judgement,
        seeds,
        rule,
        known: vec![None; pages],
        visited: vec![false; pages],
        queues: vec![BinaryHeap::new(); hosts],
        ready: vec![0; hosts],
        hosts: vec![Harvest::default(); hosts],
        dry: vec![0; hosts],
        directories: vec![Harvest::default(); documents.directories.len()],
        all: Harvest::default(),
        model: LinkModel::default(),
        random: Random::new(5),
        sequence: 0,
    };
    for seed in seeds {
        if documents.hosts.is_hub(*seed) {
            simulation.visited[*seed as usize] = true;
            simulation.follow(*seed);
        } else {
            simulation.find(*seed, None, 0.0, Features::default());
        }
    }
    let mut visits = simulation.run(anticipation, most);
    visits.retain(|visit| !documents.hosts.is_hub(visit.page));
    visits
}

impl Simulation<'_> {
    fn run(&mut self, anticipation: u64, most: usize) -> Vec<SimulatedVisit> {
        let mut visits = Vec::new();
        let mut now = 0;
        while visits.len() < most {
            let Some((host, page)) = self.next(now, anticipation) else {
                break;
            };
            now = now.max(self.ready[host]);
            self.ready[host] = now + TURN;
            self.visited[page as usize] = true;
            visits.push(SimulatedVisit { at: now, page });
            self.learn(page);
            self.follow(page);
            if self.rule == Rule::Batches && visits.len().is_multiple_of(BATCH) {
                self.model.train_in_batch();
                self.judge_again();
            }
        }
        visits
    }

    /// Takes the next page from the queues.
    fn next(&mut self, now: u64, anticipation: u64) -> Option<(usize, u32)> {
        for host in 0..self.queues.len() {
            self.drop_stale(host);
        }
        let waiting = |host: &usize| !self.queues[*host].is_empty();
        let hosts: Vec<usize> = (0..self.queues.len()).filter(waiting).collect();
        let earliest = hosts.iter().map(|host| self.ready[*host].max(now)).min()?;
        let in_time = |host: &usize| self.ready[*host] <= earliest.saturating_add(anticipation);
        let hosts: Vec<usize> = hosts.into_iter().filter(in_time).collect();
        let host = if self.rule == Rule::Bandit {
            self.pull(&hosts)
        } else {
            let best = |one: &usize, two: &usize| {
                let (first, second) = (self.queues[*one].peek(), self.queues[*two].peek());
                let priority = |waiting: Option<&Waiting>, host: usize| {
                    waiting.map_or(0.0, |it| it.priority) - self.levels_of_drought(host)
                };
                let by_priority = priority(first, *one).total_cmp(&priority(second, *two));
                let by_time = self.ready[*two].max(now).cmp(&self.ready[*one].max(now));
                by_priority.then(by_time).then(first.cmp(&second))
            };
            hosts.into_iter().max_by(best)?
        };
        let page = self.queues[host].pop()?.page;
        Some((host, page))
    }

    fn levels_of_drought(&self, host: usize) -> f64 {
        match self.rule {
            Rule::Formula(formula) => formula.in_vain.levels(self.dry[host]),
            _ => 0.0,
        }
    }

    /// Draws one of the hosts: one in five at random, else the one with the best harvest.
    fn pull(&mut self, hosts: &[usize]) -> usize {
        if self.random.below(5) == 0 {
            return *self.random.pick(hosts);
        }
        let harvest = |host: &usize| self.hosts[*host].share(1.0);
        let best = |one: &&usize, two: &&usize| harvest(one).total_cmp(&harvest(two));
        hosts.iter().max_by(best).copied().unwrap_or(hosts[0])
    }

    /// Removes entries of visited pages, and of pages whose priority has changed since.
    fn drop_stale(&mut self, host: usize) {
        while let Some(top) = self.queues[host].peek() {
            let known = self.known[top.page as usize].as_ref();
            let is_current = known.is_some_and(|known| known.priority == top.priority);
            if is_current && !self.visited[top.page as usize] {
                return;
            }
            self.queues[host].pop();
        }
    }

    /// Returns the relevance of a page, as [`Judgement`] has it of the manuals.
    fn relevance(&self, page: u32) -> f64 {
        let is_seed = || self.seeds.contains(&page);
        let of_manuals = self.judgement.relevance.get(page as usize);
        of_manuals.map_or_else(|| f64::from(u8::from(is_seed())), |relevance| *relevance)
    }

    fn is_on_topic(&self, page: u32) -> bool {
        self.relevance(page) >= self.judgement.threshold
    }

    /// Counts a visit, and trains the model of links by it.
    fn learn(&mut self, page: u32) {
        let is_on_topic = self.is_on_topic(page);
        self.all.add(is_on_topic);
        let host = self.documents.hosts.pages[page as usize].host;
        self.hosts[host].add(is_on_topic);
        self.dry[host] = match is_on_topic {
            true => 0,
            false => self.dry[host] + 1,
        };
        self.directories[self.documents.directory_of[page as usize]].add(is_on_topic);
        let known = self.known[page as usize].as_ref();
        let features = known
            .map(|known| known.features.clone())
            .unwrap_or_default();
        match self.rule {
            Rule::Bandit => self.model.train(&features, is_on_topic),
            Rule::Formula(formula) if formula.learned > 0.0 => {
                self.model.train(&features, is_on_topic);
            }
            Rule::Batches => self.model.remember(features, is_on_topic),
            _ => {}
        }
    }

    fn follow(&mut self, page: u32) {
        let documents = self.documents;
        let links = documents.pages[page as usize].links.iter();
        let words = &self.judgement.link_words[page as usize];
        let is_learning = match self.rule {
            Rule::Formula(formula) => formula.learned > 0.0,
            rule => matches!(rule, Rule::Batches | Rule::Bandit),
        };
        for (number, link) in links.enumerate() {
            if self.visited[link.target as usize] {
                continue;
            }
            let is_on_topic = self.is_on_topic(page);
            let features = match is_learning && self.known[link.target as usize].is_none() {
                true => documents.link_features(link, is_on_topic),
                false => Features::default(),
            };
            self.find(link.target, Some(page), words[number], features);
        }
    }

    /// Queues a page that is new. The first page that links there is its witness, but for
    /// [`Rule::LowestParent`] and [`Witness::Best`].
    fn find(&mut self, page: u32, parent: Option<u32>, words: f64, features: Features) {
        let relevance = parent.map_or(1.0, |parent| self.relevance(parent));
        let before = parent.and_then(|parent| self.known[parent as usize].as_ref());
        let is_on_topic = parent.is_none_or(|parent| self.is_on_topic(parent));
        let run = match is_on_topic {
            true => 0,
            false => before.map_or(0, |before| before.run) + 1,
        };
        // A hub that is a seed is not known.
        let depth = before.map_or(u32::from(parent.is_some()), |before| before.depth + 1);
        if let Some(known) = &mut self.known[page as usize] {
            if self.rule == Rule::LowestParent && relevance < known.lowest_parent {
                known.lowest_parent = relevance;
                self.push(page);
            } else if let Rule::Formula(formula) = self.rule
                && formula.witness == Witness::Best
            {
                self.raise(page, run, (relevance, words));
            }
            return;
        }
        self.sequence += 1;
        self.known[page as usize] = Some(Known {
            depth,
            sequence: self.sequence,
            priority: 0.0,
            run,
            lowest_parent: relevance,
            features,
            evidence: (relevance, words),
        });
        self.push(page);
    }

    /// Replaces the witness of a page that waits, if the score by the new one is better.
    fn raise(&mut self, page: u32, run: u32, evidence: (f64, f64)) {
        let Some(known) = self.known[page as usize].clone() else {
            return;
        };
        let raised = Known {
            run,
            evidence,
            ..known
        };
        if self.priority(page, &raised) > raised.priority {
            self.known[page as usize] = Some(raised);
            self.push(page);
        }
    }

    fn push(&mut self, page: u32) {
        let Some(mut known) = self.known[page as usize].take() else {
            return;
        };
        known.priority = self.priority(page, &known);
        let host = self.documents.hosts.pages[page as usize].host;
        self.queues[host].push(Waiting {
            priority: known.priority,
            sequence: known.sequence,
            page,
        });
        self.known[page as usize] = Some(known);
    }

    fn judge_again(&mut self) {
        for page in 0..self.known.len() as u32 {
            if !self.visited[page as usize] {
                self.push(page);
            }
        }
    }

    fn priority(&self, page: u32, known: &Known) -> f64 {
        match self.rule {
            Rule::BreadthFirst => -f64::from(known.depth),
            Rule::Random => (mix(u64::from(page) + 1) >> 11) as f64,
            Rule::FirstParent => known.evidence.0,
            Rule::LowestParent => known.lowest_parent,
            Rule::Batches => {
                let chance = self.model.chance(&known.features);
                chance + f64::from(u8::from(chance >= 0.5))
            }
            Rule::Bandit => self.model.chance(&known.features),
            Rule::Formula(formula) => self.score(formula, page, known),
            Rule::Oracle => -f64::from(self.judgement.distances[page as usize]),
        }
    }

    fn score(&self, formula: Formula, page: u32, known: &Known) -> f64 {
        let host = self.documents.hosts.pages[page as usize].host;
        let of_host = self.hosts[host].share(self.all.share(0.1));
        let directory = self.documents.directory_of[page as usize];
        let of_directory = self.directories[directory].share(of_host);
        let scale = |relevance: f64| (relevance / (2.0 * self.judgement.threshold)).min(1.0);
        let sum = formula.parent * scale(known.evidence.0)
            + formula.words * known.evidence.1
            + formula.directory * of_directory
            + formula.host * of_host;
        let all = formula.parent + formula.words + formula.directory + formula.host;
        let score = sum / all * formula.decay.powi(known.run.min(3) as i32);
        // The model counts more the more it has seen.
        let learned = formula.learned * f64::from(self.all.0) / (f64::from(self.all.0) + 100.0);
        let chance = match learned > 0.0 {
            true => self.model.chance(&known.features),
            false => 0.0,
        };
        let score = (1.0 - learned) * score + learned * chance;
        let run = match formula.in_vain {
            InVain::Nothing => 0,
            InVain::Runs | InVain::RunsAndStreaks => known.run.min(3),
        };
        // A run of three is less than the step to the next level.
        formula.levels.of(score) - f64::from(run) / 4.0
    }
}

#[cfg(test)]
mod tests;
