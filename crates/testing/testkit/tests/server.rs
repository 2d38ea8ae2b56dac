//! The server over raw sockets: what it says, when, and what it writes down about it.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::io::{Read, Write};
use std::time::Duration;

use testkit::{Gate, Reply, Request, Server, Settings, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn ask(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: sentence/1\r\n\r\n")
}

/// Sends `requests`, then reads until the server closes, which it does after a last request that
/// says so.
async fn converse(server: &Server, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(requests.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).await.unwrap();
    String::from_utf8(said).unwrap()
}

async fn ask_and_close(server: &Server, host: &str, target: &str) -> String {
    converse(
        server,
        &format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
    )
    .await
}

fn echo() -> Site {
    Site::new(|request| Reply::text(format!("{}{}", request.host, request.target)))
}

#[tokio::test]
async fn one_server_answers_for_many_host_names() {
    let server = Server::start(echo()).await;
    for (host, expected) in [
        ("a.test", "a.test/x"),
        ("B.test:8080", "b.test/x"),
        ("[::1]:80", "[::1]/x"),
    ] {
        let said = ask_and_close(&server, host, "/x").await;
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
        assert!(said.ends_with(&format!("\r\n\r\n{expected}")), "{said}");
    }
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order_on_one_connection() {
    let server = Server::start(echo()).await;
    let mut requests: String = (0..50).map(|n| ask("a.test", &format!("/{n}"))).collect();
    requests.push_str("GET /last HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
    let said = converse(&server, &requests).await;
    let bodies: Vec<&str> = said
        .split("HTTP/1.1 200 OK")
        .skip(1)
        .map(|reply| reply.lines().last().unwrap())
        .collect();
    let mut expected: Vec<String> = (0..50).map(|n| format!("a.test/{n}")).collect();
    expected.push("a.test/last".into());
    assert_eq!(bodies, expected);
    assert!(server.log().iter().all(|hit| hit.connection == 0));
}

#[tokio::test]
async fn a_request_body_is_read_and_does_not_become_the_next_request() {
    let site =
        Site::new(|request| Reply::text(format!("{} {}", request.method, request.body.len())));
    let server = Server::start(site).await;
    let requests = "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nGET \
                    GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    let said = converse(&server, requests).await;
    assert!(said.contains("POST 4") && said.ends_with("GET 0"), "{said}");
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_and_the_connection_closed() {
    let server = Server::start(echo()).await;
    let too_long = format!(
        "GET / HTTP/1.1\r\nHost: a.test\r\nX: {}",
        "x".repeat(70_000)
    );
    let too_many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(101));
    for (request, status) in [
        ("nonsense\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (&too_long, 431),
        (&too_many, 431),
    ] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        assert_eq!(
            String::from_utf8_lossy(&start),
            format!("HTTP/1.1 {status}")
        );
    }
    assert!(server.log().is_empty());
}

#[tokio::test]
async fn requests_are_read_up_to_each_limit_and_refused_past_it() {
    let head = |length: usize| {
        let start = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nX: ";
        format!("{start}{}\r\n\r\n", "x".repeat(length - start.len() - 4))
    };
    let fields = |count: usize| {
        format!(
            "GET / HTTP/1.1\r\nConnection: close\r\n{}\r\n",
            "X: y\r\n".repeat(count - 1)
        )
    };
    let body = |length: usize| {
        let head =
            format!("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        head + &"x".repeat(length)
    };
    for (limit, request) in [
        (65_536, &head as &dyn Fn(usize) -> String),
        (100, &fields),
        (1_048_576, &body),
    ] {
        for (size, accepted) in [(limit, true), (limit + 1, false)] {
            let server = Server::start(echo()).await;
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            let (mut read, mut write) = stream.split();
            let request = request(size);
            let mut start = [0; 12];
            // A refusal is sent before the request is read to its end, so the rest of the request
            // may meet a closed connection.
            let (_, answered) = tokio::join!(
                write.write_all(request.as_bytes()),
                read.read_exact(&mut start)
            );
            answered.unwrap();
            assert_eq!(start.ends_with(b"200"), accepted, "{size}");
        }
    }
}

#[tokio::test]
async fn a_head_request_gets_the_length_but_not_the_body() {
    let server = Server::start(Site::new(|_| Reply::text("twelve bytes"))).await;
    let said = converse(
        &server,
        "HEAD / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n",
    )
    .await;
    assert!(
        said.contains("Content-Length: 12\r\n") && said.ends_with("\r\n\r\n"),
        "{said}"
    );
}

#[tokio::test]
async fn replies_go_out_as_they_were_built() {
    let check = |reply: Reply, expected: &'static str| async move {
        let server = Server::start(Site::new(move |_| reply.clone())).await;
        let said = ask_and_close(&server, "a.test", "/").await;
        assert_eq!(said, expected);
        assert_eq!(server.log()[0].wire(), said);
    };
    check(
        Reply::html("<p>"),
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 3\r\n\r\n<p>",
    )
    .await;
    check(
        Reply::redirect(302, "/to").without_header("content-type"),
        "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 10\r\n\r\n302 Found\n",
    )
    .await;
    check(
        Reply::document("a/b", "abcdefg")
            .header("X-Odd", "kept  as is")
            .chunked(4),
        "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nX-Odd: kept  as is\r\nTransfer-Encoding: \
         chunked\r\n\r\n\
         4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n",
    )
    .await;
    check(
        Reply::document("a/b", "open end").until_close(),
        "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nConnection: close\r\n\r\nopen end",
    )
    .await;
    check(
        Reply::raw("HTTP/1.1 200\r\n\r\nbare"),
        "HTTP/1.1 200\r\n\r\nbare",
    )
    .await;
    check(
        Reply::document("a/b", "short").header("Content-Length", "999"),
        "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 999\r\n\r\nshort",
    )
    .await;
}

#[tokio::test]
async fn a_held_answer_comes_when_the_gate_opens() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(Site::new(move |_| {
        Reply::text("whole").hold_after(2, &held)
    }))
    .await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    gate.arrivals(1).await;
    assert!(
        server.log().is_empty(),
        "an answer in flight is not in the log yet"
    );
    let mut before = Vec::new();
    while !before.ends_with(b"wh") {
        before.push(stream.read_u8().await.unwrap());
    }
    gate.open();
    let mut after = String::new();
    stream.read_to_string(&mut after).await.unwrap();
    assert_eq!(after, "ole");
    assert!(server.log()[0].complete);
}

#[tokio::test]
async fn a_broken_answer_ends_in_a_reset_and_a_cut_one_in_a_close() {
    let site = Site::pages([
        ("/reset", Reply::text("whole").break_after(3)),
        ("/cut", Reply::text("whole").close_after(3)),
    ]);
    let server = Server::start(site).await;
    for (target, resets) in [("/reset", true), ("/cut", false)] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream
            .write_all(ask("a.test", target).as_bytes())
            .await
            .unwrap();
        let mut said = Vec::new();
        let ended = stream.read_to_end(&mut said).await;
        assert_eq!(ended.is_err(), resets, "{target}: {ended:?}");
        assert!(said.ends_with(b"\r\n\r\nwho") || resets, "{target}");
        let log = server.log();
        let hit = log.last().unwrap();
        assert!(!hit.complete);
        assert_eq!(hit.body, "whole");
    }
}

#[tokio::test(start_paused = true)]
async fn delays_and_drips_take_the_time_they_say_on_a_paused_clock() {
    let second = Duration::from_secs(1);
    let site = Site::new(move |_| Reply::text("sixsix").delay(second * 10).drip(2, second));
    let server = Server::start(site).await;
    let said = ask_and_close(&server, "a.test", "/").await;
    assert!(said.ends_with("\r\n\r\nsixsix"), "{said}");
    let log = server.log();
    // tokio's clock counts whole milliseconds and wakes up to one late.
    assert_eq!((log[0].finished - log[0].at).as_secs(), 12);
}

#[tokio::test]
async fn the_log_shows_gaps_per_host_and_how_many_ran_at_once() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(Site::new(move |request| match request.host.as_str() {
        "busy.test" => Reply::text("x").hold(&held),
        _ => Reply::text("x"),
    }))
    .await;
    for target in ["/1", "/2", "/3"] {
        ask_and_close(&server, "calm.test", target).await;
    }
    let asking = async {
        tokio::join!(
            ask_and_close(&server, "busy.test", "/1"),
            ask_and_close(&server, "busy.test", "/2"),
            ask_and_close(&server, "busy.test", "/3"),
        )
    };
    let opening = async {
        gate.arrivals(3).await;
        gate.open();
    };
    tokio::join!(asking, opening);

    let log = server.log();
    assert_eq!(log.max_parallel("calm.test"), 1);
    assert_eq!(log.max_parallel("busy.test"), 3);
    assert_eq!(log.max_parallel("unknown.test"), 0);
    assert_eq!(log.intervals("busy.test"), [Duration::ZERO, Duration::ZERO]);
    let calm: Vec<_> = log.of("calm.test").collect();
    assert_eq!(
        log.intervals("calm.test"),
        [calm[1].at - calm[0].finished, calm[2].at - calm[1].finished]
    );
    assert_eq!(log.targets("calm.test"), ["/1", "/2", "/3"]);
    assert_eq!(log.count("calm.test", "/2"), 1);
    assert_eq!(log.body("calm.test", "/2").unwrap(), "x");
    assert_eq!(log.body("calm.test", "/4"), None);
    assert_eq!(
        calm.iter().map(|hit| hit.connection).collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[tokio::test]
async fn many_connections_at_once_are_all_answered() {
    let server = Server::start(echo()).await;
    let requests: String = (0..20).map(|n| ask("a.test", &format!("/{n}"))).collect();
    let requests = requests + "GET /end HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (address, requests) = (server.address(), requests.clone());
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(requests.as_bytes()).await.unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            said.matches("HTTP/1.1 200").count()
        });
    }
    assert_eq!(clients.join_all().await, [21; 50]);
    assert_eq!(server.log().len(), 50 * 21);
}

