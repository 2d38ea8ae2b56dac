//! `verify`: it finds every damage, and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::SystemDisk;
use journal::{History, Journal, Record, SEGMENT_BYTES};
use testkit::{Gate, Reply, Server, Site};

use crate::support::damage::boundaries;
use crate::support::damage::copy;
use crate::support::pages::{number_of, tree};
use crate::support::request_quota::{HOST, PAGES, RequestQuota};
use crate::support::{Crawl, KEY};

/// Returns every file below a directory, with its content and its time of modification.
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

fn killed(requests: usize) -> (RequestQuota, Server, Crawl) {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let gate = quota.set(requests);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    quota.set(usize::MAX);
    (quota, server, crawl)
}

#[test]
fn verify_writes_nothing_in_any_state_of_a_crawl() {
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
fn verify_names_the_process_of_a_running_crawl_and_readers_work_meanwhile() {
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
        let run = crawl.run_command(command);
        run.assert_error(2, &process);
        assert!(
            run.errors.contains("since 20") && run.errors.contains("kill -INT"),
            "{run:?}"
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
        assert_eq!(crawl.run_command(command).code, Some(0), "{command:?}");
    }
    gate.open();
    assert_eq!(running.end().code, Some(0));
    crawl.is_sound();
}

#[test]
fn an_unsettled_visit_of_a_killed_crawl_is_reported_and_is_no_fault() {
    // The kill may come between a visit and its settlement. Without the last settlement, the lease
    // of such a visit is missing too, which is a fault: a busy machine met that once.
    let (_ration, _server, crawl) = loop {
        let killed = killed(20);
        let before = killed.2.run_command(&["verify", "crawl"]).json();
        if before["unsettled_visits"] == 0 {
            break killed;
        }
    };
    forget_settlements(&crawl, 1);
    let report = crawl.run_command(&["verify", "crawl"]).json();
    assert_eq!(report["agrees"], true, "{report}");
    assert_eq!(report["unsettled_visits"], 1, "{report}");
    let reported = crawl
        .run_command(&["verify", "crawl", "--format", "table"])
        .output;
    assert!(
        reported.contains("cut off when it is continued"),
        "{reported}"
    );
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors.contains("are set aside") && run.errors.contains(".cut-1"),
        "{run:?}"
    );
    crawl.is_sound();
}

