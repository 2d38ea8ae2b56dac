//! Secrets reach only their origin: no other server, no file, no output.

use std::path::Path;

use data_encoding::BASE64;
use flate2::read::MultiGzDecoder;
use testkit::{Hit, Server};

mod servers;

use crate::support::{CommandOutput, Crawl};
use servers::{COOKIE, GIVEN, HEADER, OTHER, OWN, PASSWORD, SAFE, SEED_LOGIN, STRANGE, Web};

/// The same bytes as text of base64, at each of the three places where they can begin.
fn spellings(secret: &str) -> Vec<String> {
    let encoded = (0..3).map(|before| {
        let text = BASE64.encode(format!("{}{secret}", "x".repeat(before)).as_bytes());
        // The first and the last group also encode other bytes.
        text[4..text.len() - 4].to_owned()
    });
    encoded.chain([secret.to_owned()]).collect()
}

fn shows(bytes: &[u8], secret: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    spellings(secret)
        .iter()
        .any(|spelling| text.contains(spelling.as_str()))
}

/// The name of the file, and its content.
fn unpacked(path: &Path) -> Vec<Vec<u8>> {
    let raw = std::fs::read(path).unwrap();
    let mut contents = Vec::new();
    if raw.starts_with(&[0x1f, 0x8b]) {
        let mut inside = Vec::new();
        std::io::copy(&mut MultiGzDecoder::new(raw.as_slice()), &mut inside).unwrap();
        contents.push(inside);
    }
    contents.push(raw);
    contents
}

/// Returns every file below a directory.
fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The options that give secrets, from files and from the command line.
fn secrets(from_files: bool) -> Vec<String> {
    let given = if from_files {
        [
            "--header",
            "@headers.txt",
            "--http-user",
            "someone",
            "--http-password-file",
            "password.txt",
        ]
        .map(str::to_owned)
        .to_vec()
    } else {
        vec![
            "--header".to_owned(),
            format!("X-Token: {HEADER}"),
            "--http-user".to_owned(),
            format!("someone:{PASSWORD}"),
        ]
    };
    let cookies = ["--load-cookies", "cookies.txt"].map(str::to_owned);
    given.into_iter().chain(cookies).collect()
}

fn said(hit: &Hit, name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(&hit.request_head).into_owned();
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut values = fields
        .filter(|(field, _)| field.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim().to_owned());
    let value = values.next();
    assert_eq!(values.next(), None, "{head}");
    value
}

/// Returns true if a request was answered with the question for a login. Over http, the login is
/// not sent before.
fn is_asked(hit: &Hit) -> bool {
    let is_bare = said(hit, "authorization").is_none();
    hit.status == 401 && is_bare && said(hit, "x-token").is_some()
}

/// Asserts that each request of this server carried all secrets, the login once it was asked for.
fn heard_all(server: &Server) {
    let login = format!(
        "Basic {}",
        BASE64.encode(format!("someone:{PASSWORD}").as_bytes())
    );
    let cookie = format!("session={COOKIE}");
    for hit in &server.log() {
        assert_eq!(said(hit, "x-token").as_deref(), Some(HEADER), "{hit:?}");
        let expected = Some(login.as_str()).filter(|_| !is_asked(hit));
        let sent = said(hit, "authorization");
        assert_eq!(sent.as_deref(), expected, "{hit:?}");
        assert_eq!(
            said(hit, "cookie").as_deref(),
            Some(cookie.as_str()),
            "{hit:?}"
        );
        for stranger in STRANGE.iter().chain([&SEED_LOGIN]) {
            assert!(!shows(&hit.request_head, stranger), "{hit:?}");
        }
    }
}

/// Asserts that no request of this server carried a secret.
fn heard_nothing(server: &Server) {
    for hit in &server.log() {
        for name in ["x-token", "authorization", "cookie", "referer"] {
            assert_eq!(said(hit, name), None, "{hit:?}");
        }
        for secret in GIVEN.iter().chain(&STRANGE) {
            assert!(!shows(&hit.request_head, secret), "{hit:?}");
        }
    }
}

