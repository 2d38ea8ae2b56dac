//! The words around links and their place in the main content, read alike with and without a tree.

use proptest::prelude::*;
use web::{
    CanonicalForm, Document, LinkContext, LinkKind, LinkKinds, PageUrl, ParseWarning, ReadLimits,
    ResponseMetadata, read,
};

/// Limits that no page keeps: from the first attribute on, the page is read without a tree.
const NO_TREE: usize = 0;

/// Both readers.
const READERS: [(&str, usize); 2] = [("tree", 1_000), ("stream", NO_TREE)];

fn limits(attributes: usize) -> ReadLimits {
    ReadLimits {
        attributes,
        link_context: true,
        ..ReadLimits::default()
    }
}

fn read_page(text: &str, limits: &ReadLimits) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.example/dir/page", &form).expect("a URL");
    let hints = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    read(text.as_bytes(), &hints, &form, limits)
}

fn in_body(content: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>t</title></head><body class=x>{content}</body></html>"
    )
}

/// Returns the path, the anchor text and the context of each link.
fn contexts(content: &str, attributes: usize) -> Vec<(String, String, Option<LinkContext>)> {
    let document = read_page(&in_body(content), &limits(attributes));
    let links = document.links.into_iter();
    links
        .map(|link| {
            let url = link.url.as_str().to_owned();
            (url, link.anchor, link.context)
        })
        .collect()
}

/// Returns the words around the first link.
fn around(content: &str, attributes: usize) -> String {
    let contexts = contexts(content, attributes);
    let context = contexts[0].2.as_ref();
    context
        .unwrap_or_else(|| panic!("{content}"))
        .around
        .clone()
}

#[test]
fn the_words_around_a_link_are_those_of_its_block_without_its_own() {
    for (content, expected) in [
        ("<p>one <a href=/a>link</a> two</p><p>three</p>", "one two"),
        (
            "<p>zero</p><p>one <b>bold <a href=/a>link</a></b>, two",
            "one bold , two",
        ),
        (
            "<p>one<br>two <a href=/a>link</a><br>three</p>",
            "one two three",
        ),
        (
            "<ul><li>one<li><a href=/a>link</a>: two<li>three</ul>",
            ": two",
        ),
        (
            "<ul><li><a href=/a>link</a><p>what it is</p><li>three</ul>",
            "what it is",
        ),
        ("<ul><li><p><a href=/a>link</a></p><p>beside</p></ul>", ""),
        ("<dl><dt><a href=/a>link</a> term<dd>meaning</dl>", "term"),
        ("<h2>On <a href=/a>link</a>s</h2><p>text</p>", "On s"),
        (
            "<div>one <p>two</p><a href=/a>link</a> <p>three</p> four</div>",
            "one two three four",
        ),
        (
            "<table><tr><td>one<td>two <a href=/a>link</a><td>three</table>",
            "two",
        ),
        (
            "<table><tr><td>one <p>two <a href=/a>link</a></p></td></tr></table>",
            "two",
        ),
        (
            "<table><tr><td><p>one</p><a href=/a>link</a><p>two</p><td>three</table>",
            "one two",
        ),
        (
            "<p>one <a href=/a><img alt=picture src=x></a> two</p>",
            "one two",
        ),
        (
            "<div>one <a href=/a><h3>title</h3><p>teaser</p></a> two</div>",
            "one two",
        ),
        ("<p>one <iframe src=/a></iframe> two</p>", "one two"),
        (
            "<p>one &amp; <map name=m><area href=/a alt=north></map>two</p>",
            "one & two",
        ),
        (
            "<p>one <script>no</script><a href=/a>link</a><style>no</style> two</p>",
            "one two",
        ),
        (
            "<p>one <object>no</object><a href=/a>link</a> two</p>",
            "one two",
        ),
        (
            "<p>one <svg><text>no</text></svg><a href=/a>link</a> two</p>",
            "one two",
        ),
        (
            "<p>one <select><option>no</select><a href=/a>link</a> two</p>",
            "one two",
        ),
        ("<p>one\n\t \u{a0}  two<a href=/a>link</a> </p>", "one two"),
        ("<div><a href=/a>link</a></div>", ""),
        ("<a href=/a>link</a>", ""),
    ] {
        for (reader, attributes) in READERS {
            assert_eq!(around(content, attributes), expected, "{reader}: {content}");
        }
    }
}

