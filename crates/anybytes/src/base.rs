//! The URL that documents are read under.

/// Returns the URL from which every document is said to come.
pub(crate) fn page() -> web::PageUrl {
    web::PageUrl::parse(
        "https://www.example.org/a/b?c=d",
        &web::CanonicalForm::keep_all(),
    )
    .expect("it is a URL, and canonical")
}
