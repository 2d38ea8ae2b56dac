//! Sitemaps and feeds: their entries, and attacks on their reader.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

use proptest::prelude::*;
use web::{
    CanonicalForm, Lastmod, Listing, ListingKind, ListingLimits, ListingWarning, PageUrl,
    read_listing,
};

const BASE: &str = "https://site.example/maps/a.xml";
const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

fn read_bytes(body: &[u8], limits: &ListingLimits) -> Option<Listing> {
    let kind = ListingKind::of(None, body)?;
    let form = CanonicalForm::keep_all();
    let url = PageUrl::parse(BASE, &form).unwrap();
    Some(read_listing(kind, body, None, &url, &form, limits))
}

fn read(body: impl AsRef<[u8]>) -> Listing {
    let body = body.as_ref();
    read_bytes(body, &ListingLimits::default())
        .unwrap_or_else(|| panic!("no listing: {}", String::from_utf8_lossy(body)))
}

fn urls(listed: &[web::ListedUrl]) -> Vec<&str> {
    listed.iter().map(|entry| entry.url.as_str()).collect()
}

/// Asserts that a listing has these pages and no warnings.
fn lists(body: impl AsRef<[u8]>, pages: &[&str]) -> Listing {
    let listing = read(body.as_ref());
    let shown = String::from_utf8_lossy(body.as_ref());
    assert_eq!(urls(&listing.pages), pages, "{shown}");
    assert_eq!(listing.warnings, [], "{shown}");
    listing
}

/// Asserts that a listing has these pages and this warning.
fn lists_oddly(body: impl AsRef<[u8]>, pages: &[&str], warning: ListingWarning) {
    let listing = read(body.as_ref());
    let shown = String::from_utf8_lossy(body.as_ref());
    assert_eq!(urls(&listing.pages), pages, "{shown}");
    assert_eq!(listing.warnings, [warning], "{shown}");
}

fn urlset(entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"{SITEMAP}\">{entries}</urlset>"
    )
}

const A: &str = "https://site.example/a";
const B: &str = "https://site.example/b";

#[test]
fn a_sitemap_lists_pages_with_their_dates() {
    let body = urlset(
        "<url><loc>https://site.example/a</loc><lastmod>2024-05-06</lastmod>\
         <changefreq>daily</changefreq>\
         <priority>0.5</priority></url>\n<url>\n<loc>\n https://site.example/b \n</loc>\n</url>",
    );
    let listing = lists(&body, &[A, B]);
    assert_eq!(listing.kind, ListingKind::Sitemap);
    assert_eq!(listing.pages[0].lastmod, "2024-05-06".parse().ok());
    assert_eq!(listing.pages[1].lastmod, None);
    assert_eq!(urls(&listing.further), [""; 0]);
}

#[test]
fn an_index_lists_sitemaps() {
    let body = format!(
        "<sitemapindex xmlns=\"{SITEMAP}\"><sitemap><loc>https://site.example/1.xml.gz</loc>\
         <lastmod>2004</lastmod>\
         </sitemap><sitemap><loc>/2.txt</loc></sitemap></sitemapindex>"
    );
    let listing = lists(&body, &[]);
    assert_eq!(listing.kind, ListingKind::SitemapIndex);
    assert_eq!(
        urls(&listing.further),
        [
            "https://site.example/1.xml.gz",
            "https://site.example/2.txt"
        ]
    );
    assert_eq!(listing.further[0].lastmod, "2004".parse().ok());
}

