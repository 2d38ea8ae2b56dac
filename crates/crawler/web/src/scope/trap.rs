//! Crawler traps, recognised by the shape of a URL before it is fetched.
//!
//! A trap generates an endless number of URLs: a relative link that repeats its own folder, a
//! filter that adds itself to the query, a calendar that always links to the next month. Each rule
//! examines one link and its page, and names itself. The rules are conservative, because a rejected
//! link is never visited; links that pass are bounded by budgets and by the novelty of their
//! content (the store's patterns).
//!
//! Sources: Heritrix's `PathologicalPathDecideRule` (a run of segments three times in a row) and
//! `TooManyPathSegmentsDecideRule` (20 segments); the other rules come from observed calendars,
//! facets and wildcard host names.
//!
//! Invariant: the rules are pure and allocate nothing for a link.

use std::fmt;
use std::ops::RangeInclusive;

use url::Host;

use crate::letter_case::is_one_of;
use crate::time::Timestamp;
use crate::url::page_url::PageUrl;

/// Maximum number of path segments.
const MAX_SEGMENTS: usize = 20;
/// Consecutive repetitions that make a run of segments a trap.
const RUN_REPEATS: usize = 3;
/// The same for segments of one character or of digits, as in hashed folders and map tiles.
const SHORT_REPEATS: usize = 6;
/// Paths of at least this many segments need at least half different ones.
const LONG_PATH: usize = 10;
/// Maximum number of query parameters.
const MAX_PARAMETERS: usize = 24;
/// Maximum number of parameters of a link that extends its own page's query.
const MAX_GROWN_PARAMETERS: usize = 6;
/// Maximum number of equal parameters.
const MAX_EQUAL_PARAMETERS: usize = 2;
/// Maximum number of parameters with one name; lists (`tag[]=`) may have more.
const MAX_LIKE_PARAMETERS: usize = 8;
/// Maximum number of labels of a host name.
const MAX_LABELS: usize = 10;
/// First year of a calendar that is followed step by step.
const FIRST_YEAR: i32 = 1900;
/// Number of years after the present in which a calendar is still followed.
const YEARS_AHEAD: i32 = 2;

/// Rule that a trap breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trap {
    /// The path repeats a run of segments three times in a row, or is long with few different
    /// segments.
    RepeatedPath,
    /// More than 20 segments.
    DeepPath,
    /// The query repeatedly extends its page's query.
    GrowingQuery,
    /// The query repeats a parameter.
    RepeatedParameter,
    /// More than 24 parameters.
    ManyParameters,
    /// The query nests a URL in a URL in a URL.
    NestedAddress,
    /// The link is the next step of a calendar outside the years of interest.
    Calendar,
    /// The host name has more than ten labels, or one label three times.
    RepeatedLabels,
}

impl Trap {
    /// Returns the rule's name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RepeatedPath => "repeated-path",
            Self::DeepPath => "deep-path",
            Self::GrowingQuery => "growing-query",
            Self::RepeatedParameter => "repeated-parameter",
            Self::ManyParameters => "many-parameters",
            Self::NestedAddress => "nested-address",
            Self::Calendar => "calendar",
            Self::RepeatedLabels => "repeated-labels",
        }
    }
}

/// Writes the rule in one clause.
impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clause = match self {
            Self::RepeatedPath => "its path repeats itself",
            Self::DeepPath => "its path has more than 20 segments",
            Self::GrowingQuery => "it adds to the query of its own page, time and again",
            Self::RepeatedParameter => "its query repeats a parameter",
            Self::ManyParameters => "its query has more than 24 parameters",
            Self::NestedAddress => "its query has an address within an address within an address",
            Self::Calendar => {
                "it is the next page of a calendar that left the years in which anything happens"
            }
            Self::RepeatedLabels => "its host name repeats itself, or has more than 10 labels",
        };
        write!(f, "{clause} (trap rule {})", self.as_str())
    }
}

/// The rules that recognise traps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapRules {
    /// Years in which a calendar is followed.
    years: RangeInclusive<i32>,
}

