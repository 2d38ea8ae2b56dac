//! Settings that may change while a crawl runs.
//!
//! [`RuntimeOverrides`] is one value that is replaced as a whole; a setting without an override
//! holds. They take effect through `CrawlContext::apply` of `crawl`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use journal::PatternName;
use requests::PacingRules;
use web::{Exclusions, Host, PageUrl};

use crate::failed_pages::FailedPages;

/// Overrides of the settings; empty at first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeOverrides {
    /// In place of [`PacingRules::delay`].
    pub delay: Option<Duration>,
    /// In place of [`PacingRules::factor`].
    pub delay_factor: Option<f64>,
    /// In place of [`PacingRules::max_delay`].
    pub max_delay: Option<Duration>,
    /// In place of [`PacingRules::rate`].
    pub rate: Option<NonZeroU32>,
    /// In place of the limit on pages in flight.
    pub concurrency: Option<usize>,
    /// Pages that are not visited, in addition to the exclusions of the scope.
    pub exclude: Exclusions,
    /// Minimum delays of single hosts. The longest of all reasons to wait counts.
    pub host_delays: BTreeMap<Host, Duration>,
    /// True if no new visit begins.
    pub pause: bool,
    /// Actions about URLs and patterns.
    pub actions: Actions,
}

/// Actions of a user that are applied once each: they are events, not settings. The holder of
/// the store carries them out, since they only concern the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Patterns and folders to be reopened.
    pub reopen: Vec<PatternName>,
    /// Unarchived pages that do not repeat their originals, to be visited again.
    pub distinct: Vec<PageUrl>,
    /// Failed pages to be requested again.
    pub retry: Vec<FailedPages>,
}

impl RuntimeOverrides {
    /// Returns the pacing rules with these overrides.
    #[must_use]
    pub fn pacing(&self, settings: &PacingRules) -> PacingRules {
        let delay = self.delay.unwrap_or(settings.delay);
        PacingRules {
            delay,
            factor: self.delay_factor.unwrap_or(settings.factor),
            max_delay: self.max_delay.unwrap_or(settings.max_delay).max(delay),
            rate: self.rate.or(settings.rate),
            ..settings.clone()
        }
    }
}

impl Actions {
    /// Returns each action in words, `reopen a.org/f/{n}`, to remember it by.
    pub fn words(&self) -> impl Iterator<Item = String> + '_ {
        let reopen = self.reopen.iter().map(|name| format!("reopen {name}"));
        let distinct = self.distinct.iter().map(|url| format!("distinct {url}"));
        let retry = self.retry.iter().map(|pages| format!("retry {pages}"));
        reopen.chain(distinct).chain(retry)
    }

    /// Returns the actions whose words are not in `applied`.
    #[must_use]
    pub fn without(&self, applied: &BTreeSet<String>) -> Self {
        let is_left = |words: String| !applied.contains(&words);
        let reopen = self.reopen.iter().cloned();
        let distinct = self.distinct.iter().cloned();
        let retry = self.retry.iter().cloned();
        Self {
            reopen: reopen
                .filter(|name| is_left(format!("reopen {name}")))
                .collect(),
            distinct: distinct
                .filter(|url| is_left(format!("distinct {url}")))
                .collect(),
            retry: retry
                .filter(|pages| is_left(format!("retry {pages}")))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_an_override_stay() {
        let settings = PacingRules {
            delay: Duration::from_secs(2),
            max_delay: Duration::from_secs(30),
            rate: NonZeroU32::new(7),
            ..PacingRules::default()
        };
        assert_eq!(RuntimeOverrides::default().pacing(&settings), settings);
        let overrides = RuntimeOverrides {
            delay: Some(Duration::from_secs(60)),
            delay_factor: Some(0.5),
            ..RuntimeOverrides::default()
        };
        let expected = PacingRules {
            delay: Duration::from_secs(60),
            max_delay: Duration::from_secs(60),
            factor: 0.5,
            ..settings.clone()
        };
        assert_eq!(overrides.pacing(&settings), expected);
        let overrides = RuntimeOverrides {
            max_delay: Some(Duration::from_secs(5)),
            rate: NonZeroU32::new(1),
            ..RuntimeOverrides::default()
        };
        let expected = PacingRules {
            max_delay: Duration::from_secs(5),
            rate: NonZeroU32::new(1),
            ..settings.clone()
        };
        assert_eq!(overrides.pacing(&settings), expected);
    }
}