#[test]
fn the_root_decides_the_kind_of_a_document() {
    for (body, kind) in [
        ("<urlset>", Some(ListingKind::Sitemap)),
        ("\u{feff}  <urlset/>", Some(ListingKind::Sitemap)),
        (
            "<!-- <html> --><?x y?><s:urlset xmlns:s='x'>",
            Some(ListingKind::Sitemap),
        ),
        (
            "<!DOCTYPE urlset [<!ENTITY a \"b>c\">]><urlset>",
            Some(ListingKind::Sitemap),
        ),
        (
            "<?xml version='1.0'?><sitemapindex>",
            Some(ListingKind::SitemapIndex),
        ),
        ("<rss version=\"2.0\">", Some(ListingKind::Feed)),
        ("<rss>", Some(ListingKind::Feed)),
        ("<rdf:RDF>", Some(ListingKind::Feed)),
        ("<feed>", Some(ListingKind::Feed)),
        (
            "{\"version\":\"https://jsonfeed.org/version/1.1\"}",
            Some(ListingKind::JsonFeed),
        ),
        (
            "{\"version\":\"https:\\/\\/jsonfeed.org\\/version\\/1\"}",
            Some(ListingKind::JsonFeed),
        ),
        ("http://a.example/\n", Some(ListingKind::TextSitemap)),
        (
            "\u{feff}\r\nHTTPS://a.example/\rhttp://b.example/",
            Some(ListingKind::TextSitemap),
        ),
        ("{\"version\":1}", None),
        ("<html><urlset>", None),
        ("<!DOCTYPE html><urlset>", None),
        ("<!-- endless", None),
        ("<div><rss>", None),
        ("words <urlset>", None),
        ("<x/><urlset>", None),
        ("<urlsets>", None),
        ("<channel>", Some(ListingKind::Feed)),
        // One odd line made a page of a text sitemap, and what only it lists was lost.
        (
            "Pages\nhttp://a.example/\nhttp://b.example/",
            Some(ListingKind::TextSitemap),
        ),
        ("# pages\nhttp://a.example/", Some(ListingKind::TextSitemap)),
        ("http://a.example/ is a page", None),
        ("http://a.example/\nand\nsome\nwords", None),
        ("see\nhttp://a.example/", None),
        ("", None),
        ("<", None),
    ] {
        assert_eq!(ListingKind::of(None, body.as_bytes()), kind, "{body}");
        let found = ListingKind::of(Some("text/html"), body.as_bytes());
        let is_markup = |kind: &ListingKind| *kind != ListingKind::TextSitemap;
        assert_eq!(found, kind.filter(is_markup), "{body}");
        for name in ["application/octet-stream", "text/xml", "application/x-gzip"] {
            assert_eq!(ListingKind::of(Some(name), body.as_bytes()), kind, "{body}");
        }
        assert_eq!(
            ListingKind::of(Some("image/png"), b"http://a.example/"),
            None
        );
    }
}

#[test]
fn a_text_sitemap_has_a_url_a_line() {
    lists(
        "https://site.example/a\r\n\r\nhttps://site.example/b",
        &[A, B],
    );
    lists(
        "\u{feff}https://site.example/a\nhttps://site.example/b\n",
        &[A, B],
    );
    let mut utf_16 = vec![0xff, 0xfe];
    utf_16.extend(
        format!("{A}\n{B}\n")
            .encode_utf16()
            .flat_map(u16::to_le_bytes),
    );
    lists(utf_16, &[A, B]);
    let mostly = format!("{}a comment\n", format!("{A}\n").repeat(9));
    lists_oddly(mostly, &[A; 9], ListingWarning::NoUrl);
}

#[test]
fn one_url_makes_a_text_sitemap_of_a_file_that_robots_txt_names() {
    let list = "the\npages\nof\nours\nhttps://site.example/a";
    for name in [
        None,
        Some("text/plain"),
        Some("text/html"),
        Some("image/png"),
    ] {
        let kind = ListingKind::of_named(name, list.as_bytes());
        assert_eq!(kind, Some(ListingKind::TextSitemap), "{name:?}");
    }
    for page in [
        "see https://site.example/a",
        "<p>\nhttps://site.example/a",
        "\u{1}\nhttp://a/",
        "",
    ] {
        assert_eq!(
            ListingKind::of_named(Some("text/plain"), page.as_bytes()),
            None,
            "{page}"
        );
    }
}

