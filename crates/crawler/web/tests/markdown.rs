//! The main content of pages as Markdown.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};
use web::{CanonicalForm, Document, PageUrl, ReadLimits, ResponseMetadata, read};

fn read_with(html: &str, limits: &ReadLimits) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/dir/page", &form).expect("a URL");
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    read(html.as_bytes(), &metadata, &form, limits)
}

fn document(html: &str) -> Document {
    let limits = ReadLimits {
        markdown: true,
        ..ReadLimits::default()
    };
    read_with(html, &limits)
}

fn markdown(html: &str) -> String {
    document(html)
        .markdown()
        .expect("it was asked for")
        .to_owned()
}

/// The words that a reader of Markdown sees.
fn words_of(markdown: &str) -> Vec<String> {
    let mut text = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::Start(tag) => {
                if !is_inline(&tag.to_end()) {
                    text.push(' ');
                }
            }
            Event::End(tag) => {
                if !is_inline(&tag) {
                    text.push(' ');
                }
            }
            other => text.push_str(&format!(" {other:?} ")),
        }
    }
    text.split_whitespace().map(str::to_owned).collect()
}

fn is_inline(tag: &pulldown_cmark::TagEnd) -> bool {
    use pulldown_cmark::TagEnd;
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link)
}

#[test]
fn each_element_becomes_the_markup_of_its_kind() {
    for (html, expected) in [
        (
            "<h1>One</h1><p>two</p><h3>Three</h3>",
            "# One\n\ntwo\n\n### Three",
        ),
        (
            "<p>a <b>b</b>, <em>c</em>; <code>d*</code></p>",
            "a **b**, *c*; `d*`",
        ),
        ("<p>a<br>b</p><p>c</p>", "a\\\nb\n\nc"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        (
            "<ol><li><p>a</p><p>b</p></li><li>c</li></ol>",
            "1. a\n\n   b\n2. c",
        ),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n- b"),
        (
            "<blockquote><p>a</p><p>b</p></blockquote><p>c</p>",
            "> a\n>\n> b\n\nc",
        ),
        (
            "<blockquote><ul><li>a<li>b</ul></blockquote>",
            "> - a\n> - b",
        ),
        (
            "<p>a <a href=\"/b c\">d [e]</a>",
            "a [d \\[e\\]](http://example.org/b%20c)",
        ),
        ("<p><a href=/a_(b)>c</a>", "[c](<http://example.org/a_(b)>)"),
        ("<p>wow!<a href=/a>b</a>", "wow\\![b](http://example.org/a)"),
        (
            "<p><a href=/a>a</a>, <a href=/b>b</a>",
            "[a](http://example.org/a), [b](http://example.org/b)",
        ),
        // Links to nowhere are their text.
        (
            "<p><a href=#x>a</a> <a href=javascript:x()>b</a> <a href=page>c</a>",
            "a b c",
        ),
        (
            "<pre>\nfn a() {\n    1\n\n}\n</pre>",
            "```\nfn a() {\n    1\n\n}\n```",
        ),
        (
            "<pre>  a\n<b>b</b><br>```\n</pre>",
            "````\n  a\nb\n```\n````",
        ),
        (
            "<ul><li>a<pre>b\n\n c</pre></li></ul>",
            "- a\n\n  ```\n  b\n\n   c\n  ```",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1<td>2|3<tr><td>4</table><p>c",
            "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n| 4 |\n\nc",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        (
            "<table><tr><td><p>a</p><p>b</p><td>c<tr><td>d<td>e</table>",
            "a\n\nb\n\nc\n\n| d | e |\n| --- | --- |",
        ),
        (
            "<table><tr><td colspan=2>t<tr><td>a<td>b</table>",
            "t\n\n| a | b |\n| --- | --- |",
        ),
        // Delimiters that would stay visible are left out.
        ("<p><b>Note:</b>text", "Note:text"),
        ("<p>a<b>b</b>c<i>d</i>", "a**b**c*d*"),
        ("<p><b>a</b><i>b</i>", "**a**b"),
        ("<p><b> a </b>b", "**a** b"),
        ("<p><code>a</code><code>b</code>", "`a`b"),
        ("<p><b>a<b>b</b></b>", "**ab**"),
        ("<p><b>a<br>b</b>", "**a** \\\n**b**"),
        (
            "<p># a *b* <c> &amp;lt; 1. _d_",
            "\\# a \\*b\\* \\&lt; 1. \\_d\\_",
        ),
        ("<h2>a #</h2>", "## a # #"),
        // The sign that links a heading to itself is left out; a link to elsewhere is not.
        ("<h2>a b<a class=headerlink href=#a>¶</a></h2>", "## a b"),
        ("<h2>a <a href='#a'> # </a></h2><p>b", "## a\n\nb"),
        (
            "<dl><dt><code>f</code>()<a href=#f>¶</a><dd>a</dl>",
            "`f`()\n\na",
        ),
        (
            "<h2>a<a href=/b>¶</a></h2>",
            "## a[¶](http://example.org/b)",
        ),
        ("<p>a <a href=#a>b ¶</a>", "a b ¶"),
        ("<p><a href=#a>¶</a></p><p>b", "¶\n\nb"),
        // The class of a listing names its language.
        (
            "<pre><code class='hljs language-rust'>a</code></pre>",
            "```rust\na\n```",
        ),
        (
            "<pre class=lang-c++>a</pre><pre>b</pre>",
            "```c++\na\n```\n\n```\nb\n```",
        ),
        (
            "<div class='highlight-python3 notranslate'><div class=highlight><pre><span></span>a\
             </pre></div></div><pre>b</pre>",
            "```python\na\n```\n\n```\nb\n```",
        ),
        (
            "<pre class='sourceCode haskell'>a</pre>",
            "```haskell\na\n```",
        ),
        (
            "<div class=highlight-default><pre>a</pre></div>",
            "```\na\n```",
        ),
        ("<pre class='language-`x'>a</pre>", "```\na\n```"),
        (
            "<p class=language-rust>a</p><pre>b</pre>",
            "a\n\n```\nb\n```",
        ),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn only_the_main_content_is_written() {
    let words = |count: usize| "word ".repeat(count);
    let html = format!(
        "<nav><ul><li><a href=/a>Home</a></ul></nav><main><h1>Title</h1><p>{}</p></main>\
         <footer>Foot</footer>",
        words(80)
    );
    let document = document(&html);
    let markdown = document.markdown().expect("it was asked for");
    assert_eq!(markdown, format!("# Title\n\n{}", words(80).trim_end()));
    assert_eq!(
        words_of(markdown).join(" "),
        document.text.replace('\n', " ")
    );
}

#[test]
fn markdown_is_made_only_if_it_is_asked_for_and_changes_nothing_else() {
    let html = "<h1>a</h1><ul><li>b<a href=/c>d</a></ul><pre> e\n f</pre>";
    let without = read_with(html, &ReadLimits::default());
    assert_eq!(without.markdown(), None);
    let with = document(html);
    assert_eq!((&with.text, &with.links), (&without.text, &without.links));
}

/// Converters that recurse over the tree end the process with such pages.
#[test]
fn a_deeply_nested_page_is_written() {
    for tag in [
        "div",
        "ul><li",
        "blockquote",
        "b",
        "table><tr><td",
        "pre",
        "a href=/x",
    ] {
        let html = format!("<{tag}>").repeat(50_000) + "the end";
        let markdown = markdown(&html);
        assert!(markdown.contains("the end"), "{tag}");
        assert!(markdown.len() < 1_000, "{tag}: {} bytes", markdown.len());
    }
}

#[test]
fn the_output_is_bounded_whatever_the_page_has() {
    let text = 4_096;
    let limits = ReadLimits {
        markdown: true,
        text,
        ..ReadLimits::default()
    };
    let long = "x".repeat(7_000);
    for html in [
        "<blockquote>".repeat(200) + "<pre>" + &"\n.".repeat(100_000),
        "<ol start=999999999><li>".repeat(200) + &"a<br>".repeat(50_000),
        format!("<base href=http://example.org/{long}/>") + &"<a href=a>b</a><br>".repeat(9_000),
        "<b><i><code>".to_owned() + &"a<p>".repeat(50_000),
        "*".repeat(100_000),
        "<table>".to_owned() + &"<tr><td>a<td>b".repeat(20_000),
    ] {
        let document = read_with(&html, &limits);
        let length = document.markdown().expect("it was asked for").len();
        assert!(
            length <= 4 * text + 8_192,
            "{length} bytes of {}",
            &html[..60]
        );
    }
}

/// Texts with the characters that have a meaning in Markdown.
fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "a",
            "b1",
            "é",
            "中",
            " ",
            " ",
            "*",
            "_",
            "`",
            "[",
            "]",
            "(",
            ")",
            "#",
            "# ",
            "- ",
            "+ ",
            "1. ",
            "&gt;",
            "&lt;a",
            "\\",
            "!",
            "|",
            "~~",
            "=",
            "---",
            "&amp;amp;",
            ":",
            ".",
        ]),
        1..8,
    )
    .prop_map(|parts| parts.concat())
}

