//! `[prefix."URL"]` and `[seed."URL"]`: settings of the pages below a URL, and of single seeds.

use std::collections::BTreeSet;

use testkit::{Reply, Request, Server, Site};

use crate::support::pages::{html, page, prose};
use crate::support::{Crawl, json_lines};

const HOST: &str = "site.test";
const OTHER: &str = "www.other.test";
const SUBDOMAIN: &str = "blog.other.test";

/// A chain of pages below `/calendar/`, another below `/docs/`, and pages with two elements each.
fn reply(request: &Request) -> Reply {
    let port = request.port.expect("the server's port is not the default");
    match (&*request.host, request.path()) {
        (OTHER, "/") => page(41, &[format!("http://{SUBDOMAIN}:{port}/")]),
        (SUBDOMAIN, "/") => page(42, &["/1"]),
        (SUBDOMAIN, "/1") => page(43, &["/2"]),
        (HOST, "/") => page(1, &["/calendar/1", "/docs/1", "/shop/1", "/shop/a/1"]),
        (HOST, "/calendar/1") => page(11, &["/calendar/2"]),
        (HOST, "/calendar/2") => page(12, &["/calendar/3"]),
        (HOST, "/calendar/3") => page(13, &["/docs/9"]),
        (HOST, "/docs/1") => page(21, &["/docs/2", "/"]),
        (HOST, "/docs/2") => page(22, &["/docs/3"]),
        (HOST, "/docs/3" | "/docs/9") => page(23, &["/docs/4"]),
        (HOST, path @ ("/shop/1" | "/shop/a/1")) => {
            let text = prose(path.len() as u64, 150);
            let price = "<p class=price>9 €</p><p class=offer>8 €</p>";
            Reply::html(html("", &format!("{price}<p>{text}</p>")))
        }
        _ => Reply::status(404),
    }
}

/// Returns a crawl of these seeds with a settings file, in which `@` is the server's port.
fn crawl(seeds: &[(&str, &str)], file: &str) -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::new(reply));
    let seeds: Vec<String> = seeds
        .iter()
        .map(|(host, path)| server.url(host, path))
        .collect();
    let crawl = Crawl::of(&server, &[HOST, OTHER, SUBDOMAIN])
        .seeds(&seeds)
        .with(&["--config", "my.toml"]);
    crawl.write("my.toml", file.replace('@', &server.port().to_string()));
    (server, crawl)
}