/// Returns the output of every command about the crawl.
fn everything_told(crawl: &Crawl, web: &Web) -> Vec<CommandOutput> {
    let urls = [
        web.own.url(OWN, "/"),
        web.own.url(OWN, "/login-there"),
        web.own.url(OWN, "/no"),
        web.others.url(OTHER, "/landed"),
        web.others.url(OTHER, "/theirs"),
        web.others.url(OTHER, "/from-sitemap"),
    ];
    let mut runs: Vec<CommandOutput> = urls
        .iter()
        .map(|url| crawl.run_command(&["why", "crawl", url]))
        .collect();
    for arguments in [
        &["status", "crawl"][..],
        &["status", "crawl", "--hosts"],
        &["status", "crawl", "--format", "json"],
        &["export", "crawl", "--format", "jsonl"],
        &["export", "crawl", "--format", "csv"],
        &["duplicates", "crawl"],
        &["duplicates", "crawl", "--clusters"],
        &["similar", "crawl", &urls[0]],
        &["verify", "crawl"],
    ] {
        let run = crawl.run_command(arguments);
        assert_eq!(run.code, Some(0), "{run:?}");
        runs.push(run);
    }
    runs
}

/// Asserts that no file of the crawl and no output shows a secret. Text of other servers may occur
/// only where their answers are stored verbatim.
fn is_silent(crawl: &Crawl, runs: &[CommandOutput]) {
    let mut seen = 0;
    for path in files(&crawl.out()) {
        let is_archive = sinks::warc::name_of(&path).is_some();
        for content in unpacked(&path) {
            seen += usize::from(String::from_utf8_lossy(&content).contains(OTHER));
            let strange = STRANGE.iter().filter(|_| !is_archive);
            for secret in GIVEN.iter().chain(strange) {
                assert!(!shows(&content, secret), "{secret} in {}", path.display());
            }
        }
    }
    // The journal, the log, the settings and the archive: the search itself works.
    assert!(seen >= 4, "the crawled text is found in {seen} files");
    for record in crawl.records() {
        let is_verbatim = record.kind() == "response";
        for secret in STRANGE {
            assert!(
                is_verbatim || !shows(&record.block, secret),
                "{secret} in {record:?}"
            );
            assert!(
                !record
                    .target()
                    .is_some_and(|target| target.contains(secret))
            );
        }
    }
    for run in runs {
        let all = format!("{}{}", run.output, run.errors);
        for secret in GIVEN.iter().chain(&STRANGE) {
            assert!(!shows(all.as_bytes(), secret), "{secret} in {run:?}");
        }
    }
}

fn crawls_without_a_leak(from_files: bool) {
    let web = Web::new();
    let crawl = web.crawl();
    let mut running = crawl.start_with(&secrets(from_files));
    web.gate.arrivals_blocking(1);
    running.interrupt();
    running.wait_for_line("finishing pages in progress");
    web.gate.open();
    let mut runs = vec![running.end()];
    assert_eq!(runs[0].code, Some(130), "{runs:?}");
    for warning in [
        "seeds.txt, line 1: user and password in a URL are ignored; use --http-user",
        "cookies.txt, line 4 is skipped: expected 7 fields separated by tabs, got 1",
        "1 of 2 origins over http",
        "sent to 2 origins",
    ] {
        assert!(runs[0].errors.contains(warning), "{warning}: {runs:?}");
    }
    is_silent(&crawl, &runs);

    let run = crawl.run_with(&secrets(from_files));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.errors.contains("was run with"), "{run:?}");
    assert_eq!(run.summary()["finished"], "exhausted");
    runs.push(run);
    for (server, host, path) in [
        (&web.own, OWN, "/listed"),
        (&web.own, OWN, "/mine"),
        (&web.own, OWN, "/back"),
        (&web.own, OWN, "/bounced"),
        (&web.own, OWN, "/returned"),
        (&web.others, OTHER, "/landed"),
        (&web.others, OTHER, "/theirs"),
        (&web.others, OTHER, "/trapped"),
        (&web.others, OTHER, "/sitemap.xml"),
        (&web.others, OTHER, "/from-sitemap"),
        (&web.others, OWN, "/linked"),
        (&web.others, SAFE, "/linked"),
        (&web.others, SAFE, "/down"),
        (&web.safe, SAFE, "/linked"),
        (&web.safe, SAFE, "/deep/in"),
    ] {
        let log = server.log();
        let requests = log
            .of(host)
            .filter(|hit| hit.target == path && !is_asked(hit));
        assert_eq!(requests.count(), 1, "{host}{path}");
    }
    heard_all(&web.own);
    heard_all(&web.safe);
    heard_nothing(&web.others);
    runs.extend(everything_told(&crawl, &web));
    is_silent(&crawl, &runs);

    let requests: Vec<_> = crawl.records_about(&web.own.url(OWN, "/listed"));
    let request = requests
        .iter()
        .find(|record| record.kind() == "request")
        .unwrap();
    let head = String::from_utf8_lossy(&request.block).into_owned();
    for name in ["x-token", "authorization", "cookie"] {
        assert!(
            head.contains(&format!("\r\n{name}: [not kept]\r\n")),
            "{head}"
        );
    }
}

