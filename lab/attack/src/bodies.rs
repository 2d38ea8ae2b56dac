//! Bodies that arrive quickly until they are large, and then a byte a second. They must not hold up
//! an honest host whose pages are large, too.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::failure::Failure;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree, mebibytes};

const HONEST: &str = "honest.test";
/// Bytes of a slow body that are sent at once.
const AT_ONCE: usize = 4_456_448;
/// Bytes of a page of the honest host: a large page to the crawler.
const LARGE: usize = 5 << 20;
/// The declared length of a slow body.
const DECLARED: usize = 50 << 20;
const DELAY: &str = "100ms";
/// Time until the crawl is asked to end; the first slow bodies have not reached their deadline yet.
const TIME: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time that an end may take beyond the deadline of visits in progress, for saving.
const GRACE: Duration = Duration::from_secs(3);

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let time = TIME;
    let alone = crawl(attack, 0, time, End::Limit)?;
    for hosts in [4, 8] {
        let beside = crawl(attack, hosts, time, End::Limit)?;
        let kept = 100.0 * beside.requests as f64 / alone.requests.max(1) as f64;
        let row = Row::new(format!("{hosts} slow bodies: an honest host")).tried(hosts);
        let figure = format!(
            "{kept:.0} % ({} of {} requests in {} s; peak {:.0} MiB, alone {:.0})",
            beside.requests,
            alone.requests,
            time.as_secs(),
            mebibytes(beside.peak),
            mebibytes(alone.peak)
        );
        table.add(row.figure(figure).goal("≥ 90 %").is(kept >= 90.0));
        add_end(
            table,
            &format!("{hosts} slow bodies: --max-time"),
            hosts,
            beside.late,
        );
    }
    let interrupted = crawl(attack, 4, time, End::Interrupt)?;
    add_end(table, "4 slow bodies: an interrupt", 1, interrupted.late);
    Ok(())
}

fn add_end(table: &mut Table, name: &str, tried: u64, late: Option<Duration>) {
    let most = TIMEOUT + GRACE;
    let figure = late.map_or_else(
        || "did not end".to_owned(),
        |late| format!("{:.1} s", late.as_secs_f64()),
    );
    let row = Row::new(name).tried(tried).figure(figure);
    let goal = format!(
        "≤ {} s after it (--timeout {} s)",
        most.as_secs(),
        TIMEOUT.as_secs()
    );
    table.add(row.goal(goal).is(late.is_some_and(|late| late <= most)));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Limit,
    Interrupt,
}

struct Crawled {
    /// Requests to the honest host until the crawl was asked to end.
    requests: u64,
    peak: u64,
    /// Time from that request to the end; none if it had to be killed.
    late: Option<Duration>,
}

fn crawl(attack: &Attack<'_>, slow: u64, time: Duration, end: End) -> Result<Crawled, Failure> {
    let trees = [Tree {
        ballast: LARGE,
        ..Tree::new(HONEST, 100_000)
    }];
    let honest = web::serve(&trees);
    let drip = Drip::spawn()?;
    let options = ["--delay", DELAY, "--delay-factor", "0", "--tries", "1"];
    let mut arguments = web::arguments(&honest, &trees, &options);
    let timeout = format!("{}s", TIMEOUT.as_secs());
    arguments.extend(["--timeout".to_owned(), timeout]);
    for number in 0..slow {
        let host = format!("slow{number}.test");
        let port = drip.address.port();
        arguments.push(format!("http://{host}:{port}/"));
        arguments.extend(["--resolve".to_owned(), format!("{host}:{port}:127.0.0.1")]);
    }
    let limit = format!("{}s", time.as_secs());
    let crawl = attack.crawler.crawl(arguments)?;
    let patience = TIMEOUT + GRACE * 5;
    let mut running = match end {
        End::Limit => crawl.start(&["--max-time", &limit])?,
        End::Interrupt => crawl.start(&[])?,
    };
    let early = running.ends_within(time)?;
    let requests = web::requests(&honest, HONEST);
    if end == End::Interrupt && !early {
        running.interrupt()?;
    }
    let ended = running.end(patience)?;
    Ok(Crawled {
        requests,
        peak: ended.peak,
        late: (!ended.overran).then(|| ended.took.saturating_sub(time)),
    })
}

/// A server of slow bodies.
struct Drip {
    address: SocketAddr,
}

impl Drip {
    fn spawn() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // It ends with this program.
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                    return;
                };
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(async move { drop(answer(stream).await) });
                }
            });
        });
        Ok(Self { address })
    }
}

async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    loop {
        head.clear();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut head).await? == 0 {
                return Ok(());
            }
        }
        if head.starts_with(b"GET /robots.txt ") {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                .await?;
            continue;
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {DECLARED}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&vec![b'a'; AT_ONCE]).await?;
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stream.write_all(b"a").await?;
        }
    }
}
