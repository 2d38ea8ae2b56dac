//! Every place of HTML with a URL: each is found, none is invented, and both readers agree.
//!
//! The pages are in `tests/links/`. Every URL in them that is a link ends with its number in its
//! page and its kind, `/3-page`; the others end with `-no`. The first comment of each page lists
//! the expected links in order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use web::{
    CanonicalForm, Document, LinkKind, LinkKinds, PageUrl, ReadLimits, Relations, ResponseMetadata,
    read,
};

const ALL: LinkKinds = LinkKinds::PAGES
    .with(LinkKind::Form)
    .with(LinkKind::Script)
    .with(LinkKind::Requisite);

/// Limits that no page keeps: from the first attribute on, the page is read without a tree.
const NO_TREE: usize = 0;

fn read_page(text: &str, kinds: LinkKinds, attributes: usize) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/dir/page", &form).expect("a URL");
    let hints = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        kinds,
        attributes,
        ..ReadLimits::default()
    };
    read(text.as_bytes(), &hints, &form, &limits)
}

fn links(text: &str, kinds: LinkKinds, attributes: usize) -> BTreeSet<(String, &'static str)> {
    let document = read_page(text, kinds, attributes);
    let links = document.links.iter();
    links
        .map(|link| (short(link.url.as_str()), link.kind.as_str()))
        .collect()
}

/// URLs of the page's own site without it.
fn short(url: &str) -> String {
    let own = url
        .strip_prefix("http://site.example")
        .filter(|path| path.starts_with('/'));
    own.unwrap_or(url).to_owned()
}

/// Returns the expectation in a page's first comment: a URL and its kind a line.
fn expected(page: &str) -> BTreeSet<(String, &'static str)> {
    let (_, rest) = page.split_once("<!-- expected\n").expect("a list");
    let (list, _) = rest.split_once("-->").expect("its end");
    let kinds = [
        LinkKind::Page,
        LinkKind::Frame,
        LinkKind::Refresh,
        LinkKind::Form,
        LinkKind::Script,
        LinkKind::Requisite,
    ];
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (url, kind) = line.rsplit_once(' ').expect("a kind");
            let kind = kinds.iter().find(|known| known.as_str() == kind);
            (
                url.to_owned(),
                kind.unwrap_or_else(|| panic!("{line}")).as_str(),
            )
        })
        .collect()
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("links/", $name, ".html")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages![
    "head",
    "body",
    "requisites",
    "drawings",
    "inert",
    "spelling",
    "forms",
    "scripts",
    "frames",
    "relations",
    "styles",
];

/// HTML Standard, section 4.8.4.4.2: the `alt` texts of the pictures are the text of a link without
/// other words.
#[test]
fn the_anchor_text_of_a_link_around_pictures_is_their_alt_and_that_of_an_area_its_own() {
    for (inside, words) in [
        ("<img src=a.png alt=' The  front\npage'>", "The front page"),
        (
            "<img alt=Go><span> <picture><img alt=home></picture></span>",
            "Go home",
        ),
        ("<img alt=home> read", "read"),
        ("<img src=a.png>", ""),
        ("<img alt=''>", ""),
        ("<svg><image alt=no /></svg>", ""),
    ] {
        let text = format!("<img alt=before><a href=/a>{inside}</a><img alt=behind>");
        let document = read_page(&text, LinkKinds::PAGES, 1_000);
        assert_eq!(document.links[0].anchor, words, "{text}");
    }
    let map = "<map name=m><area href=/a alt='The north'><area href=/b></map>";
    for attributes in [1_000, NO_TREE] {
        let document = read_page(map, LinkKinds::PAGES, attributes);
        let words: Vec<&str> = document
            .links
            .iter()
            .map(|link| link.anchor.as_str())
            .collect();
        assert_eq!(words, ["The north", ""]);
    }
}

