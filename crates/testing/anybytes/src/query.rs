//! Queries, and snippets of the texts that they match.

use search::{MAX_QUERY, Query, Snippets};

/// Reads the first line as a query, the rest as the text of a page.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (query, page) = text.split_once('\n').unwrap_or((&text, ""));
    let parsed = match Query::parse(query) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(query.contains(&error.culprit), "{error}: quotes the query");
            assert!(error.at <= query.chars().count() + 1, "{error}");
            assert!(!error.to_string().is_empty() && !error.reason.remedy().is_empty());
            return;
        }
    };
    assert!(query.len() <= MAX_QUERY);
    let again = Query::parse(query);
    assert_eq!(again.as_ref(), Ok(&parsed), "parsing is deterministic");
    let snippet = Snippets::of(&parsed).cut(page);
    let mut end = 0;
    for place in &snippet.found {
        assert!(end <= place.start && place.start < place.end, "{snippet:?}");
        assert!(snippet.text.get(place.clone()).is_some(), "{snippet:?}");
        end = place.end;
    }
}
