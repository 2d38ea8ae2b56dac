//! Resumption of an archive without a settled visit.

use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use journal::{ArchiveSpan, DiscoveredUrl, Fate, FinishedVisit, VisitRecord};
use sinks::{ArchiveEnd, ArchiveOptions, Archived, Keeping, Sink, Visit, WarcArchive};
use store::{ArchivePlace, EmbeddedStore, Frontier, Lease, LeaseFilter, Settlement, Supply};
use testkit::FaultyDisk;
use web::{CanonicalForm, Clock, PageUrl, Timestamp};

use crate::session::store_options;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

struct Session {
    store: EmbeddedStore,
    archive: WarcArchive,
}

impl Session {
    async fn open(directory: &Path, disk: &Arc<FaultyDisk>) -> Self {
        let disk: Arc<dyn Disk> = disk.clone();
        let options = store_options(NOW, Arc::clone(&disk));
        let store = EmbeddedStore::open(&directory.join("state"), &options).unwrap();
        let options = ArchiveOptions::new(Clock::fixed(NOW));
        let archive = crawl::open_archive(&store, &disk, &directory.join("archive"), options)
            .await
            .unwrap();
        Self { store, archive }
    }

    async fn lease(&self) -> Lease {
        let later = NOW + std::time::Duration::from_secs(60);
        match self.store.lease(later, 1, LeaseFilter::All).await.unwrap() {
            Supply::Leases(mut leases) => leases.remove(0),
            other => panic!("{other:?}"),
        }
    }

    async fn archive(&self, lease: &Lease) -> Archived {
        let visit = Visit {
            url: lease.url().clone(),
            at: NOW,
            robots: Vec::new(),
            exchanges: Vec::new(),
            keeping: Keeping::NotArchived,
            subrequests: Vec::new(),
            dom: None,
            picture: None,
            payload: None,
            metadata: vec![("verdict", "failed".to_owned())],
            text: None,
        };
        self.archive.write(visit).await.unwrap()
    }

    async fn settle_one(&self) {
        let lease = self.lease().await;
        let Archived {
            archive_sequence,
            file,
            end,
            page_offset,
            ..
        } = self.archive(&lease).await;
        let mut visit = visit(&lease);
        visit.warc_file = Some(file.clone());
        visit.warc_offset = Some(page_offset);
        let settlement = Settlement::Done(FinishedVisit {
            archived: Some(ArchiveSpan {
                archive_sequence,
                file,
                end,
            }),
            ..FinishedVisit::new(visit)
        });
        self.store
            .settle(lease, settlement, NOW.into())
            .await
            .unwrap();
    }

    async fn save(&self) {
        let ArchiveEnd { file, end } = self.archive.sync().await.unwrap();
        let place = ArchivePlace { file, end };
        self.store.checkpoint(Some(place)).await.unwrap();
    }
}

fn visit(lease: &Lease) -> VisitRecord {
    VisitRecord::new(lease.discovered().clone(), Fate::Failed, NOW)
}

/// The archive was synced up to the end of a visit, the journal said so, and the process died
/// before that visit was settled. The next session began the archive anew, and its bytes up to that
/// place were taken for durable although they were not: after a power cut the crawl could not be
/// continued, or kept a page whose records were lost.
#[tokio::test]
async fn a_restarted_archive_does_not_count_as_durable() {
    for seed in 0..12 {
        let directory = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(directory.path(), seed));

        let first = Session::open(directory.path(), &disk).await;
        let url = PageUrl::parse("http://a.test/", &CanonicalForm::default()).unwrap();
        let seeds = vec![DiscoveredUrl::new(url, 0, None)];
        first.store.discover(seeds).await.unwrap();
        let _unsettled = first.archive(&first.lease().await).await;
        first.save().await;
        drop(first);

        let second = Session::open(directory.path(), &disk).await;
        second.settle_one().await;
        second.store.sync().await.unwrap();
        drop(second);
        disk.power_cut(seed).unwrap();
        disk.power_on();

        let third = Session::open(directory.path(), &disk).await;
        let settled = third.store.stats().totals.failed;
        let end = third.archive.sync().await.unwrap();
        let path = sinks::warc::locate(&directory.path().join("archive"), &end.file);
        let mut records = 0;
        sinks::warc::check_file(&path, &mut |_record| records += 1).unwrap();
        assert_eq!(
            records,
            1 + settled,
            "seed {seed}: a warcinfo record, and the settled visits"
        );
        assert_eq!(third.store.stats().queued, 1 - settled, "seed {seed}");
    }
}

/// Visits that the archive had lost were revoked, and the next session recorded the archive's
/// synced end before any visit was settled. The session after that took the end of a lost visit for
/// the end of the archive: it could not be continued.
#[tokio::test]
async fn the_end_of_an_archive_that_lost_visits_is_not_where_they_ended() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(directory.path(), 0));
    let files = || std::fs::read_dir(directory.path().join("archive")).unwrap();

    let first = Session::open(directory.path(), &disk).await;
    let finds = ["a", "b", "c"].map(|host| {
        DiscoveredUrl::new(
            PageUrl::parse(&format!("http://{host}.test/"), &CanonicalForm::default()).unwrap(),
            0,
            None,
        )
    });
    first.store.discover(finds.to_vec()).await.unwrap();
    first.settle_one().await;
    first.save().await;
    let kept = first.archive.sync().await.unwrap();
    first.settle_one().await;
    first.store.sync().await.unwrap();
    drop(first);
    let path = files().next().unwrap().unwrap().path();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(kept.end).unwrap();

    for _session in 0..3 {
        let next = Session::open(directory.path(), &disk).await;
        assert_eq!(next.store.stats().totals.failed, 1);
        assert_eq!(next.archive.sync().await.unwrap(), kept);
        let _unsettled = next.archive(&next.lease().await).await;
        next.save().await;
    }
}