#[test]
fn every_link_of_a_page_is_found_and_none_is_invented() {
    for (name, page) in PAGES {
        let wanted = expected(page);
        assert!(!wanted.is_empty(), "{name}");
        for (reader, attributes) in [("tree", 1_000), ("stream", NO_TREE)] {
            let found = links(page, ALL, attributes);
            let missing: Vec<_> = wanted.difference(&found).collect();
            let invented: Vec<_> = found.difference(&wanted).collect();
            assert!(
                missing.is_empty() && invented.is_empty(),
                "{name}, {reader}: missing {missing:?}, invented {invented:?}"
            );
        }
    }
}

#[test]
fn only_the_kinds_in_the_limits_are_found() {
    for (name, page) in PAGES {
        let pages: BTreeSet<_> = expected(page)
            .into_iter()
            .filter(|(_, kind)| matches!(*kind, "page" | "frame" | "refresh"))
            .collect();
        assert_eq!(links(page, LinkKinds::PAGES, 1_000), pages, "{name}");
    }
}

#[test]
fn requisites_do_not_crowd_out_pages() {
    let pictures: String = (0..50).map(|n| format!("<img src=/p{n}>")).collect();
    let pages: String = (0..5).map(|n| format!("<a href=/a{n}>")).collect();
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/", &form).unwrap();
    let hints = ResponseMetadata {
        content_type: Some("text/html"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        kinds: ALL,
        links: 5,
        ..ReadLimits::default()
    };
    let document = read(
        format!("{pictures}{pages}").as_bytes(),
        &hints,
        &form,
        &limits,
    );
    let count = |kind| {
        document
            .links
            .iter()
            .filter(|link| link.kind == kind)
            .count()
    };
    assert_eq!((count(LinkKind::Page), count(LinkKind::Requisite)), (5, 5));
    assert_eq!(document.warnings, [web::ParseWarning::TooManyLinks]);
}

#[test]
fn a_link_that_is_also_a_picture_is_a_page_and_keeps_its_words() {
    for text in [
        "<img src=/x><a href=/x>words</a>",
        "<a href=/x>words</a><img src=/x>",
        "<img src=./../x><a href=/x>words</a>",
    ] {
        let document = read_page(text, ALL, 1_000);
        let icon = document.links.last().expect("the implied icon");
        assert_eq!(short(icon.url.as_str()), "/favicon.ico", "{text}");
        assert_eq!(document.links.len(), 2, "{text}");
        assert_eq!(document.links[0].kind, LinkKind::Page, "{text}");
        assert_eq!(document.links[0].anchor, "words", "{text}");
    }
}

/// Browsers request it (HTML Standard, section 4.6.7.8), so a replay without it had a hole.
#[test]
fn a_page_without_an_icon_of_its_own_needs_that_of_its_host() {
    for (text, icons) in [
        ("words", 1),
        ("<base href=http://other.example/>words", 1),
        ("<link rel='shortcut icon' href=/i.png>words", 0),
        ("<link rel=apple-touch-icon href=/i.png>words", 1),
    ] {
        for attributes in [1_000, NO_TREE] {
            let found = links(text, ALL, attributes);
            let icon = ("/favicon.ico".to_owned(), "requisite");
            assert_eq!(usize::from(found.contains(&icon)), icons, "{text}");
            let document = read_page(text, LinkKinds::PAGES, attributes);
            assert!(document.links.is_empty(), "{text}");
        }
    }
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/dir/page", &form).unwrap();
    let hints = ResponseMetadata {
        content_type: Some("text/html"),
        link: &["</i.png>; rel=icon"],
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        kinds: ALL,
        ..ReadLimits::default()
    };
    let found = read(b"words", &hints, &form, &limits).links;
    let found: Vec<String> = found.iter().map(|link| short(link.url.as_str())).collect();
    assert_eq!(found, ["/i.png"]);
}

#[test]
fn header_fields_have_links_too() {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/dir/page", &form).unwrap();
    let link = [
        "<next>; rel=next, </style.css>; rel=preload; as=style",
        "<https://other.example/c>; rel=\"canonical nofollow\"; title=\"a, <b>; rel=next\"",
        "</not-ours>; rel=next; anchor=\"/elsewhere\", </ours>; rel=prev; anchor=\"#part\"",
        "<https://cdn.example/>; rel=preconnect, </x>; rel=pingback, <page>; rel=self, <ftp://a/>; \
         rel=next",
    ];
    for (media, body) in [
        (
            "text/html",
            "<base href=/base/><link rel=canonical href=/tag><a href=b>",
        ),
        ("text/plain", "text"),
        ("application/pdf", "%PDF"),
    ] {
        let hints = ResponseMetadata {
            content_type: Some(media),
            link: &link,
            content_location: Some(" content "),
            refresh: Some("3; url=later"),
            ..ResponseMetadata::of(&url)
        };
        let limits = ReadLimits {
            kinds: ALL,
            ..ReadLimits::default()
        };
        let document = read(body.as_bytes(), &hints, &form, &limits);
        let found: Vec<_> = document
            .links
            .iter()
            .map(|link| (short(link.url.as_str()), link.kind, link.relations))
            .collect();
        let mut wanted = vec![
            ("/dir/next".to_owned(), LinkKind::Page, Relations::NONE),
            (
                "/style.css".to_owned(),
                LinkKind::Requisite,
                Relations::NONE,
            ),
            (
                "https://other.example/c".to_owned(),
                LinkKind::Page,
                Relations::NOFOLLOW,
            ),
            ("/ours".to_owned(), LinkKind::Page, Relations::NONE),
            ("/dir/content".to_owned(), LinkKind::Page, Relations::NONE),
            ("/dir/later".to_owned(), LinkKind::Refresh, Relations::NONE),
        ];
        if media == "text/html" {
            wanted.push(("/tag".to_owned(), LinkKind::Page, Relations::NONE));
            wanted.push(("/base/b".to_owned(), LinkKind::Page, Relations::NONE));
            // Not named by the page, and not relative to its base.
            wanted.push((
                "/favicon.ico".to_owned(),
                LinkKind::Requisite,
                Relations::NONE,
            ));
        }
        assert_eq!(found, wanted, "{media}");
        let canonical = document.canonical.map(|url| url.to_string());
        assert_eq!(
            canonical.as_deref(),
            Some("https://other.example/c"),
            "{media}"
        );
    }
}

/// Generates elements with URLs, in places where these are links and where they are not.
fn page() -> impl Strategy<Value = String> {
    let element = (0_usize..ELEMENTS.len(), 0_u8..8, any::<bool>()).prop_map(
        |(index, spelling, is_known)| {
            let url = spelled(spelling, if is_known { 7 } else { index });
            ELEMENTS[index].replace('*', &url)
        },
    );
    let leaf = prop_oneof![
        6 => element,
        1 => prop::sample::select(vec!["text", " &amp; ", "<br>", "<!-- <a href=/no> \
        -->", "<p>", "</p>", "<hr>"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        (0..AROUND.len(), prop::collection::vec(inner, 1..5)).prop_map(|(around, inner)| {
            let (start, end) = AROUND[around];
            format!("{start}{}{end}", inner.concat())
        })
    })
    .prop_flat_map(|first| Just(format!("<!DOCTYPE html><body class=x>{first}")))
}

fn spelled(spelling: u8, number: usize) -> String {
    match spelling {
        0 => format!("\"/u{number}?a=1&amp;b=2\""),
        1 => format!("'/u{number}?a=1&copy=2&sol;x'"),
        2 => format!("/u{number}?a&#x2f;b"),
        3 => format!("\" \n/u{number}\t\""),
        4 => format!("\"/u\n{number}\""),
        5 => format!("'u{number}#part'"),
        6 => format!("\"/U{number}&period;html\" "),
        _ => format!("\"//other.example/u{number}\""),
    }
}

const ELEMENTS: &[&str] = &[
    "<a href=*>words</a>",
    "<A title='<a href=/no>' HREF=*>words</A>",
    "<area href=* href=/second>",
    "<link rel=next href=*>",
    "<link rel='alternate stylesheet' href=*>",
    "<link rel=dns-prefetch href=*>",
    "<img src=* alt='<a href=/no>'>",
    "<img srcset=\"/s1 1x, /s2 2x\" src=*>",
    "<img lowsrc=/low dynsrc=*>",
    "<picture><source srcset=\"/s3 100w\"><img src=*></picture>",
    "<video src=* poster=/poster><a href=/in-video>x</a></video>",
    "<audio><source src=*></audio>",
    "<object data=*><a href=/in-object>x</a></object>",
    "<object type=text/html data=*></object>",
    "<embed src=*>",
    "<iframe src=*><a href=/no></a></iframe>",
    "<iframe srcdoc='<a href=/in-frame>x</a>' src=*></iframe>",
    "<blockquote cite=*>said</blockquote>",
    "<q cite=*>said</q>",
    "<del cite=*>said</del>",
    "<script src=*></script>",
    "<script>x = '<a href=/no>'; go('/from-script')</script>",
    "<script><!-- <script></script><a href=/no> --></script>",
    "<style>a { b: '<a href=/no>' }</style>",
    "<textarea><a href=/no></textarea>",
    "<template><a href=*>x</a><template></template><a href=/no></a></template>",
    "<div><template shadowrootmode=open><a href=*>x</a></template></div>",
    "<noscript><a href=*>x</a><meta http-equiv=refresh content='0; url=/no-scripts'></noscript>",
    "<svg><a href=*><text>x</text></a><image xlink:href=/picture /></svg>",
    "<svg><a xlink:href=*>x</a><style><a href=/styled></style><![CDATA[<a href=/no>]]></svg>",
    "<svg><foreignObject><a href=*>x</a></foreignObject><use href=/parts#x /></svg>",
    "<svg><circle><p><a href=*>x</a>",
    "<math><mi href=*>x</mi><mtext><a href=/in-formula>x</a></mtext></math>",
    "<table background=*><tr><td background=/cell>x</td></tr></table>",
    "<select><option value=*>x</option></select>",
    "<form action=*><input name=a value=b></form>",
    "<meta http-equiv=Refresh content='5; url=/later'>",
    "<a ping=/no data-href=/no href=* onclick=\"go('/handler')\">x</a>",
    "<img class=lazy data-src=/lazy.jpg data-src=/no.jpg src=*>",
    "<div data-bg=/bg.jpg onload=\"x='/loaded'\"></div>",
    "<iframe data-src=/lazy.html></iframe>",
    "<meta property=og:image content=/preview.jpg>",
    "<amp-img src=* srcset='/amp.jpg 2x'></amp-img>",
    "<script type=application/ld+json>{\"image\": \"/ld.jpg\"}</script>",
];

const AROUND: &[(&str, &str)] = &[
    ("<div>", "</div>"),
    ("<section><h2>x</h2>", "</section>"),
    ("<ul><li>", "</li></ul>"),
    ("<span>", "</span>"),
    ("<table><tr><td>", "</td></tr></table>"),
    ("<canvas>", "</canvas>"),
    ("<template>", "</template>"),
    ("<b>", "</b>"),
    ("<details><summary>x</summary>", "</details>"),
    ("<svg><desc>", "</desc></svg>"),
    ("<fieldset>", "</fieldset>"),
];

proptest! {
    /// Each reader is the other's oracle.
    #[test]
    fn both_readers_find_the_same_links(page in page()) {
        prop_assert_eq!(links(&page, ALL, 1_000), links(&page, ALL, NO_TREE));
    }
}

fn parts(content_type: &str, body: &[u8], kinds: LinkKinds) -> Vec<String> {
    let document = read_as(content_type, body, kinds);
    assert_eq!(document.media, web::Media::Other);
    let links = document.links.iter();
    let needed = links.filter(|link| link.is_needed);
    needed.map(|link| short(link.url.as_str())).collect()
}

fn read_as(content_type: &str, body: &[u8], kinds: LinkKinds) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/style/of-all.css", &form).expect("a URL");
    let hints = ResponseMetadata {
        content_type: Some(content_type),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        kinds,
        ..ReadLimits::default()
    };
    read(body, &hints, &form, &limits)
}

#[test]
fn style_sheets_drawings_and_manifests_need_what_they_name() {
    let needed = |content_type: &str, body: &[u8]| parts(content_type, body, ALL);
    let sheet =
        b"@import 'more.css'; a { b: url(../x.png), url(//other.example/y), url(of-all.css), \
        url(#z) }";
    assert_eq!(
        needed("text/css; charset=utf-8", sheet),
        ["/style/more.css", "/x.png", "http://other.example/y"]
    );
    assert_eq!(needed("Text/CSS", b"a{b:url(\xc3\xa4)}"), ["/style/%C3%A4"]);
    assert_eq!(
        needed("text/css; charset=latin1", b"a{b:url(\xe4)}"),
        ["/style/%C3%A4"]
    );
    let drawing =
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><style>a { b: url(font) \
        }</style>\
        <image href='1.png'/><use xlink:href='2.svg#a'/><use href='#own'/><a \
        href='page'><rect/></a>\
        <g style='fill: url(3.svg#b)'/></svg>";
    assert_eq!(
        needed("image/svg+xml", drawing),
        [
            "/style/font",
            "/style/1.png",
            "/style/2.svg",
            "/style/3.svg"
        ]
    );
    // The links of a drawing that is a document of its own were not followed.
    let svg = read_as("image/svg+xml", drawing, LinkKinds::PAGES);
    let pages: Vec<_> = svg
        .links
        .iter()
        .map(|link| (short(link.url.as_str()), link.kind))
        .collect();
    assert_eq!(pages, [("/style/page".to_owned(), LinkKind::Page)]);
    let manifest =
        br#"{"name": "x", "start_url": "/no", "icons": [{"src": "i.png"}, {"src": 1}, 2]}"#;
    assert_eq!(
        needed("application/manifest+json", manifest),
        ["/style/i.png"]
    );
    assert!(needed("application/manifest+json", b"{").is_empty());
    let script = b"import './m.js'; go('/page'); load('/no.js')";
    assert_eq!(
        needed("text/javascript; charset=utf-8", script),
        ["/style/m.js"]
    );
    let read_script = |kinds| {
        read_as("application/x-javascript", script, kinds)
            .links
            .len()
    };
    assert_eq!([read_script(ALL), read_script(LinkKinds::PAGES)], [2, 0]);
    assert!(parts("text/css", sheet, LinkKinds::PAGES).is_empty());
}

#[test]
fn a_picture_that_is_a_link_to_itself_is_a_page_that_the_page_needs() {
    let page = "<a href=large.png><img src=small.png></a><a href=same.png><img src=same.png></a>";
    let document = read_page(page, ALL, 1_000);
    let found: Vec<_> = document
        .links
        .iter()
        .map(|link| (short(link.url.as_str()), link.kind, link.is_needed))
        .collect();
    let expected = [
        ("/dir/large.png", LinkKind::Page, false),
        ("/dir/small.png", LinkKind::Requisite, true),
        ("/dir/same.png", LinkKind::Page, true),
        ("/favicon.ico", LinkKind::Requisite, true),
    ];
    assert_eq!(
        found,
        expected.map(|(url, kind, needed)| (url.to_owned(), kind, needed))
    );
}