#[test]
fn pictures_and_films_of_listed_pages_are_kept_if_they_are_wanted() {
    let body = urlset(
        "<url><image:image><image:loc>/i.jpg</image:loc><image:title>x</image:title></image:image>\
         <loc>https://site.example/a</loc><video:video><video:thumbnail_loc>/t.jpg\
         </video:thumbnail_loc><video:title>y</video:title><video:content_loc>/v.mp4\
         </video:content_loc></video:video></url>",
    );
    for (requisites, expected, warnings) in [
        (9, &["i.jpg", "t.jpg", "v.mp4"][..], &[][..]),
        (2, &["i.jpg", "t.jpg"], &[ListingWarning::TooMany]),
        (0, &[], &[]),
    ] {
        let limits = ListingLimits {
            requisites,
            ..ListingLimits::default()
        };
        let listing = read_bytes(body.as_bytes(), &limits).unwrap();
        assert_eq!(urls(&listing.pages), [A]);
        let found: Vec<&str> = listing.requisites.iter().map(PageUrl::as_str).collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|name| format!("https://site.example/{name}"))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(listing.warnings, warnings);
    }
}

#[test]
fn the_encoding_follows_from_the_mark_the_declaration_or_the_bytes() {
    let e_acute = "https://site.example/%C3%A9";
    let declared = |name: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"{name}\"?>\
             <urlset><url><loc>https://site.example/é</loc></url></urlset>"
        )
    };
    lists(declared("UTF-8"), &[e_acute]);
    let latin: Vec<u8> = declared("ISO-8859-1")
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    lists(latin, &[e_acute]);
    let wide = declared("UTF-16");
    let little: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = wide.encode_utf16().flat_map(u16::to_be_bytes).collect();
    lists(&little, &[e_acute]);
    lists(&big, &[e_acute]);
    lists([&[0xff, 0xfe], &little[..]].concat(), &[e_acute]);
    lists([&[0xfe, 0xff], &big[..]].concat(), &[e_acute]);
    lists(
        [b"\xef\xbb\xbf", declared("UTF-8").as_bytes()].concat(),
        &[e_acute],
    );
    lists_oddly(
        b"<?xml version='1.0' encoding='utf-8'?>\
         <urlset><url><loc>/a</loc><x>\xff</x></url></urlset>",
        &[A],
        ListingWarning::Undecodable,
    );
}

#[test]
fn addresses_are_read_as_sites_write_them() {
    for loc in [
        "https://site.example/a?b=1&amp;c=2",
        "https://site.example/a?b=1&#38;c=2",
        "https://site.example/a?b=1&#x26;c=2",
        "https://site.example/a?b=1&c=2",
        "<![CDATA[https://site.example/a?b=1&c=2]]>",
        "\n<![CDATA[https://site.example/]]>a?b=1<![CDATA[&]]>c=2 ",
        "/a?b=1&amp;c=2",
        "../a?b=1&amp;c=2",
        "//site.example/a?b=1&amp;c=2",
        "HTTPS://SITE.EXAMPLE:443/a?b=1&amp;c=2#top",
        "<b>https://site.example</b>/a?b=1&amp;c=2",
    ] {
        lists(
            urlset(&format!("<url><loc>{loc}</loc></url>")),
            &["https://site.example/a?b=1&c=2"],
        );
    }
    for loc in [
        "",
        " ",
        "mailto:a@b.example",
        "http://",
        "javascript:x",
        "&unknown;/x",
        "/&nbsp;",
    ] {
        let body = urlset(&format!(
            "<url><loc>{loc}</loc></url><url><loc>/b</loc></url>"
        ));
        lists_oddly(body, &[B], ListingWarning::NoUrl);
    }
    let long = format!("/{}", "x".repeat(web::MAX_URL_BYTES));
    lists_oddly(
        urlset(&format!(
            "<url><loc>{long}</loc></url><url><loc>/b</loc></url>"
        )),
        &[B],
        ListingWarning::NoUrl,
    );
    // A listing does not list itself.
    lists(
        urlset("<url><loc>a.xml</loc></url><url><loc>/b</loc></url>"),
        &[B],
    );
}

