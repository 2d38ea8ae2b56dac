//! Archives that unpack to more than a machine has, read by `dedup`.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::table::{Row, Table};
use crate::web::mebibytes;
use crate::{Attack, Failure};

const RECORDS: usize = 300;
const RECORD_BYTES: usize = 16 << 20;
const MOST: f64 = 256.0;
const LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let crawl = attack.crawler.crawl(Vec::new())?;
    let bomb = bomb()?;
    let (packed, unpacked) = (mebibytes(bomb.len() as u64), RECORDS * RECORD_BYTES >> 30);
    std::fs::write(crawl.directory().join("bomb.warc.gz"), bomb)?;
    let limit = LIMIT.min(attack.budget * 2).max(Duration::from_secs(20));
    let ended = crawl
        .tell(&["dedup", "bomb.warc.gz", "--format", "json"])?
        .end(limit)?;
    let row = Row::new("dedup on an archive bomb").tried(1);
    let figure = format!(
        "{:.0} MiB, {:.1} s{} ({packed:.1} MiB that unpack to {unpacked} GiB)",
        mebibytes(ended.peak),
        ended.took.as_secs_f64(),
        if ended.overran { " and not at its end" } else { "" },
    );
    let fits = mebibytes(ended.peak) <= MOST && matches!(ended.code, Some(0 | 1));
    table.add(row.figure(figure).goal(format!("≤ {MOST} MiB, ends")).is(fits));
    Ok(())
}

/// An archive of pages, each a record as large as documents are read, each packed by itself.
fn bomb() -> Result<Vec<u8>, Failure> {
    let mut bomb = Vec::new();
    let body = b"<p>a b c d</p>".repeat(RECORD_BYTES / 14);
    for number in 0..RECORDS {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{number}</title>");
        let head = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012x}>\r\n\
             WARC-Date: 2026-11-22T00:00:00Z\r\nWARC-Target-URI: http://bomb.test/{number}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
            answer.len() + body.len()
        );
        // The rest is the same in each, and packing 5 GiB takes its time: one record is packed, and its name replaced.
        let mut encoder = GzEncoder::new(&mut bomb, Compression::fast());
        for part in [head.as_bytes(), answer.as_bytes(), &body, b"\r\n\r\n"] {
            encoder.write_all(part)?;
        }
        encoder.finish()?;
    }
    Ok(bomb)
}
