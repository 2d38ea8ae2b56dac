//! Extra hops: links out of the scope that are visited, and their distance from the scope.
//!
//! A page in scope is 0 links off the scope. A link out of the scope is one link farther off than
//! its page. A redirect out of the scope counts as a link; further redirects outside count nothing.
//!
//! Invariant: the scope decides first. A URL in scope is 0 links off it, regardless of the page
//! that it was found on, and no expression that excludes a URL is overridden.

use web::{OutOfScope, PageUrl, Scope};

use crate::policy::Policy;

/// Returns the number of links from the scope to a page at `url`, whose URL was queued as one that
/// is `queued` links off the scope.
#[must_use]
pub fn links_off_scope(scope: &Scope, queued: u8, url: &PageUrl) -> u8 {
    match scope.judge(url) {
        Ok(()) => 0,
        Err(_) => queued.max(1),
    }
}

impl Policy {
    /// Returns the number of links from the scope to the target of a link, on a page that is `page`
    /// links off the scope.
    ///
    /// # Errors
    /// The rule that leaves the target out, if it is too far off the scope, or an expression
    /// excludes it.
    pub fn hop(&self, scope: &Scope, page: u8, target: &PageUrl) -> Result<u8, OutOfScope> {
        match scope.judge(target) {
            Ok(()) => Ok(0),
            Err(rule) if rule.is_exclusion() || page >= self.extra_hops => Err(rule),
            Err(_) => Ok(page + 1),
        }
    }

    /// Returns true if a page out of the scope is visited after a redirect of a page that was
    /// queued as one that is `queued` links off the scope.
    #[must_use]
    pub fn redirects_off_scope(&self, queued: u8, out_of_scope: &OutOfScope) -> bool {
        !out_of_scope.is_exclusion() && queued.max(1) <= self.extra_hops
    }
}

#[cfg(test)]
mod tests {
    use reading::ReadingRules;
    use web::{CanonicalForm, ScopeKind};

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    fn policy(extra_hops: u8) -> Policy {
        Policy {
            extra_hops,
            ..Policy::new(ReadingRules::default())
        }
    }

    fn scope() -> Scope {
        let mut scope = Scope::new(ScopeKind::Host, &[], &["/private".to_owned()]).unwrap();
        scope.add_seed(&url("http://a.test/"));
        scope
    }

    #[test]
    fn links_are_followed_until_the_hops_are_used_up() {
        let scope = scope();
        for (extra_hops, page, target, expected) in [
            (0, 0, "http://a.test/x", Some(0)),
            (0, 0, "http://b.test/", None),
            (1, 0, "http://b.test/", Some(1)),
            (1, 1, "http://c.test/", None),
            (1, 1, "http://a.test/x", Some(0)),
            (2, 1, "http://c.test/", Some(2)),
            (2, 2, "http://c.test/", None),
            (7, 0, "http://b.test/private", None),
            (7, 0, "http://a.test/private", None),
        ] {
            let hop = policy(extra_hops).hop(&scope, page, &url(target));
            assert_eq!(hop.ok(), expected, "{extra_hops} {page} {target}");
        }
    }

    #[test]
    fn only_the_redirect_that_leaves_the_scope_counts_as_a_link() {
        let scope = scope();
        let [inside, outside] = ["http://a.test/", "http://b.test/"].map(url);
        assert_eq!(links_off_scope(&scope, 0, &inside), 0);
        assert_eq!(links_off_scope(&scope, 0, &outside), 1);
        assert_eq!(links_off_scope(&scope, 2, &outside), 2);
        assert_eq!(links_off_scope(&scope, 2, &inside), 0, "it is in scope");
        let rule = scope.judge(&outside).unwrap_err();
        let goes_on = |hops: u8, queued| policy(hops).redirects_off_scope(queued, &rule);
        assert!(!goes_on(0, 0));
        assert!(goes_on(1, 0) && goes_on(1, 1) && goes_on(2, 2));
        assert!(!goes_on(1, 2), "the setting was lowered in the meantime");
        let excluded = scope.judge(&url("http://b.test/private")).unwrap_err();
        assert!(!policy(7).redirects_off_scope(0, &excluded));
    }
}
