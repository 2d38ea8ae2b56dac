//! Values that cannot be, each refused with what would be right.

use web::MainSelectors;

use super::Settings;
use crate::archiving;
use crate::cli_error::{CliError, usage};

impl Settings {
    /// Checks that all values are possible together.
    pub(super) fn check(&self) -> Result<(), CliError> {
        let refuse = |option: &str, value: &dyn std::fmt::Display, range: &str| {
            Err(usage(format!("--{option} {value} is impossible")).with_remedy(range))
        };
        if let Some(impossible) = self
            .resemblance
            .filter(|figure| !(0.0..=1.0).contains(figure))
        {
            let range = "a resemblance lies between 0 and 1; without one, it goes by the length \
                         of the texts";
            return refuse("resemblance", &impossible, range);
        }
        if self.distance > neardup::MAX_DISTANCE {
            let range = format!(
                "fingerprints are compared within 0 to {} bits; 3 is the default",
                neardup::MAX_DISTANCE
            );
            return refuse("distance", &self.distance, &range);
        }
        if let (Some(from), Some(to)) = (&self.sitemap_from, &self.sitemap_to)
            && from.lastmod.first > to.lastmod.last
        {
            return refuse(
                "sitemap-to",
                to,
                &format!("it must not be before --sitemap-from {from}"),
            );
        }
        if !check_factor(self.delay_factor) {
            return refuse("delay-factor", &self.delay_factor, IMPOSSIBLE_FACTOR);
        }
        if !check_concurrency(self.concurrency) {
            return refuse("concurrency", &self.concurrency, IMPOSSIBLE_CONCURRENCY);
        }
        if self.concurrency_per_host == Some(0) {
            return refuse(
                "concurrency-per-host",
                &0,
                "it must be at least 1, the default",
            );
        }
        if self.max_hosts_per_domain == 0 {
            return refuse(
                "max-hosts-per-domain",
                &0,
                "it must be at least 1; 1000 is the default",
            );
        }
        if self.per_cluster == 0 {
            return refuse("per-cluster", &0, "it must be at least 1, the default");
        }
        if let Err(bad) = MainSelectors::parse(&self.main_selector) {
            let forms = "a CSS selector such as \"article.post\", or HOST=CSS";
            return Err(usage(format!("--main-selector {bad}")).with_remedy(forms));
        }
        if let Err(range) = self.tables.design(self.distance) {
            return refuse("tables", &self.tables, &range);
        }
        if self.tries == 0 {
            return refuse("tries", &0, "it must be at least 1; 3 is the default");
        }
        archiving::check(self)?;
        if self.timeout.0.is_zero() {
            return refuse("timeout", &"0", "it must be longer than 0, such as 60s");
        }
        if matches!(self.agent_token().as_str(), "" | "*") {
            let shape = "it must begin with a product token of letters, digits, - and _, which \
                         robots.txt can name: Name/1.0 (+contact)";
            return refuse("user-agent", &self.user_agent(), shape);
        }
        let visible = self
            .user_agent()
            .chars()
            .all(|character| character == ' ' || character.is_ascii_graphic());
        if !visible {
            return refuse(
                "user-agent",
                &self.user_agent(),
                "it must be visible ASCII characters (RFC 9110, section 5.5)",
            );
        }
        Ok(())
    }
}

/// Returns true if the delay factor is possible.
pub(crate) fn check_factor(factor: f64) -> bool {
    (0.0..=1000.0).contains(&factor)
}

pub(crate) const IMPOSSIBLE_FACTOR: &str = "it must be from 0 to 1000; 5 is the default";

/// Returns true if the number of pages under way is possible.
pub(crate) fn check_concurrency(pages: usize) -> bool {
    (1..=10_000).contains(&pages)
}

pub(crate) const IMPOSSIBLE_CONCURRENCY: &str =
    "it must be from 1 to 10000 pages; 64 is the default";