impl TrapRules {
    /// Returns the rules of a crawl at the time `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self {
            years: FIRST_YEAR..=now.year() + YEARS_AHEAD,
        }
    }

    /// Returns the rule that a link on `page` breaks. Rules that need the page pass if it is
    /// unknown.
    #[must_use]
    pub fn judge(&self, link: &PageUrl, page: Option<&PageUrl>) -> Option<Trap> {
        let url = link.as_url();
        by_path(url.path())
            .or_else(|| by_query(url.query()?))
            .or_else(|| by_growth(link, page?))
            .or_else(|| self.by_date(link, page?))
            .or_else(|| by_host(link))
    }

    /// Recognises a calendar step beyond the years. Only steps count: an archive of old newspapers
    /// passes if its index links to it.
    fn by_date(&self, link: &PageUrl, page: &PageUrl) -> Option<Trap> {
        let (link, page) = (link.as_str(), page.as_str());
        let (year, in_words) = year_of(link)?;
        if self.years.contains(&year) {
            return None;
        }
        let (from, _) = year_of(page)?;
        // A bare `4511-12` may be anything, unless it is one month after a year within range.
        let is_calendar = in_words || self.years.contains(&from);
        let step = (year - from).abs() <= 1 && same_but_for_digits(link, page);
        (is_calendar && step).then_some(Trap::Calendar)
    }
}

fn by_path(path: &str) -> Option<Trap> {
    let mut segments = [""; MAX_SEGMENTS + 1];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if count > MAX_SEGMENTS {
            return Some(Trap::DeepPath);
        }
        segments[count] = segment;
        count += 1;
    }
    // A file may have the same name as its folder.
    let folders = if path.ends_with('/') {
        count
    } else {
        count.saturating_sub(1)
    };
    if has_run(&segments[..folders]) {
        return Some(Trap::RepeatedPath);
    }
    let segments = &segments[..count];
    if count > MAX_SEGMENTS {
        return Some(Trap::DeepPath);
    }
    let first_of_its_name = |(at, segment): &(usize, &&str)| !segments[..*at].contains(segment);
    let few = || {
        segments
            .iter()
            .enumerate()
            .filter(first_of_its_name)
            .count()
            * 2
            < count
    };
    let wordy = || segments.iter().filter(|segment| !is_short(segment)).count() * 2 > count;
    (count >= LONG_PATH && wordy() && few()).then_some(Trap::RepeatedPath)
}

/// Returns true if a run of segments repeats three times in a row.
fn has_run(segments: &[&str]) -> bool {
    let longest = segments.len() / RUN_REPEATS;
    (1..=longest).any(|length| {
        // Number of consecutive segments that equal the segment one run earlier.
        let mut equal = 0;
        (length..segments.len()).any(|at| {
            equal = if segments[at] == segments[at - length] {
                equal + 1
            } else {
                0
            };
            let run = &segments[at + 1 - length..=at];
            let short = run.iter().all(|segment| is_short(segment));
            let repeats = if short { SHORT_REPEATS } else { RUN_REPEATS };
            equal >= length * (repeats - 1)
        })
    })
}

fn is_short(segment: &str) -> bool {
    segment.len() < 2 || segment.bytes().all(|byte| byte.is_ascii_digit())
}

fn by_query(query: &str) -> Option<Trap> {
    if query.contains("%252525") {
        return Some(Trap::NestedAddress);
    }
    let parameters = || query.split('&');
    if parameters().count() > MAX_PARAMETERS {
        return Some(Trap::ManyParameters);
    }
    for parameter in parameters() {
        let name = name_of(parameter);
        let equal = parameters().filter(|other| *other == parameter).count();
        let like = || parameters().filter(|other| name_of(other) == name).count();
        let is_list = name.ends_with("[]") || name.ends_with("%5B%5D");
        if equal > MAX_EQUAL_PARAMETERS || !is_list && like() > MAX_LIKE_PARAMETERS {
            return Some(Trap::RepeatedParameter);
        }
    }
    None
}

fn name_of(parameter: &str) -> &str {
    parameter
        .split_once('=')
        .map_or(parameter, |(name, _)| name)
}

/// Recognises a long query that contains all of its page's query and more.
fn by_growth(link: &PageUrl, page: &PageUrl) -> Option<Trap> {
    let (link, page) = (link.as_url(), page.as_url());
    let (longer, shorter) = (link.query()?, page.query()?);
    let grown = longer.len() > shorter.len()
        && longer.split('&').count() > MAX_GROWN_PARAMETERS
        && link.path() == page.path()
        && link.host() == page.host()
        && shorter
            .split('&')
            .all(|had| longer.split('&').any(|parameter| parameter == had));
    grown.then_some(Trap::GrowingQuery)
}

fn by_host(link: &PageUrl) -> Option<Trap> {
    let Some(Host::Domain(name)) = link.as_url().host() else {
        return None;
    };
    let labels = || name.split('.');
    let count = labels().count();
    let repeated =
        || labels().any(|label| labels().filter(|other| *other == label).count() >= RUN_REPEATS);
    (count > MAX_LABELS || count > RUN_REPEATS && repeated()).then_some(Trap::RepeatedLabels)
}

