//! The tree builder's treatment of an element by its name (HTML standard, section 13.2.6.4.7 and
//! on).

use html5ever::{LocalName, local_name};

use crate::html::names::names;

/// The role of a start tag and of its open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::html) enum Role {
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
    /// The tree builder rebuilds it if it was not closed, so it must be closed in the right order.
    Formatting,
    /// Never has an end tag.
    Void,
    /// Never has an end tag, and ends an open paragraph.
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
    /// Text in a drawing; tags inside are HTML again.
    Words,
    /// Follows no special rules.
    Ordinary,
    /// Has rules that only the tree builder implements.
    Unsupported,
}

impl Role {
    pub(in crate::html) fn of(name: &LocalName) -> Self {
        match *name {
            names![
                "a" "b" "big" "code" "em" "font" "i" "s" "small" "strike" "strong" "tt" "u"
            ] => Self::Formatting,
            local_name!("p") => Self::Paragraph,
            names![
                "address" "article" "aside" "blockquote" "center" "details" "dialog" "dir" "div"
                "dl" "fieldset" "figcaption" "figure" "footer" "header" "hgroup" "main" "menu" "nav"
                "ol" "section" "summary" "ul"
            ] => Self::Block,
            names!["li" "dd" "dt"] => Self::Item,
            names!["h1" "h2" "h3" "h4" "h5" "h6"] => Self::Heading,
            names![
                "area" "base" "basefont" "bgsound" "br" "embed" "img" "input" "keygen" "link" "meta"
                "param" "source" "track" "wbr"
            ] => Self::Void,
            local_name!("hr") => Self::Rule,
            names!["script" "style" "noscript" "iframe" "noembed" "noframes"] => Self::Raw,
            names!["title" "textarea"] => Self::Text,
            names!["pre" "listing"] => Self::Preformatted,
            local_name!("form") => Self::Form,
            local_name!("button") => Self::Button,
            local_name!("select") => Self::Select,
            local_name!("svg") => Self::Drawing,
            names!["option" "optgroup"] => Self::Choice,
            local_name!("table") => Self::Table,
            local_name!("caption") => Self::Caption,
            local_name!("colgroup") => Self::Columns,
            local_name!("col") => Self::Column,
            names!["tbody" "thead" "tfoot"] => Self::Rows,
            local_name!("tr") => Self::Row,
            names!["td" "th"] => Self::Cell,
            names![
                "applet" "body" "frame" "frameset" "head" "html" "image" "isindex" "marquee" "math"
                "nobr" "object" "plaintext" "rb" "rp" "rt" "rtc" "template" "xmp"
            ] => Self::Unsupported,
            // Elements newer than the parser's table of names.
            ref name if matches!(&**name, "search" | "selectedcontent") => Self::Unsupported,
            _ => Self::Ordinary,
        }
    }

    /// Returns the role of an element of a drawing. Most drawings repeat a few shapes; for other
    /// names, the tree builder may change the spelling or end the drawing.
    pub(in crate::html) fn in_drawing(name: &LocalName) -> Self {
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
    pub(in crate::html) const fn has_implied_end(self) -> bool {
        matches!(self, Self::Paragraph | Self::Item | Self::Choice)
    }

    /// Returns true if the element may contain only rows, cells and other parts of tables.
    pub(in crate::html) const fn is_part_of_table(self) -> bool {
        matches!(self, Self::Table | Self::Columns | Self::Rows | Self::Row)
    }

    /// Returns true if an item inside does not end an open item outside the element.
    pub(in crate::html) fn bounds_items(self, name: &LocalName) -> bool {
        match self {
            Self::Paragraph | Self::Formatting | Self::Ordinary => false,
            Self::Block => !matches!(*name, names!["address" "div" "dialog"]),
            _ => true,
        }
    }

    /// Returns true if a block inside does not end an open paragraph outside the element (section
    /// 13.2.4.2, "button scope").
    pub(in crate::html) const fn bounds_paragraphs(self) -> bool {
        matches!(
            self,
            Self::Button | Self::Table | Self::Caption | Self::Cell | Self::Select
        )
    }
}
