//! Seeds: how they are read, and what the user learns of those that fail or have moved.

use std::net::TcpListener;

use testkit::{Reply, Server, Site};

use crate::support::pages::{NONE, html, page, prose};
use crate::support::{CommandOutput, Crawl};

const HOST: &str = "site.test";
const HOSTS: [&str; 3] = ["site.test", "www.site.test", "other.test"];

/// A crawl of a server whose output is the text for people.
fn crawl_in_words(server: &Server) -> Crawl {
    let crawl = Crawl::bare().with(&["--allow-private", "--delay=0", "--delay-factor=0"]);
    let rules = HOSTS.map(|host| server.resolve(host));
    rules
        .iter()
        .fold(crawl, |crawl, rule| crawl.with(&["--resolve", rule]))
}

fn said(run: &CommandOutput) -> String {
    format!("{}\n{}", run.errors, run.output)
}

/// "Complete: 0 pages of 0 hosts" and code 0 was the end of a crawl whose only seed was down, and a
/// script that ran it every night archived nothing for weeks.
#[test]
fn a_crawl_without_a_fetched_seed_ends_with_code_3_and_names_the_causes() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /forbidden"),
        "/refused" => Reply::status(403),
        _ => Reply::status(404),
    }));
    let urls = ["/gone", "/refused", "/forbidden"].map(|path| server.url(HOST, path));
    let crawl = crawl_in_words(&server).seeds(&urls);
    for attempt in ["first", "again"] {
        let run = crawl.run();
        assert_eq!(run.code, Some(3), "{attempt}: {run:?}");
        let first = "No seed could be fetched; nothing was archived\n";
        assert!(run.output.starts_with(first), "{attempt}: {run:?}");
        for (url, cause) in urls.iter().zip(["404", "403", "robots.txt"]) {
            let mut lines = run.output.lines();
            let line = lines.find(|line| line.contains(url.as_str())).unwrap();
            assert!(line.contains(cause), "{attempt}: {line}");
        }
    }
}

#[test]
fn a_failing_seed_is_reported_at_once_with_the_remedy() {
    let server = Server::spawn_thread(Site::pages([("/", page(0, NONE))]));
    let crawl = crawl_in_words(&server)
        .with(&["--tries", "1"])
        .seeds(&[server.url(HOST, "/"), server.url(HOST, "/login")]);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let login = server.url(HOST, "/login");
    assert!(
        run.errors
            .contains(&format!("seed failed: {login}: HTTP status 404")),
        "{run:?}"
    );
    assert!(
        run.output
            .contains(&format!("failed              1  404 Not Found: {login}"))
    );

    let private = Crawl::bare().seeds(&["http://127.0.0.1:9/"]);
    let run = private.run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(
        run.errors.contains("allow it with --allow-private"),
        "{run:?}"
    );
}

#[test]
fn many_failing_seeds_print_few_lines() {
    let server = Server::spawn_thread(Site::new(|_| Reply::status(404)));
    let urls: Vec<String> = (0..100)
        .map(|n| server.url(HOST, &format!("/{n}")))
        .collect();
    let run = crawl_in_words(&server).seeds(&urls).run();
    assert_eq!(run.code, Some(3), "{run:?}");
    let lines = said(&run).lines().count();
    assert!(lines < 50, "{lines} lines: {run:?}");
    assert!(run.output.contains("  and 90 more\n"), "{run:?}");
}

