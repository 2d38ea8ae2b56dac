//! The decision to run the scripts of a pattern's pages, from the gain of those that were run.
//!
//! A page with text may still build the rest of it by scripts, which only running them shows, at
//! the cost of some hundred pages without. Pages of one pattern come from one template, so the
//! first ones are run as probes. If the DOM of none of them says more than the page as received,
//! the pattern is *static*: from then on one page in [`PROBE_GAP`] is a probe. If one does, scripts
//! are run until as many pages in a row have brought nothing (docs/adr/0034).
//!
//! Pages with next to no text are no probes: their scripts are run in any case, and a site has few
//! of them beside pages of another kind.

use journal::{Rendered, VisitRecord};
use serde::{Deserialize, Serialize};

/// Number of probes that make a pattern static.
const FIRST_PROBES: u32 = 3;

/// Number of pages of a static pattern from one probe to the next; and the number of pages in a row
/// that make a pattern static whose scripts have brought something.
const PROBE_GAP: u32 = 50;

/// A use of the scripts of a pattern's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptUse {
    /// Too few pages were rendered to know.
    Probing,
    /// They bring next to nothing.
    Static,
    /// They bring text or links, and are run.
    Run,
}

impl ScriptUse {
    /// Returns the word for it in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Probing => "probing",
            Self::Static => "static",
            Self::Run => "run",
        }
    }
}

/// The rendered pages of a pattern that have text without their scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPages {
    /// Number of pages whose scripts were run.
    pub rendered: u32,
    /// Number of these whose scripts brought text or links.
    pub adding: u32,
    /// Number of the last rendered pages, one after another, whose scripts brought nothing.
    fruitless: u32,
    /// Number of pages since the last one that was rendered.
    since: u32,
    /// The number of pages after which the next probe may be handed out, while one is out.
    #[serde(skip)]
    next_probe: u32,
}

impl RenderedPages {
    pub(super) fn count(&mut self, visit: &VisitRecord) {
        if !visit.fate.is_page() || visit.details.needs_scripts {
            return;
        }
        let Some(rendered) = &visit.details.rendered else {
            self.since = self.since.saturating_add(1);
            return;
        };
        self.rendered = self.rendered.saturating_add(1);
        (self.since, self.next_probe) = (0, 0);
        if matches!(rendered, Rendered::Dom { adds: true, .. }) {
            self.adding = self.adding.saturating_add(1);
            self.fruitless = 0;
        } else {
            self.fruitless = self.fruitless.saturating_add(1);
        }
    }

    /// Returns the use of the scripts of further pages; `None` if no page was rendered.
    #[must_use]
    pub const fn scripts(&self) -> Option<ScriptUse> {
        let enough = match self.adding {
            0 => FIRST_PROBES,
            _ => PROBE_GAP,
        };
        match (self.rendered, self.adding) {
            (0, _) => None,
            _ if self.fruitless >= enough => Some(ScriptUse::Static),
            (_, 0) => Some(ScriptUse::Probing),
            _ => Some(ScriptUse::Run),
        }
    }

    /// Returns true if the scripts of the next page are run. A probe that turns out to have no
    /// scripts, or comes to nothing, is followed by another one after as many pages.
    pub(super) fn runs_next(&mut self) -> bool {
        if self.scripts() != Some(ScriptUse::Static) {
            return true;
        }
        let is_probe = self.since + 1 >= PROBE_GAP.max(self.next_probe);
        if is_probe {
            self.next_probe = self.since + 1 + PROBE_GAP;
        }
        is_probe
    }

    /// Forgets a probe of an earlier session that was handed out.
    pub(super) fn begin_session(&mut self) {
        self.next_probe = 0;
    }
}

#[cfg(test)]
mod tests {
    use journal::{DiscoveredUrl, Fate};
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;

    fn visit() -> VisitRecord {
        let url = PageUrl::parse("http://a.test/x", &CanonicalForm::default()).expect("a URL");
        let found = DiscoveredUrl::new(url, 0, None);
        VisitRecord::new(found, Fate::Unique, Timestamp::from_millis(0))
    }

    /// Returns the numbers of the pages whose scripts are run, from 1, if those of the pages in
    /// `adding` bring something.
    fn run(pages: u32, adding: &[u32]) -> Vec<u32> {
        let mut counts = RenderedPages::default();
        let mut visit = visit();
        let is_run = |page: &u32| {
            let runs = counts.runs_next();
            visit.details.rendered = runs.then(|| Rendered::Dom {
                offset: None,
                adds: adding.contains(page),
            });
            counts.count(&visit);
            runs
        };
        (1..=pages).filter(is_run).collect()
    }

    #[test]
    fn a_pattern_without_a_gain_is_static_after_three_pages_and_probed_every_fifty() {
        assert_eq!(run(160, &[]), [1, 2, 3, 53, 103, 153]);
    }

    #[test]
    fn one_probe_of_a_static_pattern_is_out_at_a_time() {
        let mut counts = RenderedPages::default();
        let mut visit = visit();
        visit.details.rendered = Some(Rendered::Dom {
            offset: None,
            adds: false,
        });
        (0..3).for_each(|_| counts.count(&visit));
        visit.details.rendered = None;
        (0..49).for_each(|_| counts.count(&visit));
        assert_eq!([counts.runs_next(), counts.runs_next()], [true, false]);
        (0..50).for_each(|_| counts.count(&visit));
        assert!(counts.runs_next(), "the probe had no scripts");
    }

    #[test]
    fn one_gain_has_scripts_run_until_fifty_pages_in_a_row_brought_nothing() {
        let expected: Vec<u32> = (1..=52).chain([102]).collect();
        assert_eq!(run(120, &[2]), expected);
        let expected: Vec<u32> = [1, 2, 3].into_iter().chain(53..=103).collect();
        assert_eq!(run(110, &[53]), expected, "a later probe found it");
    }

    #[test]
    fn a_failed_rendering_counts_as_one_without_a_gain() {
        let mut counts = RenderedPages::default();
        let mut visit = visit();
        visit.details.rendered = Some(Rendered::Failed("it took too long".to_owned()));
        (0..3).for_each(|_| counts.count(&visit));
        assert_eq!(counts.scripts(), Some(ScriptUse::Static));
    }

    #[test]
    fn pages_that_need_their_scripts_say_nothing_about_the_others() {
        let mut counts = RenderedPages::default();
        let mut visit = visit();
        visit.details.needs_scripts = true;
        visit.details.rendered = Some(Rendered::Dom {
            offset: None,
            adds: true,
        });
        (0..3).for_each(|_| counts.count(&visit));
        assert_eq!(counts, RenderedPages::default());
    }
}
