//! The fast path compared with the parser: the same tree, or none.

use ego_tree::iter::Edge;
use html5ever::ns;
use proptest::prelude::*;

use super::*;
use crate::html::lazy_names::lazy_name;
use crate::html::tree::parse_with_html5ever;

/// Lists the nodes of a tree with their depth, one a line.
fn outline(html: &Html) -> Vec<String> {
    let mut lines = Vec::new();
    let mut depth = 0;
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => {
                lines.push(format!("{depth} {}", outline_of(node.value())));
                depth += 1;
            }
            Edge::Close(_) => depth -= 1,
        }
    }
    lines
}

fn outline_of(node: &Node) -> String {
    let Node::Element(element) = node else {
        return format!("{node:?}");
    };
    let attributes = element.attrs.iter();
    let wanted: Vec<_> = attributes
        .filter(|(name, _)| !name.local.starts_with("data-") || lazy_name(&name.local).is_some())
        .filter(|(name, _)| {
            element.name.ns != ns!(svg) || tags::SVG_ATTRIBUTES.contains(&&*name.local)
        })
        .map(|(name, value)| (name, &**value))
        .collect();
    format!("{:?} {wanted:?}", element.name)
}

fn fast_path(page: &str) -> Option<Html> {
    let limits = ReadLimits::default();
    read(page, &limits, &mut WorkBudget::new(limits.tree_effort))
}

fn parsed(page: &str) -> Html {
    let limits = ReadLimits::default();
    parse_with_html5ever(page, &limits, &mut WorkBudget::new(limits.tree_effort)).html
}

fn in_body(content: &str) -> String {
    format!("<!DOCTYPE html><html><head><title>t</title></head><body>{content}</body></html>")
}

#[track_caller]
fn is_read_by_the_fast_path(page: &str) {
    let tree = fast_path(page).unwrap_or_else(|| panic!("left to the parser: {page}"));
    assert_eq!(outline(&tree), outline(&parsed(page)), "{page}");
}

#[track_caller]
fn is_left_to_the_parser(page: &str) {
    assert!(fast_path(page).is_none(), "{page}");
}

#[test]
fn a_page_whose_tags_are_in_order_has_the_tree_of_the_parser() {
    for content in [
        "",
        "a",
        "<p>a</p>\n<p class=x data-x=y id='z' DATA-SRC=w>b <b>c</b>\
         <a href=\"?a&amp;b&copy=1\">d &lt; e</a>f</p>",
        "<p>a<p>b<ul><li>c<li>d<p>e<li>f</ul><dl><dt>g<dd>h<dt>i</dl>",
        "<div><p>a<div>b</div>c</div><h1>d</h1><hr><br/><img src=x><input>",
        "a < b && c <3 &notin; &#65;&#0;",
        "a<!-- b -->c<!---->d<!-- -- > --->",
        "<pre>\na\n</pre><pre>b</pre><pre>\n\n</pre><textarea>\na&amp;<b></textarea>",
        "<script>a < b && '</div>'</script><style>a > b \
         {}</style><noscript><p>a</noscript><iframe><p></iframe>",
        "<table><tr><td>a<td>b<tr><th>c</table>d",
        "<table> <caption>a<p>b</caption> <colgroup> <col><col> </colgroup> <thead> <tr> \
         <td>c</td> </tr> </thead> \
         <tbody><tr><td><p>d<table><td>e</table></table>",
        "<table><tbody><tr><td>a<tbody><tr><td>b</tbody></table><p>a<table></table>",
        "<select><option>a<option selected>b</option><optgroup \
         label=c><option>d<optgroup><option>e</select>",
        "<form action=x><button><p>a</button><label>b<input></label></form><form></form>",
        "<b><b><b><b>a</b></b></b></b><a>b</a><div><a name=c><table><td>d</table></a></div>",
        "<my-element Class=A CLASS=b>a</my-element><SPAN>b</span>",
        "<ul><li><div>a</div><li><ul><li>b</ul></ul>",
        "<p>a<svg viewBox='0 0 1 1' xmlns=x class=y><title>b &amp; c</title> <g><path d=z \
         STYLE='fill:url(x)' id=y /><use xlink:href='#d' href=e></use></g>\
         <a HREF=f rel=g href=h><text>i</text></a></svg>j<svg/>k</p>",
    ] {
        is_read_by_the_fast_path(&in_body(content));
    }
}

