//! `verify` finds what is wrong, and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use store::embedded::History;
use store::embedded::record::Record;
use testkit::{Gate, Server, Site};

use crate::support::damage::boundaries;
use crate::support::damage::copy;
use crate::support::pages::{number_of, tree};
use crate::support::ration::{HOST, PAGES, Ration};
use crate::support::{Crawl, KEY};

/// Every file below a directory, with its content and the moment at which it was written last.
fn snapshot(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(snapshot(&path));
        } else {
            let written = fs::metadata(&path).unwrap().modified().unwrap();
            found.insert(path.clone(), (fs::read(&path).unwrap(), written));
        }
    }
    found
}

fn killed(requests: usize) -> (Ration, Server, Crawl) {
    let (ration, server) = Ration::server();
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let gate = ration.set(requests);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    ration.set(usize::MAX);
    (ration, server, crawl)
}

#[test]
fn verify_writes_nothing_whatever_state_the_crawl_is_in() {
    let (_ration, _server, crawl) = killed(20);
    let before = snapshot(&crawl.out());
    crawl.is_sound();
    assert!(before == snapshot(&crawl.out()), "after a kill");

    fs::remove_dir_all(crawl.out().join("state/sled")).unwrap();
    let before = snapshot(&crawl.out());
    crawl.is_sound();
    assert!(before == snapshot(&crawl.out()), "without tables");

    crawl.complete();
    let before = snapshot(&crawl.out());
    crawl.is_sound();
    assert!(before == snapshot(&crawl.out()), "after the end");
}

#[test]
fn a_crawl_that_runs_is_told_by_whom_and_others_look_at_it_meanwhile() {
    let gate = Gate::new();
    let at = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let number = number_of(&request.target);
        let reply = tree(number, 5);
        if number == 2 { reply.hold(&at) } else { reply }
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let process = format!("process {}", running.id());
    for command in [&["verify", "crawl"][..], &["rebuild", "crawl"]] {
        let ran = crawl.tell(command);
        ran.complained(2, &process);
        assert!(
            ran.errors.contains("since 20") && ran.errors.contains("kill -INT"),
            "{ran:?}"
        );
    }
    let second = crawl.run();
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.errors.contains(&process), "{second:?}");
    let url = server.url(HOST, "/0");
    for command in [
        &["status", "crawl"][..],
        &["export", "crawl"],
        &["why", "crawl", &url],
        &["duplicates", "crawl"],
    ] {
        assert_eq!(crawl.tell(command).code, Some(0), "{command:?}");
    }
    gate.open();
    assert_eq!(running.end().code, Some(0));
    crawl.is_sound();
}

#[test]
fn a_visit_that_was_under_way_when_the_crawl_was_killed_is_told_and_is_no_fault() {
    let (_ration, _server, crawl) = killed(20);
    // The kill itself may have come between a visit and its settlement; one more is made so.
    let before = crawl.tell(&["verify", "crawl"]).json();
    forget_settlements(&crawl, 1);
    let report = crawl.tell(&["verify", "crawl"]).json();
    assert_eq!(report["agrees"], true, "{report}");
    let one_more = before["unsettled_visits"].as_u64().unwrap() + 1;
    assert_eq!(report["unsettled_visits"], one_more, "{report}");
    let told = crawl.tell(&["verify", "crawl", "--format", "table"]).output;
    assert!(told.contains("cut off when it goes on"), "{told}");
    let ran = crawl.run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.errors.contains("are set aside") && ran.errors.contains(".cut-1"),
        "{ran:?}"
    );
    crawl.is_sound();
}