/// Words that mark a four-digit number as a year.
const CALENDAR_WORDS: &[&str] = &[
    "calendar",
    "kalender",
    "calendrier",
    "calendario",
    "agenda",
    "year",
    "month",
    "cal",
];

/// Returns the year in a URL, from a date (`2031-05`) or a four-digit number next to a calendar
/// word; the second value is true for such a word.
fn year_of(url: &str) -> Option<(i32, bool)> {
    let (_, rest) = url.split_once("://")?;
    let rest = &rest[rest.find('/')?..];
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let (mut dated, mut alone) = (None, None);
    let mut at = 0;
    while at < bytes.len() && dated.is_none() {
        let from = at;
        while is_digit(at) {
            at += 1;
        }
        if at - from == 4 {
            let has_month = bytes.get(at) == Some(&b'-') && is_month(&bytes[at + 1..]);
            dated = has_month.then_some(from);
            alone = alone.or(Some(from));
        }
        at += usize::from(at == from);
    }
    let year = rest.get(dated.or(alone)?..)?.get(..4)?.parse().ok()?;
    let mut words = rest.split(['/', '?', '&', '=', '-', '_', '.']);
    let in_words = words.any(|word| is_one_of(word, CALENDAR_WORDS));
    (in_words || dated.is_some()).then_some((year, in_words))
}

/// Returns true if the text begins with a two-digit month.
fn is_month(bytes: &[u8]) -> bool {
    let ends = !bytes.get(2).is_some_and(u8::is_ascii_digit);
    ends && matches!(bytes, [b'0', b'1'..=b'9', ..] | [b'1', b'0'..=b'2', ..])
}