/// Returns the paths of the pages of a host that were archived.
fn archived(server: &Server, crawl: &Crawl, host: &str) -> BTreeSet<String> {
    let visits = crawl.visits().into_iter();
    let pages = visits.filter(|visit| visit["verdict"] == "unique");
    let root = server.url(host, "");
    let paths = pages.filter_map(|visit| {
        let path = visit["url"].as_str()?.strip_prefix(&root)?;
        Some(path.to_owned())
    });
    paths.collect()
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn the_pages_below_a_url_have_a_depth_of_their_own_which_may_be_lower_or_higher() {
    let file = "max-depth = 1\n\
        [prefix.\"http://site.test:@/docs/\"]\nmax-depth = 2\n\
        [prefix.\"http://site.test:@/shop/\"]\nmax-depth = 0\n\
        [prefix.\"http://site.test:@/shop/a\"]\nmax-depth = 9\n";
    let (server, crawl) = crawl(&[(HOST, "/")], file);
    crawl.complete();
    crawl.is_sound();
    let expected = set(&["/", "/calendar/1", "/docs/1", "/docs/2", "/shop/a/1"]);
    assert_eq!(archived(&server, &crawl, HOST), expected);
    let skipped = crawl.run_command(&["skipped", "crawl", "--why", "limit", "--format", "json"]);
    let reasons: Vec<String> = json_lines(&skipped.output)
        .iter()
        .filter_map(|one| Some(one["reason"].as_str()?.to_owned()))
        .collect();
    for reason in [
        "it is 2 links from a seed (--max-depth 1)",
        "it is 3 links from a seed (max-depth 2 of its [prefix] table)",
        "it is 1 link from a seed (max-depth 0 of its [prefix] table)",
    ] {
        assert!(
            reasons.iter().any(|one| one == reason),
            "{reason}: {reasons:?}"
        );
    }
}

#[test]
fn a_crawl_that_is_continued_with_a_deeper_part_visits_what_is_new() {
    let shallow = "[prefix.\"http://site.test:@/calendar/\"]\nmax-depth = 1\n";
    let (server, crawl) = crawl(&[(HOST, "/")], shallow);
    crawl.complete();
    assert_eq!(server.log().count(HOST, "/calendar/2"), 0);
    let deeper = shallow.replace("max-depth = 1", "max-depth = 2");
    crawl.write("my.toml", deeper.replace('@', &server.port().to_string()));
    let run = crawl.run();
    assert!(
        run.errors
            .contains("max-depth in [prefix] widened the scope"),
        "{run:?}"
    );
    crawl.is_sound();
    let log = server.log();
    let requests = ["/calendar/1", "/calendar/2", "/calendar/3"].map(|path| log.count(HOST, path));
    assert_eq!(requests, [1, 1, 0]);
}

#[test]
fn selectors_of_a_prefix_go_before_those_of_its_host() {
    let file = "[host.\"site.test\"]\nfields = { price = \".price\", page = \"main\" }\n\
        [prefix.\"http://site.test:@/shop/a\"]\nfields = { price = \".offer\" }\n\
        main-selector = \".offer\"\n";
    let (server, crawl) = crawl(&[(HOST, "/")], file);
    crawl.complete();
    let rows = json_lines(&crawl.run_command(&["export", "crawl", "--text"]).output);
    let row = |path: &str| {
        let url = server.url(HOST, path);
        let row = rows.iter().find(|row| row["url"] == url.as_str());
        row.cloned().unwrap_or_default()
    };
    let fields = |path: &str| row(path)["fields"].as_str().unwrap_or_default().to_owned();
    assert!(
        fields("/shop/1").contains(r#""price":"9 €""#),
        "{}",
        row("/shop/1")
    );
    assert!(
        fields("/shop/a/1").contains(r#""price":"8 €""#),
        "{}",
        row("/shop/a/1")
    );
    assert!(
        fields("/shop/a/1").contains(r#""page":"#),
        "the host's table has it"
    );
    assert_eq!(row("/shop/a/1")["text"], "8 €");
}

#[test]
fn a_seed_lets_in_less_or_more_than_the_other_seeds() {
    let file = "[seed.\"http://site.test:@/docs/1\"]\nscope = \"prefix\"\n\
        [seed.\"http://www.other.test:@/\"]\nscope = \"domain\"\n";
    let (server, crawl) = crawl(&[(HOST, "/docs/1"), (OTHER, "/")], file);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.errors.contains("has no effect"), "{run:?}");
    crawl.is_sound();
    let docs = set(&["/docs/1"]);
    assert_eq!(
        archived(&server, &crawl, HOST),
        docs,
        "the folder of /docs/1 is itself"
    );
    assert_eq!(archived(&server, &crawl, SUBDOMAIN), set(&["/", "/1"]));
    // The crawl keeps the tables, so that it can be continued without the file.
    let out = crawl.out().join("crawler.toml");
    let kept = std::fs::read_to_string(&out).unwrap_or_default();
    assert!(kept.contains("docs/1\"]\nscope = \"prefix\"\n"), "{kept}");
}

#[test]
fn a_table_of_a_url_that_is_not_a_seed_is_named_in_a_warning() {
    let file = "[seed.\"http://site.test:@/elsewhere\"]\nscope = \"prefix\"\n";
    let (_server, crawl) = crawl(&[(HOST, "/shop/1")], file);
    let run = crawl.run();
    assert!(
        run.errors
            .contains("/elsewhere is not a seed of this crawl"),
        "{run:?}"
    );
}

#[test]
fn a_key_in_the_wrong_table_is_refused_with_the_right_one() {
    for (file, error, help) in [
        (
            "[prefix.\"http://site.test/\"]\ndelay = \"5s\"\n",
            "my.toml: at line 2: there is no setting \"delay\" in [prefix.\"http://site.test/\"]",
            "delay belongs in [host.\"NAME\"]",
        ),
        (
            "[seed.\"http://site.test/\"]\nscpe = \"host\"\n",
            "there is no setting \"scpe\"",
            "did you mean scope?",
        ),
        (
            "[seed.\"http://site.test/\"]\nscope = \"any\"\n",
            "scope any of one seed",
            "use --scope any",
        ),
        (
            "[prefix.\"site.test/\"]\nmax-depth = 1\n",
            "is not the beginning of a URL",
            "",
        ),
    ] {
        let (server, crawl) = crawl(&[(HOST, "/")], file);
        let run = crawl.run();
        run.assert_error(2, error);
        assert!(run.errors.contains(help), "{run:?}");
        assert!(server.log().is_empty());
    }
}
