//! Server-side request forgery: no URL makes the crawler ask its owner's network.
//!
//! A canary listens on loopback and counts connections. A test fails if there is one.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch::{Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch, NameService};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use web::{CanonicalForm, Clock, PageUrl, Timestamp};

use crate::server::page;

/// Spellings of this machine that would reach the canary without a guard. `{}` is its port.
const REACHING: [&str; 62] = [
    "http://127.0.0.1:{}/",
    "HTTP://127.0.0.1:{}",
    "  http://127.0.0.1:{}/  ",
    "http://127.0.0.1.:{}/",
    // numbers: shorter, octal, hexadecimal, in one (the URL standard's IPv4 parser)
    "http://127.1:{}/",
    "http://127.0.1:{}/",
    "http://2130706433:{}/",
    "http://0x7f000001:{}/",
    "http://0X7F000001:{}/",
    "http://0x7f.0.0.1:{}/",
    "http://0x7f.1:{}/",
    "http://0x7f.0x0.0x0.0x1:{}/",
    "http://0x0000007f.1:{}/",
    "http://017700000001:{}/",
    "http://0177.0.0.1:{}/",
    "http://0177.1:{}/",
    "http://00000177.0.0.01:{}/",
    "http://0177.0x0.0.1:{}/",
    "http://127.0.0.0x1:{}/",
    "http://127.0x0.1:{}/",
    "http://127.000.000.001:{}/",
    "http://127.127.127.127:{}/",
    "http://127.255.255.254:{}/",
    "http://2130706687:{}/",
    "http://0:{}/",
    "http://0x0:{}/",
    "http://00:{}/",
    "http://0.0:{}/",
    "http://0.0.0.0:{}/",
    "http://000.000.000.000:{}/",
    // other digits and dots (UTS 46)
    "http://１２７.０.０.１:{}/",
    "http://127。0。0。1:{}/",
    "http://127．0．0．1:{}/",
    "http://127｡0｡0｡1:{}/",
    "http://①②⑦.⓪.⓪.①:{}/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{}/",
    "http://０ｘ７ｆ０００００１:{}/",
    // ignored characters: soft hyphens, spaces of no width, tabs and ends of lines
    "http://127\u{ad}.0.0.1:{}/",
    "http://127.0.0\u{200b}.1:{}/",
    "http://12\n7.0.0.1:{}/",
    "http://127.0.0.1\t:{}/",
    "ht\r\ntp:/\t/127.0.0.1:{}/",
    // percent-encoded
    "http://%31%32%37.0.0.1:{}/",
    "http://127%2E0%2e0%2E1:{}/",
    "http://%30%78%37%66%2e%31:{}/",
    "http://%EF%BC%91%32%37.0.0.1:{}/",
    // slashes of either kind, few or many
    "http:127.0.0.1:{}/",
    "http:/127.0.0.1:{}/",
    "http:////127.0.0.1:{}/",
    "http:\\\\127.0.0.1:{}\\",
    "http:\\/127.0.0.1:{}/",
    "http://127.0.0.1:{}\\@93.184.216.34/",
    // user information before the host
    "http://93.184.216.34@127.0.0.1:{}/",
    "http://public.test:80@127.0.0.1:{}/",
    "http://user:pass%40word@127.0.0.1:{}/",
    "http://public.test%2F@127.0.0.1:{}/",
    "http://127.0.0.1:{}#@public.test/",
    "http://127.0.0.1:{}?@public.test/",
    // names that the resolver of this test maps to loopback addresses
    "http://localhost:{}/",
    "http://a.localhost:{}/",
    "http://127.0.0.1.nip.io:{}/",
    "http://metadata.google.internal:{}/",
];