#[test]
fn a_thread_of_its_own_serves_callers_without_a_runtime() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        Reply::text(request.path().to_owned()).hold(&held)
    }));
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(b"GET /a?b HTTP/1.0\r\nHost: a.test\r\n\r\n")
        .unwrap();
    gate.arrivals_blocking(1);
    gate.open();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.ends_with("\r\n\r\n/a"), "{said}");
    let address = server.address();
    drop(server);
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "nobody listens after the server was dropped"
    );
}

#[tokio::test]
async fn a_stopped_server_breaks_off_what_it_holds_and_returns_its_log() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::start(Site::new(move |request| match request.path() {
        "/held" => Reply::text("never").hold(&held),
        _ => Reply::text("now"),
    }))
    .await;
    ask_and_close(&server, "a.test", "/").await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream
        .write_all(ask("a.test", "/held").as_bytes())
        .await
        .unwrap();
    gate.arrivals(1).await;
    let log = server.stop().await;
    assert_eq!(log.targets("a.test"), ["/"]);
    let mut said = Vec::new();
    let ended = stream.read_to_end(&mut said).await;
    assert!(said.is_empty(), "{ended:?}");
}

#[tokio::test]
async fn without_a_log_nothing_is_kept() {
    let server = Server::start_with(
        echo(),
        Settings {
            keep_log: false,
            ..Settings::default()
        },
    )
    .unwrap();
    ask_and_close(&server, "a.test", "/").await;
    assert!(server.log().is_empty());
}

