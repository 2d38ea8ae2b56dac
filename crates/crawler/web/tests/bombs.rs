//! Pages that are built to break their reader.
//!
//! Each was quadratic in html5ever or scraper: 250 KB of `<div>` took seven seconds. The
//! warning shows that they are stopped; the text and the link at the end show that nothing is lost.

use proptest::prelude::*;
use testkit::HTML_BOMBS;
use web::{
    CanonicalForm, Document, LinkKind, LinkKinds, PageUrl, ParseWarning, ParserStop, ReadLimits,
    Relations, ResponseMetadata, read,
};

const SIZE: usize = 256 * 1024;

fn read_page(text: &str, limits: &ReadLimits) -> Document {
    read_bytes(text.as_bytes(), "text/html; charset=utf-8", limits)
}

fn read_bytes(bytes: &[u8], content_type: &str, limits: &ReadLimits) -> Document {
    let url = PageUrl::parse("http://example.org/", &CanonicalForm::default()).expect("a URL");
    let hints = ResponseMetadata {
        agent: "us",
        content_type: Some(content_type),
        ..ResponseMetadata::of(&url)
    };
    read(bytes, &hints, &CanonicalForm::default(), limits)
}

fn repeated(part: &str) -> String {
    part.repeat(SIZE / part.len())
}

fn counted(part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < SIZE {
        text.push_str(&part(n));
        n += 1;
    }
    text
}

#[test]
fn the_parser_stops_at_a_bomb_and_the_rest_of_the_page_is_read() {
    let attributes = counted(|n| format!("a{n} "));
    let many_attributes = counted(|n| {
        format!(
            "<b {}>",
            (0..999)
                .map(|k| format!("a{} ", k * 1000 + n))
                .collect::<String>()
        )
    });
    for (name, bomb, cut) in [
        ("blocks", repeated("<div>"), ParserStop::Depth),
        ("lists", repeated("<ul><li>"), ParserStop::Depth),
        ("tables", repeated("<table><tr><td>"), ParserStop::Depth),
        ("rubies", repeated("<ruby><rt>"), ParserStop::Depth),
        ("formulas", repeated("<math><mi>"), ParserStop::Depth),
        (
            "blocks behind a closed body",
            repeated(&format!("{}</body><!---->", "<div>".repeat(817))),
            ParserStop::Depth,
        ),
        ("formatting", repeated("<b>"), ParserStop::Depth),
        (
            "formatting that differs",
            counted(|n| format!("<font color=c{n}>")),
            ParserStop::Depth,
        ),
        (
            "links in links",
            counted(|n| format!("<a id={n}><div>")),
            ParserStop::Depth,
        ),
        (
            "formatting built again",
            format!("{}{}", counted(|n| format!("<b id={n}><p>")), "<p>x"),
            ParserStop::Depth,
        ),
        (
            "formatting with attributes",
            many_attributes,
            ParserStop::Effort,
        ),
        (
            "paragraphs far below",
            format!("{}{}", "<div>".repeat(500), repeated("<p>")),
            ParserStop::Effort,
        ),
        (
            "a tag's attributes",
            format!("<p {attributes}>"),
            ParserStop::Attributes,
        ),
        (
            "an end tag's attributes",
            format!("<p></p {attributes}>"),
            ParserStop::Attributes,
        ),
        (
            "attributes in a drawing's style",
            format!("<svg><style><p {attributes}></svg>"),
            ParserStop::Attributes,
        ),
        (
            "attributes after a script",
            format!("<script><!--<script></script>--></script {attributes}>"),
            ParserStop::Attributes,
        ),
        (
            "the document's attributes",
            counted(|n| format!("<html a{n}>")),
            ParserStop::Attributes,
        ),
        ("nodes", "<p>a".repeat(60_000), ParserStop::Nodes),
        ("angles", repeated("< "), ParserStop::Effort),
    ] {
        let document = read_page(
            &format!("{bomb}\n<p>the <b>end</b> &amp; <a href='/next?a&amp;b'>next</a>"),
            &ReadLimits::default(),
        );
        assert_eq!(document.warnings, [ParseWarning::Parsing(cut)], "{name}");
        assert!(document.full_text().ends_with("the end & next"), "{name}");
        assert_eq!(
            document.links.last().unwrap().url.as_str(),
            "http://example.org/next?a&b",
            "{name}"
        );
    }
}

