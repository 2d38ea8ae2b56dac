//! The new journal: the readable part of the old journal, followed by the visits of the archive.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

use crawl::{
    AdaptiveSignatures, ArchivedVisit, EarlierArchives, LinkScores, ListingQuota, RebuildRules,
    RebuiltVisit, RetainedMatch,
};
use disk::{Disk, SystemDisk};
use facts::archived_visits::{Visit, Visits};
use journal::{DiscoveredUrl, History, Page, Record, Rendered, RetainedPage, VisitRecord};
use messages::{CommandError, SlowProgress, fault, warn};
use neardup::{HashKey, PageSignature};
use settings::seeds::each_of_crawl;
use settings::{Settings, crawl_directory, rules};
use setup::crawl_store::runtime;
use setup::{archiving, features};
use sinks::ArchiveEnd;
use store::{ArchivePlace, JournalRebuild, RestoredAdmission, RestoredVisit};
use topic::Topic;
use web::{Clock, Exchange, PageUrl, Scope, Timestamp, UrlKey};

use super::revisits::{Names, Originals, Revisit};
use super::scratch_index::ScratchIndex;
use super::{Report, foreign};

/// A journal that is being written.
pub(super) struct Rebuilding {
    restoring: JournalRebuild,
    adaptive_signatures: AdaptiveSignatures,
    policy: policy::Policy,
    /// Topic of a focused crawl, with its learned weights.
    topic: Option<Topic>,
    scope: Scope,
    /// The sitemaps and feeds of each host.
    listings: ListingQuota,
    /// Archives of earlier crawls, for pages that have not changed since.
    earlier: Option<EarlierArchives>,
    /// Originals of retained duplicates, if the crawl retains any.
    originals: Option<HashMap<UrlKey, Page>>,
    /// Index that judges the pages of other crawlers, if there are any.
    scratch_index: Option<ScratchIndex>,
    /// Pages that count as visited, if there is a scratch index, and the originals of revisits.
    settled: HashSet<UrlKey>,
    repeatable: Originals,
    report: Report,
}

impl Rebuilding {
    /// Copies the readable part of the old journal, or starts with the seeds without one.
    pub(super) fn begin(
        settings: &Settings,
        new: &Path,
        key: HashKey,
        adaptive_signatures: AdaptiveSignatures,
        old: Option<History>,
        scratch_index: Option<ScratchIndex>,
        clock: &Clock,
    ) -> Result<Self, CommandError> {
        let form = settings.canonical_form();
        let mut scope = rules::scope(settings)?;
        let mut seeds = Vec::new();
        each_of_crawl(settings, &form, |seed| {
            scope.add_seed(seed);
            seeds.push(seed.clone());
        })?;
        let mut old = old.into_iter().flatten().map_while(Result::ok).peekable();
        let begun = match old.peek() {
            Some(_) => None,
            None => Some((clock.now(), settings.feature_settings_name())),
        };
        let restoring = JournalRebuild::begin(Arc::new(SystemDisk), new, key, begun)?;
        let mut rebuilding = Self {
            restoring: restoring.closing_patterns(settings.traps.is_on()),
            adaptive_signatures,
            policy: rules::policy(settings, form),
            topic: None,
            scope,
            listings: ListingQuota::default(),
            earlier: None,
            originals: (settings.per_cluster > 1).then(HashMap::new),
            scratch_index,
            settled: HashSet::new(),
            repeatable: Originals::default(),
            report: Report {
                from: "archive",
                ..Report::default()
            },
        };
        let mut progress = SlowProgress::new("journal records copied");
        for record in old {
            rebuilding.copy(&record)?;
            progress.step();
        }
        let seeds = seeds.into_iter();
        let seeds = seeds.map(|url| DiscoveredUrl::new(url, 0, None));
        rebuilding.restoring.discover(seeds.collect())?;
        Ok(rebuilding)
    }

    /// Copies a record of the old journal.
    fn copy(&mut self, record: &Record) -> Result<(), CommandError> {
        self.report.journal_records += 1;
        match record {
            Record::SeedAdopted { url } => {
                self.scope.add_seed(url);
            }
            Record::Admitted { page, signature } => self.apply_admission(page, signature)?,
            Record::Settled(settled) if self.scratch_index.is_some() => {
                let visit = &settled.visit.record;
                self.settled.insert(visit.url.key());
                self.repeatable.add(visit, &Names::default());
            }
            _ => {}
        }
        Ok(self.restoring.copy(record)?)
    }

