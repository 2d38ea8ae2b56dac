//! The signature index of a node: the working copy judges, and the log of admissions decides.
//!
//! A user's actions about duplicates and patterns are applied here, by the node that owns the
//! host.

use async_trait::async_trait;
use journal::{Page, PatternName, StoreFault, VisitRecord};
use neardup::PageSignature;
use store::{DistinctEffect, EmbeddedStore, LogStep, NearDupIndex, Verdict};
use web::{PageUrl, UrlKey};

use crate::bucket::Bucket;
use crate::store::SharedStore;

#[async_trait]
impl NearDupIndex for SharedStore {
    async fn admit(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<Verdict, StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let (record, verdict) = match self.local.judge(page, signature, canonical)? {
                LogStep::Given(verdict) => return Ok(verdict),
                LogStep::Append(record, verdict) => (*record, Some(verdict)),
                LogStep::Forget(record) => (*record, None),
            };
            let keys = self.keys.of(&record, canonical);
            let is_admitted = self.admissions.append(record, keys, applied, term).await?;
            if let Some(verdict) = verdict.filter(|_| is_admitted) {
                return Ok(verdict);
            }
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let Some(record) = self.local.revocation_of(page)? else {
                return Ok(());
            };
            let keys = self.keys.of(&record, None);
            if self.admissions.append(record, keys, applied, term).await? {
                return Ok(());
            }
        }
    }

    async fn separate(&self, page: &PageUrl, original: &PageUrl) -> Result<(), StoreFault> {
        let term = &self.session.term;
        loop {
            let applied = self.admissions.applied();
            let record = EmbeddedStore::separation_of(page, original);
            let keys = self.keys.of(&record, None);
            if self.admissions.append(record, keys, applied, term).await? {
                return Ok(());
            }
        }
    }

    fn are_separate(&self, page: UrlKey, original: UrlKey) -> bool {
        self.local.are_separate(page, original)
    }
}

impl SharedStore {
    /// Reopens a pattern of a host that this node owns: [`EmbeddedStore::reopen`]. Returns `None`
    /// if this node does not have the pattern.
    ///
    /// # Errors
    /// [`StoreFault`], as for that function.
    pub async fn reopen(&self, name: &PatternName) -> Result<Option<u64>, StoreFault> {
        if !self.owns(&name.host).await {
            return Ok(None);
        }
        let _transfer = self.shipping.begin_transfer();
        self.local.reopen(name).await
    }

    /// Declares pages distinct if they are in buckets of this node:
    /// [`EmbeddedStore::declare_distinct`]. Returns the effect on each such page.
    ///
    /// # Errors
    /// [`StoreFault`], as for that function.
    pub async fn declare_distinct(
        &self,
        urls: &[PageUrl],
    ) -> Result<Vec<(PageUrl, DistinctEffect)>, StoreFault> {
        let mut ours = Vec::new();
        for url in urls {
            if self.owns(&url.host()).await {
                ours.push(url.clone());
            }
        }
        let _transfer = self.shipping.begin_transfer();
        let effects = self.local.declare_distinct_in(self, &ours).await?;
        Ok(ours.into_iter().zip(effects).collect())
    }

    /// Queues failed pages again if they are in buckets of this node:
    /// [`EmbeddedStore::retry_failed`].
    ///
    /// # Errors
    /// [`StoreFault`], as for that function.
    pub async fn retry_failed(
        &self,
        is_meant: impl Fn(&VisitRecord) -> bool,
    ) -> Result<u64, StoreFault> {
        let owned = self.owned.read().await;
        let _transfer = self.shipping.begin_transfer();
        let is_ours =
            |visit: &VisitRecord| owned.contains(Bucket::of(&visit.url)) && is_meant(visit);
        self.local.retry_failed(is_ours).await
    }
}