#[test]
fn at_most_200_characters_are_kept_in_whole_words_nearest_to_the_link() {
    let left: String = (0..100).map(|n| format!("l{n:02} ")).collect();
    let right: String = (0..100).map(|n| format!(" r{n:02}")).collect();
    let ideographs = "\u{6f6e}".repeat(500);
    for (content, first, last, chars) in [
        (
            format!("{left}<a href=/a>x</a>{right}"),
            "l75 l76",
            "r23 r24",
            199,
        ),
        (
            format!("<a href=/a>x</a>{right}"),
            "r00 r01",
            "r48 r49",
            199,
        ),
        (format!("{left}<a href=/a>x</a>"), "l50 l51", "l98 l99", 199),
        (
            format!("few {right}<a href=/a>x</a> words"),
            "r52 r53",
            "r99 words",
            197,
        ),
        (
            format!("{ideographs}<a href=/a>x</a>{ideographs}"),
            "\u{6f6e}\u{6f6e}",
            "\u{6f6e}\u{6f6e}",
            200,
        ),
        (
            format!("{}<a href=/a>x</a>", "w".repeat(500)),
            "www",
            "www",
            199,
        ),
    ] {
        for (reader, attributes) in READERS {
            let around = around(&format!("<p>{content}</p>"), attributes);
            assert!(around.starts_with(first), "{reader}: {around}");
            assert!(around.ends_with(last), "{reader}: {around}");
            assert_eq!(around.chars().count(), chars, "{reader}: {around}");
        }
    }
}

#[test]
fn the_length_of_a_context_is_a_limit() {
    for (context_chars, expected) in [
        (0, ""),
        (1, ""),
        (8, "two four"),
        (9, "two four"),
        (17, "one two four five"),
    ] {
        let limits = ReadLimits {
            context_chars,
            ..limits(1_000)
        };
        let page = in_body("<p>one two <a href=/a>three</a> four five</p>");
        let document = read_page(&page, &limits);
        let context = document.links[0].context.as_ref().expect("a context");
        assert_eq!(context.around, expected, "{context_chars}");
    }
}

const PROSE: &str = "<p>The tide rises and falls twice a day, and a turbine in its way turns with \
    it; the power of a stream grows with the cube of its speed, so that a narrow strait is worth \
    many wide ones, and a fast hour more than a slow day. See <a href=/prose>the strait</a>.</p>";

#[test]
fn links_of_menus_stand_outside_the_main_content_and_lists_of_links_in_it() {
    let menu = "<ul><li><a href=/menu>Home</a></li><li><a href=/menu2>About</a></li></ul>";
    for frame in [
        format!("<nav>{menu}</nav>"),
        format!("<header>{menu}</header>"),
        format!("<div role=navigation>{menu}</div>"),
        format!("<div><aside>{menu}</aside></div>"),
        "<footer><p>Imprint<p><a href=/menu>Home</a></footer>".to_owned(),
        "<nav><a href=/menu><img src=logo></a></nav>".to_owned(),
    ] {
        let list = "<ul><li><a href=/chapter>A chapter</a></li></ul>";
        let content = format!("{frame}<h1>Tides</h1>{PROSE}{list}");
        for (reader, attributes) in READERS {
            for (url, _, context) in contexts(&content, attributes) {
                let context = context.expect("a context");
                let expected = !url.contains("/menu");
                assert_eq!(
                    context.in_main_content, expected,
                    "{reader}, {url}: {frame}"
                );
            }
        }
    }
}

#[test]
fn a_link_that_is_repeated_has_the_context_of_its_place_in_the_main_content() {
    let content = format!(
        "<nav><p>menu <a href=/a>first</a></p></nav>{PROSE}<p>main <a href=/a>second</a></p>\
         <p>later <a href=./../a>third</a></p>"
    );
    for (reader, attributes) in READERS {
        let links = contexts(&content, attributes);
        let (_, anchor, context) = &links[0];
        assert_eq!(anchor, "first", "{reader}");
        let expected = LinkContext {
            around: "main".to_owned(),
            in_main_content: true,
        };
        assert_eq!(context.as_ref(), Some(&expected), "{reader}");
    }
}

#[test]
fn links_without_a_place_in_the_text_have_no_context() {
    let content = "<link rel=next href=/a><noscript><a href=/b>x</a></noscript><iframe \
                   srcdoc='<a href=/c>x</a>'></iframe>";
    for (reader, attributes) in READERS {
        // A page without words is made by scripts, and shows the content for readers without them.
        let links = contexts(&format!("{content}{PROSE}"), attributes);
        let expected = ["/a", "/prose", "/b", "/c"];
        for ((url, _, context), expected) in links.iter().zip(expected) {
            assert!(url.ends_with(expected), "{reader}: {links:?}");
            assert_eq!(
                context.is_some(),
                expected == "/prose",
                "{reader}: {links:?}"
            );
        }
    }
}

