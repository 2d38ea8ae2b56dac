//! Pages in flight.

use journal::Fate;

use crate::client::Served;
use crate::crawl::CrawlFixture;

#[tokio::test]
async fn the_pages_in_flight_are_those_that_were_leased_and_have_not_ended() {
    let crawl = CrawlFixture::empty("x");
    let places = ["http://a.test/1", "http://b.test/2", "http://a.test/3"];
    let first = crawl.discover(&places);
    let running = crawl.run();
    let served = Served::of(crawl).await;
    let in_flight = async || served.get("/in-flight").await.text();
    assert!(in_flight().await.contains("No page is in flight."));

    served.crawl.lease(&[first, first + 2]);
    let page = in_flight().await;
    assert!(
        page.contains(places[0]) && page.contains(places[2]),
        "{page}"
    );
    assert!(!page.contains(places[1]), "{page}");
    assert!(page.contains("1 to 2 of 2 pages"), "{page}");
    // The journal began then; the clock of the server is some minutes ahead.
    assert!(page.contains("2026-09-21 14:13:20 UTC"), "{page}");
    let overview = served.get("/").await;
    assert_eq!(
        overview.attribute(".facts dd a", "href").unwrap(),
        "/in-flight"
    );
    let metrics = async || served.get("/metrics").await.body;
    assert!(metrics().await.contains("\ncrawler_in_flight_urls 2\n"));

    served.crawl.settle(first, places[0], Fate::Unique);
    let page = in_flight().await;
    assert!(
        !page.contains(places[0]) && page.contains(places[2]),
        "{page}"
    );

    // Nothing is in flight without a process, whatever the journal of a killed one says.
    drop(running);
    assert!(in_flight().await.contains("No page is in flight."));
    assert!(metrics().await.contains("\ncrawler_in_flight_urls 0\n"));
}

#[tokio::test]
async fn a_long_list_of_pages_in_flight_is_paged_and_every_url_is_found() {
    let crawl = CrawlFixture::empty("x");
    let places: Vec<String> = (0..700)
        .map(|page| format!("http://h{}.test/{page}/{}", page % 9, "x".repeat(400)))
        .collect();
    let mut sequences = Vec::new();
    for some in places.chunks(10) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        let first = crawl.discover(&some);
        sequences.extend(first..first + some.len() as u64);
    }
    crawl.lease(&sequences);
    let _running = crawl.run();
    let served = Served::of(crawl).await;
    let pages = [
        served.get("/in-flight").await.text(),
        served.get("/in-flight?from=500").await.text(),
    ];
    assert!(pages[0].contains("1 to 500 of 700 pages"), "{}", pages[0]);
    assert!(pages[1].contains("501 to 700 of 700 pages"), "{}", pages[1]);
    for place in &places {
        let on = pages.iter().filter(|page| page.contains(place.as_str()));
        assert_eq!(on.count(), 1, "{place}");
    }
}
