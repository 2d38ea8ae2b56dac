//! Pages that are built to break their reader, by what they repeat.
//!
//! Each was thought of as quadratic somewhere: in nesting, in formatting elements, in attributes,
//! in text that must be looked through again, in what is done for each link or each word. A bomb is
//! made as large as its caller wants it.

/// A page, built to break its reader.
#[derive(Clone, Copy, Debug)]
pub struct HtmlBomb {
    /// The construct that it repeats.
    pub name: &'static str,
    make: Make,
}

#[derive(Clone, Copy, Debug)]
enum Make {
    /// The first piece once, then the second again and again, then the third once.
    Repeat(&'static str, &'static str, &'static str),
    /// The first piece this many times, then the second again and again.
    Below(usize, &'static str, &'static str),
    /// Like `Repeat`, with a new number in place of each `#` of the second piece.
    Count(&'static str, &'static str, &'static str),
    Bytes(fn(usize) -> Vec<u8>),
}

impl HtmlBomb {
    /// Returns a page of about `bytes` bytes.
    #[must_use]
    pub fn page(&self, bytes: usize) -> Vec<u8> {
        let repeated = |part: &str| part.repeat(bytes / part.len() + 1);
        match self.make {
            Make::Repeat(start, part, end) => {
                format!("{start}{}{end}", repeated(part)).into_bytes()
            }
            Make::Below(depth, above, part) => {
                format!("{}{}", above.repeat(depth), repeated(part)).into_bytes()
            }
            Make::Count(start, part, end) => counted(start, part, end, bytes),
            Make::Bytes(make) => make(bytes),
        }
    }
}

fn counted(start: &str, part: &str, end: &str, bytes: usize) -> Vec<u8> {
    let mut page = start.to_owned();
    let mut number = 0_u64;
    while page.len() < bytes {
        for (index, piece) in part.split('#').enumerate() {
            if index > 0 {
                page.push_str(&number.to_string());
            }
            page.push_str(piece);
        }
        number += 1;
    }
    page.push_str(end);
    page.into_bytes()
}

/// All of them.
pub const HTML_BOMBS: &[HtmlBomb] = &[
    // Nesting.
    repeat("blocks", "<div>"),
    repeat("spans", "<span>"),
    repeat("unknown elements", "<x>"),
    count("unknown elements, each another", "<x#>"),
    repeat("lists", "<ul><li>"),
    repeat("items without a list", "<li>"),
    repeat("definitions", "<dl><dt><dd>"),
    repeat("tables", "<table><tr><td>"),
    repeat("tables without cells", "<table>"),
    repeat("rubies", "<ruby><rt>"),
    repeat("headings", "<h1><h2>"),
    repeat("quotes", "<blockquote><p>"),
    repeat("buttons", "<button>"),
    repeat("forms", "<form>"),
    repeat("objects", "<object>"),
    repeat("applets and marquees", "<applet><marquee>"),
    repeat("templates", "<template>"),
    repeat("shadow roots", "<div><template shadowrootmode=open>"),
    repeat("framesets", "<frameset>"),
    count_within("frames", "<frameset>", "<frame src=#>", "</frameset>"),
    repeat("selections", "<select><option>"),
    within("options", "<select>", "<option>a", "</select>"),
    repeat("details", "<details><summary>"),
    repeat("canvases and films", "<canvas><video><audio>"),
    repeat("drawings", "<svg>"),
    within("groups in a drawing", "<svg>", "<g>", ""),
    repeat("pages in drawings", "<svg><foreignObject>"),
    repeat("formulas", "<math><mi>"),
    repeat("breaking out of drawings", "<svg><g><p>"),
    below("blocks closed by nothing", 500, "<div>", "</p></x>"),
    below(
        "blocks behind a closed body",
        400,
        "<div>",
        "</body><!---->",
    ),
    // Formatting elements and their adoption agency.
    repeat("bold", "<b>"),
    repeat("bold and paragraphs", "<b><p>"),
    count("bold, each another", "<b id=#>"),
    count("bold built again", "<b id=#><p>"),
    count("fonts", "<font color=c#>"),
    repeat("misnested", "<b><i></b></i>"),
    repeat("misnested over blocks", "<b><i><u><p></b></i></u>"),
    repeat("nobr", "<nobr>"),
    repeat("links in links", "<a href=x>"),
    count("links over blocks", "<a id=#><div>"),
    below("end tags of formatting", 300, "<b><p>", "</b>"),
    repeat("formatting in cells", "<table><td><b><tr>"),
    within("fostered text", "<table>", "a<tr>", ""),
    within("fostered elements", "<table>", "<b>a", ""),
    below("paragraphs far below", 500, "<div>", "<p>"),
    repeat("many small elements", "<br>"),
    repeat("many paragraphs", "<p>a"),
    repeat("end tags", "</p>"),
    repeat("ends of what was never open", "</x>"),
    // Attributes.
    count_within("attributes", "<p ", "a# ", ">"),
    within("the same attribute", "<p ", "a ", ">"),
    count_within("attributes of an end tag", "</p ", "a# ", ">"),
    count("attributes of many roots", "<html a#>"),
    bytes("999 attributes in many tags", many_attributes),
    within("a long attribute", "<p title='", "a b ", "'>"),
    within("a long name of an attribute", "<p ", "a", ">"),
    within("a long name of an element", "<", "a", ">"),
    within("attributes without an end", "<p ", "a=b ", ""),
    within("a value without an end", "<p a='", "<b> ", ""),
    repeat("quotes in the wrong place", "<p a'b\"=\"'>"),
    within("slashes", "<p ", "/", ">"),
    count_within(
        "a list of classes",
        "<div class='",
        "comment-# share-# ",
        "'>a</div>",
    ),
    repeat(
        "many lists of classes",
        "<div class='post__comments related-links share sidebar nav'>a</div>",
    ),
    within("styles", "<div style='", "a:b;", "'>a</div>"),
    // Characters.
    repeat("less-than signs", "<"),
    repeat("beginnings of end tags", "</"),
    repeat("ampersands", "&"),
    repeat("references", "&amp;"),
    repeat(
        "references without an end",
        "&CounterClockwiseContourIntegra ",
    ),
    repeat("long references", "&CounterClockwiseContourIntegral;"),
    repeat("numbers of characters", "&#x1f600;"),
    within("a number without an end", "&#", "9", ";"),
    within("references in an attribute", "<a href='", "&amp;", "'>"),
    repeat("zero bytes", "\0"),
    repeat("zero bytes in tags", "<\0><p\0 a\0=\0>"),
    repeat("carriage returns", "\r"),
    within("white space", "<p>", " \t\n", "a"),
    count("one line of words", "word# "),
    repeat("a word", "a"),
    repeat("words of one letter", "a "),
    repeat(
        "the same sentence",
        "<p>the same sentence is said here again and again</p>",
    ),
    within("combining marks", "a", "\u{301}\u{327}", ""),
    repeat("right to left", "\u{202e}\u{5d0}\u{202d}a\u{2067}"),
    repeat(
        "flags and families",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f1e9}\u{1f1ea}",
    ),
    repeat("ideographs", "\u{4e00}\u{4e8c}\u{4e09}"),
    repeat(
        "letters that change under case",
        "\u{130}\u{1e9e}\u{fb03}\u{3a3}",
    ),
    repeat("white space beyond ASCII", "\u{3000}\u{2003}\u{a0}"),
    repeat("punctuation", "'.,:;a'b.c"),
    repeat(
        "scripts of many languages",
        "a\u{431}\u{3b2}\u{5d1}\u{628}\u{915}\u{e01}\u{ac00}",
    ),
    // Text that is no markup.
    within("a comment without an end", "<!--", "<b> ", ""),
    within("dashes in a comment", "<!--", "-", ""),
    repeat("comments", "<!---->"),
    within("comments that nearly end", "<!--", "--!-", ""),
    repeat("document types", "<!doctype a>"),
    within(
        "a document type without an end",
        "<!doctype a public '",
        "a",
        "",
    ),
    within("CDATA without an end", "<svg><![CDATA[", "]]", ""),
    within("CDATA sections", "<svg>", "<![CDATA[a]]>", ""),
    repeat("instructions", "<?a>"),
    within("a script without an end", "<script>", "</scrip", ""),
    within(
        "a script in a comment",
        "<script><!--",
        "<script></script ",
        "",
    ),
    repeat("scripts", "<script></script>"),
    count_within(
        "URLs in a script",
        "<script>",
        "'/path/#', \"http:\\/\\/a.example\\/#\" + ",
        "</script>",
    ),
    within("quotes in a script", "<script>", "'/", "</script>"),
    repeat("styles of drawings", "<svg><style><a>"),
    within("a title", "<title>", "word ", "</title>"),
    repeat("titles", "<title>a</title>"),
    repeat("text areas", "<textarea></textarea>"),
    within("plain text", "<plaintext>", "<b>", ""),
    repeat(
        "for readers without scripts",
        "<noscript><a href=x></noscript>",
    ),
    within(
        "much for readers without scripts",
        "<noscript>",
        "<b><p>",
        "</noscript>",
    ),
    // Links.
    count("links", "<a href=#>"),
    count_within(
        "links with a base",
        "<base href=http://a.example/b/c/d/>",
        "<a href=../#>",
        "",
    ),
    bytes("links with a long base", long_base),
    bytes("long links", long_links),
    within("a link of megabytes", "<a href='", "a/../", "'>"),
    count("links that are none", "<a href=http://[#>"),
    count("links to other hosts", "<a href=//h#.example>"),
    count(
        "links to hosts beyond ASCII",
        "<a href=//\u{fc}#\u{df}.example>",
    ),
    count("links that climb", "<a href='../../../../../../#'>"),
    bytes("links with many parameters", parameters),
    within("words of links", "<a href=x>", "<b>a</b>\n", "</a>"),
    count_within("candidates", "<img srcset='", "/i# 1x, ", "'>"),
    within("candidates in parentheses", "<img srcset='", "a (,", "'>"),
    within("commas of candidates", "<img srcset='", ",", "'>"),
    within("relations", "<link rel='", "a ", "' href=x>"),
    count("links by relation", "<link rel='a b c d next' href=#>"),
    count("refreshes", "<meta http-equiv=refresh content='0; url=#'>"),
    repeat(
        "directives",
        "<meta name=robots content='noindex, nofollow'>",
    ),
    count("bases", "<base href=/#/>"),
    repeat(
        "pages in frames",
        "<iframe srcdoc='<a href=x><iframe srcdoc=&quot;<a href=y>&quot;>'></iframe>",
    ),
    within(
        "a page in a frame",
        "<iframe srcdoc='",
        "<a href=x>",
        "'></iframe>",
    ),
    bytes("pages in frames in frames", frames_in_frames),
    count_within(
        "controls",
        "<form action=x>",
        "<input name=a# value=b>",
        "</form>",
    ),
    count(
        "forms with a control",
        "<form action=#><input name=a value=b></form>",
    ),
    count_within(
        "controls of a far form",
        "<form id=f>",
        "</form><input form=f name=a# type=radio checked>",
        "",
    ),
    count_within(
        "choices",
        "<form><select multiple name=a>",
        "<option selected>#",
        "</select></form>",
    ),
    // Charsets and languages.
    repeat(
        "charsets declared again",
        "<meta charset=utf-16><meta charset=shift_jis>\u{e9}",
    ),
    bytes("bytes that mean nothing", |bytes| vec![0xff; bytes]),
    bytes("half characters", |bytes| {
        b"\xe2\x82a\xf0\x9f".repeat(bytes / 5)
    }),
    bytes("UTF-16 with a mark", utf16),
    within(
        "Japanese escapes",
        "<meta charset=iso-2022-jp>",
        "\u{1b}$B!!\u{1b}(B",
        "",
    ),
    repeat(
        "languages",
        "<p lang=de>das ist <p lang=fr>le mot <p lang=cs>slovo je",
    ),
];

const fn repeat(name: &'static str, part: &'static str) -> HtmlBomb {
    within(name, "", part, "")
}

const fn within(
    name: &'static str,
    start: &'static str,
    part: &'static str,
    end: &'static str,
) -> HtmlBomb {
    let make = Make::Repeat(start, part, end);
    HtmlBomb { name, make }
}

const fn below(
    name: &'static str,
    depth: usize,
    above: &'static str,
    part: &'static str,
) -> HtmlBomb {
    let make = Make::Below(depth, above, part);
    HtmlBomb { name, make }
}

const fn count(name: &'static str, part: &'static str) -> HtmlBomb {
    count_within(name, "", part, "")
}

const fn count_within(
    name: &'static str,
    start: &'static str,
    part: &'static str,
    end: &'static str,
) -> HtmlBomb {
    let make = Make::Count(start, part, end);
    HtmlBomb { name, make }
}

const fn bytes(name: &'static str, make: fn(usize) -> Vec<u8>) -> HtmlBomb {
    let make = Make::Bytes(make);
    HtmlBomb { name, make }
}

fn many_attributes(bytes: usize) -> Vec<u8> {
    let mut page = String::new();
    let mut number = 0;
    while page.len() < bytes {
        page.push_str("<b ");
        for attribute in 0..999 {
            page.push_str(&format!("a{attribute}={number} "));
        }
        page.push('>');
        number += 1;
    }
    page.into_bytes()
}

fn long_base(bytes: usize) -> Vec<u8> {
    let base = format!("<base href='http://a.example/{}'>", "b/".repeat(4_000));
    counted(&base, "<a href=#>", "", bytes)
}

fn long_links(bytes: usize) -> Vec<u8> {
    counted(
        "",
        &format!("<a href='#/{}'>", "%c3%BC/".repeat(1_000)),
        "",
        bytes,
    )
}

fn parameters(bytes: usize) -> Vec<u8> {
    counted(
        "",
        &format!("<a href='?#{}'>", "&utm_a=1&b=%7e".repeat(400)),
        "",
        bytes,
    )
}

/// Each inside the other, its quotes written as often again.
fn frames_in_frames(bytes: usize) -> Vec<u8> {
    let mut page = "<a href=x>".repeat(bytes / 64);
    for _ in 0..6 {
        let inside = page.replace('&', "&amp;").replace('"', "&quot;");
        page = format!("<iframe srcdoc=\"{inside}\"></iframe>");
    }
    page.into_bytes()
}

fn utf16(bytes: usize) -> Vec<u8> {
    let text = "\u{feff}<p>a\u{e9}".repeat(bytes / 12);
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}