/// Spellings that are no URLs, or of places that no test may ask: never asked either.
const OTHERS: [&str; 78] = [
    "http://LOCALHOST.:{}/",
    "http://a.b.localhost.:{}/",
    "http://localhost.localdomain:{}/",
    "http://ip6-localhost:{}/",
    "http://ｌｏｃａｌｈｏｓｔ:{}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{}/",
    "http://𝕝𝕠𝕔𝕒𝕝𝕙𝕠𝕤𝕥:{}/",
    "http://localhoſt:{}/",
    "http://loc%61lhost:{}/",
    "http://l\u{ad}ocalhost:{}/",
    "http://lоcalhost:{}/", // with a Cyrillic о
    "http://localhost%00.public.test:{}/",
    "http://localhost%20:{}/",
    "http://public.test#@127.0.0.1:{}/",
    "http://public.test?@127.0.0.1:{}/",
    "http://public.test\\@127.0.0.1:{}/",
    "http://127.0.0.1%00:{}/",
    "http://127.0.0.1%2f:{}/",
    "http://127.0.0.1%23.public.test:{}/",
    "http://127.0.0.1 .public.test:{}/",
    "http://127.0.0.1:{}:80/",
    "http://127.0.0.1:+{}/",
    "http://127.0.0.256:{}/",
    "http://127.0.0.0.1:{}/",
    "http://0x7f.0.0.0x1g:{}/",
    "http://4294967297:{}/",
    "http://１２７。０。０。２５６:{}/",
    "file://127.0.0.1:{}/",
    "gopher://127.0.0.1:{}/",
    // IPv6: loopback, unspecified, zones
    "http://[::1]:{}/",
    "https://[::1]:{}/",
    "http://[0:0:0:0:0:0:0:1]:{}/",
    "http://[0000:0000::0001]:{}/",
    "http://[::0.0.0.1]:{}/",
    "http://[::]:{}/",
    "http://[0::0]:{}/",
    "http://::1:{}/",
    "http://[::1%25lo]:{}/",
    "http://[::1%lo]:{}/",
    "http://[fe80::1%25eth0]:{}/",
    "http://[fe80::1]:{}/",
    "http://[fec0::1]:{}/",
    "http://[fd00::1]:{}/",
    "http://[ff02::1]:{}/",
    "http://％5B::1％5D:{}/",
    // IPv6 around IPv4: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
    "http://[::ffff:127.0.0.1]:{}/",
    "http://[::FFFF:7F00:0001]:{}/",
    "http://[0:0:0:0:0:ffff:7f00:1]:{}/",
    "http://[::ffff:0.0.0.0]:{}/",
    "http://[::ffff:169.254.169.254]:{}/",
    "http://[::ffff:a9fe:a9fe]:{}/",
    "http://[::127.0.0.1]:{}/",
    "http://[::7f00:1]:{}/",
    "http://[::ffff:0:127.0.0.1]:{}/",
    "http://[64:ff9b::127.0.0.1]:{}/",
    "http://[64:ff9b::a00:1]:{}/",
    "http://[64:ff9b:1::93.184.216.34]:{}/",
    "http://[2002:7f00:1::]:{}/",
    "http://[2002:a9fe:a9fe::1]:{}/",
    "http://[2001:0:7f00:1::1]:{}/",
    "http://[2001:0:5db8:d822::80ff:fffe]:{}/",
    "http://[2620:0:1::5efe:127.0.0.1]:{}/",
    "http://[2620:0:1::200:5efe:10.0.0.1]:{}/",
    // its owner's network, its neighbours, its cloud
    "http://10.0.0.1:{}/",
    "https://10.1:{}/",
    "http://012.0.0.1:{}/",
    "http://167772161:{}/",
    "http://172.16.0.1:{}/",
    "http://192.168.257:{}/",
    "http://100.64.0.1:{}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xA9FEA9FE/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://100.100.100.200/latest/meta-data/",
    "http://192.0.0.192/",
    "http://255.255.255.255:{}/",
    "http://224.0.0.1:{}/",
];

/// A listener that counts connections.
struct Canary {
    port: u16,
    heard: Arc<AtomicUsize>,
}