#[test]
fn without_the_setting_nothing_else_changes() {
    let content =
        format!("<nav><a href=/menu>Home</a></nav>{PROSE}<img src=x><a href=y><img alt=z>");
    let with = ReadLimits {
        kinds: LinkKinds::PAGES.with(LinkKind::Requisite),
        ..limits(1_000)
    };
    let without = ReadLimits {
        link_context: false,
        ..with.clone()
    };
    let mut document = read_page(&in_body(&content), &with);
    let plain = read_page(&in_body(&content), &without);
    assert!(plain.links.iter().all(|link| link.context.is_none()));
    for link in &mut document.links {
        assert_eq!(link.context.is_some(), link.kind == LinkKind::Page);
        link.context = None;
    }
    assert_eq!(document, plain);
}

/// A paragraph of 20,000 links needs 80,000 nodes and 20,000 windows of 200 characters.
#[test]
fn a_paragraph_of_links_is_read_whole_within_its_steps() {
    let page: String = (0..20_000)
        .map(|n| format!("word <a href=/{n}>link</a> "))
        .collect();
    for (reader, attributes) in READERS {
        let limits = ReadLimits {
            links: 10_000,
            ..limits(attributes)
        };
        let document = read_page(&in_body(&format!("<p>{page}</p>")), &limits);
        assert_eq!(document.links.len(), 10_000, "{reader}");
        assert!(
            document.warnings.contains(&ParseWarning::TooManyLinks),
            "{reader}"
        );
        for link in &document.links {
            let context = link.context.as_ref().expect("a context");
            assert!(
                (190..=200).contains(&context.around.len()),
                "{reader}: {}",
                context.around
            );
        }
    }
}

/// Links beyond the steps have no context, and are still found.
#[test]
fn contexts_are_written_until_their_steps_are_spent() {
    let page: String = (0..1_000)
        .map(|n| format!("word <a href=/{n}>link</a> "))
        .collect();
    let found = |stream_effort| {
        let limits = ReadLimits {
            stream_effort,
            ..limits(1_000)
        };
        let document = read_page(&in_body(&format!("<p>{page}</p>")), &limits);
        assert_eq!(document.links.len(), 1_000);
        let links = document.links.iter();
        links.filter(|link| link.context.is_some()).count()
    };
    let (few, twice) = (found(400), found(800));
    assert!(few > 0 && twice.abs_diff(2 * few) < 10, "{few}, {twice}");
    assert_eq!(found(ReadLimits::default().stream_effort), 1_000);
}

/// Generates elements that need no repair; some have implied ends.
fn page() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "tide ",
        " ebb",
        "flood",
        " a &amp; b ",
        "\u{6f6e}",
        " , ",
    ]);
    let link = (
        0_usize..12,
        prop::sample::select(vec![
            "<a href=/u*>link</a>",
            "<a href='/u*'>two <b>words</b></a> ",
            " <a href=/u*><img alt='a picture'></a>",
            "<a href=/u*></a>",
            "<a href='#u*'>here</a>",
            "<iframe src=/f*></iframe>",
            "<map><area href=/m* alt=place></map>",
            "<img src=/i* longdesc=/d*>",
        ]),
    )
        .prop_map(|(number, link)| link.replace('*', &number.to_string()));
    let leaf = prop_oneof![
        4 => word.prop_map(str::to_owned),
        4 => link,
        1 => prop::sample::select(vec!["<br>", "<hr>", "<!-- x -->", "<script>x</script>"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        (0..AROUND.len(), prop::collection::vec(inner, 1..6)).prop_map(|(around, inner)| {
            let (start, end) = AROUND[around];
            format!("{start}{}{end}", inner.concat())
        })
    })
}

const AROUND: &[(&str, &str)] = &[
    ("<div>", "</div>"),
    ("<div class=menu>", "</div>"),
    ("<section><h2>x</h2>", "</section>"),
    ("<main>", "</main>"),
    ("<nav>", "</nav>"),
    ("<div><aside>", "</aside></div>"),
    ("<div role=banner>", "</div>"),
    ("<header>", "</header>"),
    ("<article><h1>x", "</h1></article>"),
    ("<div><p>", "</div>"),
    ("<ul><li>", "</li></ul>"),
    ("<ul><li>", "<li>x</ul>"),
    ("<ol><li>x<li>", "</ol>"),
    ("<dl><dt>x<dd>", "<dt>y</dl>"),
    ("<table><tr><td>", "</td></tr></table>"),
    (
        "<table><thead><tr><th>x<tbody><tr><td>x<td>",
        "<tr><td>y</table>",
    ),
    ("<blockquote>", "</blockquote>"),
    ("<video>", "</video>"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Each reader is the other's oracle.
    #[test]
    fn both_readers_find_the_same_words_around_links(
        parts in prop::collection::vec(page(), 1..5),
    ) {
        let content = parts.concat();
        prop_assert_eq!(contexts(&content, 1_000), contexts(&content, NO_TREE), "{}", content);
    }
}