    /// Sets the archives of earlier crawls that contain unchanged pages.
    pub(super) fn set_earlier(&mut self, earlier: Option<EarlierArchives>) {
        self.earlier = earlier;
    }

    /// Sets the topic that gives links their score.
    pub(super) fn set_topic(&mut self, topic: Topic) {
        self.policy.reading.limits.link_context = true;
        self.topic = Some(topic);
    }

    /// Adds the visits that are in the archive but not in the old journal.
    pub(super) fn replay_archive(&mut self, archive: &Path) -> Result<(), CommandError> {
        let form = self.policy.reading.canonical.clone();
        let visits = Visits::open(archive, self.restoring.end(), &form);
        let mut visits = visits.map_err(|error| fault(&error))?;
        let mut progress = SlowProgress::new("visits read");
        while let Some(next) = visits.next_visit() {
            match next {
                Ok((file, visit)) => self.settle(file, visit)?,
                Err(damage) => self.count_damage(&damage.0),
            }
            progress.step();
        }
        Ok(())
    }

    fn count_damage(&mut self, damage: &str) {
        self.report.damaged_places += 1;
        warn(damage);
    }

    /// Records an admitted page as a possible original of later pages.
    fn apply_admission(
        &mut self,
        page: &Page,
        signature: &PageSignature,
    ) -> Result<(), CommandError> {
        if let Some(originals) = &mut self.originals {
            originals.insert(page.key(), page.clone());
        }
        match &self.scratch_index {
            Some(scratch_index) => scratch_index.admit(page, signature, None).map(drop),
            None => Ok(()),
        }
    }

    /// Adds the visits in other crawlers' files.
    pub(super) fn replay_foreign(&mut self, files: &[PathBuf]) -> Result<(), CommandError> {
        let form = self.policy.reading.canonical.clone();
        let mut progress = SlowProgress::new("visits of other crawlers compared");
        // Revisits whose original may come later.
        let mut later = Vec::new();
        for path in files {
            let file: Rc<str> = foreign::name(path).into();
            let mut visits = foreign::Visits::open(path, &form)?;
            while let Some(next) = visits.next_visit() {
                match next {
                    foreign::Next::Visit(visit) => self.settle_foreign(&file, visit)?,
                    foreign::Next::Revisit(revisit) => {
                        if let Some(revisit) = self.settle_revisit(&file, revisit)? {
                            later.push((Rc::clone(&file), revisit));
                        }
                    }
                    foreign::Next::Conversion => self.report.conversions += 1,
                    foreign::Next::NoPage => self.report.not_pages += 1,
                    foreign::Next::Unusable(target) => {
                        if self.report.unusable == 0 {
                            warn(&format!("{target}: invalid header, URL or date"));
                        }
                        self.report.unusable += 1;
                    }
                    foreign::Next::Left(records) => self.report.left += records,
                    foreign::Next::Damage(damage) => self.count_damage(&damage),
                }
                progress.step();
            }
        }
        for (file, revisit) in later {
            let is_left = self.settle_revisit(&file, revisit)?.is_some();
            self.report.without_original += u64::from(is_left);
        }
        Ok(())
    }

    /// Settles a revisit. Returns it if its original is unknown.
    fn settle_revisit(
        &mut self,
        file: &str,
        revisit: Box<Revisit>,
    ) -> Result<Option<Box<Revisit>>, CommandError> {
        let page = revisit.page();
        if self.settled.contains(&page.key()) {
            self.report.captured_again += 1;
            return Ok(None);
        }
        let Some(notes) = self.repeatable.notes(&revisit) else {
            return Ok(Some(revisit));
        };
        self.settled.insert(page.key());
        let page = self.queued(page);
        let rebuilt = self.rebuild_foreign(page, revisit.at, revisit.exchanges, false, notes);
        self.settle_foreign_record(file, revisit.offset, &revisit.names, rebuilt)?;
        Ok(None)
    }

