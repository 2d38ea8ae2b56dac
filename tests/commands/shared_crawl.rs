//! A crawl in a shared store: `import`, `nodes`, `verify --store`, and `--store` in place of DIR.
//!
//! The tests are ignored unless PostgreSQL is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;
use testkit::{Database, Postgres, Reply, Server, Site};

use crate::support::browser::Browser;
use crate::support::pages::{NONE, page, with_tail};
use crate::support::{CommandOutput, Crawl};

const HOSTS: [&str; 2] = ["one.test", "two.test"];

/// Two hosts with the same pages, which lead to each other: each has an article, one that is
/// nearly the same, pages of their own, a redirect and a page that is missing.
fn site() -> Site {
    Site::new(|request| {
        let of_host = if request.host == HOSTS[0] { 100 } else { 200 };
        match request.path() {
            "/" => page(
                of_host,
                &["/article", "/nearly", "/1", "/2", "/moved", "/missing"],
            ),
            "/article" => Reply::html(with_tail(0)),
            "/nearly" => Reply::html(with_tail(5)),
            "/1" => page(of_host + 1, NONE),
            "/2" => page(of_host + 2, &["/3", "/4", "/5"]),
            "/3" => page(of_host + 3, NONE),
            "/4" => page(of_host + 4, NONE),
            "/5" => page(of_host + 5, NONE),
            "/moved" => Reply::redirect(302, "/1"),
            _ => Reply::status(404),
        }
    })
}

/// A crawl of the two hosts that ended with pages left to visit.
fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(site());
    let seeds = HOSTS.map(|host| server.url(host, "/"));
    let crawl = Crawl::of(&server, &HOSTS).seeds(&seeds).with(&[
        "--concurrency",
        "1",
        "--tries",
        "1",
        "--max-pages",
        "12",
    ]);
    crawl.complete();
    (server, crawl)
}

/// A crawl, the URL of a store that has it, and its servers.
fn imported() -> (Server, &'static Postgres, Crawl, Database) {
    let postgres = Postgres::shared();
    let (server, crawl) = crawled();
    let store = postgres.create_database();
    let run = crawl.run_command(&["import", "crawl", "--store", &store]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors.ends_with("its archive stays in crawl/archive\n"),
        "{run:?}"
    );
    (server, postgres, crawl, store)
}