#[test]
fn secrets_of_the_command_line_reach_only_their_origins() {
    crawls_without_a_leak(false);
}

#[test]
fn secrets_of_files_reach_only_their_origins() {
    crawls_without_a_leak(true);
}

#[test]
fn a_crawl_that_is_continued_without_its_secrets_warns_and_sends_none() {
    let web = Web::new();
    web.gate.open();
    let crawl = web.crawl();
    let run = crawl.run_with(
        &[
            secrets(false),
            vec!["--max-pages".to_owned(), "1".to_owned()],
        ]
        .concat(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let before = web.own.log().len();
    let run = crawl.run_with(&["--max-pages", "100"]);
    let warning = "this crawl was run with --header and --http-user and --load-cookies, which is \
         never stored";
    assert!(run.errors.contains(warning), "{run:?}");
    let log = web.own.log();
    assert!(log.len() > before);
    assert!(
        log.iter()
            .skip(before)
            .all(|hit| said(hit, "authorization").is_none())
    );
    let settings = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(
        settings.contains("secrets = [\"header\", \"http-user\", \"load-cookies\"]"),
        "{settings}"
    );
}

#[test]
fn a_header_with_an_origin_is_sent_there_and_not_to_the_seeds() {
    let web = Web::new();
    web.gate.open();
    let scoped = format!("{} X-Token: {HEADER}", web.others.url(OTHER, "/"));
    let crawl = web.crawl().with(&["--header", &scoped]);
    crawl.complete();
    assert!(
        web.own
            .log()
            .iter()
            .all(|hit| said(hit, "x-token").is_none())
    );
    let log = web.others.log();
    assert!(log.of(OTHER).count() > 3);
    for hit in &log {
        let expected = (hit.host == OTHER).then_some(HEADER);
        assert_eq!(said(hit, "x-token").as_deref(), expected, "{hit:?}");
    }
}

#[test]
fn invalid_secrets_are_refused_without_being_printed() {
    let secret = HEADER;
    let (colon, value) = (
        format!("X-Token: {secret}"),
        format!("X-Token: {secret}\u{1}"),
    );
    let (cookie, host) = (format!("Cookie: {secret}"), format!("Host: {secret}"));
    let (login, equals) = (format!("u:{secret}"), format!("--http-pasword={secret}"));
    let seed = format!("http://u:{secret}@[/");
    for (arguments, words) in [
        (&["--header", secret][..], "--header: must be 'Name: value'"),
        (&["--header", "X-Token:", secret], "x-token has no value"),
        (
            &["--header", &value],
            "the value of x-token contains control",
        ),
        (&["--header", &cookie], "--load-cookies"),
        (&["--header", &host], "host cannot be set this way"),
        (&["--header", "@missing.txt"], "missing.txt"),
        (
            &["--header", "@fields.txt"],
            "--header @fields.txt, line 3: must be 'Name: value'",
        ),
        (&["--http-user", "u"], "no password given"),
        (
            &["--http-user", &login, "--http-password", secret],
            "--http-user: ",
        ),
        (&["--http-password", secret], "--http-user"),
        (
            &[
                "--http-user",
                "u",
                "--http-password",
                secret,
                "--http-password-file",
                "fields.txt",
            ],
            "--http-password",
        ),
        (
            &["--http-user", &login, "--header", "Authorization: Bearer x"],
            "both set Authorization",
        ),
        (&["--load-cookies", "missing.txt"], "missing.txt"),
        (
            &["--load-cookies", "fields.txt"],
            "fields.txt: no line is a cookie; line 2",
        ),
        (
            &["--config", "secret.toml"],
            "secret.toml: http-password is not allowed",
        ),
        (&["--config", "torn.toml"], "torn.toml"),
        (&[&equals], "--http-pasword"),
        (&[&seed], "http://…@[/"),
    ] {
        let crawl = Crawl::bare();
        crawl.write("fields.txt", format!("# {secret}\n{colon}\n{secret}\n"));
        crawl.write("secret.toml", format!("http-password = \"{secret}\"\n"));
        crawl.write(
            "torn.toml",
            format!("delay = \"1s\"\nhttp-password = {secret}\n"),
        );
        let arguments: Vec<&str> = ["http://own.test/"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let arguments = if words.starts_with("http://…") {
            &arguments[1..]
        } else {
            &arguments[..]
        };
        let run = crawl.run_command(arguments);
        run.assert_error(2, words);
        assert!(!shows(run.errors.as_bytes(), secret), "{run:?}");
        assert!(
            !crawl.out().exists(),
            "a directory was made by {arguments:?}"
        );
    }
}