/// "Complete" and code 0 was the end of a crawl whose seeds all redirect to nowhere.
#[test]
fn a_seed_whose_redirect_leads_nowhere_failed_and_one_that_leads_to_a_page_did_not() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/self" => Reply::redirect(302, "/self"),
        "/ping" => Reply::redirect(302, "/pong"),
        "/pong" => Reply::redirect(302, "/ping"),
        "/mail" => Reply::redirect(302, "mailto:someone@example.org"),
        "/ftp" => Reply::redirect(302, "ftp://site.test/"),
        "/a" | "/b" => Reply::redirect(302, "/gone"),
        "/moved" => Reply::redirect(302, "/page"),
        "/page" => page(1, NONE),
        path => match path.strip_prefix("/hop/").map(str::parse::<u32>) {
            Some(Ok(number)) => Reply::redirect(302, format!("/hop/{}", number + 1)),
            _ => Reply::status(404),
        },
    }));
    let run_with = |paths: &[&str]| {
        let urls: Vec<String> = paths.iter().map(|path| server.url(HOST, path)).collect();
        crawl_in_words(&server).seeds(&urls).run()
    };
    for (paths, cause) in [
        (&["/self"] as &[&str], "redirects in a circle"),
        (&["/ping"], "redirects in a circle"),
        (&["/hop/0"], "redirects in a row"),
        (&["/mail"], "redirects to an invalid URL"),
        (&["/ftp"], "redirects to an invalid URL"),
        (&["/a", "/gone"], "HTTP status 404"),
        (&["/a", "/b"], "HTTP status 404"),
    ] {
        let run = run_with(paths);
        assert_eq!(run.code, Some(3), "{paths:?}: {run:?}");
        let first = "No seed could be fetched; nothing was archived\n";
        assert!(run.output.starts_with(first), "{paths:?}: {run:?}");
        let mut lines = run.errors.lines();
        let is_reported = lines.any(|line| line.contains("seed failed: ") && line.contains(cause));
        assert!(is_reported, "{paths:?}: {run:?}");
    }
    for paths in [&["/moved"] as &[&str], &["/moved", "/page"]] {
        let run = run_with(paths);
        assert_eq!(run.code, Some(0), "{paths:?}: {run:?}");
        assert!(!run.errors.contains("seed failed"), "{paths:?}: {run:?}");
    }
}

/// `--exclude` wins over all else, the help says; a seed was requested all the same.
#[test]
fn an_excluded_seed_is_not_requested_until_its_expression_is_dropped() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ => page(1, NONE),
    }));
    let crawl = crawl_in_words(&server).seeds(&[server.url(HOST, "/page")]);
    let run = crawl.run_with(&["--exclude", "/page"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.errors.contains("see --exclude"), "{run:?}");
    assert_eq!(server.log().of(HOST).count(), 0);
    let run = crawl.run_with(&["--exclude", "/other"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(crawl.visit(&server.url(HOST, "/page"))["verdict"], "unique");
}

/// The robots.txt of `site.test` was said to be unavailable, and nothing named the host behind the
/// redirect, which was down.
#[test]
fn a_failure_behind_a_redirect_names_the_target() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let dead = format!("http://dead.test:{port}/x");
    let location = dead.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(0, &["/lost"]),
        "/down" => Reply::redirect(302, &location),
        "/lost" => Reply::redirect(302, "/missing"),
        _ => Reply::status(404),
    }));
    let [front, down, lost, missing] =
        ["/", "/down", "/lost", "/missing"].map(|path| server.url(HOST, path));
    let crawl = crawl_in_words(&server)
        .with(&["--tries", "1", "--scope", "any"])
        .with(&[
            "--resolve".to_owned(),
            format!("dead.test:{port}:127.0.0.1"),
        ])
        .seeds(&[&front, &down]);
    let run = crawl.run();
    let refused = "cannot connect: connection refused";
    let line = format!("seed failed: {down}: redirects to {dead}: {refused} (check host and port)");
    assert!(run.errors.contains(&line), "{run:?}");
    let beginning = format!("redirects to {dead}: robots.txt is unavailable ({refused})");
    let reason = crawl.visit(&down)["reason"].to_string();
    assert!(reason.contains(&beginning), "{reason}");
    let reason = format!("redirects to {missing}: HTTP status 404");
    assert_eq!(crawl.visit(&lost)["reason"], reason);
    // Reasons are counted without the targets.
    let words: Vec<&str> = run.output.split_whitespace().collect();
    let summary = words.join(" ");
    for name in ["404 Not Found (1)", "redirects: robots.txt is unavailable"] {
        assert!(summary.contains(name), "{name}: {summary}");
    }
}