#[test]
fn a_body_that_is_only_long_is_not_a_bomb() {
    for (name, text) in [
        (
            "a script",
            format!("<script>{}</script>", repeated("if(a<b)x('<div a b c>');")),
        ),
        (
            "a script in a comment",
            format!("<script><!--{}--></script>", repeated("<p a b c>")),
        ),
        (
            "a style",
            format!("<style>{}</style>", repeated("a>b{c:'<d>'}")),
        ),
        ("a comment", format!("<!--{}-->", repeated("<b a b c "))),
        ("a value", format!("<p title='{}'>", repeated("a b > c "))),
        (
            "a CDATA section",
            format!("<svg><![CDATA[{}]]></svg>", repeated("<p a b c>")),
        ),
        ("words", repeated("word ")),
        ("references", repeated("&amp;")),
        ("angles", "< ".repeat(50_000)),
        ("end tags", repeated("</p>")),
        ("buttons", repeated("<button>b</button>")),
        (
            "rows",
            format!("<table>{}</table>", repeated("<tr><td>cell</td></tr>")),
        ),
    ] {
        let document = read_page(
            &format!("{text}<p>the end <a href=/next>next</a>"),
            &ReadLimits::default(),
        );
        assert_eq!(document.warnings, [], "{name}");
        assert!(document.full_text().ends_with("the end next"), "{name}");
        assert_eq!(document.links.len(), 1, "{name}");
    }
}

#[test]
fn each_limit_is_kept_at_its_value_and_cuts_one_past_it() {
    let limits = ReadLimits {
        depth: 40,
        attributes: 20,
        nodes: 60,
        ..ReadLimits::default()
    };
    // A page also has a document node, and as open elements html, body and the former head.
    let nested = |depth: usize| "<div>".repeat(depth);
    let attributes = |count: usize| {
        format!(
            "<p {}>",
            (0..count).map(|n| format!("a{n} ")).collect::<String>()
        )
    };
    let nodes = |count: usize| "<br>".repeat(count);
    for (name, make, fits, cut) in [
        (
            "depth",
            &nested as &dyn Fn(usize) -> String,
            36,
            ParserStop::Depth,
        ),
        ("attributes", &attributes, 20, ParserStop::Attributes),
        ("nodes", &nodes, 56, ParserStop::Nodes),
    ] {
        assert_eq!(read_page(&make(fits), &limits).warnings, [], "{name}");
        assert_eq!(
            read_page(&make(fits + 1), &limits).warnings,
            [ParseWarning::Parsing(cut)],
            "{name}"
        );
    }
}

#[test]
fn the_read_part_of_any_bomb_is_bounded() {
    let limits = ReadLimits {
        kinds: LinkKinds::PAGES
            .with(LinkKind::Form)
            .with(LinkKind::Script)
            .with(LinkKind::Requisite),
        links: 50,
        nodes: 200,
        tree_effort: 1_000,
        stream_effort: 1_000,
        text: 2_000,
        ..ReadLimits::default()
    };
    for bomb in HTML_BOMBS {
        let bytes = bomb.page(64 << 10);
        let document = read_bytes(&bytes, "text/html", &limits);
        assert!(
            document.full_text().len() <= limits.text + limits.text / 8,
            "{}",
            bomb.name
        );
        assert!(
            document.text.len() <= document.full_text().len(),
            "{}",
            bomb.name
        );
        assert!(document.links.len() <= 2 * limits.links, "{}", bomb.name);
    }
}

