//! `admit` on a disk: what is known decides, the journal remembers, the tables follow.
//!
//! All of it happens while the keeper is locked, but for the wait: a duplicate is called one only when the journal is
//! durable up to the admission of the page that it repeats.

use async_trait::async_trait;
use neardup::Portrait;
use web::UrlKey;

use super::record::{LetThrough, Record};
use super::segment::Position;
use super::tables::Admission;
use super::{EmbeddedStore, Keeper};
use crate::known::{Cluster, Known, Like, Name, Opinion};
use crate::{NearDupIndex, Original, Page, Seat, StoreFault, Verdict};

#[async_trait]
impl NearDupIndex for EmbeddedStore {
    async fn admit(&self, page: &Page, portrait: &Portrait) -> Result<Verdict, StoreFault> {
        let (verdict, wait) = {
            let mut keeper = self.keeper();
            match keeper.known.judge(page, portrait) {
                Opinion::Own => (Verdict::Own, None),
                Opinion::Seated => (self.let_through_before(&keeper, page)?, None),
                Opinion::New => (self.admit_new(&mut keeper, page, portrait)?, None),
                Opinion::Like(like) => self.compare(&mut keeper, page, portrait, like)?,
            }
        };
        if let Some(position) = wait {
            self.journal.sync(position).await?;
            let durable = self.journal.durable();
            self.keeper().fresh.retain(|_, position| *position > durable);
        }
        Ok(verdict)
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut keeper = self.keeper();
        if keeper.known.forget(page) {
            self.journal.append(&Record::Forgotten { page })?;
            self.tables.forget(page)?;
        }
        Ok(())
    }
}

/// The steps of `admit`, while the keeper is locked.
impl EmbeddedStore {
    fn admit_new(
        &self,
        keeper: &mut Keeper,
        page: &Page,
        portrait: &Portrait,
    ) -> Result<Verdict, StoreFault> {
        let record = Record::Admitted {
            page: page.clone(),
            portrait: Box::new(portrait.clone()),
        };
        let position = self.journal.append(&record)?;
        self.tables.admit(&Admission {
            page: page.clone(),
            portrait: portrait.clone(),
        })?;
        keeper.known.admit(page, portrait.clone());
        keeper.fresh.insert(page.key(), position);
        Ok(Verdict::Unique)
    }

    /// A duplicate, or one that is let through all the same; and up to where the journal must be durable before that is said.
    fn compare(
        &self,
        keeper: &mut Keeper,
        page: &Page,
        portrait: &Portrait,
        like: Like,
    ) -> Result<(Verdict, Option<Position>), StoreFault> {
        let fresh = |name: Name| match name {
            Name::Ours(key) => keeper.fresh.get(&key).copied(),
            Name::Earlier(_) => None,
        };
        let wait = fresh(like.of).max(like.bytes.and_then(fresh));
        let original = Original {
            page: self.named(&keeper.known, like.of)?,
            likeness: like.likeness,
            earlier: matches!(like.of, Name::Earlier(_)),
            bytes: like
                .bytes
                .map(|name| self.named(&keeper.known, name))
                .transpose()?,
        };
        let Some(number) = like.seat else {
            return Ok((Verdict::Duplicate(Box::new(original)), wait));
        };
        let seated = LetThrough {
            page: page.clone(),
            portrait: portrait.clone(),
            of: original.page.clone(),
            earlier: original.earlier,
            likeness: like.likeness,
            number,
        };
        let cluster = seated.cluster();
        let record = Record::LetThrough(Box::new(seated));
        let position = self.journal.append(&record)?;
        if let Record::LetThrough(seated) = &record {
            self.tables.seat(seated)?;
        }
        keeper.known.seat(page, portrait.payload, cluster, number);
        keeper.fresh.insert(page.key(), position);
        let seat = Seat {
            number,
            of: keeper.known.per_cluster(),
        };
        // Nothing is left out on the strength of this, so nothing need be durable first.
        Ok((Verdict::LetThrough(Box::new(original), seat), None))
    }

    fn let_through_before(&self, keeper: &Keeper, page: &Page) -> Result<Verdict, StoreFault> {
        let seated = self.tables.seated(page.key())?;
        let seated = seated.expect("who has a seat is in the tables");
        let original = Original {
            page: seated.of,
            likeness: seated.likeness,
            earlier: seated.earlier,
            bytes: None,
        };
        let seat = Seat {
            number: seated.number,
            of: keeper.known.per_cluster(),
        };
        Ok(Verdict::LetThrough(Box::new(original), seat))
    }

    fn named(&self, known: &Known, name: Name) -> Result<Page, StoreFault> {
        match name {
            Name::Earlier(number) => known
                .earlier()
                .expect("only an earlier crawl gives out its numbers")
                .page(number),
            Name::Ours(key) => {
                if let Some(admission) = self.tables.admission(key)? {
                    return Ok(admission.page);
                }
                let seated = self.tables.seated(key)?;
                Ok(seated.expect("what is known is in the tables").page)
            }
        }
    }
}

impl LetThrough {
    /// The name of its original.
    pub(super) fn cluster(&self) -> Cluster {
        Cluster {
            original: self.of.key(),
            earlier: self.earlier,
        }
    }
}
