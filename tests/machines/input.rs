//! Nodes that are started wrongly.

use testkit::{Gate, Postgres, Site};

use crate::support::shared_crawl::{SharedCrawl, Web, assert_exhausted};

const WEB: Web = Web { hosts: 3, pages: 3 };

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_node_that_does_not_fit_its_crawl_is_refused_and_what_does_not_fit_is_named() {
    let postgres = Postgres::shared();
    let gate = Gate::new();
    let held = gate.clone();
    let site = Site::new(move |request| WEB.reply(request).hold(&held));
    let shared = SharedCrawl::of_site(postgres, WEB, site);
    let node = shared.start("n1");
    shared.wait_for("n1", "live");
    let run = |more: &[&str]| {
        let mut arguments = vec!["node", "--store", &shared.store];
        arguments.extend(more);
        shared.crawl.run_command(&arguments)
    };
    for (more, words) in [
        (&["--out", "n2"][..], "the node needs a name"),
        (&["--name", "n/2"], "\"n/2\" is not a valid node name"),
        (&["--name", ""], "\"\" is not a valid node name"),
        (
            &["--name", "n2", "--out", "n2", "--delay", "9s"],
            "--delay is \"9s\", but \"150ms\" in the crawl",
        ),
        (
            &["--name", "n2", "--out", "n2", "--max-depth", "3"],
            "--max-depth is 3, but unset in the crawl",
        ),
        (
            &["--name", "n2", "--out", "n2", "--term", "5s"],
            "--term is 5s, but 2s in the crawl",
        ),
        (
            &["--name", "n2", "--out", "n2", "--term", "5ms"],
            "--term must be between 1s and 1h, got 5ms",
        ),
        (
            &["--name", "n2", "--out", "n1"],
            "n1 is the directory of node n1, not of node n2",
        ),
    ] {
        run(more).assert_error(2, words);
    }
    let twice = run(&["--name", "n1", "--out", "n2"]);
    assert_eq!(twice.code, Some(2), "{twice:?}");
    let words = "error: a node named n1 is already running\n  help: give each node its own name";
    assert!(twice.errors.contains(words), "{twice:?}");
    gate.open();
    assert_exhausted(&node.end());
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_first_node_begins_no_crawl_that_nodes_cannot_share_or_that_has_no_seed() {
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB);
    let earlier = shared.crawl.directory().join("earlier");
    let seed = shared.server.url(&Web::host(0), "/0");
    let run = shared.crawl.run_command(&[
        "--out",
        "earlier",
        "--max-pages",
        "1",
        "--allow-private",
        "--resolve",
        &shared.server.resolve(&Web::host(0)),
        &seed,
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let earlier = earlier.to_str().unwrap();
    for (more, words) in [
        (&["--group-by", "address", &seed][..], "--group-by address"),
        (
            &["--features", "word:1+tf-idf", &seed],
            "--weights tf-idf without --frequencies",
        ),
        (&["--since", earlier, &seed], "--since"),
        (&["--check-links", &seed], "--check-links"),
        (
            &["--topic", "tides", &seed],
            "a shared crawl does not support a topic",
        ),
        (
            &["--topic-of-seeds", &seed],
            "a shared crawl does not support a topic",
        ),
        (&[], "no seeds"),
        (&["nonsense"], "\"nonsense\" is neither a command nor a URL"),
        (
            &["--out", earlier, &seed],
            "contains a crawl that is not shared",
        ),
    ] {
        let mut arguments = vec!["node", "--store", &shared.store, "--name", "n1"];
        arguments.extend(more);
        shared.crawl.run_command(&arguments).assert_error(2, words);
        let begun = postgres.query(&shared.store, "SELECT count(*) FROM term");
        assert_eq!(begun, "0", "{words}");
    }
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_directory_of_a_node_serves_no_other_crawl() {
    // Its archive would be cut where the settled visits of the other crawl end.
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB);
    assert_exhausted(&shared.start("n1").end());
    let other = postgres.create_database();
    let run = shared.crawl.run_command(&shared.arguments("n1", &other));
    run.assert_error(2, "n1 is the directory of node n1 of another crawl");
    let run = shared.crawl.run_command(&["--out", "n1"]);
    run.assert_error(2, "n1 is the directory of node n1 of a shared crawl");
    let run = shared.crawl.run_command(&["status", "n1"]);
    run.assert_error(2, "n1 is the directory of node n1 of a shared crawl");
    std::fs::remove_dir_all(shared.directory("n1").join("state")).unwrap();
    let run = shared
        .crawl
        .run_command(&shared.arguments("n1", &shared.store));
    run.assert_error(2, "n1/archive contains an archive of another node or crawl");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_database_that_cannot_have_the_crawl_is_refused_and_the_remedy_is_named() {
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB);
    let database = |prepare: &str| {
        let store = postgres.create_database();
        let name = store.rsplit('/').next().unwrap();
        postgres.query(&store, &prepare.replace("DATABASE_NAME", name));
        store
    };
    // With the tables of a crawl that has not begun.
    let made = || {
        let store = postgres.create_database();
        let mut arguments = shared.arguments("n1", &store);
        arguments.extend(["--group-by", "address"].map(str::to_owned));
        shared.crawl.run_command(&arguments).assert_error(2, "");
        store
    };
    let read_only = "ALTER DATABASE DATABASE_NAME SET default_transaction_read_only = on";
    let half_applied = made();
    let unfinished = "UPDATE _sqlx_migrations SET success = false";
    postgres.query(&half_applied, unfinished);
    let later = made();
    let migration = "INSERT INTO _sqlx_migrations SELECT 999, 'later', now(), true, '', 0";
    postgres.query(&later, migration);
    for (store, words, remedy) in [
        (
            database(read_only),
            "is read-only",
            "a user with write access",
        ),
        (
            database("CREATE TABLE term (word text)"),
            "were not made by this program",
            "a separate database for this crawl",
        ),
        (
            half_applied,
            "were not made by this program",
            "partially applied",
        ),
        (
            later,
            "was written by a later version",
            "the version of crawler",
        ),
    ] {
        let run = shared.crawl.run_command(&shared.arguments("n1", &store));
        run.assert_error(2, words);
        assert!(run.errors.contains(remedy), "{run:?}");
    }
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_row_that_cannot_be_read_stops_a_node_with_code_1() {
    // The node began new terms for ever, each of which met the row again.
    let postgres = Postgres::shared();
    let gate = Gate::new();
    let held = gate.clone();
    let site = Site::new(move |request| WEB.reply(request).hold(&held));
    let shared = SharedCrawl::of_site(postgres, WEB, site);
    let node = shared.start("n1");
    shared.wait_for("n1", "live");
    let garbage = "INSERT INTO inbox (bucket, found) SELECT bucket, '\\xff' FROM bucket LIMIT 1";
    postgres.query(&shared.store, garbage);
    let run = node.end();
    gate.open();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.errors.contains("a URL cannot be read"), "{run:?}");
}
