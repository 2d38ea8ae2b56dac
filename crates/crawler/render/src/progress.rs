//! The progress of a page: the traffic of its tab writes it, and its clock reads it.

use crate::seam::RefusedRequest;

const MAX_CONSOLE_ERRORS: usize = 20;
const MAX_CONSOLE_ERROR: usize = 500;
const MAX_REFUSED: usize = 200;
const MAX_NAVIGATIONS: usize = 20;

/// The progress of one page.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// True once the page replaced the empty document of the tab.
    pub(crate) is_shown: bool,
    /// Number of steps of the page's clock that ended.
    pub(crate) steps: u32,
    /// Number of requests that wait for an answer.
    pub(crate) pending: usize,
    pub(crate) console_errors: Vec<String>,
    pub(crate) refused: Vec<RefusedRequest>,
    pub(crate) navigations: Vec<String>,
}

impl Progress {
    pub(crate) fn add_console_error(&mut self, text: &str) {
        if self.console_errors.len() < MAX_CONSOLE_ERRORS {
            let end = text.floor_char_boundary(MAX_CONSOLE_ERROR);
            self.console_errors.push(text[..end].to_owned());
        }
    }

    pub(crate) fn add_refused(&mut self, url: &str, reason: &str) {
        if self.refused.len() < MAX_REFUSED {
            self.refused.push(RefusedRequest {
                url: url.to_owned(),
                reason: reason.to_owned(),
            });
        }
    }

    pub(crate) fn add_navigation(&mut self, url: &str) {
        if self.navigations.len() < MAX_NAVIGATIONS {
            self.navigations.push(url.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_cannot_fill_memory_with_errors() {
        let mut progress = Progress::default();
        for _ in 0..1000 {
            progress.add_console_error(&"\u{e9}".repeat(1000));
            progress.add_refused("u", "r");
            progress.add_navigation("u");
        }
        assert_eq!(progress.console_errors.len(), 20);
        assert!(progress.console_errors.iter().all(|text| text.len() <= 500));
        assert_eq!(
            (progress.refused.len(), progress.navigations.len()),
            (200, 20)
        );
    }
}
