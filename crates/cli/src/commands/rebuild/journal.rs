//! The journal that is written: what the old one still tells, then what the archive tells.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crawl::{
    AdaptiveSignatures, ArchivedVisit, EarlierArchives, ListingQuota, RebuiltVisit, RetainedMatch,
};
use disk::{Disk, SystemDisk};
use neardup::{HashKey, PageSignature};
use sinks::ArchiveEnd;
use store::embedded::record::{Record, RetainedPage};
use store::embedded::{History, JournalRebuild, RestoredAdmission, RestoredVisit};
use store::{ArchivePlace, DiscoveredUrl, Page, VisitRecord};
use web::{Clock, Exchange, PageUrl, Scope, UrlKey};

use super::Report;
use super::foreign;
use super::revisits::{Originals, Revisit};
use super::scratch_index::ScratchIndex;
use super::visits::{self, Visits};
use crate::cli_error::{CliError, fault};
use crate::progress::SlowProgress;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::{archiving, assembly, crawl_directory, features};

/// A journal that is being written.
pub(super) struct Rebuilding {
    restoring: JournalRebuild,
    adaptive_signatures: AdaptiveSignatures,
    policy: crawl::Policy,
    scope: Scope,
    /// The sitemaps and feeds of each host.
    listings: ListingQuota,
    /// The archives of earlier crawls, for pages that are unchanged since.
    earlier: Option<EarlierArchives>,
    /// The pages that others may have been let through beside, where that is allowed at all.
    originals: Option<HashMap<UrlKey, Page>>,
    /// The index that judges pages of other crawlers, if there are any.
    scratch_index: Option<ScratchIndex>,
    /// Pages that count as visited, if there is a scratch index, and the originals of revisits.
    settled: HashSet<UrlKey>,
    repeatable: Originals,
    report: Report,
}

impl Rebuilding {
    /// Copies the readable part of the old journal; if there is none, starts with the seeds.
    pub(super) fn begin(
        settings: &Settings,
        new: &Path,
        key: HashKey,
        adaptive_signatures: AdaptiveSignatures,
        old: Option<History>,
        scratch_index: Option<ScratchIndex>,
        clock: &Clock,
    ) -> Result<Self, CliError> {
        let form = settings.canonical_form();
        let mut scope = assembly::scope(settings)?;
        let seeds: Vec<PageUrl> = settings
            .url
            .iter()
            .filter_map(|seed| PageUrl::parse(seed, &form).ok())
            .collect();
        seeds.iter().for_each(|seed| scope.add_seed(seed));
        let mut old = old.into_iter().flatten().map_while(Result::ok).peekable();
        let begun = old.peek().is_none();
        let begun = begun.then(|| (clock.now(), settings.feature_settings_name()));
        let mut rebuilding = Self {
            restoring: JournalRebuild::begin(Arc::new(SystemDisk), new, key, begun)
                .map_err(|error| fault(&error))?,
            adaptive_signatures,
            policy: assembly::policy(settings, form),
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
            rebuilding.report.journal_records += 1;
            if let Record::SeedAdopted { url } = &record {
                rebuilding.scope.add_seed(url);
            }
            match &record {
                Record::Admitted { page, signature } => {
                    rebuilding.apply_admission(page, signature)?;
                }
                Record::Settled(settled) if rebuilding.scratch_index.is_some() => {
                    let row = &settled.visit.row;
                    rebuilding.settled.insert(row.url.key());
                    rebuilding.repeatable.add(row);
                }
                _ => {}
            }
            rebuilding
                .restoring
                .copy(&record)
                .map_err(|error| fault(&error))?;
            progress.step();
        }
        let finds = seeds
            .into_iter()
            .map(|url| DiscoveredUrl::new(url, 0, None))
            .collect();
        rebuilding
            .restoring
            .discover(finds)
            .map_err(|error| fault(&error))?;
        Ok(rebuilding)
    }

    /// Sets the archives in which pages that are unchanged since an earlier crawl are looked up.
    pub(super) fn set_earlier(&mut self, earlier: Option<EarlierArchives>) {
        self.earlier = earlier;
    }

    pub(super) fn replay_archive(&mut self, archive: &Path) -> Result<(), CliError> {
        let form = self.policy.canonical.clone();
        let mut visits =
            Visits::open(archive, self.restoring.end(), &form).map_err(|error| fault(&error))?;
        let mut progress = SlowProgress::new("visits read");
        while let Some(next) = visits.next_visit() {
            match next {
                Ok((file, visit)) => self.settle(file, visit)?,
                Err(damage) => {
                    self.report.damaged_places += 1;
                    say(&format!("warning: {}", printable(&damage.0)));
                }
            }
            progress.step();
        }
        Ok(())
    }

