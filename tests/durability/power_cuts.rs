//! Power cuts: unsynced bytes are lost, so the archive may be shorter than the journal says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{article, page};
use crate::support::request_quota::{HOST, PAGES, RequestQuota};

/// The effect of a power cut on the bytes of a file behind some place.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Cut,
    Zeros,
    Garbage,
}

fn lose(file: &Path, from: usize, loss: Loss) {
    let mut bytes = fs::read(file).unwrap();
    let from = from.min(bytes.len());
    match loss {
        Loss::Cut => bytes.truncate(from),
        Loss::Zeros => bytes[from..].fill(0),
        Loss::Garbage => bytes[from..].iter_mut().for_each(|byte| *byte ^= 0x55),
    }
    fs::write(file, bytes).unwrap();
}

fn all(server: &Server) -> BTreeSet<String> {
    (0..PAGES)
        .map(|page| server.url(HOST, &format!("/{page}")))
        .collect()
}

/// Kills a crawl before its first sync, and removes the last `twelfths` twelfths of its archive.
fn survives(loss: Loss, twelfths: usize, options: &[&str]) {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(options);
    let gate = quota.set(20);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    let files = crawl.archive_files();
    let length = |file: &Path| usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
    let whole: usize = files.iter().map(|file| length(file)).sum();
    let mut left = whole * (12 - twelfths) / 12;
    for file in files {
        let length = length(&file);
        if left < length {
            lose(&file, left, loss);
        }
        left = left.saturating_sub(length);
    }
    // Killed once more, before the revoked pages were visited again.
    let gate = quota.set(0);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    quota.set(usize::MAX);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["finished"], &summary["pages"], &summary["unique"]),
        (&"exhausted".into(), &PAGES.into(), &PAGES.into()),
        "{loss:?} {twelfths}"
    );
    crawl.has_exactly_once(&all(&server));
    assert_eq!(crawl.run_command(&["status", "crawl"]).json()["queued"], 0);
}

#[test]
fn pages_that_the_archive_lost_are_visited_again_and_archived_once() {
    for twelfths in [0, 1, 3, 7, 12] {
        for loss in [Loss::Cut, Loss::Zeros, Loss::Garbage] {
            survives(loss, twelfths, &[]);
        }
    }
}

#[test]
fn pages_that_an_archive_of_many_files_lost_are_visited_again_and_archived_once() {
    for twelfths in [1, 5, 12] {
        survives(Loss::Cut, twelfths, &["--warc-max-size", "4KiB"]);
        survives(Loss::Zeros, twelfths, &["--warc-max-size", "4KiB"]);
    }
}

#[test]
fn an_archive_file_whose_name_was_lost_is_begun_again() {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "4KiB"]);
    let gate = quota.set(20);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    fs::remove_file(crawl.archive_files().last().unwrap()).unwrap();
    quota.set(usize::MAX);
    assert_eq!(crawl.complete()["pages"], PAGES);
    crawl.has_exactly_once(&all(&server));
}

#[test]
fn a_lost_redirect_leads_to_its_page_again() {
    let server = Server::spawn_thread(Site::pages([
        ("/".to_owned(), page(1, &["/moved"])),
        ("/moved".to_owned(), Reply::redirect(301, "/here")),
        ("/here".to_owned(), Reply::html(article(2, &["/"]))),
    ]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    assert_eq!(crawl.complete()["pages"], 2);
    // As if the power had failed just before the last sync: the journal lacks its last records, the
    // archive its last page and what follows that sync: the note of the commit point, and the name
    // of a closed file.
    fs::remove_file(crawl.out().join("archive/commit-point")).unwrap();
    let journal = crawl.journal();
    let bytes = fs::read(&journal).unwrap();
    let closed = crawl.archive_files().remove(0);
    let archive = closed.with_extension("gz.open");
    fs::rename(closed, &archive).unwrap();
    let half = usize::try_from(fs::metadata(&archive).unwrap().len()).unwrap() * 2 / 3;
    fs::write(&journal, without_last_words(&bytes)).unwrap();
    fs::remove_dir_all(crawl.out().join("state/sled")).unwrap();
    lose(&archive, half, Loss::Cut);
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(crawl.verdicts()[&server.url(HOST, "/moved")], "unique");
    crawl.is_sound();
}

/// A journal without its last two records: that the archive is on the disk, and that the session
/// ended. The marks that say how much of it is durable go with them: they have the highest bit of
/// their length set.
fn without_last_words(bytes: &[u8]) -> &[u8] {
    const HEADER: usize = 36;
    const FRAME_HEAD: usize = 12;
    const MARK: u32 = 1 << 31;
    let (mut at, mut records) = (HEADER, Vec::new());
    while let Some(head) = bytes.get(at..at + 4) {
        let length = u32::from_le_bytes(head.try_into().unwrap());
        if length < MARK {
            records.push(at);
        }
        at += FRAME_HEAD + usize::try_from(length & !MARK).unwrap();
    }
    &bytes[..records[records.len() - 2]]
}

#[test]
fn a_crawl_whose_durable_archive_is_damaged_does_not_continue() {
    let (quota, server) = RequestQuota::server();
    quota.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    assert_eq!(
        crawl.run_with(&["--max-pages", "20"]).summary()["pages"],
        20
    );
    let file = crawl.archive_files().remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let asked = server.log().len();
    let run = crawl.run();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(
        run.errors.contains("crawler verify crawl") && run.errors.contains("crawler rebuild crawl"),
        "{run:?}"
    );
    assert_eq!(server.log().len(), asked);
    fs::write(&file, whole).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "1000"]).summary()["pages"],
        PAGES
    );
    crawl.has_exactly_once(&all(&server));
}
