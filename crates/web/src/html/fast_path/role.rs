//! What the tree builder does with an element, by its name (HTML standard, section 13.2.6.4.7 and
//! on).

use html5ever::{LocalName, local_name};

/// What a start tag means, and what the element then is to those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Ends an open paragraph.
    Block,
    /// Likewise, and a line feed right behind the tag is not part of the text.
    Preformatted,
    Paragraph,
    Heading,
    /// `li`, `dd`, `dt`: ends the one before it.
    Item,
    Form,
    Button,
    /// Built again where it was not closed: so it must be closed in order.
    Formatting,
    /// Has no end tag.
    Void,
    /// Likewise, and ends an open paragraph.
    Rule,
    /// Has text in which there are no tags.
    Raw,
    /// Has text in which there are references to characters, but no tags.
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
    /// `svg`, and what is in it.
    Drawing,
    /// The words of a drawing: in them a tag is one of HTML again.
    Words,
    /// Nests like any other.
    Ordinary,
    /// The tree builder has rules for it that are not told here.
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
            // Newer than the table of names that the parser was made with.
            ref name if matches!(&**name, "search" | "selectedcontent") => Self::Unsupported,
            _ => Self::Ordinary,
        }
    }

    /// What an element of a drawing is. Most are few shapes over and over; the names of some others
    /// are spelled anew by the tree builder, or end the drawing.
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

    /// Whether an element ends where something around it does (section 13.2.6.3, "implied end
    /// tags").
    pub(super) const fn has_implied_end(self) -> bool {
        matches!(self, Self::Paragraph | Self::Item | Self::Choice)
    }

    /// Whether only rows, cells and the like may stand in it.
    pub(super) const fn is_part_of_table(self) -> bool {
        matches!(self, Self::Table | Self::Columns | Self::Rows | Self::Row)
    }

    /// Whether an open item beyond it has nothing to do with an item inside.
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

    /// Whether an open paragraph beyond it is not ended by a block inside (section 13.2.4.2,
    /// "button scope").
    pub(super) const fn bounds_paragraphs(self) -> bool {
        matches!(
            self,
            Self::Button | Self::Table | Self::Caption | Self::Cell | Self::Select
        )
    }
}
