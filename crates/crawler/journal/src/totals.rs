//! Sums over the visit records of a crawl.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limit::{CutSum, Limit};
use crate::reason_kind::ReasonKind;
use crate::unread_format::UnreadFormat;
use crate::visit_record::{Fate, VisitRecord};

/// Sums over all visit records of a crawl, across all its sessions.
///
/// Sums over a part of a crawl may be negative, because a node can revoke visits that another node
/// recorded. They wrap, so that the sum over all parts is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Fetched pages that are new.
    pub unique: u64,
    /// Exact duplicates.
    pub exact_duplicates: u64,
    /// Near duplicates.
    pub near_duplicates: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// URLs that a rule forbade.
    pub excluded: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Duplicates that were kept.
    pub kept_duplicates: u64,
    /// Requisites that were fetched. They count here and in `bytes`, but in no sum above.
    pub requisites: u64,
    /// Requisites that were not fetched, because of a failure or a rule.
    pub requisites_missing: u64,
    /// New versions of pages that an earlier crawl archived; they do not count as unique.
    pub changed: u64,
    /// Excluded URLs that were not visited, by the kind of reason: see [`ReasonKind`].
    pub skipped: [u64; ReasonKind::ALL.len()],
    /// Pages that were compared with the topic of a focused crawl.
    pub judged: u64,
    /// Compared pages that are not about the topic.
    pub off_topic: u64,
    /// Visits that a limit cut, requisites included, by limit.
    pub cuts: [CutSum; Limit::ALL.len()],
    /// Archived documents whose text was not read, by format.
    pub unread: [u64; UnreadFormat::FORMATS.len()],
    /// Pages that have next to no text without their scripts, which were not run.
    pub need_scripts: u64,
    /// Pages among these with the same bytes as a page under another path, which prove nothing.
    pub repeated_shells: u64,
    /// Pages that were judged by their DOM, after their scripts ran.
    pub rendered: u64,
}

impl Totals {
    /// Returns the pages about the topic of a focused crawl, duplicates included.
    #[must_use]
    pub const fn on_topic(&self) -> u64 {
        self.judged.saturating_sub(self.off_topic)
    }