#[test]
fn extensions_are_tolerated_and_translations_are_links() {
    let body = format!(
        "<urlset xmlns=\"{SITEMAP}\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" xmlns:video=\"x\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"><url>\
         <image:loc>/stray.png</image:loc><loc>/a</loc>\
         <image:image><image:loc>/a.png</image:loc><loc>/b.png</loc></image:image>\
         <video:video><video:content_loc>/v.mp4</video:content_loc>\
         <video:player_loc>/p</video:player_loc>\
         <video:thumbnail_loc>/t.png</video:thumbnail_loc></video:video>\
         <news:news><news:publication><news:name>x</news:name></news:publication></news:news>\
         <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"/de/a?x=1&amp;y=2\"/>\
         <xhtml:link rel=\"stylesheet\" href=\"/s.css\"/>\
         <lastmod>2020-01-01</lastmod></url></urlset>"
    );
    let listing = lists(body, &[A, "https://site.example/de/a?x=1&y=2"]);
    assert_eq!(listing.pages[1].lastmod, "2020-01-01".parse().ok());
}

#[test]
fn namespaces_may_be_wrong_or_missing() {
    for (open, prefix) in [
        (
            "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>",
            "",
        ),
        ("<urlset>", ""),
        (
            "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'>",
            "sm:",
        ),
        ("<sm:urlset>", "sm:"),
    ] {
        lists(
            format!(
                "{open}<{prefix}url><{prefix}loc>/a</{prefix}loc></{prefix}url></{prefix}urlset>"
            ),
            &[A],
        );
    }
}

#[test]
fn entries_before_a_break_count() {
    let body = urlset("<url><loc>/a</loc><lastmod>2020</lastmod></url><url><loc>/b</loc></url>");
    let b_ends = body.find("/b</loc>").unwrap() + "/b</loc>".len();
    for cut in body.find("<url>").unwrap()..body.len() {
        let listing = read(&body.as_bytes()[..cut]);
        let pages = urls(&listing.pages);
        let a_ends = body.find("/a</loc>").unwrap() + "/a</loc>".len();
        let expected = [A, B];
        let count = usize::from(cut >= a_ends) + usize::from(cut >= b_ends);
        assert_eq!(pages, expected[..count], "cut at {cut}: {}", &body[..cut]);
        assert_eq!(listing.warnings, [ListingWarning::Broken], "cut at {cut}");
    }
}

#[test]
fn markup_may_be_broken() {
    for body in [
        urlset("<url><loc>/a</url><url><loc>/b</loc></url>"),
        urlset("<url><loc>/a</loc><url><loc>/b</loc></url>"),
        urlset("<url><loc>/a</loc><lastmod></url><url><loc>/b</loc></lastmod></url></x>"),
        "<urlset><url><loc>/a</loc></url></urlset><urlset><url><loc>/b</loc></url></urlset>"
            .to_owned(),
        "<urlset><url><loc>/a</loc></url></urlset></urlset><url><loc>/b</loc></url>".to_owned(),
        "<urlset a=1 a=2 b><url x><loc y=>/a</loc></url><url><loc>/b</loc></url></urlset>"
            .to_owned(),
    ] {
        assert_eq!(urls(&read(&body).pages), [A, B], "{body}");
    }
    lists_oddly(
        urlset("<url><loc>/a</loc></url><url><loc>/b</loc></url><url <"),
        &[A, B],
        ListingWarning::Broken,
    );
    lists_oddly(
        urlset("<url><loc>/a</loc><lastmod>gestern</lastmod></url><url><loc>/b</loc></url>"),
        &[A, B],
        ListingWarning::InvalidLastmod,
    );
}

