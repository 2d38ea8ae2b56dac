//! The statements of a page about itself: which source decides, and what a hostile page costs.

use std::collections::BTreeMap;

use proptest::prelude::*;
use web::{CanonicalForm, FieldSelectors, PageFields, PageUrl, ReadLimits, ResponseMetadata, read};

fn fields_at(url: &str, html: &str) -> PageFields {
    let form = CanonicalForm::default();
    let url = PageUrl::parse(url, &form).expect("a URL");
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        fields: true,
        ..ReadLimits::default()
    };
    read(html.as_bytes(), &metadata, &form, &limits).fields
}

/// The values of these selectors on a page.
fn own_fields(selectors: &[(&str, &str)], html: &str) -> BTreeMap<String, String> {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, selector) in selectors {
        let of_name = fields.entry((*name).to_owned()).or_default();
        of_name.push((*selector).to_owned());
    }
    let fields = FieldSelectors::parse(fields).expect("selectors");
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/dir/page", &form).expect("a URL");
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        fields: Some(&fields),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        fields: true,
        ..ReadLimits::default()
    };
    read(html.as_bytes(), &metadata, &form, &limits).own_fields
}

fn fields(html: &str) -> PageFields {
    fields_at("http://example.org/dir/page", html)
}

fn linked(data: &str) -> String {
    format!("<script type=application/ld+json>{data}</script>")
}

#[test]
fn the_author_comes_from_the_most_trusted_source() {
    for (html, expected) in [
        (linked(r#"{"@type": "Article", "author": "Ada"}"#), "Ada"),
        (
            linked(r#"{"@type": "Article", "author": ["Ada", {"name": "Bo &amp; Co"}]}"#),
            "Ada; Bo & Co",
        ),
        (
            linked(
                r##"{"@graph": [{"@type": "WebPage", "author": "Web"}, {"@type": ["BlogPosting"],
                "author": {"@id": "#a"}}, {"@type": "Person", "@id": "#a", "name": "Ada"}]};"##,
            ) + "<meta name=author content=Meta>",
            "Ada",
        ),
        (
            "<meta name=citation_author content='Lovelace, A.'><meta name=citation_author \
             content='Babbage, C.'><meta name=author content=Web>"
                .to_owned(),
            "Lovelace, A.; Babbage, C.",
        ),
        (
            "<meta property=article:author content=https://social.test/ada><meta name=author \
             content='By Ada'>"
                .to_owned(),
            "Ada",
        ),
        (
            "<meta property=og:site_name content=Herald><meta name=author content=Herald>\
             <p class=byline>By Ada | Updated May 4, 2026</p>"
                .to_owned(),
            "Ada",
        ),
        (
            "<meta property=og:site_name content=Herald><meta name=author content=Herald>"
                .to_owned(),
            "Herald",
        ),
        (
            "<div itemscope itemtype=https://schema.org/Recipe><p itemprop=author itemscope><a \
             itemprop=url href=/a>x</a> <b itemprop=name>Ada</b></div>"
                .to_owned(),
            "Ada",
        ),
        (
            "<nav><a rel=author>Menu</a></nav><h1>a</h1><a rel=author>Ada</a>".to_owned(),
            "Ada",
        ),
        (
            "<div class=comment><b class=author>Reader</b></div><div class=author>Ada</div>"
                .to_owned(),
            "Ada",
        ),
        (
            "<div class=has-sidebar><h1>a</h1><p class=author>Ada</p></div>".to_owned(),
            "Ada",
        ),
        (
            "<h1>a</h1><p>Written by <a href=/ada>Ada Lovelace</a></p>".to_owned(),
            "Ada Lovelace",
        ),
        (
            "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content=Ada>"
                .to_owned(),
            "Ada",
        ),
    ] {
        assert_eq!(fields(&html).author.as_deref(), Some(expected), "{html}");
    }
    for html in [
        "<h1>a</h1><p>By default, it is off.</p>",
        "<p class=author>https://a.test/ada</p>",
        "<meta name=twitter:label1 content=Time><meta name=twitter:data1 content='5 min'>",
        "<meta name=author content=' '>",
        "<div class=comments><p class=author>Reader</p></div>",
    ] {
        assert_eq!(fields(html).author, None, "{html}");
    }
}