/// Runs a command on the directory and on the store. Returns both outputs.
fn both(crawl: &Crawl, store: &str, command: &str, more: &[&str]) -> [CommandOutput; 2] {
    let of_directory = crawl.run_command(&[&[command, "crawl"], more].concat());
    let of_store = crawl.run_command(&[&[command, "--store", store], more].concat());
    [of_directory, of_store]
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_commands_say_the_same_of_a_store_as_of_the_directory_that_was_imported() {
    let (server, _, crawl, store) = imported();
    let url = |path: &str| server.url(HOSTS[0], path);
    let (nearly, article, never) = (url("/nearly"), url("/article"), url("/never"));
    for (command, more) in [
        ("status", &["--format", "json"][..]),
        ("status", &["--hosts", "--format", "json"]),
        ("why", &[&nearly]),
        ("why", &[&never]),
        ("export", &[]),
        ("export", &["--format", "csv", "--sketches"]),
        ("export", &["--signatures"]),
        ("duplicates", &[]),
        ("duplicates", &["--clusters"]),
        ("similar", &[&article, "--resemblance", "0.1"]),
        ("patterns", &[]),
    ] {
        let [of_directory, of_store] = both(&crawl, &store, command, more);
        assert_eq!(of_store.code, Some(0), "{of_store:?}");
        assert_eq!(of_store.output, of_directory.output, "{command} {more:?}");
        assert!(
            !of_store.output.is_empty() || command == "patterns",
            "{of_store:?}"
        );
        assert_eq!(of_store.errors, "");
    }
    let [of_directory, of_store] = both(&crawl, &store, "report", &["--format", "json"]);
    let [of_directory, of_store] = [of_directory.json(), of_store.json()];
    assert_eq!(of_store["summary"], of_directory["summary"]);
    // The others are each node's own, or in a table of their own.
    let shared = |report: &Value| {
        let mut settings = report["settings"].as_array().unwrap().clone();
        settings.retain(|setting| setting["name"] != "concurrency" && setting["name"] != "url");
        settings
    };
    assert_eq!(shared(&of_store), shared(&of_directory));

    let run = crawl.run_command(&["report", "--store", &store]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = fs::read_to_string(crawl.directory().join("report.html")).unwrap();
    assert!(report.contains("one.test"));
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn what_needs_the_archive_or_changes_the_crawl_is_refused_with_one_line() {
    let (server, _, crawl, store) = imported();
    let nearly = server.url(HOSTS[0], "/nearly");
    for (arguments, words) in [
        (&["export", "--text"][..], "--text reads the archive"),
        (&["export", "--links"], "--links reads the archive"),
        (
            &["duplicates", "--diff", &nearly],
            "--diff reads the archive",
        ),
        (
            &["duplicates", "--distinct", &nearly],
            "--distinct changes the crawl",
        ),
        (
            &["patterns", "--reopen", "one.test/*"],
            "--reopen changes the crawl",
        ),
    ] {
        let run = crawl.run_command(&[arguments, &["--store", &store]].concat());
        run.assert_error(2, words);
    }
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_replica_of_a_store_is_removed_at_the_end_and_the_variable_names_a_store() {
    let (_server, _, crawl, store) = imported();
    fs::create_dir(crawl.directory().join("tmp")).unwrap();
    let script = format!("TMPDIR=$PWD/tmp CRAWLER_STORE='{store}' exec \"$0\" \"$@\"");
    let run = crawl.run_command_by("sh", &script, &["status"]);
    assert_eq!(run.json()["pages"], 12, "{run:?}");
    // A directory that is named counts more than the variable.
    let run = crawl.run_command_by("sh", &script, &["status", "nowhere"]);
    run.assert_error(2, "nowhere does not exist");
    let left = fs::read_dir(crawl.directory().join("tmp")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_store_is_shown_in_a_browser_which_accepts_no_actions() {
    let (_server, postgres, crawl, store) = imported();
    fs::create_dir(crawl.directory().join("tmp")).unwrap();
    let script = format!("TMPDIR=$PWD/tmp exec \"$0\" serve --store '{store}'");
    let visits = crawl.visits().len();
    let last = "number = (SELECT max(number) FROM journal WHERE kind = 1)";
    let hide = format!("CREATE TABLE hidden AS SELECT * FROM journal WHERE {last}");
    postgres.query(&store, &hide);
    postgres.query(&store, &format!("DELETE FROM journal WHERE {last}"));
    let mut serving = crawl.start_by(&["sh"], &script);
    let browser = Browser::at(&mut serving);
    let overview = browser.get("/").text();
    assert!(overview.contains("one.test"), "{overview}");
    let fates = format!("Verdicts of {} URLs", visits - 1);
    assert!(overview.contains(&fates), "{overview}");
    // A visit that a node adds is shown soon.
    postgres.query(
        &store,
        "INSERT INTO journal (bucket, term, kind, page, record) \
         SELECT bucket, term, kind, page, record FROM hidden",
    );
    browser.wait_for("/", &format!("Verdicts of {visits} URLs"));
    let controls = browser.get("/controls").text();
    assert!(
        controls.contains("the dashboard only reads it"),
        "{controls}"
    );
    serving.interrupt();
    let run = serving.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    let left = fs::read_dir(crawl.directory().join("tmp")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn an_imported_crawl_is_valid_and_damage_in_store_and_archive_is_found() {
    let (_server, postgres, crawl, store) = imported();
    let check = |arguments: &[&str]| {
        let arguments = [
            &["verify", "--format", "json", "--store", &store],
            arguments,
        ]
        .concat();
        let run = crawl.run_command(&arguments);
        (run.code, run.json())
    };
    let (code, report) = check(&[]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["pages"], 12);
    assert_eq!(report["terms"], 1);
    assert!(
        report["politeness"]["requests"].as_u64() >= Some(12),
        "{report}"
    );
    let (code, report) = check(&["crawl"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["node"], "import");
    assert!(report["archive_records"].as_u64() > Some(20), "{report}");

    // A visit that the store does not know, and one that the archive does not have.
    let number = postgres.query(&store, "SELECT max(number) FROM journal WHERE kind = 1");
    let lost = format!(
        "DELETE FROM journal WHERE kind = 1 AND number < {number} AND number = \
        (SELECT min(number) FROM journal WHERE kind = 1)"
    );
    postgres.query(&store, &lost);
    for arguments in [&[][..], &["crawl"]] {
        let (code, report) = check(arguments);
        assert_eq!(
            (code, &report["agrees"]),
            (Some(1), &Value::Bool(false)),
            "{report}"
        );
    }
    let run = crawl.run_command(&["verify", "crawl"]);
    assert_eq!(run.code, Some(0), "the directory is as it was: {run:?}");
    for file in fs::read_dir(crawl.out().join("archive")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let length = fs::metadata(&path).unwrap().len();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(length / 2).unwrap();
        }
    }
    let (code, report) = check(&["crawl"]);
    assert_eq!(code, Some(1), "{report}");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn visits_that_came_too_soon_by_the_settings_of_the_store_are_found() {
    let (_server, postgres, crawl, store) = imported();
    let slow = "UPDATE crawl SET settings = replace(settings, 'delay = \"0s\"', 'delay = \"20s\"')";
    postgres.query(&store, slow);
    let run = crawl.run_command(&["verify", "--format", "json", "--store", &store]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    assert!(
        report["politeness"]["too_soon"].as_u64() > Some(0),
        "{report}"
    );
    let first = report["findings"][0].as_str().unwrap();
    assert!(
        first.starts_with("politeness: ") && first.contains("instead of 20s"),
        "{first}"
    );
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_directory_of_a_node_is_checked_with_its_store_only() {
    let (_server, _, crawl, store) = imported();
    let mark = r#"{"node":"n1","crawl":1}"#;
    fs::write(crawl.out().join("state/shared-crawl"), mark).unwrap();
    let run = crawl.run_command(&["verify", "crawl"]);
    run.assert_error(2, "crawl is the directory of node n1 of a shared crawl");
    let run = crawl.run_command(&["verify", "crawl", "--store", &store]);
    run.assert_error(2, "crawl is not the directory of a node of this crawl");
    let run = crawl.run_command(&["import", "crawl", "--store", &store]);
    run.assert_error(2, "crawl is the directory of node n1");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_nodes_of_a_crawl_are_listed() {
    let (_server, _, crawl, store) = imported();
    let run = crawl.run_command(&["nodes", "--store", &store, "--format", "json"]);
    let node = run.json();
    assert_eq!(node["node"], "import");
    assert_eq!(node["state"], "left");
    assert_eq!((&node["term"], &node["buckets"]), (&1.into(), &0.into()));
    assert_eq!(node["pages"], 12);
    let run = crawl.run_command(&["nodes", "--store", &store, "--format", "table"]);
    assert!(run.output.starts_with("node    state   term"), "{run:?}");
    assert!(
        run.output.ends_with("4,096 buckets without an owner\n"),
        "{run:?}"
    );
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn an_import_is_made_once_and_into_an_empty_store_only() {
    let (_server, postgres, crawl, store) = imported();
    let run = crawl.run_command(&["import", "crawl", "--store", &store]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors.starts_with("the crawl was imported before"),
        "{run:?}"
    );
    let rows = postgres.query(&store, "SELECT count(*) FROM journal");
    let (_server, other) = crawled();
    let run = other.run_command(&["import", "crawl", "--store", &store]);
    run.assert_error(2, "already contains a crawl");
    assert_eq!(postgres.query(&store, "SELECT count(*) FROM journal"), rows);
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_crawl_that_cannot_be_shared_is_not_imported_and_leaves_the_store_empty() {
    let postgres = Postgres::shared();
    let store = postgres.create_database();
    for (options, words) in [
        (&["--group-by", "address"][..], "--group-by address"),
        (
            &["--features", "word:1+tf-idf"],
            "--weights tf-idf without --frequencies",
        ),
    ] {
        let server = Server::spawn_thread(site());
        let crawl = Crawl::of(&server, &HOSTS)
            .seeds(&[server.url(HOSTS[0], "/1")])
            .with(options);
        crawl.complete();
        let run = crawl.run_command(&["import", "crawl", "--store", &store]);
        run.assert_error(2, words);
    }
    let crawl = Crawl::bare();
    let run = crawl.run_command(&["status", "--store", &store]);
    run.assert_error(2, "does not contain a crawl");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_archives_of_a_shared_crawl_become_a_crawl_in_a_directory_again() {
    let (_server, _, crawl, _) = imported();
    let back = crawl.directory().join("back");
    fs::create_dir_all(back.join("archive")).unwrap();
    copy_archive(&crawl.out(), &back);
    fs::copy(crawl.out().join("crawler.toml"), back.join("crawler.toml")).unwrap();
    let run = crawl.run_command(&["rebuild", "back", "--from-archive"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let of = |directory: &str| -> Vec<String> {
        let visits = crawl.json_lines(&["export", directory]);
        let visits = visits.iter().filter(|visit| visit["warc_file"].is_string());
        visits
            .map(|visit| format!("{} {}", visit["url"], visit["verdict"]))
            .collect()
    };
    assert_eq!(of("back"), of("crawl"));
}

/// Copies the archive files of a crawl.
fn copy_archive(from: &Path, to: &Path) {
    for file in fs::read_dir(from.join("archive")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let name = path.file_name().unwrap();
            fs::copy(&path, to.join("archive").join(name)).unwrap();
        }
    }
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_wrong_store_is_refused_with_one_line_that_has_no_password() {
    let crawl = Crawl::bare();
    // The server runs as another user where tests run as root.
    fs::set_permissions(crawl.directory(), fs::Permissions::from_mode(0o755)).unwrap();
    let rules = crawl.write(
        "pg_hba.conf",
        "host all locked 127.0.0.1/32 scram-sha-256\n\
         host all all 127.0.0.1/32 trust\n\
         local all all trust\n",
    );
    let postgres = Postgres::start(&[&format!("hba_file={}", rules.display())]);
    let empty = postgres.create_database();
    let port = postgres.port();
    let secret = "pa55word";
    let newer = postgres.create_database();
    postgres.query(
        &newer,
        "CREATE TABLE _sqlx_migrations (version bigint, success boolean); \
         INSERT INTO _sqlx_migrations VALUES (999, true)",
    );
    postgres.query(&empty, "CREATE ROLE locked LOGIN PASSWORD 'other'");
    let stores = [
        (
            "mysql://user:pa55word@db.test/web".to_owned(),
            "is not the URL of a PostgreSQL",
        ),
        (
            "user:pa55word@db.test/web".to_owned(),
            "is not the URL of a PostgreSQL",
        ),
        (
            format!("postgres://postgres:{secret}@127.0.0.1:1/web"),
            "cannot open 127.0.0.1:1/web",
        ),
        (
            format!("postgres://postgres:{secret}@127.0.0.1:{port}/missing"),
            "cannot open",
        ),
        (
            format!("postgres://nobody:{secret}@127.0.0.1:{port}/postgres"),
            "rejected the user or the password",
        ),
        (
            format!("postgres://locked:{secret}@127.0.0.1:{port}/postgres"),
            "rejected the user or the password",
        ),
        (
            format!("postgres://postgres:{secret}@127.0.0.1:{port}/postgres?sslmode=require"),
            "no TLS with",
        ),
        (empty.to_string(), "does not contain a crawl"),
        (
            newer.to_string(),
            "was written by a later version of this program (migration 999)",
        ),
    ];
    for (store, words) in &stores {
        for command in ["status", "export", "verify", "nodes"] {
            let run = crawl.run_command(&[command, "--store", store]);
            run.assert_error(2, words);
            let shown = format!("{}{}", run.output, run.errors);
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn a_command_reads_one_crawl_a_directory_or_a_store() {
    let crawl = Crawl::bare();
    let store = "postgres://user@127.0.0.1:1/web";
    for command in [
        "status",
        "export",
        "duplicates",
        "patterns",
        "serve",
        "report",
    ] {
        let run = crawl.run_command(&[command, "crawl", "--store", store]);
        run.assert_error(2, "cannot be used with");
        let run = crawl.run_command(&[command]);
        run.assert_error(2, "no crawl given, and there is none in crawl");
    }
    for command in ["why", "similar"] {
        let url = "http://one.test/";
        let run = crawl.run_command(&[command, "crawl", url, "--store", store]);
        run.assert_error(2, "cannot be used with");
        let run = crawl.run_command(&[command, url]);
        run.assert_error(2, "no crawl given, and there is none in crawl");
        let run = crawl.run_command(&[command]);
        run.assert_error(2, "no URL");
    }
    crawl
        .run_command(&["nodes"])
        .assert_error(2, "no store given");
}