#[test]
fn a_declared_entity_is_neither_expanded_nor_fetched() {
    let laughs: String = (1..=9)
        .map(|n| {
            format!(
                "<!ENTITY lol{n} \"{}\">",
                format!("&lol{};", n - 1).repeat(10)
            )
        })
        .collect();
    let body = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY lol0 \"/lol\">{laughs}<!ENTITY x \
         SYSTEM \"file:///etc/passwd\">\
         <!ENTITY % p SYSTEM \"http://evil.example/p\"> %p;]>\
         <urlset><url><loc>/&lol9;</loc></url><url><loc>&x;</loc></url>\
         <url><loc>/a</loc></url></urlset>"
    );
    lists_oddly(body, &[A], ListingWarning::NoUrl);
}

#[test]
fn entries_beyond_the_cap_are_dropped() {
    let limits = ListingLimits {
        entries: 3,
        ..ListingLimits::default()
    };
    let sitemap = |count: usize| urlset(&"<url><loc>/a</loc></url>".repeat(count));
    let text = |count: usize| format!("{A}\n").repeat(count);
    let links = |count: usize| {
        urlset(&format!(
            "<url>{}</url>",
            "<xhtml:link rel='alternate' href='/a'/>".repeat(count)
        ))
    };
    let json = |count: usize| {
        let items = vec!["{\"url\":\"/a\"}"; count].join(",");
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{items}]}}")
    };
    let kinds: [&dyn Fn(usize) -> String; 4] = [&sitemap, &text, &links, &json];
    for body in kinds {
        let at = read_bytes(body(3).as_bytes(), &limits).unwrap();
        assert_eq!((at.pages.len(), at.warnings.len()), (3, 0), "{}", body(3));
        let past = read_bytes(body(4).as_bytes(), &limits).unwrap();
        assert_eq!(past.pages.len(), 3, "{}", body(4));
        assert_eq!(past.warnings, [ListingWarning::TooMany], "{}", body(4));
    }
}

#[test]
fn endlessly_nested_tags_end_the_reading() {
    let deep = format!(
        "{}{}",
        urlset("<url><loc>/a</loc></url>"),
        "<a xml:base='/x/'>".repeat(100_000)
    );
    lists_oddly(deep, &[A], ListingWarning::Broken);
}

#[test]
fn rss_of_every_version_lists_its_items() {
    let item =
        |link: &str| format!("<item><title>t</title>{link}<description>d</description></item>");
    let two = item("<link>https://site.example/a</link>") + &item("<link> /b </link>");
    for version in ["0.91", "0.92", "0.93", "0.94", "2.0", "2.0.1", ""] {
        let body = format!(
            "<rss version=\"{version}\"><channel>\
             <link>https://site.example/</link>{two}</channel></rss>"
        );
        lists(body, &["https://site.example/", A, B]);
    }
    // In RSS 0.90 and 1.0 the items are beside the channel.
    lists(
        format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
             xmlns='http://purl.org/rss/1.0/'>\
             <channel rdf:about='/'><link>https://site.example/</link><items><rdf:Seq><rdf:li \
             resource='/a'/></rdf:Seq>\
             </items></channel><image><link>/i</link></image>{two}\
             <textinput><link>/t</link></textinput></rdf:RDF>"
        ),
        &["https://site.example/", A, B],
    );
}