    fn settle_foreign(&mut self, file: &str, visit: foreign::Visit) -> Result<(), CommandError> {
        let (Some(first), Some(last)) = (visit.exchanges.first(), visit.exchanges.last()) else {
            return Ok(());
        };
        let (url, at, status) = (first.url.clone(), first.started, last.status);
        let is_cut = last.truncated.is_some();
        if !self.settled.insert(url.key()) {
            self.report.captured_again += 1;
            return Ok(());
        }
        let notes = match status {
            200..300 => Vec::new(),
            _ => vec![
                ("verdict".to_owned(), "failed".to_owned()),
                ("reason".to_owned(), format!("HTTP status {status}")),
            ],
        };
        let page = self.queued(&url);
        let mut rebuilt = self.rebuild_foreign(page, at, visit.exchanges, true, notes);
        // A partial page is not evidence of similarity.
        let judged = rebuilt.signature.as_ref().filter(|_| !is_cut);
        if let (Some(scratch_index), Some(signature)) = (&self.scratch_index, judged) {
            let record = &rebuilt.record;
            let verdict =
                scratch_index.admit(&record.page(), signature, record.canonical.as_ref())?;
            crawl::apply_verdict(&self.policy, &mut rebuilt, &verdict);
        }
        self.settle_foreign_record(file, visit.offset, &visit.names, rebuilt)
    }

    /// Returns the queue entry of a page that another crawler visited. A page without a known link
    /// to it does not count as a seed, so its redirects do not widen the scope.
    fn queued(&self, url: &PageUrl) -> DiscoveredUrl {
        let waiting = self.restoring.waiting(url);
        waiting.unwrap_or_else(|| DiscoveredUrl::new(url.clone(), 1, None))
    }

    fn rebuild_foreign(
        &mut self,
        page: DiscoveredUrl,
        at: Timestamp,
        exchanges: Vec<Exchange>,
        kept: bool,
        notes: Vec<(String, String)>,
    ) -> RebuiltVisit {
        self.rebuild_visit(ArchivedVisit {
            page,
            at,
            exchanges,
            kept,
            dom: None,
            notes,
            robots: Vec::new(),
            unchanged: None,
        })
    }

    /// Settles a visit that is recorded in another crawler's file. `offset` is the offset of the
    /// page's record, if the record is addressable.
    fn settle_foreign_record(
        &mut self,
        file: &str,
        offset: Option<u64>,
        names: &Names,
        mut rebuilt: RebuiltVisit,
    ) -> Result<(), CommandError> {
        rebuilt.record.warc_file = offset.map(|_| file.to_owned());
        rebuilt.record.warc_offset = offset;
        rebuilt.record.kept &= offset.is_some();
        self.repeatable.add(&rebuilt.record, names);
        self.report.without_place += u64::from(offset.is_none());
        self.report.foreign_visits += 1;
        self.write_visit(rebuilt, None)
    }

    fn rebuild_visit(&mut self, visit: ArchivedVisit) -> RebuiltVisit {
        let link_scores = self.topic.as_ref().map(|topic| LinkScores {
            topic,
            patterns: self.restoring.patterns(),
        });
        let rules = RebuildRules {
            policy: &self.policy,
            adaptive_signatures: &self.adaptive_signatures,
            quota: &self.listings,
            link_scores,
        };
        let rebuilt = crawl::rebuild_visit(rules, &mut self.scope, visit);
        self.report.links_omitted += rebuilt.links_omitted;
        rebuilt
    }

