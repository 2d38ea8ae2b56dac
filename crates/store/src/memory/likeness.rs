//! The index without a disk: all portraits hang in one gallery.

use async_trait::async_trait;
use neardup::{Likeness, Portrait};
use web::{PageUrl, UrlKey};

use super::{Hung, MemoryStore, State};
use crate::known::{Held, Like, Name, Opinion, Originals, Seated};
use crate::{EarlierCapture, NearDupIndex, Original, Page, Seat, StoreFault, Verdict};

#[async_trait]
impl NearDupIndex for MemoryStore {
    async fn admit(
        &self,
        page: &Page,
        portrait: &Portrait,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let mut state = self.state();
        let mut opinion = state.known.judge(page, portrait, canonical)?;
        if opinion == Opinion::Changed {
            state.known.forget(page.key())?;
            opinion = state.known.judge(page, portrait, canonical)?;
        }
        match opinion {
            Opinion::Own | Opinion::Changed => Ok(Verdict::Own),
            Opinion::Seated(_) => {
                let (original, seat) = state.seated[&page.key()].clone();
                Ok(Verdict::LetThrough(original, seat))
            }
            Opinion::New => {
                state.admit(page, portrait);
                Ok(Verdict::Unique)
            }
            Opinion::Version { change, is_admitted } => {
                if !is_admitted {
                    state.admit(page, portrait);
                }
                Ok(Verdict::Changed(Box::new(EarlierCapture {
                    page: state.named(Name::Earlier(change.of))?,
                    distance: change.distance,
                    resemblance: change.resemblance,
                })))
            }
            Opinion::Like(like) => state.compare(page, portrait, like),
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut state = self.state();
        // What was dropped for the sake of a page that is kept already stays so.
        let unsettled = !state.rows.iter().any(|row| row.url.key() == page);
        state.seated.remove(&page);
        state.known.forget(page)?;
        if unsettled {
            state.forgotten.insert(page);
            state.revoke_void();
        }
        Ok(())
    }
}

impl State {
    /// Remembers an original.
    fn admit(&mut self, page: &Page, portrait: &Portrait) {
        let place = self.keep(page);
        self.known.admit(page, portrait.clone(), place);
        self.forgotten.remove(&page.key());
    }

    /// Keeps a page; returns its place.
    fn keep(&mut self, page: &Page) -> u64 {
        self.kept.push(page.clone());
        self.kept.len() as u64 - 1
    }

    fn compare(&mut self, page: &Page, portrait: &Portrait, like: Like) -> Result<Verdict, StoreFault> {
        let original = Box::new(Original {
            page: self.named(like.of)?,
            likeness: like.likeness,
            earlier: matches!(like.of, Name::Earlier(_)),
            bytes: like.bytes.map(|name| self.named(name)).transpose()?,
            by_canonical: like.by_canonical,
        });
        let Some(number) = like.seat else {
            return Ok(Verdict::Duplicate(original));
        };
        let seat = Seat {
            number,
            of: self.known.per_cluster(),
        };
        let seated = Seated {
            place: self.keep(page),
            cluster: self.known.cluster(like.of),
            number,
            copy: (self.known.group(page), portrait.payload),
        };
        self.known.seat(page.key(), seated);
        self.seated.insert(page.key(), (original.clone(), seat));
        Ok(Verdict::LetThrough(original, seat))
    }

    fn named(&self, name: Name) -> Result<Page, StoreFault> {
        match name {
            Name::Earlier(number) => self
                .known
                .earlier()
                .expect("only an earlier crawl gives out its numbers")
                .page(number),
            Name::Ours(held) => Ok(self.kept[held.place as usize].clone()),
        }
    }
}

impl Originals for Hung {
    fn portrait_of(&mut self, page: UrlKey) -> Result<Option<Portrait>, StoreFault> {
        Ok(self.gallery.get(page.as_u64()).cloned())
    }

    fn held_in(&mut self, group: u64, page: UrlKey) -> Result<Option<(Held, Portrait)>, StoreFault> {
        let portrait = self.gallery.get_in(group, page.as_u64()).cloned();
        Ok(portrait.map(|portrait| {
            let place = self.places[&page];
            (Held { key: page, place }, portrait)
        }))
    }

    fn find_in(&mut self, group: u64, portrait: &Portrait) -> Result<Option<(Held, Likeness)>, StoreFault> {
        let found = self.gallery.find_in(group, portrait);
        Ok(found.map(|found| {
            let key = UrlKey::from_u64(found.of);
            let place = self.places[&key];
            (Held { key, place }, found.likeness)
        }))
    }

    fn insert_in(&mut self, group: u64, page: Held, portrait: Portrait) {
        self.places.insert(page.key, page.place);
        self.gallery.insert_in(group, page.key.as_u64(), portrait);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.places.remove(&page);
        Ok(self.gallery.remove(page.as_u64()))
    }
}