/// The message of a failed seed named `--http-user`, and the same command with that option sent no
/// request.
#[test]
fn the_same_command_with_the_remedy_requests_a_refused_seed_again() {
    let server = Server::spawn_thread(Site::new(|request| {
        match (request.path(), request.header("authorization")) {
            ("/robots.txt", _) => Reply::status(404),
            (_, Some(_)) => page(1, NONE),
            (_, None) => Reply::status(401).header("WWW-Authenticate", "Basic realm=x"),
        }
    }));
    let crawl = crawl_in_words(&server).seeds(&[server.url(HOST, "/")]);
    let run = crawl.run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.errors.contains("--http-user or --header"), "{run:?}");
    let back = "`crawler retry crawl --status 4xx`";
    assert!(run.output.contains(back), "{run:?}");
    let run = crawl.run_with(&["--http-user", "u:p"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    // Over http, a login is sent only to a server that asks for it.
    assert_eq!(server.log().count(HOST, "/"), 3, "{run:?}");
}

/// A site whose front page is elsewhere, at `to`.
fn moved(to: &'static str, by: fn(&str) -> Reply) -> Server {
    Server::spawn_thread(Site::new(move |request| {
        let port = request.port.unwrap();
        match (request.host.as_str(), request.path()) {
            (HOST, "/") => by(&format!("http://{to}:{port}/start")),
            (host, "/start") if host == to => page(1, &["/more", "/other"]),
            (host, "/more") if host == to => page(2, NONE),
            (host, "/other") if host == to => page(3, NONE),
            _ => Reply::status(404),
        }
    }))
}

fn by_redirect(to: &str) -> Reply {
    Reply::redirect(302, to)
}

fn by_refresh(to: &str) -> Reply {
    Reply::html(format!(
        "<meta http-equiv=refresh content=\"0; url={to}\">moved"
    ))
}

/// A seed that redirected to a social network brought its whole host into the scope, and no line
/// said so.
#[test]
fn a_seed_that_leads_to_another_site_brings_that_page_and_the_user_learns_of_it() {
    for by in [by_redirect as fn(&str) -> Reply, by_refresh] {
        let server = moved("other.test", by);
        let run = crawl_in_words(&server)
            .seeds(&[server.url(HOST, "/")])
            .run();
        let log = server.log();
        assert_eq!(log.count("other.test", "/start"), 1, "{run:?}");
        assert_eq!(log.count("other.test", "/more"), 0, "{run:?}");
        let start = server.url("other.test", "/start");
        let line = format!("redirects to {start}, another site: only this page is visited");
        assert!(run.errors.contains(&line), "{run:?}");
    }
}

#[test]
fn a_seed_that_moves_within_its_domain_brings_its_site_along() {
    for by in [by_redirect as fn(&str) -> Reply, by_refresh] {
        let server = moved("www.site.test", by);
        let crawl = crawl_in_words(&server).seeds(&[server.url(HOST, "/")]);
        let run = crawl.run();
        assert_eq!(server.log().count("www.site.test", "/more"), 1, "{run:?}");
        assert!(
            run.errors
                .contains("in scope from now on: all of www.site.test"),
            "{run:?}"
        );
        crawl.is_sound();
    }
}

/// `--scope prefix` with `/docs` crawled the whole host, because its folder is `/`.
#[test]
fn scope_prefix_takes_a_path_without_a_slash_for_a_folder_and_prints_it() {
    let links = ["/", "/docs/b", "/docs-old/", "/shop/"];
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/docs" if request.target.contains("lang") => page(0, &links),
        "/docs" => Reply::redirect(301, "/docs/"),
        "/docs/" => page(1, &links),
        "/docs/b" => page(2, &links),
        _ => page(3, NONE),
    }));
    for seed in ["/docs", "/docs?lang=en", "/docs/index.html"] {
        let crawl = crawl_in_words(&server).with(&["--scope", "prefix"]);
        let run = crawl.seeds(&[server.url(HOST, seed)]).run();
        let folder = format!("scope prefix: {} and below", server.url(HOST, "/docs/"));
        assert!(run.errors.contains(&folder), "{seed}: {run:?}");
    }
    let log = server.log();
    for path in ["/", "/docs-old/", "/shop/"] {
        assert_eq!(log.count(HOST, path), 0, "{path}");
    }
}

