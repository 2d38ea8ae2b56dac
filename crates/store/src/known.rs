//! What is known of the pages so far, and what that means for the next one. All stores share it: they differ in how they
//! remember, not in what they decide.
//!
//! There are three sorts of known pages: the originals, which new pages are compared with; the pages that were let
//! through beside an original, which only hold a seat; and the pages of an earlier crawl. They go by short names here;
//! the store that asks has the pages themselves.
//!
//! Invariant: the seats of a cluster are numbered 2 to `per_cluster`, and no two pages have the same one. (A crawl that goes
//! on with a smaller `per_cluster` keeps the seats that it gave.)

use std::collections::HashMap;
use std::sync::Arc;

use neardup::{Gallery, HashKey, Likeness, Portrait};
use web::UrlKey;

use crate::embedded::Earlier;
use crate::{LikenessRules, Page};

/// The looks of all known pages.
pub(crate) struct Known {
    rules: LikenessRules,
    key: HashKey,
    originals: Gallery,
    /// Pages that were let through.
    seated: HashMap<UrlKey, Seated>,
    /// The seats that are taken, for clusters with any; in order.
    taken: HashMap<Cluster, Vec<u32>>,
    /// Who of the seated has these bytes, within a group.
    copies: HashMap<(u64, u128), UrlKey>,
    earlier: Option<Arc<Earlier>>,
}

/// An original's name: a URL can be an original of both crawls, with different texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cluster {
    pub(crate) original: UrlKey,
    pub(crate) earlier: bool,
}

struct Seated {
    cluster: Cluster,
    number: u32,
    copy: (u64, u128),
}

/// A page by the name under which the store finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// A page of this crawl.
    Ours(UrlKey),
    /// The page of the earlier crawl with this number.
    Earlier(u32),
}

/// What is to be said of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Opinion {
    /// It was admitted before.
    Own,
    /// It was let through before.
    Seated,
    /// Nothing known is like it.
    New,
    /// It repeats what is known.
    Like(Like),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Like {
    pub(crate) of: Name,
    pub(crate) likeness: Likeness,
    /// Who has the very same bytes.
    pub(crate) bytes: Option<Name>,
    /// The first free seat beside the original.
    pub(crate) seat: Option<u32>,
}

impl Known {
    pub(crate) fn new(rules: LikenessRules, key: HashKey, earlier: Option<Arc<Earlier>>) -> Self {
        let mut taken: HashMap<Cluster, Vec<u32>> = HashMap::new();
        for (original, number) in earlier.iter().flat_map(|earlier| earlier.seats()) {
            let cluster = Cluster {
                original,
                earlier: true,
            };
            take(taken.entry(cluster).or_default(), number);
        }
        Self {
            rules,
            key,
            originals: Gallery::new(rules.thresholds),
            seated: HashMap::new(),
            taken,
            copies: HashMap::new(),
            earlier,
        }
    }

    /// How many of a kind are kept.
    pub(crate) fn per_cluster(&self) -> u32 {
        self.rules.per_cluster.get()
    }

    /// The earlier crawl that counts as seen.
    pub(crate) fn earlier(&self) -> Option<&Earlier> {
        self.earlier.as_deref()
    }

    /// The name of an original as seats know it.
    pub(crate) fn cluster(&self, of: Name) -> Cluster {
        match (of, self.earlier()) {
            (Name::Ours(original), _) => Cluster {
                original,
                earlier: false,
            },
            (Name::Earlier(number), earlier) => Cluster {
                original: earlier
                    .expect("only an earlier crawl gives out its numbers")
                    .key_of(number),
                earlier: true,
            },
        }
    }

