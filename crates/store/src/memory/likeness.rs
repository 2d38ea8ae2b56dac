//! The index without a disk: all signatures hang in one signature index.

use async_trait::async_trait;
use neardup::{Likeness, PageSignature};
use web::{PageUrl, UrlKey};

use super::{Hung, MemoryStore, State};
use crate::known::{Held, Like, Name, Opinion, Originals, Seated};
use crate::{EarlierCapture, NearDupIndex, Original, Page, RetainedDuplicate, StoreFault, Verdict};

#[async_trait]
impl NearDupIndex for MemoryStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let mut state = self.state();
        let mut opinion = state.known.judge(page, signature, canonical)?;
        if opinion == Opinion::Changed {
            state.known.forget(page.key())?;
            opinion = state.known.judge(page, signature, canonical)?;
        }
        match opinion {
            Opinion::Own | Opinion::Changed => Ok(Verdict::Own),
            Opinion::Seated(_) => {
                let (original, seat) = state.seated[&page.key()].clone();
                Ok(Verdict::LetThrough(original, seat))
            }
            Opinion::New => {
                state.admit(page, signature);
                Ok(Verdict::Unique)
            }
            Opinion::Version {
                change,
                is_admitted,
            } => {
                if !is_admitted {
                    state.admit(page, signature);
                }
                Ok(Verdict::Changed(Box::new(EarlierCapture {
                    page: state.named(Name::Earlier(change.of))?,
                    distance: change.distance,
                    resemblance: change.resemblance,
                })))
            }
            Opinion::Like(like) => state.compare(page, signature, like),
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
    fn admit(&mut self, page: &Page, signature: &PageSignature) {
        let place = self.keep(page);
        self.known.admit(page, signature.clone(), place);
        self.forgotten.remove(&page.key());
    }

    /// Keeps a page; returns its place.
    fn keep(&mut self, page: &Page) -> u64 {
        self.kept.push(page.clone());
        self.kept.len() as u64 - 1
    }

    fn compare(
        &mut self,
        page: &Page,
        signature: &PageSignature,
        like: Like,
    ) -> Result<Verdict, StoreFault> {
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
        let seat = RetainedDuplicate {
            number,
            of: self.known.per_cluster(),
        };
        let seated = Seated {
            place: self.keep(page),
            cluster: self.known.cluster(like.of),
            number,
            copy: (self.known.group(page), signature.payload),
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
    fn signature_of(&mut self, page: UrlKey) -> Result<Option<PageSignature>, StoreFault> {
        Ok(self.signature_index.get(page.as_u64()).cloned())
    }

    fn held_in(
        &mut self,
        group: u64,
        page: UrlKey,
    ) -> Result<Option<(Held, PageSignature)>, StoreFault> {
        let signature = self.signature_index.get_in(group, page.as_u64()).cloned();
        Ok(signature.map(|signature| {
            let place = self.places[&page];
            (Held { key: page, place }, signature)
        }))
    }

    fn find_in(
        &mut self,
        group: u64,
        signature: &PageSignature,
    ) -> Result<Option<(Held, Likeness)>, StoreFault> {
        let found = self.signature_index.find_in(group, signature);
        Ok(found.map(|found| {
            let key = UrlKey::from_u64(found.of);
            let place = self.places[&key];
            (Held { key, place }, found.likeness)
        }))
    }

    fn insert_in(&mut self, group: u64, page: Held, signature: PageSignature) {
        self.places.insert(page.key, page.place);
        self.signature_index
            .insert_in(group, page.key.as_u64(), signature);
    }

    fn remove(&mut self, page: UrlKey) -> Result<bool, StoreFault> {
        self.places.remove(&page);
        Ok(self.signature_index.remove(page.as_u64()))
    }
}
