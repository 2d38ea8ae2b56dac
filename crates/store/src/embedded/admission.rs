//! `admit` on a disk: what is known decides, the journal remembers, the looks hear it.
//!
//! A page's record is made before the looks are locked, and pages are read from the journal after
//! that: in between there is the decision and one write. A duplicate is called one only when the
//! journal is durable up to the admission of the page that it repeats.
//!
//! Lock order: the looks before the journal's tail.

use async_trait::async_trait;
use neardup::PageSignature;
use web::{PageUrl, UrlKey};

use super::earlier::Change;
use super::journal::frame::{Position, encode};
use super::journal::record::{LetThrough, Record};
use super::near_dup::SignatureStore;
use super::store::EmbeddedStore;
use crate::known::{Cluster, Like, Name, Opinion, Seated};
use crate::{EarlierCapture, NearDupIndex, Original, Page, RetainedDuplicate, StoreFault, Verdict};

#[async_trait]
impl NearDupIndex for EmbeddedStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let admission = Record::Admitted {
            page: page.clone(),
            signature: Box::new(signature.clone()),
        };
        let frame = encode(&admission);
        let (like, seat) = {
            let mut looks = self.signatures();
            let mut opinion = looks.judge(page, signature, canonical)?;
            if opinion == Opinion::Changed {
                self.forget_known(&mut looks, page.key())?;
                opinion = looks.judge(page, signature, canonical)?;
            }
            match opinion {
                Opinion::Own | Opinion::Changed => return Ok(Verdict::Own),
                Opinion::New => {
                    self.tell(&mut looks, &admission, &frame)?;
                    return Ok(Verdict::Unique);
                }
                Opinion::Version {
                    change,
                    is_admitted,
                } => {
                    if !is_admitted {
                        self.tell(&mut looks, &admission, &frame)?;
                    }
                    drop(looks);
                    return Ok(Verdict::Changed(Box::new(self.earlier_capture(change)?)));
                }
                Opinion::Seated(place) => {
                    let of = looks.per_cluster();
                    drop(looks);
                    return self.let_through_before(place, of);
                }
                Opinion::Like(like) => {
                    let seat = self.seat(&mut looks, page, signature, like)?;
                    (like, seat)
                }
            }
        };
        let original = Box::new(self.original(like)?);
        if let Some(seat) = seat {
            // Nothing is left out on the strength of this, so nothing need be durable first.
            return Ok(Verdict::LetThrough(original, seat));
        }
        let admissions = [Some(like.of), like.bytes].into_iter().flatten();
        if let Some(last) = admissions.filter_map(place_of).max() {
            // Whatever is durable ends where a record ends.
            self.journal.sync(last + 1).await?;
        }
        Ok(Verdict::Duplicate(original))
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut looks = self.signatures();
        if looks.knows(page)? {
            self.forget_known(&mut looks, page)?;
        }
        Ok(())
    }
}

impl EmbeddedStore {
    /// Writes a record to the journal, and has it heard.
    fn tell(
        &self,
        looks: &mut SignatureStore,
        record: &Record,
        frame: &[u8],
    ) -> Result<(), StoreFault> {
        let end = self.journal.append_frame(frame)?;
        self.queue().apply(end, record);
        looks.apply(end - frame.len() as u64, record)
    }

    fn forget_known(&self, looks: &mut SignatureStore, page: UrlKey) -> Result<(), StoreFault> {
        let record = Record::Forgotten { page };
        self.tell(looks, &record, &encode(&record))?;
        self.queue().revoke_due(&self.journal)
    }

    /// Gives the page its seat, where one is free.
    fn seat(
        &self,
        looks: &mut SignatureStore,
        page: &Page,
        signature: &PageSignature,
        like: Like,
    ) -> Result<Option<RetainedDuplicate>, StoreFault> {
        let Some(number) = like.seat else {
            return Ok(None);
        };
        let original = self.original(like)?;
        let record = Record::LetThrough(Box::new(LetThrough {
            page: page.clone(),
            signature: signature.clone(),
            of: original.page,
            earlier: original.earlier,
            likeness: like.likeness,
            number,
            by_canonical: like.by_canonical,
        }));
        self.tell(looks, &record, &encode(&record))?;
        Ok(Some(RetainedDuplicate {
            number,
            of: looks.per_cluster(),
        }))
    }

    fn let_through_before(&self, place: Position, of: u32) -> Result<Verdict, StoreFault> {
        let Record::LetThrough(seated) = self.reader.record_at(place)? else {
            return Err(self.reader.mismatch(place));
        };
        let original = Original {
            page: seated.of,
            likeness: seated.likeness,
            earlier: seated.earlier,
            bytes: None,
            by_canonical: seated.by_canonical,
        };
        let number = seated.number;
        Ok(Verdict::LetThrough(
            Box::new(original),
            RetainedDuplicate { number, of },
        ))
    }

    fn earlier_capture(&self, change: Change) -> Result<EarlierCapture, StoreFault> {
        Ok(EarlierCapture {
            page: self.named(Name::Earlier(change.of))?,
            distance: change.distance,
            resemblance: change.resemblance,
        })
    }

    fn original(&self, like: Like) -> Result<Original, StoreFault> {
        Ok(Original {
            page: self.named(like.of)?,
            likeness: like.likeness,
            earlier: matches!(like.of, Name::Earlier(_)),
            bytes: like.bytes.map(|name| self.named(name)).transpose()?,
            by_canonical: like.by_canonical,
        })
    }

    fn named(&self, name: Name) -> Result<Page, StoreFault> {
        let held = match name {
            Name::Earlier(number) => {
                let earlier = self.earlier.as_deref();
                let earlier = earlier.expect("only an earlier crawl gives out its numbers");
                return earlier.page(number);
            }
            Name::Ours(held) => held,
        };
        let page = match self.reader.record_at(held.place)? {
            Record::Admitted { page, .. } => page,
            Record::LetThrough(seated) => seated.page,
            _ => return Err(self.reader.mismatch(held.place)),
        };
        if page.key() == held.key {
            Ok(page)
        } else {
            Err(self.reader.mismatch(held.place))
        }
    }
}

/// Where a page of this crawl was admitted.
fn place_of(name: Name) -> Option<Position> {
    match name {
        Name::Ours(held) => Some(held.place),
        Name::Earlier(_) => None,
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

    /// What is known of it, in its group, where its record begins at `place`.
    pub(super) fn seated(&self, place: Position, group: u64) -> Seated {
        Seated {
            place,
            cluster: self.cluster(),
            number: self.number,
            copy: (group, self.signature.payload),
        }
    }
}
