//! The parts of a page that an audit checks.

use web::{AuditFields, CanonicalForm, PageUrl, ReadLimits, ResponseMetadata, read};

fn fields_with(link: &[&str], html: &str) -> AuditFields {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/dir/page", &form).expect("a URL");
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        link,
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        audit: true,
        ..ReadLimits::default()
    };
    read(html.as_bytes(), &metadata, &form, &limits).audit
}

fn fields(html: &str) -> AuditFields {
    fields_with(&[], html)
}

#[test]
fn the_first_description_that_is_not_blank_counts() {
    for (html, expected) in [
        (
            "<meta name=description content=' One\n two '>",
            Some("One two"),
        ),
        (
            "<meta name=Description content=' '><meta name=description content=x>",
            Some("x"),
        ),
        ("<meta property='og:description' content=preview>", None),
        (
            "<script type=application/ld+json>{\"description\": \"linked\"}</script>",
            None,
        ),
        (
            "<meta name=description content=a><meta name=description content=b>",
            Some("a"),
        ),
    ] {
        assert_eq!(fields(html).description.as_deref(), expected, "{html}");
    }
}

#[test]
fn main_headings_are_counted_and_the_first_is_read() {
    for (html, count, first) in [
        ("<h2>Small</h2>", 0, None),
        (
            "<h1>Large <b>ca</b>t</h1><h1>Second</h1>",
            2,
            Some("Large cat"),
        ),
        ("<h1><img alt=Logo></h1><h1>Second</h1>", 2, None),
        ("<svg><h1>", 1, None),
    ] {
        let fields = fields(html);
        assert_eq!(
            (fields.h1_count, fields.h1.as_deref()),
            (count, first),
            "{html}"
        );
    }
    let long = format!("<h1>{}</h1>", "long ".repeat(10_000));
    assert_eq!(
        fields(&long).h1.unwrap().len(),
        ReadLimits::default().title_chars
    );
}

#[test]
fn translations_are_named_in_the_markup_and_in_header_fields() {
    let found = fields_with(
        &["</de>; rel=\"alternate\"; hreflang=\"de-AT\", </style>; rel=alternate"],
        "<base href=/other/><link rel=alternate hreflang=' x-Default ' href=all>\
         <link rel='alternate nofollow' hreflang=en href=/dir/page>\
         <link rel=alternate hreflang=en><link rel=stylesheet hreflang=fr href=/s>\
         <link rel=alternate hreflang='' href=/none><a rel=alternate hreflang=it href=/it>it</a>",
    );
    let found: Vec<(&str, &str)> = found
        .translations
        .iter()
        .map(|one| (one.language.as_str(), one.url.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("de-at", "http://example.org/de"),
            ("x-default", "http://example.org/other/all"),
            ("en", "http://example.org/dir/page"),
            ("en", "http://example.org/other/"),
        ]
    );
    let many = "<link rel=alternate hreflang=en href=/en>".repeat(1_001);
    assert_eq!(fields(&many).translations.len(), 1_000);
}

#[test]
fn nothing_is_read_unless_it_is_asked_for() {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/", &form).unwrap();
    let html = b"<meta name=description content=x><h1>y</h1>";
    let page = read(
        html,
        &ResponseMetadata::of(&url),
        &form,
        &ReadLimits::default(),
    );
    assert_eq!(page.audit, AuditFields::default());
}