#[test]
fn content_around_the_body_stands_where_the_parser_puts_it() {
    for page in [
        "<!doctype html>\n<!-- a --> <html lang=en>\n <!-- b --> <head> <!-- c --> <meta \
         charset=utf-8><link rel=x>\
         <base href=x><title> a &amp; b </title><script></script><style>a</style>\
         <noscript><link></noscript> </head> <!-- d -->\n\
         <body class=x>\n a\n </body> <!-- e -->\n </html>\n <!-- f -->\n",
        "<!DOCTYPE html><html><head></head><body>a",
        "<!DOCTYPE html><html><head></head><body><p>a</p> <!-- b --> </body> ",
    ] {
        is_read_by_the_fast_path(page);
    }
}

#[test]
fn pages_that_need_repair_are_left_to_the_tree_builder() {
    for page in [
        "",
        "a",
        "<p>a",
        "<html><head></head><body>no document type</body></html>",
        "<!DOCTYPE html><body>no head</body>",
        "<!DOCTYPE html><html><head>a</head><body></body></html>",
        "<!DOCTYPE html><html><head></head><body></body></html>a",
        "\u{feff}<!DOCTYPE html><html><head></head><body></body></html>",
    ] {
        is_left_to_the_parser(page);
    }
    for content in [
        "<b><p>a</b>b</p>",
        "<p><b>a</p>b",
        "<a>b<a>c</a></a>",
        "<div><span>a</div>",
        "<p><span><div>a</div></span></p>",
        "</p>",
        "</br>",
        "</div>",
        "<table>a</table>",
        "<table><div></div></table>",
        "<tr>",
        "<form><form></form></form>",
        "<h1><h2>a</h2></h1>",
        "<svg><p></svg>",
        "<svg><foreignObject></foreignObject></svg>",
        "<svg><title><b></title></svg>",
        "<svg></g></svg>",
        "<svg><style>a</style></svg>",
        "<math></math>",
        "<template></template>",
        "<frameset>",
        "<script><!-- </script>",
        "<script>",
        "a\r\nb",
        "a\0b",
        "<!-- a",
        "<!-- a --!>",
        "<!a>",
        "<?a>",
        "<p a=\"",
        "<p a\"b=c>",
        "<pre>&#10;a</pre>",
        "<select><div></div></select>",
    ] {
        is_left_to_the_parser(&in_body(content));
    }
}

#[test]
fn limits_and_steps_equal_those_of_the_parser() {
    let page = in_body(&"<i>".repeat(300));
    let limits = ReadLimits::default();
    let mut budget = WorkBudget::new(limits.tree_effort);
    assert!(read(&page, &limits, &mut budget).is_none(), "too deep");
    assert!(budget.take(limits.tree_effort), "an attempt is free");
    let page = in_body(&"<p>a</p>".repeat(50));
    assert!(read(&page, &limits, &mut WorkBudget::new(100)).is_none());
    let few = ReadLimits {
        nodes: 100,
        ..limits
    };
    assert!(read(&page, &few, &mut WorkBudget::new(limits.tree_effort)).is_none());
}

