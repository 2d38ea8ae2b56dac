//! Hosts that accept connections and then stall: other hosts continue, and large bodies take disk
//! instead of memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Compress, Compression, Crc, FlushCompress};
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HONEST: &str = "honest.test";
const HONEST_PAGES: u64 = 15;
/// The bytes that a host sends before it stops: a little more than four downloads at a time could
/// hold.
const AT_ONCE: usize = (4 << 20) + (256 << 10);

/// A large file that differs from host to host.
fn large(number: u64) -> Reply {
    let fill = u8::try_from(number % 251).unwrap();
    Reply::document("application/octet-stream", vec![fill; AT_ONCE + 1])
}

/// Four hosts that sent 4.25 MiB and then a byte a second took the four permits for large bodies,
/// and all later downloads waited with their deadlines stopped: an honest host got 2 requests in
/// 150 s. Here they send nothing more until the honest host is complete.
#[test]
fn hosts_that_stall_in_large_bodies_do_not_delay_other_hosts() {
    let stopped = Gate::new();
    let (held, asked) = (stopped.clone(), Arc::new(AtomicU64::new(0)));
    let server = Server::spawn_thread(Site::new(move |request| {
        if request.path() == "/robots.txt" {
            return Reply::status(404);
        }
        if request.host == HONEST {
            if asked.fetch_add(1, Ordering::Relaxed) + 1 == HONEST_PAGES {
                held.open();
            }
            return tree(number_of(&request.target), HONEST_PAGES);
        }
        let number = request.host.bytes().map(u64::from).sum();
        large(number).hold_after(AT_ONCE, &held)
    }));
    let hosts: Vec<String> = (0..6).map(|number| format!("slow-{number}.test")).collect();
    let mut seeds: Vec<String> = hosts
        .iter()
        .map(|host| server.url(host, "/large"))
        .collect();
    seeds.push(server.url(HONEST, "/0"));
    let mut names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    names.push(HONEST);
    let crawl =
        Crawl::of(&server, &names)
            .seeds(&seeds)
            .with(&["--concurrency", "4", "--no-index"]);

    let summary = crawl.complete();
    assert_eq!(summary["pages"], HONEST_PAGES + 6);
    for host in &hosts {
        let asked = server.log().count(host, "/large");
        assert_eq!(asked, 1, "{host}: one request, although the body was late");
    }
    crawl.is_sound();
}

/// A body that is too long for memory is spooled to disk twice and archived whole under every
/// compression.
#[test]
fn a_body_that_is_spooled_to_disk_is_archived_byte_for_byte() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ => {
            // Incompressible, so that its packed record does not fit in memory either.
            let mut state = number_of(&request.target) | 1;
            let mut body = Vec::with_capacity(3 << 20);
            while body.len() < 3 << 20 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                body.extend_from_slice(&state.to_le_bytes());
            }
            Reply::document("application/octet-stream", body)
        }
    }));
    for packing in ["gzip", "zstd", "none"] {
        let crawl = Crawl::of(&server, &[HONEST])
            .seeds(&[server.url(HONEST, "/1"), server.url(HONEST, "/2")])
            .with(&["--compression", packing, "--no-index"]);
        assert_eq!(crawl.complete()["unique"], 2);
        for path in ["/1", "/2"] {
            let sent = server.log().body(HONEST, path).unwrap();
            let url = server.url(HONEST, path);
            let records = crawl.records();
            let record = records
                .iter()
                .find(|record| record.kind() == "response" && record.target() == Some(&*url))
                .unwrap();
            assert!(record.digests_hold());
            assert!(
                record.head_and_payload().unwrap().1 == sent,
                "{packing} {path}"
            );
        }
        crawl.is_sound();
    }
}

/// Returns a gzip member of `head`, `times` copies of `piece`, and `tail`. Each copy is the same
/// deflate blocks, so that only one of them is compressed.
fn gzip_of_pieces(head: &[u8], piece: &[u8], times: usize, tail: &[u8]) -> Vec<u8> {
    let deflated = |bytes: &[u8], flush| {
        let mut blocks = Vec::with_capacity(bytes.len() + 64);
        let mut deflate = Compress::new(Compression::best(), false);
        deflate.compress_vec(bytes, &mut blocks, flush).unwrap();
        assert_eq!(deflate.total_in(), bytes.len() as u64);
        blocks
    };
    let sum_of = |bytes: &[u8]| {
        let mut sum = Crc::new();
        sum.update(bytes);
        sum
    };
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
    packed.extend(deflated(head, FlushCompress::Full));
    packed.extend(deflated(piece, FlushCompress::Full).repeat(times));
    packed.extend(deflated(tail, FlushCompress::Finish));
    let (mut sum, piece) = (sum_of(head), sum_of(piece));
    for _ in 0..times {
        sum.combine(&piece);
    }
    sum.combine(&sum_of(tail));
    packed.extend(sum.sum().to_le_bytes());
    packed.extend(sum.amount().to_le_bytes());
    packed
}

/// An archive of 4.9 MB whose one record unpacks to gigabytes cost `dedup` a gibibyte.
#[test]
fn dedup_reads_an_archive_bomb_in_little_memory() {
    const UNPACKED: usize = 1 << 30;
    const PIECE: usize = 1 << 20;
    let crawl = Crawl::bare();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let record = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: \
         http://a.test/\r\n\
         WARC-Date: 2026-11-22T00:00:00Z\r\nContent-Type: \
         application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{head}",
        head.len() + UNPACKED
    );
    let words = b"words ye".repeat(PIECE / 8);
    let bomb = gzip_of_pieces(record.as_bytes(), &words, UNPACKED / PIECE, b"\r\n\r\n");
    crawl.write("bomb.warc.gz", bomb);

    // The address space of the program, its threads and its input.
    let run = crawl
        .run_command_with_memory_limit(1 << 20, &["dedup", "bomb.warc.gz", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}
