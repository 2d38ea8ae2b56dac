//! Server-sent events, and slow clients.

use std::time::Duration;

use journal::Fate;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::client::Served;
use crate::crawl::{CrawlFixture, UNIQUE};

async fn listen(served: &Served) -> TcpStream {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let request = format!("GET /events HTTP/1.1\r\n{}\r\n\r\n", served.host());
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until these words have come `times` times.
async fn read_until(stream: &mut TcpStream, words: &str, times: usize) -> String {
    let mut text = String::new();
    let mut buffer = [0; 1_024];
    while text.matches(words).count() < times {
        let length = stream.read(&mut buffer).await.unwrap();
        assert_ne!(length, 0, "it ended: {text}");
        text += &String::from_utf8_lossy(&buffer[..length]);
    }
    text
}

#[tokio::test]
async fn a_viewer_is_told_when_the_journal_grows() {
    let served = Served::of(CrawlFixture::empty("x")).await;
    let mut stream = listen(&served).await;
    let head = read_until(&mut stream, "event: change", 1).await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    served.crawl.visit(UNIQUE, Fate::Unique);
    read_until(&mut stream, "event: change", 1).await;
}

#[tokio::test]
async fn viewers_are_bounded_and_leave_room_for_pages() {
    let served = Served::of(CrawlFixture::empty("x")).await;
    let mut viewers = Vec::new();
    for _ in 0..16 {
        let mut viewer = listen(&served).await;
        read_until(&mut viewer, "event: change", 1).await;
        viewers.push(viewer);
    }
    assert_eq!(served.get("/events").await.status, 503);
    // Pages are answered all the same.
    assert_eq!(served.get("/").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_viewer_that_reads_stays_while_nothing_happens() {
    let served = Served::of(CrawlFixture::empty("x")).await;
    let mut stream = listen(&served).await;
    read_until(&mut stream, "event: change", 1).await;
    let begun = Instant::now();
    // Comments without a word (HTML Standard, section 9.2.7).
    read_until(&mut stream, ":\n\n", 8).await;
    assert!(begun.elapsed() > Duration::from_secs(90));
    served.crawl.visit(UNIQUE, Fate::Unique);
    read_until(&mut stream, "event: change", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_loses_its_connection() {
    let served = Served::of(CrawlFixture::empty("x")).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let length = served.get("/style.css").await.body.len();
    // More than the buffers of both ends hold, which are 10 MiB at most.
    let requests = (32 << 20) / length;
    let request = format!("GET /style.css HTTP/1.1\r\n{}\r\n\r\n", served.host());
    let begun = Instant::now();
    let all = request.repeat(requests);
    // It is cut off while it asks if its questions fill the buffers, too.
    let _asked = stream.write_all(all.as_bytes()).await;
    // The clock is paused: it jumps.
    tokio::time::sleep_until(begun + Duration::from_secs(60)).await;
    let mut received = Vec::new();
    let _ended = stream.read_to_end(&mut received).await;
    assert!(received.len() < requests * length, "{}", received.len());
    assert!(begun.elapsed() < Duration::from_secs(90));
}

#[test]
fn the_script_is_short_and_every_live_part_has_a_name() {
    let script = include_str!("../../templates/live.js");
    assert!(script.lines().count() <= 200);
    for forbidden in [
        "eval(",
        "innerHTML",
        "document.write",
        "http://",
        "https://",
    ] {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
}