fn inlines() -> impl Strategy<Value = String> {
    texts().prop_recursive(3, 12, 3, |inner| {
        (
            prop::sample::select(vec!["b", "i", "code", "a", "span", "br"]),
            prop::collection::vec(inner, 1..3),
            texts(),
        )
            .prop_map(|(tag, inner, after)| {
                let inner = inner.concat();
                match tag {
                    "br" => format!("{inner}<br>{after}"),
                    "a" => format!("<a href=/x>{inner}</a>{after}"),
                    tag => format!("<{tag}>{inner}</{tag}>{after}"),
                }
            })
    })
}

fn blocks() -> impl Strategy<Value = String> {
    let leaf = inlines().prop_flat_map(|text| {
        prop::sample::select(vec!["p", "h2", "div", "li", "td"])
            .prop_map(move |tag| format!("<{tag}>{text}</{tag}>"))
    });
    leaf.prop_recursive(3, 16, 4, |inner| {
        (
            prop::sample::select(vec!["ul", "ol", "blockquote", "li", "div", "table", "tr"]),
            prop::collection::vec(inner, 1..4),
        )
            .prop_map(|(tag, inner)| format!("<{tag}>{}</{tag}>", inner.concat()))
    })
}

proptest! {
    #[test]
    fn a_reader_of_the_markdown_sees_the_words_of_the_text(
        blocks in prop::collection::vec(blocks(), 1..4),
    ) {
        let document = document(&blocks.concat());
        let markdown = document.markdown().expect("it was asked for");
        let words: Vec<&str> = document.text.split_whitespace().collect();
        prop_assert_eq!(words_of(markdown).concat(), words.concat(), "{}", markdown);
    }
}
