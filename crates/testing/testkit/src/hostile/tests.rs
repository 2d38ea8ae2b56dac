//! The modes do what they claim, and the server plays them and closes its connections.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use super::*;

#[test]
fn there_are_more_than_120_modes_each_with_a_name_and_a_sentence_of_its_own() {
    let modes = Mode::all();
    assert!(modes.len() > 120, "{}", modes.len());
    let names: HashSet<&str> = modes.iter().map(|mode| &*mode.name).collect();
    assert_eq!(names.len(), modes.len());
    for mode in &modes {
        let kebab =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(mode.name.chars().all(kebab), "{}", mode.name);
        // A label of a host's name has 63 letters at most (RFC 1035 section 2.3.4).
        assert!(
            mode.name.len() <= 63 && !mode.does.is_empty(),
            "{}",
            mode.name
        );
    }
}

#[test]
fn an_answer_breaks_off_before_each_of_its_bytes_and_after_the_last() {
    let modes = Mode::breaks_at_every_byte();
    let names: HashSet<&str> = modes.iter().map(|mode| &*mode.name).collect();
    assert_eq!(names.len(), modes.len());
    let offsets = |kind: &str| {
        modes
            .iter()
            .filter(|mode| mode.name.starts_with(kind))
            .count()
    };
    assert_eq!(offsets("reset-length"), offsets("close-length"));
    assert!(offsets("reset-length") > 100 && offsets("close-chunked") > 100);
}

/// Returns the bytes that a mode sends on a connection for this target, until it ends or `enough`
/// bytes have come.
fn answer(server: &HostileServer, name: &str, target: &str, enough: usize) -> Vec<u8> {
    let mode = find(server, name);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port(mode))).unwrap();
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n\r\n",
        mode.host(),
        server.port(mode)
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut heard = Vec::new();
    let mut piece = [0; 4096];
    while heard.len() < enough {
        // A reset ends it like anything else.
        match stream.read(&mut piece) {
            Ok(length @ 1..) => heard.extend_from_slice(&piece[..length]),
            Ok(0) | Err(_) => break,
        }
    }
    heard
}

fn find<'a>(server: &'a HostileServer, name: &str) -> &'a Mode {
    let mode = server.modes().iter().find(|mode| mode.name == name);
    mode.unwrap_or_else(|| panic!("there is no mode {name}"))
}

#[test]
fn modes_send_the_described_bytes_and_the_server_sees_clients_leave() {
    let server = HostileServer::spawn(Mode::all());
    let front = |name: &str, enough| {
        let heard = answer(&server, name, "/", enough);
        String::from_utf8_lossy(&heard).into_owned()
    };
    const ALL: usize = usize::MAX;
    assert!(front("length-negative", ALL).contains("Content-Length: -1\r\n"));
    assert!(front("lengths-differ", ALL).contains("Content-Length: 7\r\nContent-Length: "));
    assert!(front("chunk-size-no-number", ALL).ends_with("\r\nzebra\r\n"));
    assert!(front("status-999", ALL).starts_with("HTTP/1.1 999 Request denied\r\n"));
    assert!(front("version-0-9", ALL).starts_with("<!DOCTYPE html>"));
    assert!(front("field-nul", ALL).contains("X-Field: a\0b\r\n"));
    assert!(front("redirect-file", ALL).contains("Location: file:///etc/passwd\r\n"));
    assert_eq!(front("close-at-once", ALL), "");
    assert_eq!(front("reset-in-status-line", 6), "HTTP/1");
    #[cfg(feature = "tls")]
    assert_eq!(front("tls-plain-http", 0), "");
    // Endless answers continue as long as they are read.
    assert!(front("endless-body", 100_000).len() >= 100_000);
    assert!(
        front("endless-continue", 1000)
            .matches("100 Continue")
            .count()
            > 20
    );

    let robots = |name: &str| {
        let heard = answer(&server, name, "/robots.txt", ALL);
        String::from_utf8_lossy(&heard).into_owned()
    };
    assert!(robots("endless-body").starts_with("HTTP/1.1 404 Not Found\r\n"));
    assert!(robots("robots-forbids-all").ends_with("Disallow: /\n"));
    assert!(robots("answers-twice").contains(POISON));

    assert_eq!(server.asked(find(&server, "status-999")), 1);
    assert_eq!(server.asked(find(&server, "robots-forbids-all")), 0);
    server.wait_until_all_left();
    assert_eq!(server.open_connections(), 0);
}

#[test]
fn a_front_page_is_about_its_mode_and_no_other() {
    let server = HostileServer::spawn(Mode::all());
    let whole = |name: &str| answer(&server, name, "/", usize::MAX);
    let (one, other) = (whole("robots-is-html"), whole("robots-binary"));
    assert!(one.starts_with(b"HTTP/1.1 200 OK\r\n") && other.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert_ne!(one, other);
    assert_eq!(one, whole("robots-is-html"));
}

#[test]
fn a_closed_port_refuses_connections() {
    let server = HostileServer::spawn(Mode::all());
    let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port(find(&server, "refused"))));
    assert_eq!(
        refused.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionRefused
    );
}