/// Visits behind the last settled one were counted and were no fault: a journal that had lost its
/// end agreed with its archive.
#[test]
fn visits_behind_the_journal_s_end_that_were_not_under_way_are_a_fault() {
    let (_ration, _server, crawl) = killed(20);
    let file = crawl.archive_files().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let twice = bytes.clone();
    bytes.extend(&twice);
    fs::write(&file, bytes).unwrap();
    let ran = crawl.tell(&["verify", "crawl"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.json();
    assert!(
        report["unsettled_bytes"].as_u64().unwrap() >= twice.len() as u64,
        "{report}"
    );
    let told = report["complaints"][0].as_str().unwrap();
    assert!(told.contains("behind the journal's end"), "{report}");
    crawl.complete();
    crawl.is_sound();
}

/// Cuts the journal before the last `count` settlements.
pub(crate) fn forget_settlements(crawl: &Crawl, count: usize) {
    let journal = crawl.journal();
    let settled = || {
        let records = History::open(&crawl.out().join("state")).unwrap();
        let settled = records.filter(|record| matches!(record, Ok(Record::Settled(_))));
        settled.count()
    };
    let (bytes, before) = (fs::read(&journal).unwrap(), settled());
    for boundary in boundaries(&bytes).into_iter().rev() {
        fs::write(&journal, &bytes[..boundary]).unwrap();
        if settled() == before - count {
            return;
        }
    }
    panic!("there are {before} settlements");
}

#[test]
fn what_a_power_cut_took_is_a_fault_until_it_is_visited_again() {
    let (_ration, _server, crawl) = killed(20);
    let file = crawl.archive_files().remove(0);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let ran = crawl.tell(&["verify", "crawl"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.json();
    assert!(report["lost_visits"].as_u64().unwrap() > 0, "{report}");
    let told = report["complaints"][0].as_str().unwrap();
    assert!(
        told.contains("made again when the crawl goes on"),
        "{report}"
    );
    crawl.complete();
    let report = crawl.tell(&["verify", "crawl"]).json();
    assert_eq!(
        (&report["agrees"], &report["pages"]),
        (&true.into(), &PAGES.into())
    );
    assert!(report["revoked"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn a_file_between_the_others_that_no_visit_is_in_is_a_fault() {
    let (ration, server) = Ration::server();
    ration.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "4KiB"]);
    crawl.complete();
    let files = crawl.archive_files();
    let (first, second) = (&files[0], &files[1]);
    // The second file's visits are gone, and the first one's are there twice.
    fs::copy(first, second).unwrap();
    let report = crawl.tell(&["verify", "crawl"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    let name = second.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        report.json()["complaints"][0]
            .as_str()
            .unwrap()
            .contains(&name)
    );
    // A file of somebody else's, at a place where the archive has none.
    let (ration, server) = Ration::server();
    ration.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let file = crawl.archive_files().remove(0);
    let stray = file.with_file_name("crawl-20200101000000-00000.warc.gz");
    fs::copy(&file, &stray).unwrap();
    let report = crawl.tell(&["verify", "crawl"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    assert!(report.output.contains("belongs to no visit"), "{report:?}");
}

#[test]
fn the_politeness_of_a_crawl_is_told_with_what_it_was_measured_by() {
    let server = Server::spawn_thread(Site::new(|request| tree(number_of(&request.target), 5)));
    let crawl = Crawl::polite(&server, &[HOST], "20ms").seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let report = crawl.tell(&["verify", "crawl"]).json();
    let politeness = &report["politeness"];
    assert_eq!(
        (
            &politeness["requests"],
            &politeness["hosts"],
            &politeness["compared"],
            &politeness["too_soon"]
        ),
        (&5.into(), &1.into(), &4.into(), &0.into()),
        "{report}"
    );
}

#[test]
fn the_verdicts_are_the_same_without_a_mirror_and_with_other_tables() {
    let toy = testkit::ToyWeb::new();
    let mut verdicts = Vec::new();
    for options in [
        &[][..],
        &["--signature-index", "disk"],
        &["--signature-index", "disk", "--tables", "10"],
        &["--tables", "20"],
    ] {
        let server = Server::spawn_thread(toy.site());
        let hosts = toy.hosts();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let crawl = Crawl::of(&server, &hosts).seeds(&toy.seeds(server.port()));
        crawl.run_with(&[&["--max-pages", "30"], options].concat());
        crawl.is_sound();
        // A crawl may go on with others.
        let ran = crawl.run_with(&[
            "--max-pages",
            "100000",
            "--signature-index",
            "disk",
            "--tables",
            "16",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        crawl.is_sound();
        let port = server.port().to_string();
        let found = crawl.verdicts().into_iter();
        let found: BTreeMap<String, String> = found
            .map(|(url, verdict)| (url.replace(&port, ""), verdict))
            // Where the pattern of a calendar without end closes, the order decides in which its
            // months come.
            .filter(|(url, _verdict)| !url.contains("/calendar?"))
            .collect();
        verdicts.push(found);
    }
    for other in &verdicts[1..] {
        assert_eq!(*other, verdicts[0]);
    }
    let crawl = Crawl::bare();
    let ran = crawl.tell(&["http://a.test/", "--tables", "5"]);
    ran.complained(2, "--tables 5 is impossible");
    assert!(ran.errors.contains("auto, 4, 10, 16, 20"), "{ran:?}");
}

/// A crawl that is finished, in files of a few pages, with the state that it had half way; its
/// server is away.
fn with_an_older_state(kill: bool) -> (Crawl, BTreeMap<String, String>) {
    let (ration, server) = Ration::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "8KiB", "--tries=1"]);
    ration.set(usize::MAX);
    crawl.run_with(&["--max-pages", "20"]);
    let (state, older) = (crawl.out().join("state"), crawl.directory().join("older"));
    copy(&state, &older);
    if kill {
        let gate = ration.set(30);
        let running = crawl.start_with(&["--max-pages", "1000"]);
        gate.arrivals_blocking(1);
        running.kill();
    } else {
        crawl.run_with(&["--max-pages", "1000"]);
    }
    let verdicts = crawl.verdicts();
    fs::remove_dir_all(&state).unwrap();
    copy(&older, &state);
    (crawl, verdicts)
}

/// An older `state/` beside a finished archive: `verify` said that they agreed, the next run
/// deleted the files that it did not know (8.4 MB became 3.5 MB), and 1,524 pages were gone whose
/// server was away.
#[test]
fn an_older_state_is_told_and_refused_and_made_again_from_the_archive() {
    for (kill, rebuild) in [
        (
            false,
            &["rebuild", "crawl", "--from-archive", "--hash-key", KEY][..],
        ),
        (false, &["rebuild", "crawl"]),
        // What was not durable yet when it was killed may be gone by a power cut: that is set
        // aside, and not refused.
        (
            true,
            &["rebuild", "crawl", "--from-archive", "--hash-key", KEY],
        ),
    ] {
        let (crawl, verdicts) = with_an_older_state(kill);
        let archive = snapshot(&crawl.out().join("archive"));
        let verified = crawl.tell(&["verify", "crawl"]);
        assert_eq!(verified.code, Some(1), "{verified:?}");
        if !kill {
            assert!(
                verified
                    .output
                    .contains("the journal ends before the archive"),
                "{verified:?}"
            );
        }
        for _ in 0..if kill { 0 } else { 2 } {
            let ran = crawl.run();
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(
                ran.errors.contains("the journal ends before the archive")
                    && ran.errors.contains("crawler rebuild crawl --from-archive"),
                "{ran:?}"
            );
            assert!(
                archive == snapshot(&crawl.out().join("archive")),
                "nothing was changed"
            );
        }
        let ran = crawl.tell(rebuild);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(crawl.verdicts(), verdicts, "{rebuild:?}");
        crawl.is_sound();
        let ran = crawl.run_with(&["--max-time=200ms"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let mut after = crawl.verdicts();
        after.retain(|url, _| verdicts.contains_key(url));
        assert_eq!(after, verdicts);
    }
}

/// A bit that turned in what was not synced yet was taken for a torn write, and the whole records
/// behind it were dropped without a word.
#[test]
fn what_is_cut_off_the_journal_is_kept_and_told() {
    let (_ration, _server, crawl) = killed(20);
    let journal = crawl.journal();
    let mut bytes = fs::read(&journal).unwrap();
    let place = bytes.len() * 3 / 4;
    bytes[place] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let verified = crawl.tell(&["verify", "crawl"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified.output.contains("begin with a torn record"),
        "{verified:?}"
    );
    let ran = crawl.run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let name = format!("{}.cut-1", journal.file_name().unwrap().to_string_lossy());
    assert!(ran.errors.contains(&name), "{ran:?}");
    let piece = fs::read(journal.with_file_name(name)).unwrap();
    assert!(
        bytes.ends_with(&piece) && piece.len() > bytes.len() - place,
        "{}",
        piece.len()
    );
    crawl.is_sound();
}

/// The note of the settled end is no part of the crawl: without it `verify` finds less damage.
#[test]
fn a_note_of_the_settled_end_that_is_damaged_is_told_and_written_anew() {
    let (_ration, _server, crawl) = killed(20);
    crawl.complete();
    let note = crawl.out().join("archive/settled");
    fs::write(&note, "crawler-settled 1\n").unwrap();
    let verified = crawl.tell(&["verify", "crawl"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified
            .output
            .contains("archive/settled is not what was written"),
        "{verified:?}"
    );
    crawl.complete();
    crawl.is_sound();
    fs::remove_file(&note).unwrap();
    crawl.is_sound();
}