/// Visits behind the last settled one were counted as no fault, so a journal that had lost its end
/// agreed with its archive.
#[test]
fn visits_behind_the_end_of_the_journal_are_a_fault_if_they_were_settled() {
    let (_ration, _server, crawl) = killed(20);
    let file = crawl.archive_files().remove(0);
    let mut bytes = fs::read(&file).unwrap();
    let twice = bytes.clone();
    bytes.extend(&twice);
    fs::write(&file, bytes).unwrap();
    let run = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    assert!(
        report["unsettled_bytes"].as_u64().unwrap() >= twice.len() as u64,
        "{report}"
    );
    let reported = report["findings"][0].as_str().unwrap();
    assert!(
        reported.contains("beyond the end of the journal"),
        "{report}"
    );
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
fn pages_lost_in_a_power_cut_are_a_fault_until_they_are_visited_again() {
    let (_ration, _server, crawl) = killed(20);
    let file = crawl.archive_files().remove(0);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let run = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    assert!(report["lost_visits"].as_u64().unwrap() > 0, "{report}");
    let reported = report["findings"][0].as_str().unwrap();
    assert!(
        reported.contains("repeated when the crawl is continued"),
        "{report}"
    );
    crawl.complete();
    let report = crawl.run_command(&["verify", "crawl"]).json();
    assert_eq!(
        (&report["agrees"], &report["pages"]),
        (&true.into(), &PAGES.into())
    );
    assert!(report["revoked"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn an_archive_file_without_a_visit_between_others_is_a_fault() {
    let (quota, server) = RequestQuota::server();
    quota.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "4KiB"]);
    crawl.complete();
    let files = crawl.archive_files();
    let (first, second) = (&files[0], &files[1]);
    // The visits of the second file are gone, and those of the first file are there twice.
    fs::copy(first, second).unwrap();
    let report = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    let name = second.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        report.json()["findings"][0]
            .as_str()
            .unwrap()
            .contains(&name)
    );
    // A foreign file, under a number that the archive does not have.
    let (quota, server) = RequestQuota::server();
    quota.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let file = crawl.archive_files().remove(0);
    let stray = file.with_file_name("crawl-20200101000000-00000.warc.gz");
    fs::copy(&file, &stray).unwrap();
    let report = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    assert!(report.output.contains("belongs to no visit"), "{report:?}");
}

#[test]
fn verify_reports_the_politeness_of_a_crawl_with_its_measure() {
    let server = Server::spawn_thread(Site::new(|request| tree(number_of(&request.target), 5)));
    let crawl = Crawl::polite(&server, &[HOST], "20ms").seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let report = crawl.run_command(&["verify", "crawl"]).json();
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
fn the_verdicts_are_the_same_with_any_signature_index_and_tables() {
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
        // A crawl may continue with others.
        let run = crawl.run_with(&[
            "--max-pages",
            "100000",
            "--signature-index",
            "disk",
            "--tables",
            "16",
        ]);
        assert_eq!(run.code, Some(0), "{run:?}");
        crawl.is_sound();
        let port = server.port().to_string();
        let found = crawl.verdicts().into_iter();
        let found: BTreeMap<String, String> = found
            .map(|(url, verdict)| (url.replace(&port, ""), verdict))
            // The order of the months decides where the pattern of the endless calendar is closed.
            .filter(|(url, _verdict)| !url.contains("/calendar?"))
            .collect();
        verdicts.push(found);
    }
    for other in &verdicts[1..] {
        assert_eq!(*other, verdicts[0]);
    }
    let crawl = Crawl::bare();
    let run = crawl.run_command(&["http://a.test/", "--tables", "5"]);
    run.assert_error(2, "--tables 5 is not valid");
    assert!(run.errors.contains("auto, 4, 10, 16, 20"), "{run:?}");
}

/// A finished crawl in files of a few pages, with the state of half of it; its server is stopped.
fn with_an_older_state(kill: bool) -> (Crawl, BTreeMap<String, String>) {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-max-size", "8KiB", "--tries=1"]);
    quota.set(usize::MAX);
    crawl.run_with(&["--max-pages", "20"]);
    let (state, older) = (crawl.out().join("state"), crawl.directory().join("older"));
    copy(&state, &older);
    if kill {
        let gate = quota.set(30);
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
/// deleted the files that it did not know (8.4 MB became 3.5 MB), and 1,524 pages were lost because
/// their server had stopped.
#[test]
fn an_older_state_is_refused_and_can_be_rebuilt_from_the_archive() {
    for (kill, rebuild) in [
        (
            false,
            &["rebuild", "crawl", "--from-archive", "--hash-key", KEY][..],
        ),
        (false, &["rebuild", "crawl"]),
        // Visits that were not durable at the kill could have been lost in a power cut: they are
        // set aside, not refused.
        (
            true,
            &["rebuild", "crawl", "--from-archive", "--hash-key", KEY],
        ),
    ] {
        let (crawl, verdicts) = with_an_older_state(kill);
        let archive = snapshot(&crawl.out().join("archive"));
        let verified = crawl.run_command(&["verify", "crawl"]);
        assert_eq!(verified.code, Some(1), "{verified:?}");
        if !kill {
            assert!(
                verified.output.contains("beyond the end of the journal"),
                "{verified:?}"
            );
        }
        for _ in 0..if kill { 0 } else { 2 } {
            let run = crawl.run();
            assert_eq!(run.code, Some(1), "{run:?}");
            assert!(
                run.errors.contains("the journal ends before the archive")
                    && run.errors.contains("crawler rebuild crawl --from-archive"),
                "{run:?}"
            );
            assert!(
                archive == snapshot(&crawl.out().join("archive")),
                "the files are unchanged"
            );
        }
        let run = crawl.run_command(rebuild);
        assert_eq!(run.code, Some(0), "{run:?}");
        let mut rebuilt = crawl.verdicts();
        if kill {
            // A page may be archived before the kill and settled after it: the rebuild finds it.
            rebuilt.retain(|url, _| verdicts.contains_key(url));
        }
        assert_eq!(rebuilt, verdicts, "{rebuild:?}");
        crawl.is_sound();
        let run = crawl.run_with(&["--max-time=200ms"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let mut after = crawl.verdicts();
        after.retain(|url, _| verdicts.contains_key(url));
        assert_eq!(after, verdicts);
    }
}

/// A flipped bit in the unsynced part was taken for a torn write, and the whole records behind it
/// were dropped silently.
#[test]
fn the_cut_end_of_a_journal_is_kept_and_reported() {
    let (_ration, _server, crawl) = killed(20);
    let journal = crawl.journal();
    let mut bytes = fs::read(&journal).unwrap();
    let place = bytes.len() * 3 / 4;
    bytes[place] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let verified = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified.output.contains("begin with a torn record"),
        "{verified:?}"
    );
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let name = format!("{}.cut-1", journal.file_name().unwrap().to_string_lossy());
    assert!(run.errors.contains(&name), "{run:?}");
    let piece = fs::read(journal.with_file_name(name)).unwrap();
    assert!(
        bytes.ends_with(&piece) && piece.len() > bytes.len() - place,
        "{}",
        piece.len()
    );
    crawl.is_sound();
}

/// The note of the commit point is no part of the crawl: without it `verify` finds less damage.
#[test]
fn a_damaged_note_of_the_commit_point_is_reported_and_replaced() {
    let (_ration, _server, crawl) = killed(20);
    crawl.complete();
    let note = crawl.out().join("archive/commit-point");
    fs::write(&note, "crawler-commit-point 1\n").unwrap();
    let verified = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(
        verified
            .output
            .contains("archive/commit-point has changed since it was written"),
        "{verified:?}"
    );
    crawl.complete();
    crawl.is_sound();
    fs::remove_file(&note).unwrap();
    crawl.is_sound();
}

/// Writes the journal of a crawl again without the last link of its first visit.
fn forget_a_link(crawl: &Crawl) -> String {
    let state = crawl.out().join("state");
    let records: Vec<Record> = History::open(&state).unwrap().map(Result::unwrap).collect();
    let key = History::open(&state).unwrap().key().unwrap();
    for part in ["journal", "sled"] {
        fs::remove_dir_all(state.join(part)).unwrap();
    }
    let directory = state.join("journal");
    fs::create_dir(&directory).unwrap();
    let journal = Journal::open(Arc::new(SystemDisk), &directory, key, SEGMENT_BYTES).unwrap();
    let mut forgotten = None;
    for mut record in records {
        if let Record::Settled(settled) = &mut record
            && forgotten.is_none()
        {
            forgotten = settled.visit.finds.pop();
        }
        journal.append(&record).unwrap();
    }
    forgotten.unwrap().url.to_string()
}

/// A page that a redirect had claimed was lost for good, and `verify` agreed: it compared the
/// journal with the archive, and neither had the page.
#[test]
fn a_link_that_the_journal_lost_is_a_fault() {
    let site = Site::new(|request| tree(number_of(&request.target), 7));
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.run_with(&["--max-pages", "1"]);
    crawl.is_sound();
    let lost = forget_a_link(&crawl);
    let report = crawl.run_command(&["verify", "crawl"]).json();
    let page = server.url(HOST, "/0");
    let expected =
        format!("{page} links to {lost}, which is in scope but was neither queued nor visited");
    // The journal is shorter than the archive has noted, too.
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|one| *one == expected), "{report}");
}

/// Rules leave out links without a record of each.
#[test]
fn links_that_a_rule_leaves_out_are_no_fault() {
    let page = |name: &str, links: &str| {
        Reply::html(format!(
            "<title>The {name} page</title><p>{}</p>{links}",
            format!("The text of the {name} page says enough to be judged as a page. ").repeat(9)
        ))
    };
    let site = Site::new(move |request| match request.path() {
        "/0" => page(
            "first",
            r#"<a href="/1">1</a> <a href="/no" rel="nofollow">2</a> <a href="http://o.test/">3</a>
            <a href="/skip/me">4</a> <a href="/a/b/a/b/a/b/a/b/a/b">5</a> <img src="/p.png">"#,
        ),
        "/1" => page(
            "second",
            r#"<meta name="robots" content="nofollow"><a href="/not">6</a>"#,
        ),
        _ => Reply::status(404),
    });
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.run_with(&["--exclude", "/skip/"]);
    let report = crawl.run_command(&["verify", "crawl"]).json();
    assert_eq!(report["agrees"], true, "{report}");
    assert!(report["links_checked"].as_u64().unwrap() >= 6, "{report}");
}