    /// What is to be said of a page that looks like this.
    pub(crate) fn judge(&self, page: &Page, portrait: &Portrait) -> Opinion {
        let key = page.key();
        if self.originals.contains(key.as_u64()) {
            return Opinion::Own;
        }
        if self.seated.contains_key(&key) {
            return Opinion::Seated;
        }
        let itself = self
            .earlier()
            .and_then(|earlier| earlier.itself(key, portrait, &self.rules.thresholds));
        if let Some((number, likeness)) = itself {
            let of = Name::Earlier(number);
            return Opinion::Like(Like {
                of,
                likeness,
                bytes: (likeness == Likeness::SamePayload).then_some(of),
                seat: None,
            });
        }
        let group = self.rules.group(page, self.key);
        let Some((of, likeness)) = self.nearest(group, portrait) else {
            return Opinion::New;
        };
        let bytes = match likeness {
            Likeness::SamePayload => Some(of),
            Likeness::SameText | Likeness::Near { .. } => self.copy_of(group, portrait.payload),
        };
        let seat = if bytes.is_none() { self.free_seat(of) } else { None };
        Opinion::Like(Like {
            of,
            likeness,
            bytes,
            seat,
        })
    }

    /// Remembers an original.
    pub(crate) fn admit(&mut self, page: &Page, portrait: Portrait) {
        let group = self.rules.group(page, self.key);
        self.originals.insert_in(group, page.key().as_u64(), portrait);
    }

    /// Remembers who has this seat.
    pub(crate) fn seat(&mut self, page: &Page, payload: u128, cluster: Cluster, number: u32) {
        let copy = (self.rules.group(page, self.key), payload);
        take(self.taken.entry(cluster).or_default(), number);
        self.copies.entry(copy).or_insert_with(|| page.key());
        let seated = Seated {
            cluster,
            number,
            copy,
        };
        self.seated.insert(page.key(), seated);
    }

    /// Forgets a page, whatever it was; false where it was not known.
    pub(crate) fn forget(&mut self, page: UrlKey) -> bool {
        if let Some(Seated {
            cluster,
            number,
            copy,
        }) = self.seated.remove(&page)
        {
            if let Some(numbers) = self.taken.get_mut(&cluster) {
                numbers.retain(|taken| *taken != number);
            }
            if self.copies.get(&copy) == Some(&page) {
                self.copies.remove(&copy);
            }
            return true;
        }
        self.originals.remove(page.as_u64())
    }

    /// The original that this is most certainly like; of equals the earlier crawl's.
    fn nearest(&self, group: u64, portrait: &Portrait) -> Option<(Name, Likeness)> {
        let ours = self
            .originals
            .find_in(group, portrait)
            .map(|found| (Name::Ours(UrlKey::from_u64(found.of)), found.likeness));
        let theirs = self
            .earlier()
            .and_then(|earlier| earlier.find(group, portrait))
            .map(|(number, likeness)| (Name::Earlier(number), likeness));
        match (theirs, ours) {
            (Some(theirs), Some(ours)) if certainty(ours.1) > certainty(theirs.1) => Some(ours),
            (theirs, ours) => theirs.or(ours),
        }
    }

    fn copy_of(&self, group: u64, payload: u128) -> Option<Name> {
        let ours = self.copies.get(&(group, payload)).copied().map(Name::Ours);
        let theirs = || self.earlier()?.copy_of(group, payload).map(Name::Earlier);
        ours.or_else(theirs)
    }

    fn free_seat(&self, of: Name) -> Option<u32> {
        let taken = self.taken.get(&self.cluster(of)).map_or(&[][..], Vec::as_slice);
        first_gap(taken).filter(|number| *number <= self.per_cluster())
    }
}

/// Seats are counted from 2: the original is the first of its kind.
const FIRST_SEAT: u32 = 2;

fn take(taken: &mut Vec<u32>, number: u32) {
    if let Err(place) = taken.binary_search(&number) {
        taken.insert(place, number);
    }
}

/// The least number that is not taken; the numbers are in order and differ.
fn first_gap(taken: &[u32]) -> Option<u32> {
    // Up to the first gap each number is its place plus two, behind it each is more.
    let (mut low, mut high) = (0, taken.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if taken[middle] as usize == middle + FIRST_SEAT as usize {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    u32::try_from(low).ok()?.checked_add(FIRST_SEAT)
}

/// The same bytes before the same words, and these before the nearest.
pub(crate) fn certainty(likeness: Likeness) -> f64 {
    match likeness {
        Likeness::SamePayload => 3.0,
        Likeness::SameText => 2.0,
        Likeness::Near { resemblance, .. } => resemblance,
    }
}
