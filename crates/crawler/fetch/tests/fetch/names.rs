//! Names and their addresses: looked up once, and the same beforehand and in the request.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch::{Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch, NameService};
use tokio::sync::Semaphore;
use web::{Clock, Timestamp};

use crate::server::{Server, page};

fn ip(text: &str) -> IpAddr {
    text.parse().expect("tests write addresses")
}

fn options(names: NameService) -> FetchOptions {
    FetchOptions {
        names,
        ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
    }
}

fn asking(names: NameService) -> HttpFetch {
    HttpFetch::new(options(names)).expect("these options work")
}

/// Returns a service with one response for every name, and the count of its look-ups.
fn always(addresses: &[&str]) -> (NameService, Arc<AtomicUsize>) {
    let addresses: Vec<IpAddr> = addresses.iter().map(|address| ip(address)).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let names = NameService::new(move |_name| {
        counted.fetch_add(1, Ordering::SeqCst);
        let addresses = addresses.clone();
        async move { Ok(addresses) }
    });
    (names, asked)
}

async fn address(fetch: &HttpFetch, url: &str) -> Option<IpAddr> {
    fetch.address(&page(url)).await
}

#[tokio::test]
async fn the_reported_address_is_the_first_allowed_one_in_any_order_of_the_answer() {
    let cases = [
        (&["93.184.216.34"][..], Some("93.184.216.34")),
        (&["93.184.216.40", "93.184.216.34"], Some("93.184.216.34")),
        (&["93.184.216.34", "93.184.216.40"], Some("93.184.216.34")),
        (
            &["10.0.0.1", "93.184.216.34", "127.0.0.1"],
            Some("93.184.216.34"),
        ),
        (&["93.184.216.34", "2606:2800::1"], Some("93.184.216.34")),
        (&["2606:2800::1", "93.184.216.34"], Some("2606:2800::1")),
        (&["10.0.0.1", "::1"], None),
        (&[], None),
    ];
    for (found, expected) in cases {
        let address = address(&asking(always(found).0), "http://a.test/").await;
        assert_eq!(address, expected.map(ip), "{found:?}");
    }
}

#[tokio::test]
async fn an_address_in_the_url_and_a_resolve_rule_need_no_look_up() {
    let (names, asked) = always(&["93.184.216.34"]);
    let fetch = HttpFetch::new(FetchOptions {
        resolve: vec![
            "ruled.test:80:93.184.216.50".parse().unwrap(),
            "private.test:80:10.0.0.1".parse().unwrap(),
        ],
        ..options(names)
    })
    .unwrap();
    let cases = [
        ("http://93.184.216.60/", Some("93.184.216.60")),
        ("http://0x5db8d83c/", Some("93.184.216.60")),
        ("http://[2606:2800::7]/", Some("2606:2800::7")),
        ("http://127.0.0.1/", None),
        ("http://[::ffff:10.0.0.1]/", None),
        ("http://ruled.test/", Some("93.184.216.50")),
        ("http://private.test/", None),
    ];
    for (url, expected) in cases {
        assert_eq!(address(&fetch, url).await, expected.map(ip), "{url}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let other_port = address(&fetch, "https://ruled.test/").await;
    assert_eq!(
        (other_port, asked.load(Ordering::SeqCst)),
        (Some(ip("93.184.216.34")), 1)
    );
}

#[tokio::test]
async fn the_reported_address_is_the_requested_one_after_one_look_up() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            .await;
    let (names, asked) = always(&["127.0.0.1"]);
    let fetch = HttpFetch::new(FetchOptions {
        allow_private: true,
        ..options(names)
    })
    .unwrap();
    let url = page(&format!("http://a.test:{}/", server.address.port()));
    for _ in 0..3 {
        let address = fetch.address(&url).await;
        let asked = fetch.fetch(&url).await.unwrap().address;
        assert_eq!(
            (address, asked),
            (Some(server.address.ip()), Some(server.address))
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn look_ups_of_one_name_at_the_same_time_are_one() {
    let gate = Arc::new(Semaphore::new(0));
    let asked = Arc::new(AtomicUsize::new(0));
    let (door, counted) = (Arc::clone(&gate), Arc::clone(&asked));
    let fetch = asking(NameService::new(move |_name| {
        counted.fetch_add(1, Ordering::SeqCst);
        let door = Arc::clone(&door);
        async move {
            let _opened = door.acquire().await.map_err(io::Error::other)?;
            Ok(vec![ip("93.184.216.34")])
        }
    }));
    let url = page("http://a.test/");
    let waiting = async {
        tokio::join!(
            fetch.address(&url),
            fetch.address(&url),
            fetch.address(&url)
        )
    };
    let open = async { gate.add_permits(1) };
    let (addresses, ()) = tokio::join!(waiting, open);
    assert_eq!(<[_; 3]>::from(addresses), [Some(ip("93.184.216.34")); 3]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_look_up_is_cached_for_a_while_and_a_failed_one_for_a_moment() {
    let (names, asked) = always(&["93.184.216.34"]);
    let fetch = asking(names);
    let nothing = always(&[]);
    let blind = asking(nothing.0);
    let url = page("http://a.test/");
    // seconds later → look-ups so far of a name that exists, and of one that does not
    let cases = [(0, 1, 1), (9, 1, 1), (2, 1, 2), (108, 1, 3), (2, 2, 3)];
    for (later, found, missed) in cases {
        tokio::time::advance(Duration::from_secs(later)).await;
        assert!(fetch.address(&url).await.is_some() && blind.address(&url).await.is_none());
        assert_eq!(
            (
                asked.load(Ordering::SeqCst),
                nothing.1.load(Ordering::SeqCst)
            ),
            (found, missed),
            "{later} later"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_look_up_times_out_and_its_response_serves_the_next_caller() {
    let fetch = HttpFetch::new(FetchOptions {
        limits: FetchLimits {
            connect_timeout: Duration::from_secs(10),
            ..FetchLimits::default()
        },
        ..options(NameService::new(|_name| async {
            tokio::time::sleep(Duration::from_secs(15)).await;
            Ok(vec![ip("10.0.0.1")])
        }))
    })
    .unwrap();
    let url = page("http://a.test/");
    assert_eq!(fetch.address(&url).await, None);
    assert_eq!(
        fetch.fetch(&url).await.unwrap_err(),
        FetchFailure::PrivateAddress {
            address: ip("10.0.0.1"),
            refusal: fetch::Refusal::Private
        },
        "the response came five seconds later"
    );
}

#[tokio::test]
async fn the_cache_of_names_is_bounded_and_forgotten_names_are_looked_up_again() {
    let (names, asked) = always(&["93.184.216.34"]);
    let fetch = asking(names);
    for number in 0..15_000 {
        address(&fetch, &format!("http://n{number}.test/")).await;
        address(&fetch, "http://often.test/").await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 15_001, "a name in use stays");
    address(&fetch, "http://n0.test/").await;
    assert_eq!(asked.load(Ordering::SeqCst), 15_002, "one that is not goes");
}
