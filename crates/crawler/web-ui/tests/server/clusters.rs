//! The members of a cluster.

use journal::Fate;
use scraper::{Html, Selector};

use crate::client::{Response, Served};
use crate::crawl::{CrawlFixture, UNIQUE};

/// Returns the URLs of the first column of a list.
fn listed(page: &Response) -> Vec<String> {
    let document = Html::parse_document(&page.body);
    let cells = Selector::parse("tbody th > bdi a").unwrap();
    let cells = document.select(&cells);
    cells.map(|cell| cell.text().collect()).collect()
}

#[tokio::test]
async fn all_members_of_a_cluster_are_listed_in_the_order_of_their_visits() {
    let crawl = CrawlFixture::empty("x");
    crawl.visit(UNIQUE, Fate::Unique);
    let member = |number: usize| format!("http://site.test/copy/{number}");
    for number in 0..1_203 {
        let fate = [Fate::NearDuplicate, Fate::ExactDuplicate][number % 2];
        crawl.visit(&member(number), fate);
        crawl.visit(&format!("http://site.test/broken/{number}"), Fate::Failed);
    }
    crawl.revoke(&member(7));
    let mut expected: Vec<String> = (0..1_203).map(member).collect();
    expected.remove(7);

    let served = Served::of(crawl).await;
    let mut found = Vec::new();
    let mut next = Some(format!("/cluster?url={UNIQUE}"));
    while let Some(target) = next {
        let page = served.get(&target).await;
        let urls = listed(&page);
        assert!(urls.len() <= 500, "{}", urls.len());
        found.extend(urls);
        next = page.attribute("a[rel=next]", "href");
    }
    assert_eq!(found, expected);

    // A page that was visited again is a member again, at its new place.
    served.crawl.visit(&member(7), Fate::NearDuplicate);
    let last = served
        .get(&format!("/cluster?url={UNIQUE}&from=1000"))
        .await;
    assert_eq!(listed(&last).last(), Some(&member(7)));
}

#[tokio::test]
async fn the_pages_of_a_cluster_lead_to_the_list_of_its_members() {
    let crawl = CrawlFixture::empty("x");
    crawl.visit(UNIQUE, Fate::Unique);
    for number in 0..5 {
        crawl.visit(
            &format!("http://site.test/copy/{number}"),
            Fate::NearDuplicate,
        );
    }
    let served = Served::of(crawl).await;
    let list = "/cluster?url=http%3A%2F%2Fsite.test%2F";
    for target in [UNIQUE, "http://site.test/copy/0"] {
        let page = served.get(&format!("/page?url={target}")).await;
        assert_eq!(
            page.attribute("#cluster > p > a", "href").as_deref(),
            Some(list)
        );
        let text = page.text();
        assert!(text.contains("All 5 duplicates"), "{text}");
        assert!(text.contains("http://site.test/copy/4"), "{text}");
    }
    let duplicates = served.get("/duplicates").await;
    let more = duplicates.attribute("#clusters li li.quiet a", "href");
    assert_eq!(more.as_deref(), Some(list));
}