#[test]
fn dates_come_from_the_most_trusted_source() {
    let time = "<h1>a</h1><time datetime=2020-01-05>5 January</time>";
    for (html, published, modified) in [
        (
            linked(
                r#"{"@type": "NewsArticle", "datePublished": "2026-11-20T19:04:55+01:00",
                "dateModified": "2026-11-21"}"#,
            ),
            Some("2026-11-20"),
            Some("2026-11-21"),
        ),
        (
            format!("<meta property=article:published_time content=2020-01-04>{time}"),
            Some("2020-01-04"),
            None,
        ),
        (
            format!("<meta name=date content='no date'>{time}"),
            Some("2020-01-05"),
            None,
        ),
        (
            format!("<time class=updated datetime=2020-02-01>x</time>{time}"),
            Some("2020-01-05"),
            Some("2020-02-01"),
        ),
        (
            "<p class=post-date>Posted on May 4, 2026</p>".to_owned(),
            Some("2026-05-04"),
            None,
        ),
        (
            "<p class=post-date>Last updated: May 4, 2026</p>".to_owned(),
            None,
            Some("2026-05-04"),
        ),
        (
            "<div itemtype=https://schema.org/Comment itemscope><time itemprop=datePublished \
             datetime=2020-03-01></div>"
                .to_owned(),
            None,
            None,
        ),
        ("<p>In 2026-05-04 it began.</p>".to_owned(), None, None),
    ] {
        let fields = fields(&html);
        let text = |date: Option<web::PageDate>| date.map(|date| date.to_string());
        assert_eq!(text(fields.published).as_deref(), published, "{html}");
        assert_eq!(text(fields.modified).as_deref(), modified, "{html}");
    }
    let by_url = fields_at("http://example.org/2026/05/04/title", time).published;
    assert_eq!(by_url.unwrap().to_string(), "2026-05-04");
}

#[test]
fn other_fields_come_from_their_sources_with_absolute_urls() {
    let page = fields(
        "<base href=http://cdn.test/a/><meta property=og:image content=b.png>\
         <meta name=Keywords content='a, b ;c,,a'><meta property=og:type content=article>\
         <meta name=application-name content=App><meta property=og:description content=' a\n b '>\
         <footer><a rel='nofollow license' href=/by/>CC</a></footer>",
    );
    assert_eq!(page.image.as_deref(), Some("http://cdn.test/a/b.png"));
    assert_eq!(page.tags.as_deref(), Some("a; b; c"));
    assert_eq!(page.kind.as_deref(), Some("article"));
    assert_eq!(page.site.as_deref(), Some("App"));
    assert_eq!(page.description.as_deref(), Some("a b"));
    assert_eq!(page.license.as_deref(), Some("http://cdn.test/by/"));
    let item = fields(
        "<div itemscope itemtype=http://schema.org/Product><img itemprop=image src=/a.png></div>",
    );
    assert_eq!(item.kind.as_deref(), Some("Product"));
    assert_eq!(item.image.as_deref(), Some("http://example.org/a.png"));
    let data = linked(
        r#"{"@type": "Article", "image": [{"url": "/b.png"}], "license": "All rights reserved",
        "publisher": {"name": "Herald"}, "keywords": ["a", "b"]}"#,
    );
    let data = fields(&data);
    assert_eq!(data.image.as_deref(), Some("http://example.org/b.png"));
    assert_eq!(data.license.as_deref(), Some("All rights reserved"));
    assert_eq!(data.site.as_deref(), Some("Herald"));
    assert_eq!(data.tags.as_deref(), Some("a; b"));
    assert_eq!(
        fields("<meta property=og:image content='javascript:a.b'>").image,
        None
    );
}

#[test]
fn fields_are_read_only_if_they_are_asked_for() {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/", &form).unwrap();
    let html = b"<meta name=author content=Ada>";
    let page = read(
        html,
        &ResponseMetadata::of(&url),
        &form,
        &ReadLimits::default(),
    );
    assert_eq!(page.fields, PageFields::default());
}

