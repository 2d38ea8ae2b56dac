//! Metrics, and the files that name them.

use std::path::{Path, PathBuf};

use web_ui::METRICS;

use crate::client::Served;
use crate::crawl::CrawlFixture;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

#[tokio::test]
async fn the_metrics_are_those_of_the_views_and_have_no_text_from_the_web() {
    let served = Served::of(CrawlFixture::saying("hostile_label\"} 1")).await;
    let answer = served.get("/metrics").await;
    let media = answer.header("content-type").unwrap();
    assert!(media.starts_with("application/openmetrics-text"), "{media}");
    for line in [
        "crawler_pages_total{verdict=\"unique\"} 1",
        "crawler_pages_total{verdict=\"near-duplicate\"} 1",
        "crawler_failures_total 1",
        "crawler_excluded_total 1",
        "crawler_received_bytes_total 4000",
        "crawler_running 0",
        "crawler_last_visit_timestamp_seconds 1790000000",
    ] {
        assert!(
            answer.body.contains(&format!("\n{line}\n")),
            "{}",
            answer.body
        );
    }
    assert!(!answer.body.contains("hostile"), "{}", answer.body);
    assert_eq!(served.get("/healthz").await.body, "ok\n");
}

#[test]
fn the_documented_table_is_that_of_the_code() {
    let mut table = "| metric | kind | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for metric in METRICS {
        let labels = match metric.labels {
            "" => "–".to_owned(),
            label => format!("`{label}`"),
        };
        let (name, kind, help) = (metric.name, metric.kind.as_str(), metric.help);
        table += &format!("| `{name}` | {kind} | {labels} | {help} |\n");
    }
    let page = read("docs/guide/metrics.md");
    assert!(
        page.contains(&table),
        "docs/guide/metrics.md needs this table:\n{table}"
    );
}

/// Returns the names in a text that begin like those of our metrics.
fn named(text: &str) -> Vec<&str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = text.split(|character| !is_part(character));
    words.filter(|word| word.starts_with("crawler_")).collect()
}

#[test]
fn dashboards_and_alerts_name_only_metrics_that_exist() {
    for path in ["config/grafana.json", "config/alerts.yml"] {
        let text = read(path);
        let names = named(&text);
        assert!(names.len() >= 3, "{path}: {names:?}");
        for name in names {
            assert!(
                METRICS.iter().any(|metric| metric.name == name),
                "{path}: {name}"
            );
        }
    }
    let board: serde_json::Value = serde_json::from_str(&read("config/grafana.json")).unwrap();
    assert!(
        board["panels"]
            .as_array()
            .is_some_and(|panels| panels.len() >= 6)
    );
}