    /// Starts the archive after other crawlers' files, unless the archive already has files.
    pub(super) fn continue_behind(
        &mut self,
        archive: &Path,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<(), CommandError> {
        if self.restoring.end().is_some() {
            return Ok(());
        }
        let options = archiving::options(settings, clock)?;
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        let begun = sinks::warc::begin_behind(&disk, archive, &options);
        let ArchiveEnd { file, end } = begun.map_err(|error| fault(&error))?;
        self.restoring.begin_archive(ArchivePlace { file, end });
        Ok(())
    }

    fn settle(&mut self, file: String, visit: Visit) -> Result<(), CommandError> {
        let Some(url) = visit.url.clone() else {
            return Ok(());
        };
        let note = |name: &str| visit.note(name);
        // No restored link points to this page: its notes say where it was found, or it was a seed.
        let from_notes = || DiscoveredUrl {
            depth: number_in(note("hopsFromSeed")),
            via: note("via")
                .and_then(|via| PageUrl::parse(via, &self.policy.reading.canonical).ok()),
            url: url.clone(),
            priority: 0,
            requisite: number_in(note("requisite")),
            off_scope: number_in(note("hops-off-scope")),
        };
        let page = self.restoring.waiting(&url).unwrap_or_else(from_notes);
        let (page_offset, dom_offset, end) = (visit.page_offset, visit.dom_offset, visit.end);
        let unchanged = self.unchanged(&page.url, &visit);
        let mut rebuilt = self.rebuild_visit(ArchivedVisit {
            page,
            at: visit.at,
            exchanges: visit.exchanges,
            kept: visit.kept,
            dom: visit.dom,
            notes: visit.notes,
            robots: visit.robots,
            unchanged,
        });
        rebuilt.record.warc_file = Some(file.clone());
        rebuilt.record.warc_offset = Some(page_offset);
        if let Some(Rendered::Dom { offset, .. }) = &mut rebuilt.record.details.rendered {
            *offset = dom_offset;
        }
        self.report.archived_visits += 1;
        self.write_visit(rebuilt, Some(ArchivePlace { file, end }))
    }

    /// Returns the archived page of an earlier crawl for a visit that found the page unchanged:
    /// this crawl also followed its links.
    fn unchanged(&mut self, url: &PageUrl, visit: &Visit) -> Option<Exchange> {
        visit.note("duplicate-of-earlier-crawl")?;
        let of =
            PageUrl::parse(visit.note("duplicate-of")?, &self.policy.reading.canonical).ok()?;
        let at = visit.original_at?;
        let response = visit
            .exchanges
            .last()
            .filter(|_| of == *url && !visit.kept)?;
        let archived = match &self.earlier {
            Some(earlier) => earlier.unchanged(url, at, response, &self.policy.reading.canonical),
            None => Ok(None),
        };
        let archived = archived.unwrap_or_else(|trouble| {
            if self.report.without_links == 0 {
                warn(&format!("{trouble}; reported only once"));
            }
            None
        });
        self.report.without_links += u64::from(archived.is_none());
        archived
    }

    /// Writes a visit, with its end in the archive if the archive file is ours.
    fn write_visit(
        &mut self,
        rebuilt: RebuiltVisit,
        end: Option<ArchivePlace>,
    ) -> Result<(), CommandError> {
        let record = rebuilt.record;
        self.restoring.discover(rebuilt.sitemaps)?;
        for url in rebuilt.adopted {
            self.restoring.adopt(url)?;
        }
        let admission = match (rebuilt.signature, rebuilt.retained) {
            (Some(signature), None) if record.fate.is_original() => {
                self.apply_admission(&record.page(), &signature)?;
                RestoredAdmission::New(Box::new(signature))
            }
            (Some(signature), Some(matched)) => self.retain(&record, signature, matched),
            _ => RestoredAdmission::None,
        };
        let visit = RestoredVisit {
            record,
            end,
            finds: rebuilt.discovered,
            reached: rebuilt.reached,
            admission,
        };
        Ok(self.restoring.settle(visit)?)
    }

    /// Returns the admission of a retained duplicate.
    fn retain(
        &self,
        visit: &VisitRecord,
        signature: PageSignature,
        matched: RetainedMatch,
    ) -> RestoredAdmission {
        let Some(url) = &visit.duplicate_of else {
            return RestoredAdmission::None;
        };
        let originals = self.originals.as_ref();
        let original = originals.and_then(|originals| originals.get(&url.key()));
        let of = original.cloned().unwrap_or_else(|| Page {
            url: url.clone(),
            final_url: url.clone(),
            at: visit.fetched_at,
        });
        RestoredAdmission::Retained(Box::new(RetainedPage {
            page: visit.page(),
            signature,
            of,
            earlier: visit.of_earlier,
            match_kind: matched.match_kind,
            rank: matched.rank,
            by_canonical: matched.by_canonical,
        }))
    }

    /// Syncs the archive, and then the journal that refers to it.
    pub(super) fn finish(mut self, archive: &Path, new: &Path) -> Result<Report, CommandError> {
        if let Some(scratch_index) = self.scratch_index.take() {
            scratch_index.end()?;
        }
        for path in crawl_directory::archive_files(archive).map_err(|error| fault(&error))? {
            File::open(path)
                .and_then(|file| file.sync_all())
                .map_err(|error| fault(&error))?;
        }
        runtime()?.block_on(self.restoring.finish())?;
        features::keep(&self.adaptive_signatures, new)?;
        Ok(self.report)
    }
}

/// Returns the number in a note, or 0 without a note.
fn number_in<N: FromStr + Default>(note: Option<&str>) -> N {
    note.and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