#[test]
fn the_number_and_the_length_of_values_are_limited() {
    let tag = |number: u32| format!("<meta property=article:tag content=t{number}>");
    let tags = |count: u32| {
        fields(&(0..count).map(tag).collect::<String>())
            .tags
            .unwrap()
    };
    assert_eq!(tags(32).split("; ").count(), 32);
    assert_eq!(tags(33), tags(32));
    let author = |length| {
        fields(&format!(
            "<meta name=author content={}>",
            "x".repeat(length)
        ))
    };
    assert_eq!(author(120).author.unwrap().len(), 120);
    assert_eq!(author(121).author, None);
    let description = "é".repeat(2_001);
    let description = fields(&format!("<meta name=description content={description}>"));
    assert_eq!(description.description.unwrap(), "é".repeat(2_000));
    let metas = |before: usize| {
        let others = "<meta name=other content=a>".repeat(before);
        fields(&format!("{others}<meta name=author content=Ada>")).author
    };
    assert_eq!(metas(999).as_deref(), Some("Ada"));
    assert_eq!(metas(1_000), None);
}

#[test]
fn size_and_depth_of_linked_data_are_limited() {
    let article = r#"{"@type": "Article", "author": "Ada"}"#;
    let sized = |bytes: usize| {
        let space = " ".repeat(bytes - article.len());
        fields(&linked(&(article.to_owned() + &space))).author
    };
    assert_eq!(sized(256 << 10).as_deref(), Some("Ada"));
    assert_eq!(sized((256 << 10) + 1), None);
    // A script that is too long does not hide the next one.
    let long = linked(&" ".repeat(300 << 10));
    assert_eq!(
        fields(&(long + &linked(article))).author.as_deref(),
        Some("Ada")
    );
    let deep = |levels: usize| {
        let data = r#"{"@type": "WebPage", "mainEntity": "#.repeat(levels) + article;
        fields(&linked(&(data + &"}".repeat(levels)))).author
    };
    assert_eq!(deep(5).as_deref(), Some("Ada"));
    assert_eq!(deep(6), None);
    assert_eq!(deep(1_000), None);
    assert_eq!(fields(&linked(&"[".repeat(100_000))), PageFields::default());
}

/// Items that refer to each other, or to one long list, would be read again and again.
#[test]
fn items_that_refer_to_each_other_are_read_a_limited_number_of_times() {
    let circle = r##"{"@graph": [{"@type": "Article", "author": {"@id": "#b"}},
        {"@type": "Person", "@id": "#b", "name": {"@id": "#b"}}]}"##;
    assert_eq!(fields(&linked(circle)).author, None);
    let references = r##"{"@id": "#b"},"##.repeat(9_000);
    let nothing = "{},".repeat(20_000);
    let list = format!(
        r##"[{{"@type": "Article", "author": [{references} "Ada"]}},
        {{"@type": "Person", "@id": "#b", "name": [{nothing} "Bo"]}}]"##
    );
    assert_eq!(fields(&linked(&list)).author, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_page_can_be_read_and_every_field_is_short(
        html in "(<meta (name|property|itemprop)=(author|date|keywords|og:image|license) content=)\
                 {0,1}(<(p|time|a|div|nav|article|h1)( class=(author|date|comment|meta))?\
                 ( (rel|itemprop)=(author|license|datePublished))?>|</(p|div|nav|article)>|\
                 By |2026-05-04|Ada |\\PC|<script type=application/ld\\+json>|</script>|\
                 \\{\"@type\":\"Article\",\"author\":|\"x\"\\}){0,40}",
    ) {
        let fields = fields(&html);
        let values = [&fields.author, &fields.tags, &fields.site, &fields.kind];
        for value in values.into_iter().flatten() {
            prop_assert!(!value.trim().is_empty());
            prop_assert!(value.chars().count() <= 32 * 122);
        }
    }
}

#[test]
fn fields_of_the_user_are_the_first_elements_that_their_selectors_match() {
    let html = "<b data-stock=7>seven</b><meta itemprop=brand content=' Lumen  Ltd '>\
        <p class=price> 9\n <b>€</b></p>\
        <p class=price>12 €</p><p class=empty></p><input name=sku value=A17>";
    let found = own_fields(
        &[
            ("price", "example.org=.price"),
            ("brand", "*.org=meta[itemprop=brand]"),
            ("sku", "example.org=[name=sku]"),
            ("empty", "example.org=.empty"),
            ("missing", "example.org=.missing"),
            ("stock", "example.org=[data-stock]"),
            ("elsewhere", "other.org=.price"),
            ("either", "example.org=h1"),
            ("either", "example.org=.price b"),
        ],
        html,
    );
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let expected = [
        ("brand", "Lumen Ltd"),
        ("either", "€"),
        ("price", "9 €"),
        ("sku", "A17"),
        ("stock", "seven"),
    ];
    assert_eq!(found, expected);
}