#[test]
fn a_seed_that_leads_on_by_script_or_form_only_names_the_options() {
    for (body, option) in [
        (
            "<script>location.href = '/home.html'</script>",
            "--script-links",
        ),
        (
            "<form action=/home.html><input type=submit></form>",
            "--forms",
        ),
    ] {
        let start = Reply::html(html("", &format!("{body}{}", prose(1, 50))));
        let server =
            Server::spawn_thread(Site::pages([("/", start), ("/home.html", page(2, NONE))]));
        let crawl = crawl_in_words(&server).seeds(&[server.url(HOST, "/")]);
        let run = crawl.run();
        assert!(
            run.output.contains("has no link that is followed"),
            "{run:?}"
        );
        assert!(run.output.contains(option), "{run:?}");
    }
}

#[test]
fn a_line_that_is_not_just_a_url_is_named_and_nothing_made_up_is_requested() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/a" | "/b" => page(u64::from(request.path().as_bytes()[1]), NONE),
        _ => Reply::status(404),
    }));
    let [a, b] = ["/a", "/b"].map(|path| server.url(HOST, path));
    let text = format!("url\n{a}\tTitle of a\n{b},Title of b\nhttps//x.test/\n\"{b}\",\"b\"\n");
    let units = format!("\u{feff}{text}");
    let units: Vec<u8> = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [text.into_bytes(), units] {
        let crawl = crawl_in_words(&server);
        crawl.write("list.txt", bytes);
        let run = crawl.run_with(&["--seeds", "list.txt"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        for line in ["line 1", "line 2", "line 3", "line 4", "line 5"] {
            assert!(
                run.errors.contains(&format!("list.txt, {line}: ")),
                "{line}: {run:?}"
            );
        }
    }
    let log = server.log();
    assert_eq!(log.pages_of(HOST).len(), 4);
}

/// An argument of two URLs was requested as one, which nobody had written.
#[test]
fn an_argument_with_white_space_is_read_like_a_line() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/a" | "/b" => page(u64::from(request.path().as_bytes()[1]), NONE),
        _ => Reply::status(404),
    }));
    let urls = ["/a", "/b"].map(|path| server.url(HOST, path));
    let run = crawl_in_words(&server).run_with(&[urls.join(" ")]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let warning = format!("contains more than a URL; read as {}", urls.join(" "));
    assert!(run.errors.contains(&warning), "{run:?}");
    let log = server.log();
    let mut paths = log.pages_of(HOST);
    paths.sort_unstable();
    assert_eq!(paths, ["/a", "/b"], "{run:?}");
}

/// A list of seeds was read into memory as a whole, and an interrupt meanwhile ended the process
/// without a summary.
#[test]
fn a_long_list_is_read_in_parts_and_continues_where_it_was_cut() {
    let server = Server::spawn_thread(Site::new(|request| page(request.path().len() as u64, NONE)));
    let count = 25_000;
    let urls: Vec<String> = (0..count)
        .map(|n| server.url(HOST, &format!("/{n}")))
        .collect();
    let crawl = Crawl::of(&server, &[HOST]).with(&["--no-index"]);
    crawl.write("list.txt", urls.join("\n"));
    let cut = crawl.run_with(&["--seeds", "list.txt", "--max-time", "1ms"]);
    let summary = cut.summary();
    assert_eq!(
        (cut.code, &summary["finished"]),
        (Some(0), &"max-time".into()),
        "{cut:?}"
    );
    let queued = summary["queued"].as_u64().unwrap();
    assert!((10_000..count).contains(&queued), "{queued}: {cut:?}");
    assert!(cut.errors.contains("was not read completely"), "{cut:?}");
    for _ in 0..2 {
        let rest = crawl.run_with(&["--max-pages", "1", "--max-time", "1h"]);
        let summary = rest.summary();
        let (pages, queued) = (&summary["pages"], &summary["queued"]);
        assert_eq!(
            pages.as_u64().unwrap() + queued.as_u64().unwrap(),
            count,
            "{rest:?}"
        );
    }
    let why = crawl
        .run_command(&["why", "crawl", &server.url(HOST, "/unlinked")])
        .json();
    assert!(
        why["reason"].as_str().unwrap().contains("it is in scope"),
        "{why}"
    );
}
