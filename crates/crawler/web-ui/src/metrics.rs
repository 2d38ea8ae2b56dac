//! `/metrics` and `/healthz`: the statistics of a crawl for monitoring.
//!
//! The statistics are collected when they are asked for, in the text format of Prometheus
//! (OpenMetrics 1.0). The names are constants of `metrics/names.rs`; docs/guide/metrics.md is made
//! from them, and config/grafana.json and config/alerts.yml use no others (tests compare all
//! three). No label has text from the web, so the number of series is fixed.

mod names;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use statistics::Counts;

use self::names::{
    ARCHIVE, BROWSER, EXCLUDED, FAILED, FREE, HOSTS, IN_FLIGHT, LAST_VISIT, MEMORY, PAGES,
    QUARANTINED, QUEUED, RECEIVED, RUNNING,
};
pub use self::names::{METRICS, Metric, MetricKind};
use crate::dashboard::frame::Refusal;
use crate::dashboard::{Dashboard, in_flight};
use crate::machine::MachineValues;

/// The media type of the format (OpenMetrics 1.0, section "Overall structure").
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers with all metrics.
pub(crate) async fn show(State(dashboard): State<Arc<Dashboard>>) -> Result<Response, Refusal> {
    let text = dashboard.answer(|dashboard| {
        let crawl = &dashboard.crawl;
        let machine = MachineValues::read(&crawl.state, &crawl.archive);
        let is_running = machine.process.is_some();
        let (counts, in_flight) = dashboard.look(|look| {
            let in_flight = in_flight::count(look, is_running).unwrap_or_default();
            (*look.statistics.counts(), in_flight)
        });
        write(&counts, in_flight, &machine).map_err(|_error| Refusal::Fault)
    });
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text.await?).into_response())
}

/// Answers whether the crawl can be read.
pub(crate) async fn health(State(dashboard): State<Arc<Dashboard>>) -> Result<Response, Refusal> {
    let damage =
        dashboard.answer(|dashboard| Ok(dashboard.look(|look| look.damage.map(str::to_owned))));
    Ok(match damage.await? {
        None => "ok\n".into_response(),
        Some(damage) => {
            let damage = web::printable(&damage);
            (StatusCode::SERVICE_UNAVAILABLE, format!("{damage}\n")).into_response()
        }
    })
}

fn write(
    counts: &Counts,
    in_flight: u64,
    machine: &MachineValues,
) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::default();
    let pages = Family::<[(&str, &str); 1], Counter>::default();
    for (verdict, count) in [
        ("unique", counts.totals.unique),
        ("changed", counts.totals.changed),
        ("exact-duplicate", counts.totals.exact_duplicates),
        ("near-duplicate", counts.totals.near_duplicates),
        ("off-topic", counts.totals.off_topic),
    ] {
        pages.get_or_create(&[("verdict", verdict)]).inc_by(count);
    }
    registry.register(PAGES.registered(), PAGES.help, pages);
    counter(&mut registry, &FAILED, counts.totals.failed);
    counter(&mut registry, &EXCLUDED, counts.totals.excluded);
    counter(&mut registry, &RECEIVED, counts.totals.bytes);
    gauge(&mut registry, &QUEUED, counts.queued);
    gauge(&mut registry, &IN_FLIGHT, in_flight);
    gauge(&mut registry, &QUARANTINED, counts.quarantined);
    gauge(&mut registry, &HOSTS, counts.hosts);
    let last = counts.last_visit_at.unwrap_or_default();
    gauge(&mut registry, &LAST_VISIT, last.as_millis() / 1_000);
    gauge(&mut registry, &RUNNING, machine.process.is_some().into());
    gauge(&mut registry, &MEMORY, machine.memory.unwrap_or_default());
    gauge(&mut registry, &BROWSER, machine.browser.unwrap_or_default());
    gauge(&mut registry, &ARCHIVE, machine.archive);
    gauge(&mut registry, &FREE, machine.free.unwrap_or_default());
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

fn counter(registry: &mut Registry, metric: &Metric, count: u64) {
    let counter = Counter::<u64, AtomicU64>::default();
    counter.inc_by(count);
    registry.register(metric.registered(), metric.help, counter);
}

fn gauge(registry: &mut Registry, metric: &Metric, value: u64) {
    let gauge = Gauge::<i64>::default();
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    registry.register(metric.registered(), metric.help, gauge);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_written_under_its_name() {
        let mut counts = Counts::default();
        counts.totals.unique = 7;
        counts.totals.near_duplicates = 2;
        counts.totals.bytes = u64::MAX;
        let text = write(&counts, 0, &MachineValues::default()).unwrap();
        for metric in METRICS {
            let (name, kind) = (metric.registered(), metric.kind.as_str());
            assert!(text.contains(&format!("# TYPE {name} {kind}\n")), "{text}");
            assert!(
                text.contains(&format!("\n{}", metric.name)),
                "{}",
                metric.name
            );
        }
        assert_eq!(text.matches("# TYPE ").count(), METRICS.len());
        assert!(
            text.contains("crawler_pages_total{verdict=\"unique\"} 7\n"),
            "{text}"
        );
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
