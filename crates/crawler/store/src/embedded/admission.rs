//! `admit` on a disk: the known pages decide, the journal records the decision, and the index
//! applies the record.
//!
//! A page's record is built before the signatures are locked, and pages are read from the journal
//! after they are unlocked. The critical section contains only the decision and one write. A
//! verdict is a duplicate only once the journal is durable up to the admission of the page that it
//! repeats.
//!
//! Lock order: the signatures before the journal's tail.

use async_trait::async_trait;
use journal::{DistinctPages, Page, Position, Record, RetainedPage, StoreFault, encode};
use neardup::PageSignature;
use web::{PageUrl, UrlKey};

use super::near_dup::SignatureStore;
use super::store::EmbeddedStore;
use crate::known::{Cluster, Decision, PageRef, RetainedEntry};
use crate::near_dup::{NearDupIndex, Original, RetainedDuplicate, Verdict};

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
        let of = {
            let mut signatures = self.signatures();
            let mut decision = signatures.judge(page, signature, canonical)?;
            if decision == Decision::Forget {
                self.forget_known(&mut signatures, page.key())?;
                decision = signatures.judge(page, signature, canonical)?;
            }
            match decision {
                Decision::Own | Decision::Forget => return Ok(Verdict::Own),
                Decision::New => {
                    self.append(&mut signatures, &admission, &frame)?;
                    return Ok(Verdict::Unique);
                }
                Decision::Version {
                    capture,
                    is_admitted,
                } => {
                    if !is_admitted {
                        self.append(&mut signatures, &admission, &frame)?;
                    }
                    drop(signatures);
                    let capture = capture.try_map(|number| self.page(PageRef::Earlier(number)))?;
                    return Ok(Verdict::Changed(Box::new(capture)));
                }
                Decision::Retained(place) => {
                    let of = signatures.per_cluster();
                    drop(signatures);
                    return self.retained_before(place, of);
                }
                // No page is excluded because of this verdict, so nothing has to be durable first.
                Decision::Retain(of, rank) => {
                    return self.retain(&mut signatures, page, signature, &of, rank);
                }
                Decision::Duplicate(of) => of,
            }
        };
        let original = Box::new(of.try_map(|of| self.page(of))?);
        let admissions = [Some(of.page), of.bytes].into_iter().flatten();
        if let Some(last) = admissions.filter_map(place_of).max() {
            // The durable part of the journal ends at the end of a record.
            self.journal.sync(last + 1).await?;
        }
        Ok(Verdict::Duplicate(original))
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut signatures = self.signatures();
        if signatures.knows(page)? {
            self.forget_known(&mut signatures, page)?;
        }
        Ok(())
    }

    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault> {
        let record = Record::Distinct(DistinctPages {
            page: page.clone(),
            original: original.clone(),
        });
        self.append(&mut self.signatures(), &record, &encode(&record))
    }

    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool {
        self.signatures().are_separate(page, original)
    }
}

impl EmbeddedStore {
    /// Appends a record to the journal and applies it.
    fn append(
        &self,
        signatures: &mut SignatureStore,
        record: &Record,
        frame: &[u8],
    ) -> Result<(), StoreFault> {
        let end = self.journal.append_frame(frame)?;
        let begin = end - frame.len() as u64;
        self.queue().apply(begin..end, record);
        signatures.apply(begin, record)
    }

    fn forget_known(
        &self,
        signatures: &mut SignatureStore,
        page: UrlKey,
    ) -> Result<(), StoreFault> {
        let record = Record::Forgotten { page };
        self.append(signatures, &record, &encode(&record))?;
        self.queue().revoke_due(&self.journal)
    }

    /// Keeps a page in addition to its original.
    fn retain(
        &self,
        signatures: &mut SignatureStore,
        page: &Page,
        signature: &PageSignature,
        of: &Original<PageRef>,
        rank: u32,
    ) -> Result<Verdict, StoreFault> {
        let original = of.try_map(|of| self.page(of))?;
        let retained = retained_page(page, signature, &original, rank);
        let record = Record::Retained(Box::new(retained));
        self.append(signatures, &record, &encode(&record))?;
        let of = signatures.per_cluster();
        let retained = RetainedDuplicate { rank, of };
        Ok(Verdict::Retained(Box::new(original), retained))
    }

    /// Returns the verdict of a page that was retained before.
    pub(super) fn retained_before(&self, place: Position, of: u32) -> Result<Verdict, StoreFault> {
        let Record::Retained(retained) = self.reader.record_at(place)? else {
            return Err(self.reader.mismatch(place));
        };
        let rank = retained.rank;
        let original = Original {
            page: retained.of,
            match_kind: retained.match_kind,
            earlier: retained.earlier,
            bytes: None,
            by_canonical: retained.by_canonical,
        };
        Ok(Verdict::Retained(
            Box::new(original),
            RetainedDuplicate { rank, of },
        ))
    }

    pub(super) fn page(&self, of: PageRef) -> Result<Page, StoreFault> {
        let held = match of {
            PageRef::Earlier(number) => {
                let earlier = self.earlier.as_deref();
                let earlier = earlier.expect("only an earlier crawl gives out its numbers");
                return earlier.page(number);
            }
            PageRef::Current(held) => held,
        };
        let page = match self.reader.record_at(held.place)? {
            Record::Admitted { page, .. } => page,
            Record::Retained(retained) => retained.page,
            _ => return Err(self.reader.mismatch(held.place)),
        };
        if page.key() != held.key {
            return Err(self.reader.mismatch(held.place));
        }
        Ok(page)
    }
}

/// Returns the record of a page that is kept in addition to its original.
pub(super) fn retained_page(
    page: &Page,
    signature: &PageSignature,
    original: &Original,
    rank: u32,
) -> RetainedPage {
    RetainedPage {
        page: page.clone(),
        signature: signature.clone(),
        of: original.page.clone(),
        earlier: original.earlier,
        match_kind: original.match_kind,
        rank,
        by_canonical: original.by_canonical,
    }
}

/// Returns the place of the admission of a page of this crawl.
fn place_of(name: PageRef) -> Option<Position> {
    match name {
        PageRef::Current(held) => Some(held.place),
        PageRef::Earlier(_) => None,
    }
}

impl RetainedEntry {
    /// Returns the entry of a retained page whose record begins at `place`.
    pub(super) fn of(page: &RetainedPage, place: Position, group: u64) -> Self {
        let cluster = Cluster {
            original: page.of.key(),
            earlier: page.earlier,
        };
        Self {
            place,
            cluster,
            rank: page.rank,
            copy: (group, page.signature.payload),
        }
    }
}
