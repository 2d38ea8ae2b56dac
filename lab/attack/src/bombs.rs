//! Archives that unpack to more than a machine has, read by `dedup`.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::mebibytes;

const RECORD_BYTES: usize = 16 << 20;
const MOST: f64 = 256.0;
const LIMIT: Duration = Duration::from_secs(60);

/// The bombs: name, number of records, and size of a record in units of 16 MiB.
const BOMBS: [(&str, usize, usize); 2] =
    [("64 pages of 16 MiB", 64, 1), ("a page of 2 GiB", 1, 128)];

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let limit = LIMIT.min(attack.budget * 2).max(Duration::from_secs(10));
    for (name, records, times) in BOMBS {
        let crawl = attack.crawler.crawl(Vec::new())?;
        let bomb = bomb(records, times)?;
        let packed = mebibytes(bomb.len() as u64);
        std::fs::write(crawl.directory().join("bomb.warc.gz"), bomb)?;
        let command = ["dedup", "bomb.warc.gz", "--format", "json"];
        let ended = crawl.command(&command)?.end(limit)?;
        let row = Row::new(format!("dedup on an archive bomb: {name}")).tried(1);
        let figure = format!(
            "{:.0} MiB, {:.1} s{} ({packed:.1} MiB packed)",
            mebibytes(ended.peak),
            ended.took.as_secs_f64(),
            if ended.overran {
                " and not at its end"
            } else {
                ""
            },
        );
        let fits = mebibytes(ended.peak) <= MOST && matches!(ended.code, Some(0 | 1));
        table.add(
            row.figure(figure)
                .goal(format!("≤ {MOST} MiB, ≤ {} s", limit.as_secs()))
                .is(fits),
        );
    }
    Ok(())
}

/// Writes an archive with this number of pages, each compressed separately.
fn bomb(records: usize, times: usize) -> Result<Vec<u8>, Failure> {
    let mut bomb = Vec::new();
    let body = b"<p>a".repeat(RECORD_BYTES / 4);
    for number in 0..records {
        let answer =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{number}</title>");
        let head = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: \
             <urn:uuid:00000000-0000-4000-8000-{number:012x}>\r\n\
             WARC-Date: 2026-11-22T00:00:00Z\r\nWARC-Target-URI: http://bomb.test/{number}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
            answer.len() + body.len() * times
        );
        let mut encoder = GzEncoder::new(&mut bomb, Compression::default());
        encoder.write_all(head.as_bytes())?;
        encoder.write_all(answer.as_bytes())?;
        for _ in 0..times {
            encoder.write_all(&body)?;
        }
        encoder.write_all(b"\r\n\r\n")?;
        encoder.finish()?;
    }
    Ok(bomb)
}