impl Canary {
    async fn on(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let heard = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    // The client gets a response, so that a test can tell that it came through.
                    let _request = stream.read(&mut [0; 1024]).await;
                    let response = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
                    stream.write_all(response).await.ok();
                });
            }
        });
        Self { port, heard }
    }

    /// Returns the number of connections so far. They are accepted in order: when ours is, all
    /// before it were.
    async fn connections(self) -> usize {
        let mut ours = TcpStream::connect(("127.0.0.1", self.port))
            .await
            .expect("it listens");
        ours.shutdown().await.expect("nothing is asked");
        ours.read_to_end(&mut Vec::new())
            .await
            .expect("it hangs up");
        self.heard.load(Ordering::SeqCst) - 1
    }
}

fn options(names: NameService) -> FetchOptions {
    FetchOptions {
        names,
        ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
    }
}

/// Every name is this machine.
fn everything_is_here() -> NameService {
    NameService::new(|_name| async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
}

fn spelled(template: &str, port: u16) -> String {
    template.replace("{}", &port.to_string())
}

#[tokio::test]
async fn no_spelling_of_a_private_address_reaches_it() {
    // Every address of this machine, so that the canary sees every spelling.
    let canary = Canary::on("0.0.0.0:0").await;
    let (form, base) = (CanonicalForm::default(), page("http://public.test/page"));
    let guarded = HttpFetch::new(options(everything_is_here())).unwrap();
    let mut asked = 0;
    for template in REACHING.into_iter().chain(OTHERS) {
        let text = spelled(template, canary.port);
        for url in [PageUrl::parse(&text, &form), base.join(&text, &form)] {
            let Ok(url) = url else { continue };
            asked += 1;
            assert_eq!(guarded.address(&url).await, None, "{text:?}");
            let failure = guarded.fetch(&url).await.unwrap_err();
            assert!(
                matches!(failure, FetchFailure::PrivateAddress { .. }),
                "{text:?} gave {failure:?}"
            );
        }
    }
    assert!(asked >= 200, "{asked}");
    assert_eq!(canary.connections().await, 0);
}

/// Proves that the table above tests something: the same spellings connect without a guard.
#[tokio::test]
async fn without_the_guard_the_same_spellings_reach_it() {
    let canary = Canary::on("0.0.0.0:0").await;
    let fetch = HttpFetch::new(FetchOptions {
        allow_private: true,
        ..options(everything_is_here())
    })
    .unwrap();
    for template in REACHING {
        let url = page(&spelled(template, canary.port));
        let response = fetch.fetch(&url).await;
        assert_eq!(
            response.map(|exchange| exchange.status),
            Ok(204),
            "{template}"
        );
    }
    assert_eq!(canary.connections().await, REACHING.len());
}

#[tokio::test]
async fn the_systems_own_names_for_this_machine_are_refused() {
    let canary = Canary::on("0.0.0.0:0").await;
    let guarded = HttpFetch::new(options(NameService::system())).unwrap();
    let url = page(&format!("http://localhost:{}/", canary.port));
    let failure = guarded.fetch(&url).await.unwrap_err();
    assert!(
        matches!(failure, FetchFailure::PrivateAddress { .. }),
        "{failure:?}"
    );
    assert_eq!(canary.connections().await, 0);
}

/// Two servers on one port: one at an allowed address, and the canary at a refused one.
async fn a_public_server_and_a_canary(response: &'static str) -> (Arc<AtomicUsize>, Canary) {
    loop {
        let public = TcpListener::bind("127.0.0.2:0")
            .await
            .expect("loopback has many addresses");
        let port = public.local_addr().expect("it is bound").port();
        // Another test may have this port on the other address.
        if TcpListener::bind(("127.0.0.1", port)).await.is_err() {
            continue;
        }
        let canary = Canary::on(&format!("127.0.0.1:{port}")).await;
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = public.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut request = [0; 1024];
                    while matches!(stream.read(&mut request).await, Ok(1..)) {
                        if stream.write_all(response.as_bytes()).await.is_err()
                            || response.contains("close")
                        {
                            return;
                        }
                    }
                });
            }
        });
        return (connections, canary);
    }
}