/// Pieces of pages, well formed and not.
const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    "b c",
    "&amp;",
    "&#10;",
    "&lt",
    "é",
    "<",
    "< ",
    "<!-- a -->",
    "<!---->",
    "<!-- a",
    "<p>",
    "</p>",
    "<p a=b>",
    "<div>",
    "</div>",
    "<div class='a' data-b=c id=\"d\">",
    "<span>",
    "</span>",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "<i>",
    "</i>",
    "<ul>",
    "</ul>",
    "<ol>",
    "</ol>",
    "<li>",
    "</li>",
    "<dl>",
    "</dl>",
    "<dt>",
    "</dt>",
    "<dd>",
    "</dd>",
    "<h1>",
    "</h1>",
    "<h2>",
    "</h2>",
    "<br>",
    "<hr>",
    "<img src=x>",
    "<input>",
    "<pre>",
    "</pre>",
    "<textarea>",
    "</textarea>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<noscript>",
    "</noscript>",
    "<title>",
    "</title>",
    "<table>",
    "</table>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "</th>",
    "<tbody>",
    "</tbody>",
    "<thead>",
    "</thead>",
    "<caption>",
    "</caption>",
    "<colgroup>",
    "</colgroup>",
    "<col>",
    "<form>",
    "</form>",
    "<button>",
    "</button>",
    "<select>",
    "</select>",
    "<option>",
    "</option>",
    "<optgroup>",
    "</optgroup>",
    "<section>",
    "</section>",
    "<article>",
    "</article>",
    "<label>",
    "</label>",
    "<dialog>",
    "</dialog>",
    "<address>",
    "</address>",
    "<search>",
    "</search>",
    "<ruby>",
    "</ruby>",
    "<rt>",
    "</rt>",
    "<video>",
    "</video>",
    "<object>",
    "</object>",
    "<svg>",
    "</svg>",
    "<svg/>",
    "<path d=a />",
    "<path d=a/>",
    "<g>",
    "</g>",
    "<use xlink:href=x>",
    "<text>",
    "</text>",
    "<body>",
    "</body>",
    "</html>",
    "<nobr>",
    "</nobr>",
    "<font>",
    "</font>",
    "<my-x>",
    "</my-x>",
    "<iframe>",
    "</iframe>",
    "<link rel=x>",
    "<meta name=x>",
    "</br>",
    "<menu>",
    "</menu>",
];

/// Generates elements in order, some without end tags.
fn orderly() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "p",
        "div",
        "span",
        "b",
        "a",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "h1",
        "h2",
        "pre",
        "table",
        "tbody",
        "thead",
        "tr",
        "td",
        "th",
        "caption",
        "form",
        "button",
        "select",
        "option",
        "optgroup",
        "section",
        "label",
        "em",
        "dialog",
        "address",
        "blockquote",
        "textarea",
        "title",
        "my-x",
        "figure",
        "svg",
        "g",
        "details",
    ]);
    let leaf = prop::sample::select(vec![
        "a",
        " ",
        "b &amp; c",
        "<br>",
        "<hr>",
        "<img alt=x>",
        "<!-- x -->",
        "<input>",
        "\n",
        "a < b",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 5, move |inner| {
        (
            names.clone(),
            prop::collection::vec(inner, 0..5),
            prop::bool::weighted(0.8),
        )
            .prop_map(|(name, inner, ends)| {
                let end = if ends {
                    format!("</{name}>")
                } else {
                    String::new()
                };
                format!("<{name}>{}{end}", inner.concat())
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_tree_of_any_pieces_equals_the_parsers_or_is_none(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24),
    ) {
        let page = in_body(&pieces.concat());
        if let Some(tree) = fast_path(&page) {
            prop_assert_eq!(outline(&tree), outline(&parsed(&page)), "{}", page);
        }
    }

    #[test]
    fn the_tree_of_nested_elements_equals_the_parsers_or_is_none(
        parts in prop::collection::vec(orderly(), 0..4),
    ) {
        let page = in_body(&parts.concat());
        if let Some(tree) = fast_path(&page) {
            prop_assert_eq!(outline(&tree), outline(&parsed(&page)), "{}", page);
        }
    }
}

#[test]
fn generated_pages_are_read_by_the_fast_path() {
    for corpus in [
        testkit::Corpus::plain(40, 7),
        testkit::Corpus::real_shaped(40, 7),
    ] {
        for page in 0..corpus.len() {
            let html = corpus.html(page, 80);
            is_read_by_the_fast_path(std::str::from_utf8(&html).unwrap());
        }
    }
}
