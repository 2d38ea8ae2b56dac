//! Robots meta tags and `X-Robots-Tag`: a page's requests to crawlers.
//!
//! No standard defines them, but the large search engines document them in the same way. The
//! stricter of several directives applies: the earlier of two dates, and a tag for us in addition
//! to a tag for everybody.

use jiff::civil;
use jiff::fmt::rfc2822;

use crate::time::Timestamp;

/// The directives of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Keep it out of an index.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
    /// Do not show a copy of it.
    pub noarchive: bool,
    /// Keep it out of an index from this time on.
    pub unavailable_after: Option<Timestamp>,
    /// Do not train AI models with it.
    pub noai: bool,
    /// Do not train AI models with its images.
    pub noimageai: bool,
    /// True if the right to mine its text and data is reserved, false if it is waived (TDMRep
    /// section 4.1).
    pub tdm_reservation: Option<bool>,
}

/// Directives with a value, whose colon does not end a crawler's name.
const WITH_VALUE: &[&str] = &["max-snippet", "max-image-preview", "max-video-preview"];

impl Directives {
    /// Reads the content of a robots meta tag: `noindex, nofollow`.
    pub(crate) fn add(&mut self, content: &str) {
        self.read(content, None);
    }

    /// Reads the content of a `<meta>` element named `tdm-reservation` (TDMRep section 5.3).
    pub(crate) fn reserve(&mut self, content: &str) {
        match content.trim() {
            "1" => self.tdm_reservation = Some(true),
            "0" if self.tdm_reservation.is_none() => self.tdm_reservation = Some(false),
            _ => {}
        }
    }

    /// Reads the value of one `X-Robots-Tag`: `noindex`, or `otherbot: noindex, thisbot: nofollow`.
    pub(crate) fn add_header(&mut self, value: &str, agent: &str) {
        self.read(value, Some(agent));
    }

