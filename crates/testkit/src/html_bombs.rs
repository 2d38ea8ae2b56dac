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
    /// This, again and again.
    Repeat(&'static str),
    /// Once this, then that again and again, then the last.
    Within(&'static str, &'static str, &'static str),
    /// The first piece this many times, then the second again and again.
    Below(usize, &'static str, &'static str),
    /// This with a new number in place of each `#`.
    Count(&'static str),
    /// Once this, then that with a new number in place of each `#`, then the last.
    CountWithin(&'static str, &'static str, &'static str),
    Bytes(fn(usize) -> Vec<u8>),
}

impl HtmlBomb {
    /// Returns a page of about `bytes` bytes.
    #[must_use]
    pub fn page(&self, bytes: usize) -> Vec<u8> {
        match self.make {
            Make::Repeat(part) => part.repeat(bytes / part.len() + 1).into_bytes(),
            Make::Within(start, part, end) => {
                format!("{start}{}{end}", part.repeat(bytes / part.len() + 1)).into_bytes()
            }
            Make::Below(depth, above, part) => format!(
                "{}{}",
                above.repeat(depth),
                part.repeat(bytes / part.len() + 1)
            )
            .into_bytes(),
            Make::Count(part) => counted("", part, "", bytes),
            Make::CountWithin(start, part, end) => counted(start, part, end, bytes),
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

const fn bomb(name: &'static str, make: Make) -> HtmlBomb {
    HtmlBomb { name, make }
}

/// All of them.
pub const HTML_BOMBS: &[HtmlBomb] = &[
    // Nesting.
    bomb("blocks", Make::Repeat("<div>")),
    bomb("spans", Make::Repeat("<span>")),
    bomb("unknown elements", Make::Repeat("<x>")),
    bomb("unknown elements, each another", Make::Count("<x#>")),
    bomb("lists", Make::Repeat("<ul><li>")),
    bomb("items without a list", Make::Repeat("<li>")),
    bomb("definitions", Make::Repeat("<dl><dt><dd>")),
    bomb("tables", Make::Repeat("<table><tr><td>")),
    bomb("tables without cells", Make::Repeat("<table>")),
    bomb("rubies", Make::Repeat("<ruby><rt>")),
    bomb("headings", Make::Repeat("<h1><h2>")),
    bomb("quotes", Make::Repeat("<blockquote><p>")),
    bomb("buttons", Make::Repeat("<button>")),
    bomb("forms", Make::Repeat("<form>")),
    bomb("objects", Make::Repeat("<object>")),
    bomb("applets and marquees", Make::Repeat("<applet><marquee>")),
    bomb("templates", Make::Repeat("<template>")),
    bomb(
        "shadow roots",
        Make::Repeat("<div><template shadowrootmode=open>"),
    ),
    bomb("framesets", Make::Repeat("<frameset>")),
    bomb(
        "frames",
        Make::CountWithin("<frameset>", "<frame src=#>", "</frameset>"),
    ),
    bomb("selections", Make::Repeat("<select><option>")),
    bomb(
        "options",
        Make::Within("<select>", "<option>a", "</select>"),
    ),
    bomb("details", Make::Repeat("<details><summary>")),
    bomb("canvases and films", Make::Repeat("<canvas><video><audio>")),
    bomb("drawings", Make::Repeat("<svg>")),
    bomb("groups in a drawing", Make::Within("<svg>", "<g>", "")),
    bomb("pages in drawings", Make::Repeat("<svg><foreignObject>")),
    bomb("formulas", Make::Repeat("<math><mi>")),
    bomb("breaking out of drawings", Make::Repeat("<svg><g><p>")),
    bomb(
        "blocks closed by nothing",
        Make::Below(500, "<div>", "</p></x>"),
    ),
    bomb(
        "blocks behind a closed body",
        Make::Below(400, "<div>", "</body><!---->"),
    ),
    // Formatting elements and their adoption agency.
    bomb("bold", Make::Repeat("<b>")),
    bomb("bold and paragraphs", Make::Repeat("<b><p>")),
    bomb("bold, each another", Make::Count("<b id=#>")),
    bomb("bold built again", Make::Count("<b id=#><p>")),
    bomb("fonts", Make::Count("<font color=c#>")),
    bomb("misnested", Make::Repeat("<b><i></b></i>")),
    bomb(
        "misnested over blocks",
        Make::Repeat("<b><i><u><p></b></i></u>"),
    ),
    bomb("nobr", Make::Repeat("<nobr>")),
    bomb("links in links", Make::Repeat("<a href=x>")),
    bomb("links over blocks", Make::Count("<a id=#><div>")),
    bomb("end tags of formatting", Make::Below(300, "<b><p>", "</b>")),
    bomb("formatting in cells", Make::Repeat("<table><td><b><tr>")),
    bomb("fostered text", Make::Within("<table>", "a<tr>", "")),
    bomb("fostered elements", Make::Within("<table>", "<b>a", "")),
    bomb("paragraphs far below", Make::Below(500, "<div>", "<p>")),
    bomb("many small elements", Make::Repeat("<br>")),
    bomb("many paragraphs", Make::Repeat("<p>a")),
    bomb("end tags", Make::Repeat("</p>")),
    bomb("ends of what was never open", Make::Repeat("</x>")),
    // Attributes.
    bomb("attributes", Make::CountWithin("<p ", "a# ", ">")),
    bomb("the same attribute", Make::Within("<p ", "a ", ">")),
    bomb(
        "attributes of an end tag",
        Make::CountWithin("</p ", "a# ", ">"),
    ),
    bomb("attributes of many roots", Make::Count("<html a#>")),
    bomb("999 attributes in many tags", Make::Bytes(many_attributes)),
    bomb("a long attribute", Make::Within("<p title='", "a b ", "'>")),
    bomb("a long name of an attribute", Make::Within("<p ", "a", ">")),
    bomb("a long name of an element", Make::Within("<", "a", ">")),
    bomb("attributes without an end", Make::Within("<p ", "a=b ", "")),
    bomb("a value without an end", Make::Within("<p a='", "<b> ", "")),
    bomb("quotes in the wrong place", Make::Repeat("<p a'b\"=\"'>")),
    bomb("slashes", Make::Within("<p ", "/", ">")),
    bomb(
        "a list of classes",
        Make::CountWithin("<div class='", "comment-# share-# ", "'>a</div>"),
    ),
    bomb(
        "many lists of classes",
        Make::Repeat("<div class='post__comments related-links share sidebar nav'>a</div>"),
    ),
    bomb("styles", Make::Within("<div style='", "a:b;", "'>a</div>")),
    // Characters.
    bomb("less-than signs", Make::Repeat("<")),
    bomb("beginnings of end tags", Make::Repeat("</")),
    bomb("ampersands", Make::Repeat("&")),
    bomb("references", Make::Repeat("&amp;")),
    bomb(
        "references without an end",
        Make::Repeat("&CounterClockwiseContourIntegra "),
    ),
    bomb(
        "long references",
        Make::Repeat("&CounterClockwiseContourIntegral;"),
    ),
    bomb("numbers of characters", Make::Repeat("&#x1f600;")),
    bomb("a number without an end", Make::Within("&#", "9", ";")),
    bomb(
        "references in an attribute",
        Make::Within("<a href='", "&amp;", "'>"),
    ),
    bomb("zero bytes", Make::Repeat("\0")),
    bomb("zero bytes in tags", Make::Repeat("<\0><p\0 a\0=\0>")),
    bomb("carriage returns", Make::Repeat("\r")),
    bomb("white space", Make::Within("<p>", " \t\n", "a")),
    bomb("one line of words", Make::Count("word# ")),
    bomb("a word", Make::Repeat("a")),
    bomb("words of one letter", Make::Repeat("a ")),
    bomb(
        "the same sentence",
        Make::Repeat("<p>the same sentence is said here again and again</p>"),
    ),
    bomb("combining marks", Make::Within("a", "\u{301}\u{327}", "")),
    bomb(
        "right to left",
        Make::Repeat("\u{202e}\u{5d0}\u{202d}a\u{2067}"),
    ),
    bomb(
        "flags and families",
        Make::Repeat("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1f1e9}\u{1f1ea}"),
    ),
    bomb("ideographs", Make::Repeat("\u{4e00}\u{4e8c}\u{4e09}")),
    bomb(
        "letters that change under case",
        Make::Repeat("\u{130}\u{1e9e}\u{fb03}\u{3a3}"),
    ),
    bomb(
        "white space beyond ASCII",
        Make::Repeat("\u{3000}\u{2003}\u{a0}"),
    ),
    bomb("punctuation", Make::Repeat("'.,:;a'b.c")),
    bomb(
        "scripts of many languages",
        Make::Repeat("a\u{431}\u{3b2}\u{5d1}\u{628}\u{915}\u{e01}\u{ac00}"),
    ),
    // Text that is no markup.
    bomb("a comment without an end", Make::Within("<!--", "<b> ", "")),
    bomb("dashes in a comment", Make::Within("<!--", "-", "")),
    bomb("comments", Make::Repeat("<!---->")),
    bomb("comments that nearly end", Make::Within("<!--", "--!-", "")),
    bomb("document types", Make::Repeat("<!doctype a>")),
    bomb(
        "a document type without an end",
        Make::Within("<!doctype a public '", "a", ""),
    ),
    bomb(
        "CDATA without an end",
        Make::Within("<svg><![CDATA[", "]]", ""),
    ),
    bomb("CDATA sections", Make::Within("<svg>", "<![CDATA[a]]>", "")),
    bomb("instructions", Make::Repeat("<?a>")),
    bomb(
        "a script without an end",
        Make::Within("<script>", "</scrip", ""),
    ),
    bomb(
        "a script in a comment",
        Make::Within("<script><!--", "<script></script ", ""),
    ),
    bomb("scripts", Make::Repeat("<script></script>")),
    bomb(
        "URLs in a script",
        Make::CountWithin(
            "<script>",
            "'/path/#', \"http:\\/\\/a.example\\/#\" + ",
            "</script>",
        ),
    ),
    bomb(
        "quotes in a script",
        Make::Within("<script>", "'/", "</script>"),
    ),
    bomb("styles of drawings", Make::Repeat("<svg><style><a>")),
    bomb("a title", Make::Within("<title>", "word ", "</title>")),
    bomb("titles", Make::Repeat("<title>a</title>")),
    bomb("text areas", Make::Repeat("<textarea></textarea>")),
    bomb("plain text", Make::Within("<plaintext>", "<b>", "")),
    bomb(
        "for readers without scripts",
        Make::Repeat("<noscript><a href=x></noscript>"),
    ),
    bomb(
        "much for readers without scripts",
        Make::Within("<noscript>", "<b><p>", "</noscript>"),
    ),
    // Links.
    bomb("links", Make::Count("<a href=#>")),
    bomb(
        "links with a base",
        Make::CountWithin("<base href=http://a.example/b/c/d/>", "<a href=../#>", ""),
    ),
    bomb("links with a long base", Make::Bytes(long_base)),
    bomb("long links", Make::Bytes(long_links)),
    bomb(
        "a link of megabytes",
        Make::Within("<a href='", "a/../", "'>"),
    ),
    bomb("links that are none", Make::Count("<a href=http://[#>")),
    bomb("links to other hosts", Make::Count("<a href=//h#.example>")),
    bomb(
        "links to hosts beyond ASCII",
        Make::Count("<a href=//\u{fc}#\u{df}.example>"),
    ),
    bomb(
        "links that climb",
        Make::Count("<a href='../../../../../../#'>"),
    ),
    bomb("links with many parameters", Make::Bytes(parameters)),
    bomb(
        "words of links",
        Make::Within("<a href=x>", "<b>a</b>\n", "</a>"),
    ),
    bomb(
        "candidates",
        Make::CountWithin("<img srcset='", "/i# 1x, ", "'>"),
    ),
    bomb(
        "candidates in parentheses",
        Make::Within("<img srcset='", "a (,", "'>"),
    ),
    bomb(
        "commas of candidates",
        Make::Within("<img srcset='", ",", "'>"),
    ),
    bomb("relations", Make::Within("<link rel='", "a ", "' href=x>")),
    bomb(
        "links by relation",
        Make::Count("<link rel='a b c d next' href=#>"),
    ),
    bomb(
        "refreshes",
        Make::Count("<meta http-equiv=refresh content='0; url=#'>"),
    ),
    bomb(
        "directives",
        Make::Repeat("<meta name=robots content='noindex, nofollow'>"),
    ),
    bomb("bases", Make::Count("<base href=/#/>")),
    bomb(
        "pages in frames",
        Make::Repeat("<iframe srcdoc='<a href=x><iframe srcdoc=&quot;<a href=y>&quot;>'></iframe>"),
    ),
    bomb(
        "a page in a frame",
        Make::Within("<iframe srcdoc='", "<a href=x>", "'></iframe>"),
    ),
    bomb("pages in frames in frames", Make::Bytes(frames_in_frames)),
    bomb(
        "controls",
        Make::CountWithin("<form action=x>", "<input name=a# value=b>", "</form>"),
    ),
    bomb(
        "forms with a control",
        Make::Count("<form action=#><input name=a value=b></form>"),
    ),
    bomb(
        "controls of a far form",
        Make::CountWithin(
            "<form id=f>",
            "</form><input form=f name=a# type=radio checked>",
            "",
        ),
    ),
    bomb(
        "choices",
        Make::CountWithin(
            "<form><select multiple name=a>",
            "<option selected>#",
            "</select></form>",
        ),
    ),
    // Charsets and languages.
    bomb(
        "charsets declared again",
        Make::Repeat("<meta charset=utf-16><meta charset=shift_jis>\u{e9}"),
    ),
    bomb(
        "bytes that mean nothing",
        Make::Bytes(|bytes| vec![0xff; bytes]),
    ),
    bomb(
        "half characters",
        Make::Bytes(|bytes| b"\xe2\x82a\xf0\x9f".repeat(bytes / 5)),
    ),
    bomb("UTF-16 with a mark", Make::Bytes(utf16)),
    bomb(
        "Japanese escapes",
        Make::Within("<meta charset=iso-2022-jp>", "\u{1b}$B!!\u{1b}(B", ""),
    ),
    bomb(
        "languages",
        Make::Repeat("<p lang=de>das ist <p lang=fr>le mot <p lang=cs>slovo je"),
    ),
];

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
