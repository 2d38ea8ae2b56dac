//! `crawler status --hosts`: prints the pace of each host with its reason.

use std::io::{self, Write};
use std::time::Duration;

use export::List;
use inspect::hosts::{Line, lines};
use messages::printable;
use settings::Settings;
use settings::values::Span;
use statistics::CrawlStatistics;

/// Writes a line per host, sorted by descending number of pages.
pub(super) fn write(
    statistics: &CrawlStatistics,
    settings: &Settings,
    list: &mut List<'_>,
) -> io::Result<()> {
    list.line(&format!(
        "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} HOST",
        "PAGES", "WAITING", "FAILED", "DELAY", "WHY", "NOT BEFORE"
    ))?;
    for line in lines(statistics, settings) {
        list.write(&line, |out| write_line(&line, out))?;
    }
    Ok(())
}

fn write_line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} {}",
        line.pages,
        line.waiting,
        line.failed,
        span(line.delay),
        line.why.as_str(),
        line.ready_at.as_deref().unwrap_or_default(),
        printable(line.host)
    )?;
    if let (Some(asked), Some(obeyed)) = (line.crawl_delay, line.crawl_delay_obeyed) {
        write!(out, ", Crawl-delay {}", span(asked))?;
        if obeyed < asked {
            write!(out, " (obeyed: {})", span(obeyed))?;
        }
    }
    if line.failures > 0 {
        write!(out, ", failures in a row: {}", line.failures)?;
    }
    if let Some(wait) = line.retry_after {
        write!(out, ", Retry-After {}", span(wait))?;
    }
    if let Some(failure) = line.last_failure {
        write!(out, ", last failure: {}", printable(failure))?;
    }
    writeln!(out)
}

/// Formats a duration to the millisecond.
fn span(seconds: f64) -> String {
    let millis = Duration::try_from_secs_f64(seconds).map_or(u128::MAX, |span| span.as_millis());
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    Span(Duration::from_millis(millis)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_any_length_are_formatted_to_the_millisecond() {
        assert_eq!(span(1.250_4), "1s 250ms");
        assert_eq!(span(0.0), "0s");
        assert!(!span(1e300).is_empty());
    }
}