    /// Returns the share of compared pages that are about the topic; `None` without a topic.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
    pub fn harvest(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.on_topic() as f64 / self.judged as f64)
    }

    /// Returns the limits that cut visits, with their sums.
    pub fn limits(&self) -> impl Iterator<Item = (Limit, CutSum)> {
        let sums = Limit::ALL.into_iter().zip(self.cuts);
        sums.filter(|(_, sum)| sum.visits > 0)
    }

    /// Returns the limits that cut visits, by name.
    #[must_use]
    pub fn limits_by_name(&self) -> BTreeMap<&'static str, CutSum> {
        let limits = self.limits();
        limits.map(|(limit, sum)| (limit.as_str(), sum)).collect()
    }

    /// Returns the number of documents that were not read, by format.
    #[must_use]
    pub fn unread_formats_by_name(&self) -> BTreeMap<&'static str, u64> {
        let formats = self.unread_formats();
        formats
            .map(|(format, count)| (format.as_str(), count))
            .collect()
    }

    /// Returns the formats of documents that were not read, with their numbers.
    pub fn unread_formats(&self) -> impl Iterator<Item = (UnreadFormat, u64)> {
        let counts = UnreadFormat::FORMATS.into_iter().zip(self.unread);
        counts.filter(|(_, count)| *count > 0)
    }

    /// Returns the number of links to pages that were lost to limits of the crawler, if they could
    /// be counted.
    #[must_use]
    pub fn lost_links(&self) -> u64 {
        let costly = self.limits().filter(|(limit, _)| limit.costs_links());
        costly.fold(0, |sum, (_, cut)| sum.wrapping_add(cut.lost))
    }

    /// Adds the sums over other visits.
    pub fn add(&mut self, other: &Self) {
        let Self {
            pages,
            unique,
            exact_duplicates,
            near_duplicates,
            failed,
            excluded,
            bytes,
            kept_duplicates,
            requisites,
            requisites_missing,
            changed,
            skipped,
            judged,
            off_topic,
            cuts,
            unread,
            need_scripts,
            repeated_shells,
            rendered,
        } = *other;
        let add = |sum: &mut u64, more: u64| *sum = sum.wrapping_add(more);
        add(&mut self.pages, pages);
        add(&mut self.unique, unique);
        add(&mut self.exact_duplicates, exact_duplicates);
        add(&mut self.near_duplicates, near_duplicates);
        add(&mut self.failed, failed);
        add(&mut self.excluded, excluded);
        add(&mut self.bytes, bytes);
        add(&mut self.kept_duplicates, kept_duplicates);
        add(&mut self.requisites, requisites);
        add(&mut self.requisites_missing, requisites_missing);
        add(&mut self.changed, changed);
        add(&mut self.judged, judged);
        add(&mut self.off_topic, off_topic);
        add(&mut self.need_scripts, need_scripts);
        add(&mut self.repeated_shells, repeated_shells);
        add(&mut self.rendered, rendered);
        for (sum, more) in self.skipped.iter_mut().zip(skipped) {
            add(sum, more);
        }
        for (sum, more) in self.cuts.iter_mut().zip(cuts) {
            add(&mut sum.visits, more.visits);
            add(&mut sum.lost, more.lost);
        }
        for (sum, more) in self.unread.iter_mut().zip(unread) {
            add(sum, more);
        }
    }

    /// Adds a visit record.
    pub fn count(&mut self, visit: &VisitRecord) {
        self.change(visit, |sum, part| *sum = sum.wrapping_add(part));
    }

    /// Subtracts a visit record that was added before.
    pub fn uncount(&mut self, visit: &VisitRecord) {
        self.change(visit, |sum, part| *sum = sum.wrapping_sub(part));
    }

    fn change(&mut self, visit: &VisitRecord, change: impl Fn(&mut u64, u64)) {
        let is_page = visit.fate.is_page();
        change(&mut self.bytes, visit.bytes);
        for cut in &visit.details.cuts {
            let sum = &mut self.cuts[cut.limit as usize];
            change(&mut sum.visits, 1);
            change(&mut sum.lost, cut.lost);
        }
        if visit.requisite > 0 {
            change(&mut self.requisites, is_page.into());
            let is_missing = !is_page && !visit.is_absent_icon();
            change(&mut self.requisites_missing, is_missing.into());
            return;
        }
        if let Some(kind) = ReasonKind::of(visit) {
            change(&mut self.skipped[kind as usize], 1);
        }
        let is_kept_duplicate = visit.kept && visit.fate.is_duplicate();
        if let Some(format) = visit.details.unread {
            change(&mut self.unread[format.format() as usize], 1);
        }
        let needs_scripts = is_page && visit.is_unrendered_shell();
        change(&mut self.need_scripts, needs_scripts.into());
        change(&mut self.repeated_shells, visit.is_repeated_shell().into());
        let is_rendered = is_page && visit.is_rendered();
        change(&mut self.rendered, is_rendered.into());
        change(&mut self.pages, is_page.into());
        change(&mut self.kept_duplicates, is_kept_duplicate.into());
        change(&mut self.judged, visit.is_judged().into());
        let of_fate = match visit.fate {
            Fate::Unique => &mut self.unique,
            Fate::ExactDuplicate => &mut self.exact_duplicates,
            Fate::NearDuplicate => &mut self.near_duplicates,
            Fate::Failed => &mut self.failed,
            Fate::Excluded => &mut self.excluded,
            Fate::Changed => &mut self.changed,
            Fate::OffTopic => &mut self.off_topic,
        };
        change(of_fate, 1);
    }
}
