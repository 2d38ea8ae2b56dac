//! The tree builder's treatment of an element by its name (HTML standard, section 13.2.6.4.7 and
//! on).

use html5ever::{LocalName, local_name};

/// The role of a start tag and of its open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ends an open paragraph.
    Block,
    /// Ends an open paragraph; a line feed right after the tag is not part of the text.
    Preformatted,
    Paragraph,
    Heading,
    /// `li`, `dd`, `dt`: ends the previous item.
    Item,
    Form,
    Button,
    /// Rebuilt if it was not closed, so it must be closed in order.
    Formatting,
    /// Has no end tag.
    Void,
    /// Has no end tag and ends an open paragraph.
    Rule,
    /// Has raw text.
    Raw,
    /// Has raw text with character references.
    Text,
    Select,
    /// `option`, `optgroup`.
    Choice,
    Table,
    Caption,
    Columns,
    Column,
    /// `tbody`, `thead`, `tfoot`.
    Rows,
    Row,
    Cell,
    /// `svg` and the elements in it.
    Drawing,
    /// Text of a drawing, in which a tag is HTML again.
    Words,
    /// Nests without rules of its own.
    Ordinary,
    /// Has rules that only the tree builder implements.
    Unsupported,
}

impl Role {
    pub(super) fn of(name: &LocalName) -> Self {
        match *name {
            local_name!("a")
            | local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u") => Self::Formatting,
            local_name!("p") => Self::Paragraph,
            local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("center")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("dir")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("main")
            | local_name!("menu")
            | local_name!("nav")
            | local_name!("ol")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("ul") => Self::Block,
            local_name!("li") | local_name!("dd") | local_name!("dt") => Self::Item,
            local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6") => Self::Heading,
            local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("embed")
            | local_name!("img")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr") => Self::Void,
            local_name!("hr") => Self::Rule,
            local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes") => Self::Raw,
            local_name!("title") | local_name!("textarea") => Self::Text,
            local_name!("pre") | local_name!("listing") => Self::Preformatted,
            local_name!("form") => Self::Form,
            local_name!("button") => Self::Button,
            local_name!("select") => Self::Select,
            local_name!("svg") => Self::Drawing,
            local_name!("option") | local_name!("optgroup") => Self::Choice,
            local_name!("table") => Self::Table,
            local_name!("caption") => Self::Caption,
            local_name!("colgroup") => Self::Columns,
            local_name!("col") => Self::Column,
            local_name!("tbody") | local_name!("thead") | local_name!("tfoot") => Self::Rows,
            local_name!("tr") => Self::Row,
            local_name!("td") | local_name!("th") => Self::Cell,
            local_name!("applet")
            | local_name!("body")
            | local_name!("frame")
            | local_name!("frameset")
            | local_name!("head")
            | local_name!("html")
            | local_name!("image")
            | local_name!("isindex")
            | local_name!("marquee")
            | local_name!("math")
            | local_name!("nobr")
            | local_name!("object")
            | local_name!("plaintext")
            | local_name!("rb")
            | local_name!("rp")
            | local_name!("rt")
            | local_name!("rtc")
            | local_name!("template")
            | local_name!("xmp") => Self::Unsupported,
            // Elements newer than the parser's table of names.
            ref name if matches!(&**name, "search" | "selectedcontent") => Self::Unsupported,
            _ => Self::Ordinary,
        }
    }

    /// Returns the role of an element of a drawing. Most drawings repeat a few shapes; the tree
    /// builder respells the names of some others, or they end the drawing.
    pub(super) fn in_drawing(name: &LocalName) -> Self {
        match &**name {
            "a" | "circle" | "defs" | "ellipse" | "g" | "line" | "mask" | "path" | "polygon"
            | "polyline" | "rect" | "stop" | "svg" | "symbol" | "text" | "tspan" | "use" => {
                Self::Drawing
            }
            "title" | "desc" => Self::Words,
            _ => Self::Unsupported,
        }
    }

    /// Returns true if an element ends with its parent (section 13.2.6.3, "implied end tags").
    pub(super) const fn has_implied_end(self) -> bool {
        matches!(self, Self::Paragraph | Self::Item | Self::Choice)
    }

    /// Returns true if the element may contain only rows, cells and other parts of tables.
    pub(super) const fn is_part_of_table(self) -> bool {
        matches!(self, Self::Table | Self::Columns | Self::Rows | Self::Row)
    }

    /// Returns true if an item inside does not end an open item outside the element.
    pub(super) fn bounds_items(self, name: &LocalName) -> bool {
        match self {
            Self::Paragraph | Self::Formatting | Self::Ordinary => false,
            Self::Block => !matches!(
                *name,
                local_name!("address") | local_name!("div") | local_name!("dialog")
            ),
            _ => true,
        }
    }

    /// Returns true if a block inside does not end an open paragraph outside the element (section
    /// 13.2.4.2, "button scope").
    pub(super) const fn bounds_paragraphs(self) -> bool {
        matches!(
            self,
            Self::Button | Self::Table | Self::Caption | Self::Cell | Self::Select
        )
    }
}
