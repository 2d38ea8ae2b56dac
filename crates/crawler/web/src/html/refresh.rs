//! The target of `<meta http-equiv=refresh>` and of the `Refresh` header field, which share a
//! syntax (HTML standard, "shared declarative refresh steps").

/// Returns the URL of `5; url=/next`; `None` if the page only reloads itself, or the syntax is
/// invalid.
pub(crate) fn target(content: &str) -> Option<&str> {
    let space = |c: char| c.is_ascii_whitespace();
    let content = content.trim_start_matches(space);
    let rest = content.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == content.len() && !rest.starts_with('.') {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = rest.trim_start_matches(space);
    let rest = rest
        .strip_prefix([';', ','])
        .unwrap_or(rest)
        .trim_start_matches(space);
    let url = after_name(rest).unwrap_or(rest);
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some(url.trim_matches(space)).filter(|url| !url.is_empty())
}

/// Returns the text after `url =`.
fn after_name(text: &str) -> Option<&str> {
    let name = text.get(..3)?;
    if !name.eq_ignore_ascii_case("url") {
        return None;
    }
    let rest = text[3..].trim_start_matches(|c: char| c.is_ascii_whitespace());
    Some(
        rest.strip_prefix('=')?
            .trim_start_matches(|c: char| c.is_ascii_whitespace()),
    )
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn a_refresh_may_name_a_url() {
        for (content, url) in [
            ("5", None),
            ("", None),
            ("0; url=/next", Some("/next")),
            (" 0;URL='http://a.example/x'", Some("http://a.example/x")),
            ("3 ; url = \"b\"c", Some("b")),
            ("0, next", Some("next")),
            ("0 next", Some("next")),
            ("1.5;url=next", Some("next")),
            (".5;url=next", Some("next")),
            ("0; url=", None),
            ("0; url", Some("url")),
            ("0; é", Some("é")),
            ("url=/next", None),
            ("soon; url=/next", None),
            ("0url=/next", None),
            ("0; 'unclosed", Some("unclosed")),
        ] {
            assert_eq!(target(content), url, "{content}");
        }
    }
}
