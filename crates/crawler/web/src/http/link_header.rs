//! The header field `Link` (RFC 8288 section 3, parsed as in its appendix B.2).

use std::borrow::Cow;

/// One link of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderLink<'h> {
    /// The text between the angle brackets.
    pub target: &'h str,
    /// The relation types, separated by spaces; empty if there are none.
    pub rel: Cow<'h, str>,
    /// The context of the link, if given.
    pub anchor: Option<Cow<'h, str>>,
    /// The language of the target; empty if it is not given.
    pub hreflang: Cow<'h, str>,
}

/// Returns the links of a value in their order, up to the first that cannot be parsed.
pub(crate) fn links(value: &str) -> impl Iterator<Item = HeaderLink<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (target, after) = rest.strip_prefix('<')?.split_once('>')?;
        let mut link = HeaderLink {
            target,
            rel: Cow::Borrowed(""),
            anchor: None,
            hreflang: Cow::Borrowed(""),
        };
        rest = after;
        let mut has_rel = false;
        loop {
            rest = rest.trim_start_matches([' ', '\t']);
            let Some(parameter) = rest.strip_prefix(';') else {
                break;
            };
            let (name, value, after) = parameter_of(parameter);
            rest = after;
            // The first parameter of a name counts (section 3.3).
            if name.eq_ignore_ascii_case("rel") && !has_rel {
                (link.rel, has_rel) = (value, true);
            } else if name.eq_ignore_ascii_case("anchor") && link.anchor.is_none() {
                link.anchor = Some(value);
            } else if name.eq_ignore_ascii_case("hreflang") && link.hreflang.is_empty() {
                link.hreflang = value;
            }
        }
        // Text before the next comma is not a link.
        rest = rest.find(',').map_or("", |comma| &rest[comma..]);
        Some(link)
    })
}

/// Returns the name and value of the parameter at the start of the text, and the rest.
fn parameter_of(text: &str) -> (&str, Cow<'_, str>, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = (text[..end].trim_end(), &text[end..]);
    let Some(value) = rest.strip_prefix('=') else {
        return (name, Cow::Borrowed(""), rest);
    };
    let value = value.trim_start_matches([' ', '\t']);
    if let Some(quoted) = value.strip_prefix('"') {
        let (value, rest) = quoted_string(quoted);
        return (name, value, rest);
    }
    let end = value.find([';', ',']).unwrap_or(value.len());
    (name, Cow::Borrowed(value[..end].trim_end()), &value[end..])
}

/// Returns the content of a quoted string after its opening quote, and the rest (RFC 9110 section
/// 5.6.4).
fn quoted_string(text: &str) -> (Cow<'_, str>, &str) {
    let mut value = Cow::Borrowed("");
    let mut rest = text;
    loop {
        let Some(end) = rest.find(['"', '\\']) else {
            return (value + rest, "");
        };
        value += &rest[..end];
        let is_end = rest.as_bytes()[end] == b'"';
        rest = &rest[end + 1..];
        if is_end {
            return (value, rest);
        }
        if let Some(escaped) = rest.chars().next() {
            value += &rest[..escaped.len_utf8()];
            rest = &rest[escaped.len_utf8()..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: &[(&str, &str, Option<&str>)]) {
        let found: Vec<_> = links(value).collect();
        let found: Vec<_> = found
            .iter()
            .map(|link| (link.target, &*link.rel, link.anchor.as_deref()))
            .collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn links_are_separated_by_commas_outside_quotes_and_brackets() {
        check("", &[]);
        check("</next>; rel=next", &[("/next", "next", None)]);
        // RFC 8288 section 3.5.
        check(
            "<http://example.com/TheBook/chapter2>; rel=\"previous\"; title=\"previous chapter\"",
            &[("http://example.com/TheBook/chapter2", "previous", None)],
        );
        check(
            "</>; rel=\"http://example.net/foo\"",
            &[("/", "http://example.net/foo", None)],
        );
        check(
            "</terms>; rel=\"copyright\"; anchor=\"#foo\"",
            &[("/terms", "copyright", Some("#foo"))],
        );
        check(
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, \
             </TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            &[
                ("/TheBook/chapter2", "previous", None),
                ("/TheBook/chapter4", "next", None),
            ],
        );
        check(
            "<http://example.org/>; rel=\"start http://example.net/relation/other\"",
            &[(
                "http://example.org/",
                "start http://example.net/relation/other",
                None,
            )],
        );
        check(
            "<https://example.org/>; rel=\"start\", <https://example.org/index>; rel=\"index\"",
            &[
                ("https://example.org/", "start", None),
                ("https://example.org/index", "index", None),
            ],
        );
        check(
            "<a,b>; title=\"x, \\\"<y>; rel=no\\\"\"; REL = next ;rel=prev,, <c>",
            &[("a,b", "next", None), ("c", "", None)],
        );
        check(
            "<a>; rel=next; title=\"open, <b>; rel=prev",
            &[("a", "next", None)],
        );
        check(
            "<a>; crossorigin; rel=prev junk <x>; rel=next, <b>",
            &[("a", "prev junk <x>", None), ("b", "", None)],
        );
        check("a, <b>; rel=next", &[]);
        check("<a", &[]);
    }
}
