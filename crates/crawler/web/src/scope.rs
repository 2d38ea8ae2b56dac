//! Scope: the pages that belong to a crawl.
//!
//! The seeds span a territory (a host, a domain, a path, or everything); include and exclude
//! expressions refine it. An exclusion overrides everything, even a seed. Temporary exclusions
//! ([`Exclusions`]) apply on top.
//!
//! http and https on their default ports count as one place, because sites switch between them from
//! page to page.

pub(crate) mod seeds;
pub(crate) mod trap;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::url::page_url::PageUrl;
use crate::url::url_key::UrlKey;

/// Maximum size of a compiled expression, in bytes.
const MAX_EXPRESSION_BYTES: usize = 1 << 20;

/// The territory that a seed spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The same host and port.
    #[default]
    Host,
    /// The same registrable domain, according to the public suffix list; any port.
    Domain,
    /// The same host and port, and the seed's folder: its path up to the last slash, or the path
    /// and everything below it if it does not end in a file name.
    Prefix,
    /// Everything.
    Any,
}

/// The scope of a crawl: seeds, expressions and temporary exclusions.
///
/// ```
/// use web::{CanonicalForm, PageUrl, Scope, ScopeKind};
///
/// let form = CanonicalForm::default();
/// let mut scope = Scope::new(ScopeKind::Host, &[], &["/private/".to_owned()])?;
/// scope.add_seed(&PageUrl::parse("https://example.org/", &form)?);
/// assert!(scope.judge(&PageUrl::parse("https://example.org/a", &form)?).is_ok());
/// assert!(scope.judge(&PageUrl::parse("https://example.org/private/b", &form)?).is_err());
/// assert!(scope.judge(&PageUrl::parse("https://example.com/", &form)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    kind: ScopeKind,
    /// Kinds of single seeds.
    kinds: HashMap<UrlKey, ScopeKind>,
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    /// Temporary exclusions.
    exclude_now: Exclusions,
    seeds: HashSet<UrlKey>,
    /// Hashes of the registrable domains of the seeds. A crawl may have millions of seeds, each on
    /// another host, so eight bytes per seed are kept instead of names. The key of the hashes is
    /// random, so nobody can choose a name that collides.
    seed_domains: HashSet<u64>,
    /// Hashes of the hosts of the seeds, each with a folder (`/` except for
    /// [`ScopeKind::Prefix`]).
    places: HashSet<u64>,
    /// Hashes of the domains of the seeds whose scope is [`ScopeKind::Domain`].
    domains: HashSet<u64>,
    /// Number of slashes in the deepest folder.
    deepest: usize,
    hasher: RandomState,
}

/// Expressions that exclude pages temporarily, even if the scope includes them.
#[derive(Clone, Debug, Default)]
pub struct Exclusions(Vec<Regex>);

/// An unusable expression.
#[derive(Debug, thiserror::Error)]
#[error("{pattern:?} is not a valid expression")]
pub struct ScopeError {
    /// The expression as written.
    pub pattern: String,
    /// The error of the regex compiler.
    #[source]
    pub source: Box<regex::Error>,
}

/// Rule that excludes a page from the crawl; its text is one clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum OutOfScope {
    /// The host differs ([`ScopeKind::Host`]).
    #[error("its host is not the host of a seed (scope host)")]
    OtherHost,
    /// The domain differs ([`ScopeKind::Domain`]).
    #[error("its domain is not the domain of a seed (scope domain)")]
    OtherDomain,
    /// The path differs ([`ScopeKind::Prefix`]).
    #[error("it is not below the path of a seed (scope prefix)")]
    OtherPrefix,
    /// No include expression matches.
    #[error("no include expression matches it")]
    NotIncluded,
    /// An exclude expression matches.
    #[error("the exclude expression {pattern:?} matches it")]
    Excluded {
        /// The expression as written.
        pattern: String,
    },
    /// One of the [`Exclusions`] matches.
    #[error("excluded by control.toml: the expression {pattern:?} matches it")]
    ExcludedNow {
        /// The expression as written.
        pattern: String,
    },
}