    /// Remembers an admitted page as an original of later ones.
    fn apply_admission(&mut self, page: &Page, signature: &PageSignature) -> Result<(), CliError> {
        if let Some(originals) = &mut self.originals {
            originals.insert(page.key(), page.clone());
        }
        match &self.scratch_index {
            Some(scratch_index) => scratch_index.admit(page, signature, None).map(drop),
            None => Ok(()),
        }
    }

    /// Takes over the visits in files of other crawlers.
    pub(super) fn replay_foreign(&mut self, files: &[PathBuf]) -> Result<(), CliError> {
        let form = self.policy.canonical.clone();
        let mut progress = SlowProgress::new("visits of other crawlers judged");
        // Those that refer to what may come behind them.
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
                    foreign::Next::Left(records) => self.report.left += records,
                    foreign::Next::Damage(what) => {
                        self.report.damaged_places += 1;
                        say(&format!("warning: {}", printable(&what)));
                    }
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

    /// Settles a revisit; returns it if its original is not known.
    fn settle_revisit(
        &mut self,
        file: &str,
        revisit: Box<Revisit>,
    ) -> Result<Option<Box<Revisit>>, CliError> {
        let page = revisit.page();
        if self.settled.contains(&page.key()) {
            self.report.captured_again += 1;
            return Ok(None);
        }
        let Some(notes) = self.repeatable.notes(&revisit) else {
            return Ok(Some(revisit));
        };
        self.settled.insert(page.key());
        let rebuilt = self.rebuild_visit(ArchivedVisit {
            page: self.found(page),
            at: revisit.at,
            exchanges: revisit.exchanges,
            kept: false,
            notes,
            robots: Vec::new(),
            unchanged: None,
        });
        self.settle_foreign_record(file, revisit.offset, rebuilt)?;
        Ok(None)
    }

    fn settle_foreign(&mut self, file: &str, visit: foreign::Visit) -> Result<(), CliError> {
        let (Some(first), Some(last)) = (visit.exchanges.first(), visit.exchanges.last()) else {
            return Ok(());
        };
        let (url, at, status) = (first.url.clone(), first.started, last.status);
        if !self.settled.insert(url.key()) {
            self.report.captured_again += 1;
            return Ok(());
        }
        let is_page = (200..300).contains(&status);
        let failed = [
            ("verdict", "failed".to_owned()),
            ("reason", format!("HTTP status {status}")),
        ];
        let notes = failed.into_iter().filter(|_| !is_page);
        let mut rebuilt = self.rebuild_visit(ArchivedVisit {
            page: self.found(&url),
            at,
            exchanges: visit.exchanges,
            kept: true,
            notes: notes
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            robots: Vec::new(),
            unchanged: None,
        });
        if let (Some(scratch_index), Some(signature)) = (&self.scratch_index, &rebuilt.signature) {
            let row = &rebuilt.record;
            let verdict = scratch_index.admit(&row.page(), signature, row.canonical.as_ref())?;
            crawl::apply_verdict(&self.policy, &mut rebuilt, &verdict);
        }
        self.settle_foreign_record(file, visit.offset, rebuilt)
    }

    /// Returns the queue entry of a page that another crawler visited. A page to which nothing led
    /// counts as no seed: its redirects do not widen the scope.
    fn found(&self, url: &PageUrl) -> DiscoveredUrl {
        let waiting = self.restoring.waiting(url);
        waiting.unwrap_or_else(|| DiscoveredUrl::new(url.clone(), 1, None))
    }

    /// Writes a visit in a file of another crawler. `offset` is that of the page's record, if it
    /// can be addressed.
    fn settle_foreign_record(
        &mut self,
        file: &str,
        offset: Option<u64>,
        mut rebuilt: RebuiltVisit,
    ) -> Result<(), CliError> {
        rebuilt.record.warc_file = offset.map(|_| file.to_owned());
        rebuilt.record.warc_offset = offset;
        rebuilt.record.kept &= offset.is_some();
        self.repeatable.add(&rebuilt.record);
        self.report.without_place += u64::from(offset.is_none());
        self.report.foreign_visits += 1;
        self.write_visit(rebuilt, None)
    }

    fn rebuild_visit(&mut self, visit: ArchivedVisit) -> RebuiltVisit {
        let (policy, adaptive_signatures, listings) =
            (&self.policy, &self.adaptive_signatures, &self.listings);
        crawl::rebuild_visit(
            policy,
            adaptive_signatures,
            &mut self.scope,
            listings,
            visit,
        )
    }

    /// Starts the archive after files of other crawlers, if it has no files yet.
    pub(super) fn go_on_behind(
        &mut self,
        archive: &Path,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<(), CliError> {
        if self.restoring.end().is_some() {
            return Ok(());
        }
        let options = archiving::options(settings, clock)?;
        let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
        let begun =
            sinks::warc::begin_behind(&disk, archive, &options).map_err(|error| fault(&error))?;
        let ArchiveEnd { file, end } = begun;
        self.restoring.begin_archive(ArchivePlace { file, end });
        Ok(())
    }

    fn settle(&mut self, file: String, visit: visits::Visit) -> Result<(), CliError> {
        let Some(url) = visit.url.clone() else {
            return Ok(());
        };
        let note = |name: &str| visit.note(name);
        // Nothing that is left led here: it was a seed once, or the archive says otherwise.
        let page = self
            .restoring
            .waiting(&url)
            .unwrap_or_else(|| DiscoveredUrl {
                depth: note("hopsFromSeed")
                    .and_then(|depth| depth.parse().ok())
                    .unwrap_or(0),
                via: note("via").and_then(|via| PageUrl::parse(via, &self.policy.canonical).ok()),
                url,
                priority: 0,
                requisite: note("requisite")
                    .and_then(|steps| steps.parse().ok())
                    .unwrap_or(0),
            });
        let (page_offset, end) = (visit.page_offset, visit.end);
        let again = self.again(&page.url, &visit);
        let mut rebuilt = self.rebuild_visit(ArchivedVisit {
            page,
            at: visit.at,
            exchanges: visit.exchanges,
            kept: visit.kept,
            notes: visit.notes,
            robots: visit.robots,
            unchanged: again,
        });
        rebuilt.record.warc_file = Some(file.clone());
        rebuilt.record.warc_offset = Some(page_offset);
        self.report.archived_visits += 1;
        self.write_visit(rebuilt, Some(ArchivePlace { file, end }))
    }

    /// Returns the archived page of an earlier crawl for a visit that found it unchanged: its links
    /// led this crawl, too.
    fn again(&mut self, url: &PageUrl, visit: &visits::Visit) -> Option<Exchange> {
        visit.note("duplicate-of-earlier-crawl")?;
        let of = PageUrl::parse(visit.note("duplicate-of")?, &self.policy.canonical).ok()?;
        let answer = visit
            .exchanges
            .last()
            .filter(|_| of == *url && !visit.kept)?;
        let archived = match (&self.earlier, visit.original_at) {
            (Some(earlier), Some(at)) => earlier.unchanged(url, at, answer, &self.policy.canonical),
            _ => Ok(None),
        };
        let told = archived.unwrap_or_else(|trouble| {
            if self.report.without_links == 0 {
                say(&format!("warning: {}; told only once", printable(&trouble)));
            }
            None
        });
        self.report.without_links += u64::from(told.is_none());
        told
    }

    /// Writes a visit with its end in the archive, if the archive file is ours.
    fn write_visit(
        &mut self,
        rebuilt: RebuiltVisit,
        end: Option<ArchivePlace>,
    ) -> Result<(), CliError> {
        let RebuiltVisit {
            record: row,
            signature,
            retained: seat,
            sitemaps: announced,
            discovered: finds,
            reached,
            adopted,
        } = rebuilt;
        self.restoring
            .discover(announced)
            .map_err(|error| fault(&error))?;
        for url in adopted {
            self.restoring.adopt(url).map_err(|error| fault(&error))?;
        }
        let admission = match (signature, seat) {
            (Some(signature), None) if row.fate.is_original() => {
                self.apply_admission(&row.page(), &signature)?;
                RestoredAdmission::New(Box::new(signature))
            }
            (Some(signature), Some(seat)) => self.seated(&row, signature, seat),
            _ => RestoredAdmission::None,
        };
        let visit = RestoredVisit {
            row,
            end,
            finds,
            reached,
            admission,
        };
        self.restoring.settle(visit).map_err(|error| fault(&error))
    }

    fn seated(
        &self,
        row: &VisitRecord,
        signature: PageSignature,
        seat: RetainedMatch,
    ) -> RestoredAdmission {
        let Some(url) = &row.duplicate_of else {
            return RestoredAdmission::None;
        };
        let known = self
            .originals
            .as_ref()
            .and_then(|originals| originals.get(&url.key()));
        let of = known.cloned().unwrap_or_else(|| Page {
            url: url.clone(),
            final_url: url.clone(),
            at: row.fetched_at,
        });
        RestoredAdmission::Retained(Box::new(RetainedPage {
            page: row.page(),
            signature,
            of,
            earlier: row.of_earlier,
            likeness: seat.likeness,
            rank: seat.rank,
            by_canonical: seat.by_canonical,
        }))
    }

    /// Syncs the archive, and then the journal that refers to it.
    pub(super) fn finish(mut self, archive: &Path, new: &Path) -> Result<Report, CliError> {
        if let Some(scratch_index) = self.scratch_index.take() {
            scratch_index.end()?;
        }
        for path in crawl_directory::archive_files(archive).map_err(|error| fault(&error))? {
            File::open(path)
                .and_then(|file| file.sync_all())
                .map_err(|error| fault(&error))?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| fault(&error))?;
        runtime
            .block_on(self.restoring.finish())
            .map_err(|error| fault(&error))?;
        features::keep(&self.adaptive_signatures, new)?;
        Ok(self.report)
    }
}