#[tokio::test]
async fn an_address_in_use_is_an_error() {
    let server = Server::start(echo()).await;
    let settings = Settings {
        address: server.address(),
        ..Settings::default()
    };
    assert!(Server::start_with(echo(), settings).is_err());
    assert!(Server::spawn_thread_with(echo(), settings).is_err());
}

#[test]
fn a_site_of_pages_prefers_the_page_of_the_host_to_the_page_of_all() {
    let site = Site::pages([
        ("/", Reply::text("all")),
        ("a.test/", Reply::text("only a")),
    ]);
    for (url, expected) in [
        ("http://a.test/", "only a"),
        ("http://b.test:81/", "all"),
        ("http://b.test/x", "404 Not Found\n"),
    ] {
        assert_eq!(site.answer(&Request::get(url)).body(), expected);
    }
}

#[test]
fn header_fields_are_found_in_any_case_and_trimmed() {
    let mut request = Request::get("http://a.test:81/p?q=1?2");
    request.head = "GET / HTTP/1.1\r\nX-One:  1 \r\nuser-agent: me\r\n\r\n".into();
    assert_eq!(request.header("x-one"), Some("1"));
    assert_eq!(request.header("x-two"), None);
    assert_eq!(request.user_agent(), "me");
    assert_eq!(
        (request.path(), request.query(), request.port),
        ("/p", "q=1?2", Some(81))
    );
}
