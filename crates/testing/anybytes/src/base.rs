//! The URL that documents are read under, and the parts of an input.

/// Returns the URL from which every document is said to come.
pub(crate) fn page() -> web::PageUrl {
    web::PageUrl::parse(
        "https://www.example.org/a/b?c=d",
        &web::CanonicalForm::keep_all(),
    )
    .expect("it is a URL, and canonical")
}

/// Splits at the first separator; without one, the second part is empty.
pub(crate) fn split<'a>(bytes: &'a [u8], separator: &[u8]) -> (&'a [u8], &'a [u8]) {
    let place = bytes
        .windows(separator.len())
        .position(|window| window == separator);
    place.map_or((bytes, &[]), |place| {
        (&bytes[..place], &bytes[place + separator.len()..])
    })
}