fn same_but_for_digits(one: &str, other: &str) -> bool {
    let letters = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_digit()).count();
    letters(one) == letters(other)
        && one
            .bytes()
            .filter(|byte| !byte.is_ascii_digit())
            .eq(other.bytes().filter(|byte| !byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::url::canonical::CanonicalForm;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    fn rules() -> TrapRules {
        TrapRules { years: 1900..=2028 }
    }

    /// Page, link, and the rule that applies.
    const CASES: &[(&str, &str, Option<Trap>)] = &[
        // a run of segments, and paths that look a little like it
        ("/a/", "/img/img/img/x", Some(Trap::RepeatedPath)),
        ("/a/", "/docs/en/docs/en/docs/en/", Some(Trap::RepeatedPath)),
        (
            "/a/",
            "/x/ab/cd/ef/ab/cd/ef/ab/cd/ef/y.html",
            Some(Trap::RepeatedPath),
        ),
        ("/a/", "/docs/guide/docs/", None),
        ("/a/", "/api/v1/api/v1/reference", None),
        ("/a/", "/foo/foo/foo", None),
        ("/a/", "/rust/rust/src/rust.rs", None),
        ("/a/", "/tiles/0/0/0.png", None),
        ("/a/", "/objects/00/00/00/00/7", None),
        ("/a/", "/0/0/0/0/0/0/0/x", Some(Trap::RepeatedPath)),
        (
            "/a/",
            "/ab/cd/ab/ef/cd/ab/cd/ef/ab/ef/x",
            Some(Trap::RepeatedPath),
        ),
        (
            "/a/",
            "/org/apache/commons/math/linear/apache/commons/doc/linear/a",
            None,
        ),
        // depth
        (
            "/a/",
            "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20",
            None,
        ),
        (
            "/a/",
            "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21",
            Some(Trap::DeepPath),
        ),
        (
            "/a/",
            "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23",
            Some(Trap::DeepPath),
        ),
        // queries
        (
            "/list?a=1&b=2&c=3&d=4&e=5&f=6",
            "/list?a=1&b=2&c=3&d=4&e=5&f=6&g=7",
            Some(Trap::GrowingQuery),
        ),
        (
            "/list?a=1&b=2&c=3&d=4&e=5",
            "/list?a=1&b=2&c=3&d=4&e=5&page=2",
            None,
        ),
        (
            "/list?a=1&b=2&c=3&d=4&e=5&f=6&page=2",
            "/list?a=1&b=2&c=3&d=4&e=5&f=6&page=3",
            None,
        ),
        (
            "/list?a=1&b=2&c=3&d=4&e=5&f=6",
            "/other?a=1&b=2&c=3&d=4&e=5&f=6&g=7",
            None,
        ),
        ("/a/", "/f?x=1&x=1&x=1", Some(Trap::RepeatedParameter)),
        ("/a/", "/f?tag=a&tag=b&tag=c", None),
        (
            "/a/",
            "/f?t=1&t=2&t=3&t=4&t=5&t=6&t=7&t=8&t=9",
            Some(Trap::RepeatedParameter),
        ),
        (
            "/a/",
            "/f?t[]=1&t[]=2&t[]=3&t[]=4&t[]=5&t[]=6&t[]=7&t[]=8&t[]=9",
            None,
        ),
        (
            "/a/",
            "/f?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q&r&s&t&u&v&w&x",
            None,
        ),
        (
            "/a/",
            "/f?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q&r&s&t&u&v&w&x&y",
            Some(Trap::ManyParameters),
        ),
        ("/a/", "/login?next=%2Flogin%3Fnext%3D%252Fa", None),
        (
            "/a/",
            "/login?next=%2Flogin%3Fnext%3D%252Flogin%25253F%25252525",
            Some(Trap::NestedAddress),
        ),
        // calendars
        ("/cal/2028-12", "/cal/2029-01", Some(Trap::Calendar)),
        ("/cal/2028-11", "/cal/2028-12", None),
        (
            "/calendar?month=1900-01",
            "/calendar?month=1899-12",
            Some(Trap::Calendar),
        ),
        (
            "/calendar/2099/1/",
            "/calendar/2100/1/",
            Some(Trap::Calendar),
        ),
        ("/calendar/", "/calendar/2100/1/", None),
        (
            "/news?year=2028&month=12",
            "/news?year=2029&month=1",
            Some(Trap::Calendar),
        ),
        ("/issues/1850/", "/issues/1850-03-04", None),
        ("/times/", "/times/1850-03-04", None),
        ("/item/2031", "/item/2032", None),
        ("/thread/2031/12", "/thread/2032/1", None),
        ("/page?n=2031", "/page?n=2032", None),
        ("/bugs/4511-10", "/bugs/4512-11", None),
        ("/log/2028-12", "/log/2029-01", Some(Trap::Calendar)),
        ("/rfc/8999-17", "/rfc/9000-19", None),
    ];

    #[test]
    fn each_trap_has_its_rule_and_its_honest_twin_passes() {
        for (page, link, expected) in CASES {
            let at = |path: &str| url(&format!("http://a.test{path}"));
            assert_eq!(
                rules().judge(&at(link), Some(&at(page))),
                *expected,
                "{page} -> {link}"
            );
        }
    }

    #[test]
    fn host_names_that_repeat_themselves_are_traps_and_addresses_are_not() {
        for (host, expected) in [
            ("www.www.www.a.test", Some(Trap::RepeatedLabels)),
            ("a.b.c.d.e.f.g.h.i.a.test", Some(Trap::RepeatedLabels)),
            ("en.m.wikipedia.org", None),
            ("www.www.test", None),
            ("a.a.a", None),
            ("1.1.1.1", None),
            ("[::1]", None),
        ] {
            let link = url(&format!("http://{host}/"));
            assert_eq!(rules().judge(&link, None), expected, "{host}");
        }
    }

    #[test]
    fn every_rule_names_itself() {
        for trap in CASES.iter().filter_map(|(_, _, trap)| *trap) {
            assert!(
                trap.to_string()
                    .ends_with(&format!("(trap rule {})", trap.as_str())),
                "{trap}"
            );
        }
    }

    #[test]
    fn the_years_of_calendars_follow_the_clock() {
        let noon = Timestamp::from_millis(1_790_000_000_000);
        assert_eq!(TrapRules::at(noon).years, 1900..=2028);
    }

    proptest! {
        /// Compares with Heritrix's rule, the run and its repetitions spelled out.
        #[test]
        fn a_run_three_times_in_a_row_is_found_wherever_it_stands(
            before in proptest::collection::vec("[a-c]{2}", 0..4),
            run in proptest::collection::vec("[d-f]{2}", 1..4),
            after in proptest::collection::vec("[a-c]{2}", 1..4),
            repeats in 1..4_usize,
        ) {
            let runs = run.iter().cycle().take(run.len() * repeats);
            let all = before.iter().chain(runs).chain(&after);
            let all: Vec<&str> = all.map(String::as_str).collect();
            let naive = (1..=all.len()).any(|length| all.windows(length * 3).any(|window| {
                window[..length] == window[length..2 * length]
                    && window[..length] == window[2 * length..]
            }));
            prop_assert_eq!(has_run(&all), naive);
        }

        #[test]
        fn any_url_is_judged_without_panic(path in "\\PC{0,80}", page in "\\PC{0,80}") {
            let base = url("http://a.test/");
            let join = |text: &str| base.join(text, &CanonicalForm::default()).ok();
            if let (Some(link), Some(page)) = (join(&path), join(&page)) {
                let _judged = rules().judge(&link, Some(&page));
            }
        }
    }
}