#[test]
fn text_is_read_up_to_its_limit_and_links_beyond() {
    let limits = ReadLimits {
        text: 80,
        ..ReadLimits::default()
    };
    for (text, kept, warnings) in [
        ("a".repeat(80), 80, &[][..]),
        ("a".repeat(81), 80, &[ParseWarning::TooMuchText][..]),
        // Non-ASCII letters count twice.
        ("\u{e9}".repeat(20), 40, &[]),
        ("\u{e9}".repeat(21), 40, &[ParseWarning::TooMuchText]),
    ] {
        let document = read_page(&format!("<p>{text}<a href=/next></a>"), &limits);
        assert_eq!(document.text.len(), kept, "{text}");
        assert_eq!(document.links.len(), 1, "{text}");
        assert_eq!(document.warnings, warnings, "{text}");
        let document = read_bytes(text.as_bytes(), "text/plain; charset=utf-8", &limits);
        assert_eq!(
            (document.text.len(), &*document.warnings),
            (kept, warnings),
            "{text}"
        );
    }
}

#[test]
fn a_page_is_read_until_its_steps_are_spent_with_a_warning() {
    let limits = ReadLimits {
        tree_effort: 0,
        stream_effort: 40,
        ..ReadLimits::default()
    };
    // Two steps for a link, one for its end.
    for (links, found) in [(13, 13), (14, 13), (1_000, 13)] {
        let page: String = (0..links).map(|n| format!("<a href=/{n}></a>")).collect();
        let document = read_page(&page, &limits);
        assert_eq!(document.links.len(), found);
        let is_unread = document.warnings.contains(&ParseWarning::Unread);
        assert_eq!(is_unread, links > 13, "{links}");
    }
}

#[test]
fn the_rest_of_a_page_is_read_without_invisible_content() {
    let document = read_page(
        &format!(
            "<p>before {}<p>one<script>x</script> t<b>w</b>o<br>three<style>y</style><!-- z \
             --><svg><text>s</text></svg>
             <a rel=nofollow href=a>four</a><textarea>typed</textarea></p><p>five",
            repeated("<div>")
        ),
        &ReadLimits::default(),
    );
    assert_eq!(document.full_text(), "before\none two\nthree four\nfive");
    assert_eq!(document.links.len(), 1);
    assert_eq!(document.links[0].relations, Relations::NOFOLLOW);
}

/// Pieces of HTML that bring a tokenizer into its rarer states.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<p>",
        "</p>",
        "<a href=x>",
        "<a b='>' c=\">\" d=e>",
        "<p a=b/c=d / >",
        "<p =x y = z>",
        "<p a='",
        "<p \"'>",
        "'",
        "\"",
        ">",
        "<script>",
        "</script>",
        "</script ",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<!--->",
        "<!----!>",
        "<!-",
        "<!x>",
        "<?x>",
        "</>",
        "</ >",
        "<style>",
        "</style>",
        "<title>",
        "</title>",
        "<textarea>",
        "</textarea>",
        "<noscript>",
        "</noscript>",
        "<iframe>",
        "</iframe>",
        "<svg>",
        "</svg>",
        "<math>",
        "<mtext>",
        "<![CDATA[",
        "]]>",
        "<template>",
        "</template>",
        "<table>",
        "<td>",
        "<select>",
        "<frameset>",
        "<plaintext>",
        "<!DOCTYPE html>",
        "<!doctype x public '>'>",
        "text",
        "&amp;",
        "&",
        "<",
        "\r\n",
        "é",
        "\0",
        "<foreignObject>",
        "<desc>",
        "<html a>",
        "<body b>",
        "<xmp>",
        "</xmp>",
        "<SCRIPT/>",
        "</sCript/>",
        "<p\n>",
        "<p\u{c}x>",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// The scanner that runs ahead must be in the parser's state, or an attribute bomb could hide
    /// from it. The padding makes several pieces of it, after each of which they are compared.
    #[test]
    fn scanner_and_parser_agree_about_any_tag_soup(soup in soup()) {
        let padding = "<p>word</p>".repeat(400);
        let page = format!("{soup}{padding}{soup}{padding}");
        let document = read_page(&page, &ReadLimits::default());
        let disagreement = ParseWarning::Parsing(ParserStop::Disagreement);
        prop_assert!(!document.warnings.contains(&disagreement), "{soup:?}");
    }
}
