//! Flags of a region: one bit for each property of the elements around a text.
//!
//! The flags of an element apply to everything inside it.

/// In `<main>` or `role=main`.
pub(crate) const MAIN: u32 = 1;
/// In `<article>` or `role=article`.
pub(crate) const ARTICLE: u32 = 1 << 1;
/// In an element named as the text of an article: `itemprop=articleBody`, `class=entry-content`.
pub(crate) const BODY: u32 = 1 << 2;
/// In a boilerplate element by its meaning: `<nav>`, `<aside>`, `role=banner`.
pub(crate) const FRAME: u32 = 1 << 3;
/// In a boilerplate element by its class or name: `class=sidebar`.
pub(crate) const HINT: u32 = 1 << 4;
/// In a form.
pub(crate) const FORM: u32 = 1 << 5;
/// In readers' comments.
pub(crate) const COMMENTS: u32 = 1 << 6;
/// In links to related pages.
pub(crate) const RELATED: u32 = 1 << 7;
/// In a request to share or to follow.
pub(crate) const SHARE: u32 = 1 << 8;
/// In metadata of a text: its author, its date, its tags.
pub(crate) const METADATA: u32 = 1 << 9;
/// In an advertisement, a cookie notice, a request to subscribe.
pub(crate) const PROMOTION: u32 = 1 << 10;
/// In the caption of a picture.
pub(crate) const CAPTION: u32 = 1 << 11;
/// In content that is hidden until something is clicked.
pub(crate) const HIDDEN: u32 = 1 << 12;
/// In a heading.
pub(crate) const HEADING: u32 = 1 << 13;
/// In `<h1>`.
pub(crate) const TITLE: u32 = 1 << 14;
/// In a paragraph, a quotation or a listing of code.
pub(crate) const PARAGRAPH: u32 = 1 << 15;
/// In a part of a text: a section, a list, a table.
pub(crate) const PART: u32 = 1 << 16;

/// In an `<aside>` of the main content or of an article, which is a note as often as a list of
/// links.
pub(crate) const ASIDE: u32 = 1 << 17;
/// In a `<section>`.
pub(crate) const SECTION: u32 = 1 << 18;
/// In an element that the user's selector matches.
pub(crate) const SELECTED: u32 = 1 << 19;

/// In customer reviews of a product and questions about it.
pub(crate) const REVIEWS: u32 = 1 << 20;
/// In a button or the label of a control.
pub(crate) const BUTTON: u32 = 1 << 21;
/// In content that readers unfold: a tab, a response to a frequently asked question.
pub(crate) const FOLDED: u32 = 1 << 22;
/// In an element named as the foot of the page by its class.
pub(crate) const FOOT: u32 = 1 << 23;

/// In a table of contents: the only content of an index page, and a repetition for readers
/// elsewhere.
pub(crate) const CONTENTS: u32 = 1 << 24;

/// Boilerplate of a text for its reader. Verdicts count an aside of the content as content.
pub(crate) const FRAME_OR_ASIDE: u32 = FRAME | ASIDE;

/// Flags that exclude a region if they are trusted; see `boilerplate`.
pub(crate) const LEFT_OUT: u32 =
    HINT | FORM | COMMENTS | RELATED | SHARE | METADATA | PROMOTION | CAPTION | HIDDEN | CONTENTS;