    /// Reads a comma-separated list. With an `agent`, directives after a crawler's name apply to
    /// that crawler, up to the next name.
    fn read(&mut self, list: &str, agent: Option<&str>) {
        let mut is_ours = true;
        let mut rest = list;
        while !rest.is_empty() {
            let (part, after) = rest.split_once(',').unwrap_or((rest, ""));
            let name = part.split_once(':').map(|(name, _)| name.trim());
            let value = rest.split_once(':').map_or("", |(_, value)| value);
            let is =
                |directive: &str| name.is_some_and(|name| name.eq_ignore_ascii_case(directive));
            rest = after;
            if is("unavailable_after") {
                let (end, after) = date(value);
                if is_ours {
                    self.unavailable_after = earlier(self.unavailable_after, end);
                }
                rest = after;
            } else if WITH_VALUE.iter().any(|directive| is(directive)) {
                continue;
            } else if let (Some(name), Some(agent)) = (name.filter(|name| is_name(name)), agent) {
                is_ours = is_for(name, agent);
                rest = value;
            } else if is_ours {
                part.split_whitespace().for_each(|word| self.add_word(word));
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        let is = |name| word.eq_ignore_ascii_case(name);
        let none = is("none");
        self.noindex |= none || is("noindex");
        self.nofollow |= none || is("nofollow");
        self.noarchive |= is("noarchive");
        self.noai |= is("noai");
        self.noimageai |= is("noimageai");
    }
}

/// Splits the date off the start of a list. A date may have one comma, after the day of the week.
fn date(list: &str) -> (Option<Timestamp>, &str) {
    let mut commas = list.match_indices(',').map(|(at, _)| at);
    let ends = [commas.next(), commas.next()];
    for end in ends {
        let end = end.unwrap_or(list.len());
        if let Some(date) = read_date(list[..end].trim()) {
            return (Some(date), list.get(end + 1..).unwrap_or(""));
        }
    }
    (None, ends[0].map_or("", |end| &list[end + 1..]))
}

/// Parses a date of RFC 822, RFC 850 or ISO 8601; a missing time is the start of the day, a missing
/// zone is UTC.
fn read_date(text: &str) -> Option<Timestamp> {
    let after_weekday = text.split_once(',').map_or(text, |(_, date)| date).trim();
    let in_words = || {
        rfc2822::DateTimeParser::new()
            .parse_timestamp(after_weekday.replace('-', " "))
            .ok()
    };
    let exact = text.parse::<jiff::Timestamp>().ok();
    let local = || text.parse::<civil::DateTime>().ok();
    let at = exact
        .or_else(|| Some(local()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()))
        .or_else(in_words)?;
    u64::try_from(at.as_millisecond())
        .ok()
        .map(Timestamp::from_millis)
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn is_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'*');
    !name.is_empty() && name.bytes().all(is_token)
}

/// Returns true if a directive's name refers to everybody or to us.
pub(crate) fn is_for(name: &str, agent: &str) -> bool {
    let name = name.trim();
    name.eq_ignore_ascii_case("robots")
        || name == "*"
        || (!agent.is_empty() && name.eq_ignore_ascii_case(agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(noindex: bool, nofollow: bool, noarchive: bool) -> Directives {
        Directives {
            noindex,
            nofollow,
            noarchive,
            ..Directives::default()
        }
    }

    #[test]
    fn header_directives_apply_to_all_crawlers_or_to_one() {
        for (value, expected) in [
            ("noindex", directives(true, false, false)),
            ("NoIndex, NOFOLLOW", directives(true, true, false)),
            ("none", directives(true, true, false)),
            ("all", directives(false, false, false)),
            ("noarchive nofollow", directives(false, true, true)),
            (
                "otherbot: noindex, nofollow",
                directives(false, false, false),
            ),
            ("ourbot: noindex, nofollow", directives(true, true, false)),
            (
                "otherbot: noindex, OurBot: nofollow",
                directives(false, true, false),
            ),
            (
                "max-image-preview: large, max-video-preview:0, nofollow",
                directives(false, true, false),
            ),
            (
                "otherbot: max-snippet: 1, noindex",
                directives(false, false, false),
            ),
            ("*: noindex", directives(true, false, false)),
            (
                "robots: noindex, otherbot: nofollow",
                directives(true, false, false),
            ),
            (
                "otherbot:noindex,ourbot:noarchive,nofollow",
                directives(false, true, true),
            ),
            ("ourbot noindex", directives(true, false, false)),
            (",,noindex,,", directives(true, false, false)),
            (":", directives(false, false, false)),
            ("max-snippet:-1, noarchive", directives(false, false, true)),
            ("", directives(false, false, false)),
        ] {
            let mut found = Directives::default();
            found.add_header(value, "ourbot");
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn a_page_can_be_unavailable_from_a_date_on() {
        let june = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let at_ten = june("2010-06-25T15:00:00Z");
        for (value, noindex, end) in [
            (
                "unavailable_after: 25 Jun 2010 15:00:00 GMT, noindex",
                true,
                at_ten,
            ),
            ("unavailable_after: 25 Jun 2010 07:00:00 PST", false, at_ten),
            (
                "noindex, unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT",
                true,
                at_ten,
            ),
            (
                "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex",
                true,
                at_ten,
            ),
            ("UNAVAILABLE_AFTER: 2010-06-25T15:00:00Z", false, at_ten),
            (
                "unavailable_after: 2010-06-25T17:00:00+02:00",
                false,
                at_ten,
            ),
            (
                "unavailable_after: 2010-06-25",
                false,
                june("2010-06-25T00:00:00Z"),
            ),
            (
                "unavailable_after: 2010-06-26, unavailable_after: 2010-06-25",
                false,
                june("2010-06-25T00:00:00Z"),
            ),
            (
                "ourbot: unavailable_after: 2010-06-25T15:00:00Z, noindex",
                true,
                at_ten,
            ),
            (
                "otherbot: unavailable_after: 2010-06-25, noindex",
                false,
                None,
            ),
            ("unavailable_after: tomorrow, noindex", true, None),
            ("unavailable_after:, noindex", true, None),
            ("unavailable_after", false, None),
        ] {
            let mut found = Directives::default();
            found.add_header(value, "ourbot");
            assert_eq!(
                (found.noindex, found.unavailable_after),
                (noindex, end),
                "{value}"
            );
        }
        let mut asked = Directives::default();
        asked.add("noarchive, unavailable_after: 25-Jun-2010 15:00:00 GMT");
        assert!(asked.noarchive && !asked.noindex);
        assert_eq!(asked.unavailable_after, at_ten);
    }
}