const CLOSING: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
const STAYING: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The good address, the bad one, and both in either order, in rotation.
fn flipping() -> (NameService, Arc<AtomicUsize>) {
    let (good, bad) = (IpAddr::from([127, 0, 0, 2]), IpAddr::from([127, 0, 0, 1]));
    let look_ups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&look_ups);
    let names = NameService::new(move |_name| {
        let response = match counted.fetch_add(1, Ordering::SeqCst) % 4 {
            0 => vec![good],
            1 => vec![bad],
            2 => vec![bad, good],
            _ => vec![good, bad],
        };
        async { Ok(response) }
    });
    (names, look_ups)
}

fn fetch_that_allows_the_good_address(names: NameService, kept: Duration) -> HttpFetch {
    HttpFetch::new(FetchOptions {
        allow_addresses: vec![[127, 0, 0, 2].into()],
        limits: FetchLimits {
            names_kept: kept,
            ..FetchLimits::default()
        },
        ..options(names)
    })
    .expect("these options work")
}

#[tokio::test]
async fn ten_thousand_flips_of_a_name_never_reach_the_private_address() {
    let (served, canary) = a_public_server_and_a_canary(CLOSING).await;
    let (names, look_ups) = flipping();
    let fetch = fetch_that_allows_the_good_address(names, Duration::ZERO);
    let url = page(&format!("http://rebinding.test:{}/", canary.port));
    let (mut answered, mut refused) = (0, 0);
    while look_ups.load(Ordering::SeqCst) < 10_000 {
        match fetch.fetch(&url).await {
            Ok(exchange) => {
                assert_eq!(exchange.address.unwrap().ip(), IpAddr::from([127, 0, 0, 2]));
                answered += 1;
            }
            Err(FetchFailure::PrivateAddress { .. }) => refused += 1,
            Err(failure) => panic!("{failure:?}"),
        }
    }
    assert_eq!(
        (answered, refused, served.load(Ordering::SeqCst)),
        (7_500, 2_500, 7_500)
    );
    assert_eq!(canary.connections().await, 0);
}

#[tokio::test]
async fn a_kept_connection_stays_at_the_allowed_address() {
    let (served, canary) = a_public_server_and_a_canary(STAYING).await;
    let (names, look_ups) = flipping();
    let fetch = fetch_that_allows_the_good_address(names, Duration::ZERO);
    let url = page(&format!("http://rebinding.test:{}/", canary.port));
    for _ in 0..100 {
        // A new response each time, in rotation; an open connection stays where it is.
        fetch.address(&url).await;
        let Ok(exchange) = fetch.fetch(&url).await else {
            continue;
        };
        assert_eq!(exchange.address.unwrap().ip(), IpAddr::from([127, 0, 0, 2]));
    }
    assert!(look_ups.load(Ordering::SeqCst) >= 100 && served.load(Ordering::SeqCst) >= 1);
    assert_eq!(canary.connections().await, 0);
}

#[tokio::test]
async fn a_dead_public_address_does_not_lead_to_the_private_one() {
    let canary = Canary::on("127.0.0.1:0").await;
    let (names, _) = flipping();
    let fetch = fetch_that_allows_the_good_address(names, Duration::ZERO);
    let url = page(&format!("http://rebinding.test:{}/", canary.port));
    for _ in 0..8 {
        let failure = fetch.fetch(&url).await.unwrap_err();
        assert!(
            matches!(
                failure,
                FetchFailure::Connect(_) | FetchFailure::PrivateAddress { .. }
            ),
            "{failure:?}"
        );
    }
    assert_eq!(canary.connections().await, 0);
}
