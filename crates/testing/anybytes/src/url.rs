//! URLs, as seeds and as references on a page.

use web::{CanonicalForm, MAX_URL_BYTES, PageUrl};

/// Reads any bytes as a URL and as a reference: refused, or one canonical spelling without anything
/// forbidden.
pub fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let forms = [CanonicalForm::keep_all(), CanonicalForm::default()];
    for form in &forms {
        let found = [
            PageUrl::parse(&text, form),
            crate::base::page().join(&text, form),
        ];
        for url in found.into_iter().flatten() {
            is_canonical(&url, form);
        }
    }
}

/// Asserts the promises of every [`PageUrl`] that the crawler holds.
pub(crate) fn is_canonical(url: &PageUrl, form: &CanonicalForm) {
    let text = url.as_str();
    assert!(text.len() <= MAX_URL_BYTES, "{text}");
    assert!(
        text.starts_with("http://") || text.starts_with("https://"),
        "{text}"
    );
    assert!(
        text.bytes().all(|byte| byte.is_ascii_graphic()),
        "nothing that could end a line of a request or of a record: {text:?}"
    );
    assert!(url.as_url().username().is_empty() && url.as_url().password().is_none());
    let is_route = |fragment: &str| fragment.starts_with(['/', '!']);
    assert!(url.as_url().fragment().is_none_or(is_route), "{text}");
    let sent = url.request();
    assert!(sent.as_str().len() <= MAX_URL_BYTES, "{sent}");
    assert!(
        sent.as_str().bytes().all(|byte| byte.is_ascii_graphic()),
        "{sent:?}"
    );
    assert!(sent.username().is_empty() && sent.password().is_none() && sent.fragment().is_none());
    assert_eq!(
        sent.origin(),
        url.as_url().origin(),
        "the same server: {text} and {sent}"
    );
    for form in [form, &CanonicalForm::keep_all()] {
        assert_eq!(PageUrl::parse(text, form).as_ref(), Ok(url), "one spelling");
        assert_eq!(
            crate::base::page().join(text, form).as_ref(),
            Ok(url),
            "the same from a page"
        );
    }
    assert!(
        url.host().as_str().ends_with(url.registrable_domain()),
        "{text}"
    );
    assert!(
        !web::surt_key(url.request().as_str()).contains(['\r', '\n', '\0', ' ']),
        "{text}"
    );
}