#[test]
fn the_links_of_an_item_count_and_its_guid() {
    lists(
        "<rss><channel><link>/b</link><image><link>/no</link></image><item><link>/a</link>\
         <guid>https://site.example/g</guid></item></channel></rss>",
        &[B, A, "https://site.example/g"],
    );
    lists("<channel><item><link>/a</link></item></channel>", &[A]);
    for (item, page) in [
        (
            "<link>/a</link><guid>https://site.example/a</guid>",
            Some(A),
        ),
        ("<guid>https://site.example/a</guid>", Some(A)),
        (
            "<guid isPermaLink='true'>https://site.example/a</guid>",
            Some(A),
        ),
        (
            "<guid isPermaLink='false'>https://site.example/a</guid>",
            None,
        ),
        ("<guid>tag:site.example,2024:1</guid>", None),
        ("<guid>/a</guid>", None),
        ("<atom:link rel='alternate' href='/a'/>", Some(A)),
        ("<atom:link rel='self' href='/a'/>", None),
        ("<media:link>/a</media:link>", None),
        (
            "<enclosure url='/a.mp3'/><source \
             url='/x'>x</source><comments>/c</comments><link>/a</link>",
            Some(A),
        ),
        ("<link><![CDATA[/a]]></link>", Some(A)),
    ] {
        let body = format!("<rss version='2.0'><channel><item>{item}</item></channel></rss>");
        lists(body, &page.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn atom_lists_the_alternates_of_its_entries_relative_to_xml_base() {
    let listing = lists(
        "<?xml version='1.0' encoding='utf-8'?><feed xmlns='http://www.w3.org/2005/Atom' \
         xml:base='https://site.example/x/'>\
         <link href='./'/><link rel='self' href='feed'/><link rel='next' href='?page=2'/>\
         <link rel='prev-archive' href='/old'/><link rel='hub' href='/hub'/>\
         <entry><link href='../a'/><link rel='edit' href='e'/><id>urn:x</id>\
         <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><a href='/no'>x</a><link \
         href='/no'/></div></content>\
         <source><link href='/no'/></source></entry>\
         <entry xml:base='/'><link rel='alternate' type='text/html' href='b'/></entry></feed>",
        &["https://site.example/x/", A, B],
    );
    assert_eq!(
        urls(&listing.further),
        ["https://site.example/x/?page=2", "https://site.example/old"]
    );
}

#[test]
fn a_json_feed_lists_its_items() {
    let listing = lists(
        "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"t\",\"next_url\":\"/2\",\
         \"home_page_url\":\"/\",\
         \"authors\":[{\"name\":[1,{}]}],\"items\":[\
         {\"id\":\"1\",\"url\":\"/a\",\"content_html\":\"<a href='/no'>\"},\
         {\"external_url\":\"https:\\/\\/site.example\\/b\"},{\"id\":3,\"url\":null},\
         {\"id\":\"https://site.example/c\"}]}",
        &["https://site.example/", A, B, "https://site.example/c"],
    );
    assert_eq!(urls(&listing.further), ["https://site.example/2"]);
    for broken in [
        "{\"version\":\"jsonfeed.org\",\"items\":[{\"url\":\"/a\"},{\"url\":\"/b\"},{\"ur",
        "{\"version\":\"jsonfeed.org\",\"items\":[{\"url\":\"/a\"},{\"url\":\"/b\"},{\"url\":5}]}",
    ] {
        lists_oddly(broken, &[A, B], ListingWarning::Broken);
    }
}

/// A sitemap with random entries, each in one of the equivalent forms.
fn written(entries: &[(String, Option<String>)], manner: u32) -> Vec<u8> {
    let way = |number: u32, of: u32| manner >> number & 1 == of;
    let prefix = if way(0, 1) { "sm:" } else { "" };
    let gap = if way(1, 1) { "\n\t " } else { "" };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    if way(2, 1) {
        text.push_str("<!-- <urlset> --><!DOCTYPE x [<!ENTITY y \"z\">]>");
    }
    text.push_str(&format!("<{prefix}urlset>"));
    for (url, lastmod) in entries {
        let escaped = url.replace('&', if way(3, 1) { "&amp;" } else { "&#x26;" });
        let loc = if way(4, 1) {
            format!("<![CDATA[{url}]]>")
        } else {
            escaped
        };
        let lastmod = lastmod.as_ref().map_or(String::new(), |date| {
            format!("<{prefix}lastmod>{gap}{date}{gap}</{prefix}lastmod>")
        });
        let loc = format!("<{prefix}loc>{gap}{loc}{gap}</{prefix}loc>");
        let image = "<image:image><image:loc>/no.png</image:loc></image:image>";
        let fields = if way(5, 1) {
            format!("{lastmod}{image}{gap}{loc}")
        } else {
            format!("{loc}{gap}{lastmod}{image}")
        };
        text.push_str(&format!(
            "<{prefix}url>{gap}{fields}{gap}</{prefix}url>{gap}"
        ));
    }
    text.push_str(&format!("</{prefix}urlset>"));
    if way(6, 1) {
        let marked = format!("\u{feff}{text}");
        return marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    }
    text.into_bytes()
}

fn entry() -> impl Strategy<Value = (String, Option<String>)> {
    let url = "[a-z]{1,8}(/[a-zA-Z0-9._~-]{1,6}){1,3}\
         (\\?[a-z]{1,3}=[0-9]{1,3}(&[a-z]{1,3}=[a-z]{1,3}){0,2})?"
        .prop_map(|rest| format!("https://{rest}"));
    let date = (1970_u32..2100, 1_u32..=12, 1_u32..=28, 0_u32..3).prop_map(
        |(year, month, day, precision)| match precision {
            0 => format!("{year:04}"),
            1 => format!("{year:04}-{month:02}"),
            _ => format!("{year:04}-{month:02}-{day:02}"),
        },
    );
    (url, proptest::option::of(date))
}

proptest! {
    #[test]
    fn equivalent_spellings_of_a_sitemap_are_read_alike(
        entries in proptest::collection::vec(entry(), 0..20),
        manner in 0_u32..128,
    ) {
        let listing = read(written(&entries, manner));
        let form = CanonicalForm::keep_all();
        let expected: Vec<(PageUrl, Option<Lastmod>)> = entries
            .iter()
            .map(|(url, date)| {
                let date = date.as_ref().map(|date| date.parse().unwrap());
                (PageUrl::parse(url, &form).unwrap(), date)
            })
            .collect();
        let pages = listing.pages.into_iter();
        let found: Vec<_> = pages.map(|entry| (entry.url, entry.lastmod)).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(listing.warnings, []);
    }

    #[test]
    fn any_bytes_are_read_within_the_limits(
        body in proptest::collection::vec(any::<u8>(), 0..400),
        tokens in proptest::collection::vec(proptest::sample::select(TOKENS), 0..60),
        kind in proptest::sample::select(&KINDS[..]),
    ) {
        let limits = ListingLimits { entries: 5, requisites: 5 };
        let form = CanonicalForm::keep_all();
        let url = PageUrl::parse(BASE, &form).unwrap();
        let soup = tokens.concat();
        for body in [&body[..], soup.as_bytes(), &[soup.as_bytes(), &body[..]].concat()] {
            let _kind = ListingKind::of(None, body);
            let listing = read_listing(kind, body, None, &url, &form, &limits);
            prop_assert!(listing.pages.len() + listing.further.len() <= 5);
            prop_assert!(listing.warnings.len() <= 5);
        }
    }
}

const KINDS: [ListingKind; 5] = [
    ListingKind::Sitemap,
    ListingKind::SitemapIndex,
    ListingKind::TextSitemap,
    ListingKind::Feed,
    ListingKind::JsonFeed,
];

const TOKENS: &[&str] = &[
    "<urlset>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "/a",
    "<lastmod>",
    "2024",
    "</lastmod>",
    "<sitemap>",
    "</sitemap>",
    "<item>",
    "</item>",
    "<entry>",
    "</entry>",
    "<link>",
    "</link>",
    "<link href='/x'/>",
    "<link rel='next' href='/n'/>",
    "<guid>",
    "</guid>",
    "https://x.example/",
    "&amp;",
    "&",
    "&x;",
    "&#0;",
    "&#xFFFFFFFF;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<!DOCTYPE x [",
    "]>",
    "<?xml",
    "?>",
    "<",
    ">",
    "\"",
    "'",
    " xml:base='/b/'",
    "<a xml:base='../'>",
    "</",
    "\n",
    "é",
    "\0",
    "{",
    "}",
    "[",
    "]",
    "\"items\":",
    "\"url\":",
    "\"next_url\":",
    ",",
    "null",
    "1",
];
