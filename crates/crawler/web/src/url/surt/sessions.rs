//! Session parameters of old servers, which `surt` removes from keys, so that two visits to a page
//! have one key.

/// Returns the length of the session at the start of a text, if there is one of this kind.
type Session = fn(&[u8]) -> Option<usize>;

/// The order of removal: the last one of each kind.
const IN_QUERIES: [Session; 5] = [
    |text| parameter(text, b"jsessionid="),
    |text| parameter(text, b"phpsessid="),
    |text| parameter(text, b"sid="),
    asp_parameter,
    cold_fusion_parameters,
];

const IN_PATHS: [Session; 2] = [nested_brackets, bracket];

/// Removes sessions from a query, each with the `&` after it.
pub(super) fn without_query_sessions(mut query: Vec<u8>) -> Vec<u8> {
    // The names of all sessions contain these letters, and most queries do not.
    if !query.windows(2).any(|two| two.eq_ignore_ascii_case(b"id")) {
        return query;
    }
    for session in IN_QUERIES {
        let found = (0..query.len()).rev().find_map(|start| {
            let end = start + session(&query[start..])?;
            (end == query.len() || query[end] == b'&').then_some((start, end))
        });
        if let Some((start, end)) = found {
            query.drain(start..(end + 1).min(query.len()));
        }
    }
    query
}

/// Removes the session that ASP.NET put between two slashes from the lower-case path of an `.aspx`
/// page.
pub(super) fn without_path_sessions(mut path: Vec<u8>) -> Vec<u8> {
    if !path.windows(5).any(|word| word == b".aspx") {
        return path;
    }
    for session in IN_PATHS {
        let found = (1..path.len()).rev().find_map(|start| {
            let end = start + session(&path[start..])?;
            let page = path[end..].strip_prefix(b"/")?;
            let names_page = split_at(page, b"?")
                .0
                .windows(5)
                .skip(1)
                .any(|word| word == b".aspx");
            (path[start - 1] == b'/' && names_page).then_some((start, end + 1))
        });
        if let Some((start, end)) = found {
            path.drain(start..end);
        }
    }
    path
}

/// Returns the text after `name`, in any case.
fn behind<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (begins, rest) = text.split_at_checked(name.len())?;
    begins.eq_ignore_ascii_case(name).then_some(rest)
}

/// `name` and 32 letters and digits.
fn parameter(text: &[u8], name: &[u8]) -> Option<usize> {
    let value = behind(text, name)?.get(..32)?;
    value
        .iter()
        .all(u8::is_ascii_alphanumeric)
        .then_some(name.len() + 32)
}

/// `ASPSESSIONID`, eight letters, `=`, 24 letters.
fn asp_parameter(text: &[u8]) -> Option<usize> {
    let rest = behind(text, b"aspsessionid")?;
    let (name, value) = (rest.get(..8)?, rest.get(9..33)?);
    let is_session = rest[8] == b'=' && [name, value].concat().iter().all(u8::is_ascii_alphabetic);
    is_session.then_some(12 + 33)
}

/// `cfid=…&cftoken=…`, neither empty.
fn cold_fusion_parameters(text: &[u8]) -> Option<usize> {
    let (id, token) = split_at(behind(text, b"cfid=")?, b"&");
    let token = split_at(behind(token?, b"cftoken=")?, b"&").0;
    let is_session = !id.is_empty() && !token.is_empty();
    is_session.then_some(5 + id.len() + 1 + 8 + token.len())
}

/// `(`, 24 letters and digits, `)`.
fn bracket(text: &[u8]) -> Option<usize> {
    let inner = text.strip_prefix(b"(")?.get(..25)?;
    let is_session = inner.ends_with(b")") && inner[..24].iter().all(u8::is_ascii_alphanumeric);
    is_session.then_some(26)
}

/// `(S(…))`, with any number of letters and brackets inside.
fn nested_brackets(text: &[u8]) -> Option<usize> {
    let mut end = text.starts_with(b"(").then_some(1)?;
    while text.get(end).is_some_and(u8::is_ascii_alphabetic)
        && let Some(length) = bracket(&text[end + 1..])
    {
        end += 1 + length;
    }
    (end > 1 && text.get(end) == Some(&b')')).then_some(end + 1)
}

/// Splits a text at the first `mark`.
pub(super) fn split_at<'a>(text: &'a [u8], mark: &[u8; 1]) -> (&'a [u8], Option<&'a [u8]>) {
    match text.iter().position(|byte| *byte == mark[0]) {
        Some(place) => (&text[..place], Some(&text[place + 1..])),
        None => (text, None),
    }
}