impl OutOfScope {
    /// Returns the name of the rule for counts: its text without the option that sets it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::OtherHost => "its host is not the host of a seed".to_owned(),
            Self::OtherDomain => "its domain is not the domain of a seed".to_owned(),
            Self::OtherPrefix => "it is not below the path of a seed".to_owned(),
            Self::NotIncluded | Self::Excluded { .. } => self.to_string(),
            Self::ExcludedNow { .. } => "excluded by control.toml".to_owned(),
        }
    }

    /// Returns true if an expression excludes the page; then no other rule can include it.
    #[must_use]
    pub const fn is_exclusion(&self) -> bool {
        matches!(self, Self::Excluded { .. } | Self::ExcludedNow { .. })
    }
}

impl Exclusions {
    /// Compiles expressions, which may match anywhere in the URL, like the expressions of a
    /// [`Scope`].
    ///
    /// # Errors
    ///
    /// [`ScopeError`] for the first expression that is malformed or too large.
    pub fn new(patterns: &[String]) -> Result<Self, ScopeError> {
        compile(patterns).map(Self)
    }

    /// Returns the expressions as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Regex::as_str)
    }

    /// Checks that no expression excludes a page.
    ///
    /// # Errors
    ///
    /// [`OutOfScope::ExcludedNow`] with the expression that matches.
    pub fn judge(&self, url: &PageUrl) -> Result<(), OutOfScope> {
        match self.0.iter().find(|rule| is_match(rule, url)) {
            Some(rule) => Err(OutOfScope::ExcludedNow {
                pattern: rule.as_str().to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// Compares the expressions as written.
impl PartialEq for Exclusions {
    fn eq(&self, other: &Self) -> bool {
        self.patterns().eq(other.patterns())
    }
}

impl Scope {
    /// Creates a scope without seeds, which includes nothing unless it is [`ScopeKind::Any`].
    ///
    /// Expressions may match anywhere in the canonical URL, and in the URL as written; `^` and `$`
    /// anchor them. If there are include expressions, at least one must match.
    ///
    /// # Errors
    ///
    /// [`ScopeError`] for the first expression that is malformed or too large.
    pub fn new(
        kind: ScopeKind,
        include: &[String],
        exclude: &[String],
    ) -> Result<Self, ScopeError> {
        Ok(Self {
            kind,
            kinds: HashMap::new(),
            include: compile(include)?,
            exclude: compile(exclude)?,
            exclude_now: Exclusions::default(),
            seeds: HashSet::new(),
            seed_domains: HashSet::new(),
            places: HashSet::new(),
            domains: HashSet::new(),
            deepest: 0,
            hasher: RandomState::new(),
        })
    }

    /// Sets the territories of single seeds, before they are added. A scope of
    /// [`ScopeKind::Any`] includes everything in any case.
    #[must_use]
    pub fn with_kinds(self, kinds: impl IntoIterator<Item = (PageUrl, ScopeKind)>) -> Self {
        let kinds = kinds.into_iter().map(|(seed, kind)| (seed.key(), kind));
        Self {
            kinds: kinds.collect(),
            ..self
        }
    }

    /// Includes a seed, even if no include expression matches, and its territory. Returns false if
    /// it was a seed before.
    pub fn add_seed(&mut self, seed: &PageUrl) -> bool {
        if !self.seeds.insert(seed.key()) {
            return false;
        }
        let domain = self.domain(seed);
        self.seed_domains.insert(domain);
        let folder = match self.kind_of(seed) {
            ScopeKind::Prefix => &*folder(seed),
            ScopeKind::Host => "/",
            ScopeKind::Domain => {
                self.domains.insert(domain);
                return true;
            }
            ScopeKind::Any => return true,
        };
        self.deepest = self.deepest.max(folder.matches('/').count());
        let place = self.hash(seed.authority(), folder);
        self.places.insert(place);
        true
    }

    /// Returns the kind of the territory that a seed spans.
    fn kind_of(&self, seed: &PageUrl) -> ScopeKind {
        let own = self.kinds.get(&seed.key());
        own.copied().unwrap_or(self.kind)
    }

    /// Describes the territory that a seed spans, for people.
    #[must_use]
    pub fn territory(&self, seed: &PageUrl) -> String {
        match self.kind_of(seed) {
            ScopeKind::Host => format!("all of {}", seed.authority()),
            ScopeKind::Domain => {
                format!("{} and its subdomains", seed.registrable_domain())
            }
            ScopeKind::Prefix => {
                let scheme = seed.as_url().scheme();
                format!("{scheme}://{}{} and below", seed.authority(), folder(seed))
            }
            ScopeKind::Any => "everything".to_owned(),
        }
    }

    /// Returns true if a seed has the same registrable domain as this page.
    #[must_use]
    pub fn has_seed_on_domain_of(&self, url: &PageUrl) -> bool {
        self.seed_domains.contains(&self.domain(url))
    }

    /// Replaces the temporary exclusions.
    pub fn exclude_now(&mut self, exclusions: Exclusions) {
        self.exclude_now = exclusions;
    }

    /// Checks that a page belongs to the crawl.
    ///
    /// # Errors
    ///
    /// [`OutOfScope`] with the rule that excludes it.
    pub fn judge(&self, url: &PageUrl) -> Result<(), OutOfScope> {
        if let Some(rule) = self.exclude.iter().find(|rule| is_match(rule, url)) {
            return Err(OutOfScope::Excluded {
                pattern: rule.as_str().to_owned(),
            });
        }
        self.exclude_now.judge(url)?;
        if self.seeds.contains(&url.key()) {
            return Ok(());
        }
        self.within_territory(url)?;
        if !self.include.is_empty() && !self.include.iter().any(|rule| is_match(rule, url)) {
            return Err(OutOfScope::NotIncluded);
        }
        Ok(())
    }

    fn within_territory(&self, url: &PageUrl) -> Result<(), OutOfScope> {
        let outside = match self.kind {
            ScopeKind::Host => OutOfScope::OtherHost,
            ScopeKind::Domain => OutOfScope::OtherDomain,
            ScopeKind::Prefix => OutOfScope::OtherPrefix,
            ScopeKind::Any => return Ok(()),
        };
        if !self.domains.is_empty() && self.domains.contains(&self.domain(url)) {
            return Ok(());
        }
        let (place, path) = (url.authority(), url.as_url().path());
        let is_within = |folder: &str| self.places.contains(&self.hash(place, folder));
        let slashes = path.match_indices('/').take(self.deepest);
        let mut folders = slashes.map(|(slash, _)| &path[..=slash]);
        let is_folder = || {
            let depth = path.matches('/').take(self.deepest).count();
            depth < self.deepest && is_within(&format!("{path}/"))
        };
        match folders.any(is_within) || is_folder() {
            true => Ok(()),
            false => Err(outside),
        }
    }

    /// Returns the hash of a folder on a host, whose authority omits the scheme's default port.
    fn hash(&self, authority: &str, folder: &str) -> u64 {
        self.hasher.hash_one((authority, folder))
    }

    fn domain(&self, url: &PageUrl) -> u64 {
        self.hasher.hash_one(url.registrable_domain())
    }
}

/// Returns true if an expression matches the canonical URL, or the URL of the request: no spelling
/// evades a rule.
fn is_match(rule: &Regex, url: &PageUrl) -> bool {
    let is_other = || url.is_spelled_otherwise() && rule.is_match(url.request().as_str());
    rule.is_match(url.as_str()) || is_other()
}

/// Returns the folder that a seed means: `/docs/` for `/docs/`, `/docs/index.html` and `/docs`.
fn folder(url: &PageUrl) -> Cow<'_, str> {
    let path = url.as_url().path();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.is_empty() || is_file_name(name) {
        true => path[..=folders.len()].into(),
        false => format!("{path}/").into(),
    }
}

/// Returns true for `index.html`, and false for `docs` and `v1.2`.
fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn compile(patterns: &[String]) -> Result<Vec<Regex>, ScopeError> {
    patterns
        .iter()
        .map(|pattern| {
            RegexBuilder::new(pattern)
                .size_limit(MAX_EXPRESSION_BYTES)
                .dfa_size_limit(MAX_EXPRESSION_BYTES)
                .build()
                .map_err(|source| ScopeError {
                    pattern: pattern.clone(),
                    source: Box::new(source),
                })
        })
        .collect()
}

impl ScopeKind {
    const ALL: [Self; 4] = [Self::Host, Self::Domain, Self::Prefix, Self::Any];

    /// Returns the name in options and files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Prefix => "prefix",
            Self::Any => "any",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An unknown scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scope must be host, domain, prefix or any, got {0:?}")]
pub struct UnknownScope(pub String);

impl FromStr for ScopeKind {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == word);
        known.ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::canonical::CanonicalForm;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    fn scope(kind: ScopeKind, include: &[&str], exclude: &[&str], seeds: &[&str]) -> Scope {
        let owned = |patterns: &[&str]| {
            patterns
                .iter()
                .map(|&pattern| pattern.to_owned())
                .collect::<Vec<_>>()
        };
        let mut scope = Scope::new(kind, &owned(include), &owned(exclude)).unwrap();
        for seed in seeds {
            scope.add_seed(&url(seed));
        }
        scope
    }

    #[test]
    fn a_seed_lets_in_the_pages_of_its_scope() {
        use ScopeKind::{Any, Domain, Host, Prefix};
        for (kind, seed, page, inside) in [
            (
                Host,
                "http://a.example.org/x/y",
                "http://a.example.org/",
                true,
            ),
            (
                Host,
                "http://a.example.org/",
                "https://a.example.org/",
                true,
            ),
            (
                Host,
                "http://a.example.org/",
                "http://b.example.org/",
                false,
            ),
            (
                Host,
                "http://a.example.org/",
                "http://a.example.org:8080/",
                false,
            ),
            (
                Host,
                "http://a.example.org:8080/",
                "https://a.example.org:8080/",
                true,
            ),
            (
                Domain,
                "http://a.example.co.uk/",
                "https://b.example.co.uk:8443/",
                true,
            ),
            (
                Domain,
                "http://a.example.co.uk/",
                "http://other.co.uk/",
                false,
            ),
            (Domain, "http://a.github.io/", "http://b.github.io/", false),
            (Domain, "http://127.0.0.1/", "http://127.0.0.1:8080/", true),
            (Domain, "http://127.0.0.1/", "http://1.0.0.1/", false),
            (
                Prefix,
                "http://a.example/docs/index.html?x",
                "http://a.example/docs/a/b",
                true,
            ),
            (
                Prefix,
                "http://a.example/docs/index.html",
                "https://a.example/docs/",
                true,
            ),
            (
                Prefix,
                "http://a.example/docs/",
                "http://a.example/docs?page=2",
                true,
            ),
            (
                Prefix,
                "http://a.example/docs",
                "http://a.example/other",
                false,
            ),
            (
                Prefix,
                "http://a.example/docs?lang=en",
                "http://a.example/docs/b/c",
                true,
            ),
            (
                Prefix,
                "http://a.example/docs",
                "http://a.example/docs-old/",
                false,
            ),
            (
                Prefix,
                "http://a.example/docs/v1.2",
                "http://a.example/docs/v1.2/x",
                true,
            ),
            (
                Prefix,
                "http://a.example/docs/v1.2",
                "http://a.example/docs/",
                false,
            ),
            (
                Prefix,
                "http://a.example/docs/",
                "http://a.example/documents/",
                false,
            ),
            (
                Prefix,
                "http://a.example/docs/",
                "http://b.example/docs/",
                false,
            ),
            (
                Any,
                "http://a.example/",
                "https://elsewhere.example:1/",
                true,
            ),
        ] {
            let verdict = scope(kind, &[], &[], &[seed]).judge(&url(page));
            assert_eq!(verdict.is_ok(), inside, "{kind} {seed} {page}: {verdict:?}");
        }
    }

    #[test]
    fn a_seed_may_let_in_more_or_less_than_the_others() {
        let kinds = [
            ("http://a.example.org/docs/", ScopeKind::Prefix),
            ("http://www.b.example/", ScopeKind::Domain),
        ];
        let seeds = [
            "http://a.example.org/docs/",
            "http://www.b.example/",
            "http://c.example/x",
        ];
        let mut scope = Scope::new(ScopeKind::Host, &[], &[]).unwrap();
        scope = scope.with_kinds(kinds.map(|(seed, kind)| (url(seed), kind)));
        for seed in seeds {
            scope.add_seed(&url(seed));
        }
        for (page, is_inside) in [
            ("http://a.example.org/docs/1", true),
            ("http://a.example.org/", false),
            ("http://other.b.example/", true),
            ("http://c.example/", true),
            ("http://sub.c.example/", false),
        ] {
            let verdict = scope.judge(&url(page));
            assert_eq!(verdict.is_ok(), is_inside, "{page}: {verdict:?}");
        }
        let territories = seeds.map(|seed| scope.territory(&url(seed)));
        let expected = [
            "http://a.example.org/docs/ and below",
            "b.example and its subdomains",
            "all of c.example",
        ];
        assert_eq!(territories, expected);
    }

    /// The host `a.example` of one seed and the domain of another must not be mixed up.
    #[test]
    fn the_host_of_one_seed_is_not_the_domain_of_another() {
        let mut scope = Scope::new(ScopeKind::Host, &[], &[]).unwrap();
        scope = scope.with_kinds([(url("http://www.b.example/"), ScopeKind::Domain)]);
        scope.add_seed(&url("http://a.example/"));
        scope.add_seed(&url("http://www.b.example/"));
        assert!(scope.judge(&url("http://sub.a.example/")).is_err());
        assert!(scope.judge(&url("http://b.example/")).is_ok());
    }

    #[test]
    fn several_seeds_of_one_host_let_in_several_prefixes() {
        let scope = scope(
            ScopeKind::Prefix,
            &[],
            &[],
            &["http://a.example/x/", "http://a.example/y/z/"],
        );
        assert_eq!(scope.judge(&url("http://a.example/x/1")), Ok(()));
        assert_eq!(scope.judge(&url("http://a.example/y/z/1")), Ok(()));
        assert_eq!(
            scope.judge(&url("http://a.example/y/1")),
            Err(OutOfScope::OtherPrefix)
        );
    }

    #[test]
    fn expressions_refine_the_territory_and_are_named_in_the_reason() {
        let scope = scope(
            ScopeKind::Host,
            &[r"\.html$", "/list/"],
            &[r"\?print=", "private"],
            &["http://a.example/", "http://a.example/private/seed.html"],
        );
        for (page, verdict) in [
            ("http://a.example/x.html", None),
            ("http://a.example/list/x", None),
            ("http://a.example/", None),
            (
                "http://a.example/x",
                Some("no include expression matches it"),
            ),
            (
                "http://b.example/x.html",
                Some("its host is not the host of a seed (scope host)"),
            ),
            (
                "http://a.example/list/?print=1",
                Some(r#"the exclude expression "\\?print=" matches it"#),
            ),
            (
                "http://a.example/private/seed.html",
                Some(r#"the exclude expression "private" matches it"#),
            ),
        ] {
            let found = scope
                .judge(&url(page))
                .err()
                .map(|reason| reason.to_string());
            assert_eq!(found.as_deref(), verdict, "{page}");
        }
    }

    #[test]
    fn temporarily_excluded_pages_can_be_let_in_again() {
        let mut scope = scope(ScopeKind::Host, &[], &[], &["http://a.example/"]);
        let excluding = |patterns: &[&str]| {
            let owned: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            Exclusions::new(&owned).unwrap()
        };
        scope.exclude_now(excluding(&["^http://a.example/$", "/x"]));
        for page in ["http://a.example/", "http://a.example/x"] {
            let reason = scope.judge(&url(page)).unwrap_err();
            assert!(
                reason.is_exclusion() && reason.to_string().starts_with("excluded by control.toml")
            );
        }
        scope.exclude_now(excluding(&["/x"]));
        assert_eq!(scope.judge(&url("http://a.example/")), Ok(()));
        scope.exclude_now(Exclusions::default());
        assert_eq!(scope.judge(&url("http://a.example/x")), Ok(()));
        assert_ne!(excluding(&["a", "b"]), excluding(&["a"]));
        assert_eq!(excluding(&["a"]), excluding(&["a"]));
    }

    #[test]
    fn an_invalid_expression_is_named_in_the_error() {
        for pattern in ["(", "a{1000}{1000}{1000}"] {
            let error = Scope::new(ScopeKind::Any, &[], &[pattern.to_owned()]).unwrap_err();
            assert_eq!(error.pattern, pattern);
        }
    }

    #[test]
    fn a_scope_is_a_word() {
        for kind in ScopeKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        let error = "hosts".parse::<ScopeKind>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "scope must be host, domain, prefix or any, got \"hosts\""
        );
    }
}
