//! A body, read: text, title, language, links, directives.
//!
//! [`read`] cannot fail. A page may be encoded wrongly, be built to break its reader, or be no page
//! at all; what can be read of it is read, and what had to be capped or repaired is noted as an
//! [`ParseWarning`].
//!
//! Sources: the HTML standard for tokens, trees and encodings; DESIGN, "The verdict", for what a
//! page is judged by.

pub(crate) mod charset;
mod content;
mod directives;
mod effort;
mod elements;
mod entities;
mod forms;
mod judged;
mod language;
mod link_header;
mod links;
mod main_selectors;
mod media;
mod names;
mod parts;
mod place;
mod places;
mod refresh;
mod regions;
mod relations;
mod scan;
mod script_links;
mod signs;
mod srcset;
mod straight;
mod stream;
mod text;
mod tiles;
mod tree;
mod trunk;
mod walk;

pub use content::MIN_MAIN_WORDS;
pub use directives::Directives;
pub(crate) use links::has_relation;
pub use links::{Link, LinkKind, LinkKinds};
pub use main_selectors::{BadSelector, MainSelectors};
pub use media::{Media, essence};
pub use relations::{Relations, UnknownRelation};
pub use tree::Cut;

use crate::{CanonicalForm, PageUrl};
use content::JudgedText;
pub(crate) use effort::WorkBudget;
use links::{Links, Reference, References};
use main_selectors::Selection;
use parts::Part;
use walk::Walk;

/// What is known of a body beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResponseMetadata<'a> {
    /// Where it came from: links are relative to it.
    pub url: &'a PageUrl,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The values of `X-Robots-Tag`.
    pub x_robots_tag: &'a [&'a str],
    /// The values of `Link`.
    pub link: &'a [&'a str],
    /// The value of `Content-Location`: the address of what was sent (RFC 9110 section 8.7).
    pub content_location: Option<&'a str>,
    /// The value of `Refresh`, which is in no standard and in every browser.
    pub refresh: Option<&'a str>,
    /// The crawler's product token, for directives that name it.
    pub agent: &'a str,
    /// The user's selectors of main content.
    pub main: Option<&'a MainSelectors>,
}

impl<'a> ResponseMetadata<'a> {
    /// Nothing is known but where it came from.
    #[must_use]
    pub const fn of(url: &'a PageUrl) -> Self {
        Self {
            url,
            content_type: None,
            x_robots_tag: &[],
            link: &[],
            content_location: None,
            refresh: None,
            agent: "",
            main: None,
        }
    }
}

/// How much of a page is read. How large a body is, is its reader's limit, not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Which links are looked for.
    pub kinds: LinkKinds,
    /// Links to different pages, and as many of [`LinkKind::Form`], [`LinkKind::Script`] and
    /// [`LinkKind::Requisite`] together.
    pub links: usize,
    /// Open elements at one time, open formatting elements counted twice.
    pub depth: usize,
    /// Attributes of one tag.
    pub attributes: usize,
    /// Nodes of the tree.
    pub nodes: usize,
    /// Steps that building the tree may take: tokens of its tokenizer above all. What follows is
    /// read without a tree.
    pub tree_effort: usize,
    /// Steps that are taken where there is no tree, and a quarter as many for forms: tags and
    /// stretches of text above all. What follows is not read.
    pub stream_effort: usize,
    /// Bytes of text, those beyond ASCII counted twice; and a line for every eight of them. What
    /// follows is read for its links.
    pub text: usize,
    /// Characters of a title.
    pub title_chars: usize,
    /// Characters of the words of a link.
    pub anchor_chars: usize,
    /// Bytes of what a page says of a link (`rel`), beyond [`Relations`].
    pub rel_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            kinds: LinkKinds::PAGES,
            links: 10_000,
            depth: 512,
            attributes: 1_000,
            nodes: 100_000,
            tree_effort: 400_000,
            stream_effort: 600_000,
            text: 1 << 20,
            title_chars: 1_000,
            anchor_chars: 200,
            rel_bytes: 0,
        }
    }
}

/// How much of a page is looked through for forms.
const FORM_BYTES: usize = 4 << 20;

/// A body, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What kind of document it is.
    pub media: Media,
    /// The name of its encoding in the Encoding standard; empty for [`Media::Other`].
    pub charset: &'static str,
    /// The primary subtag of its language, `en`: declared, or recognised from its text.
    pub language: Option<String>,
    /// Its title, white space folded.
    pub title: Option<String>,
    /// The first `<h1>` outside of the site's frame, else the first heading there, white space
    /// folded; capped like a title.
    pub heading: Option<String>,
    /// The main content where there is enough of it or the page marks it, else all of it. A block a
    /// line.
    pub text: String,
    /// Whether [`Document::text`] is the page's own.
    pub own: MainContent,
    /// Where it leads, each page once, in the order of the page; not to itself.
    pub links: Vec<Link>,
    /// What it asks crawlers to do.
    pub directives: Directives,
    /// The address that it says it should have.
    pub canonical: Option<PageUrl>,
    /// What was capped or repaired.
    pub oddities: Vec<ParseWarning>,
    /// The whole page where [`Document::text`] is a part of it.
    full: Option<String>,
    judged: JudgedText,
    judged_own: MainContent,
}

/// The part of a text that is the page's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MainContent {
    /// It is the main content, or most of it is.
    Main,
    /// The main content has less than [`MIN_MAIN_WORDS`] words and is less than half of the page:
    /// the text is all of the page and mostly its frame. Two such pages are alike only if their own
    /// texts are equal.
    PageFallback {
        /// The main content.
        own_text: String,
    },
}

/// Something that had to be capped or repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParseWarning {
    /// Some bytes mean nothing in the page's encoding.
    Undecodable,
    /// The tree ends early; what follows was read without one.
    Parsing(Cut),
    /// There was so much of it that its end was not read: links may be missing, and what comes last
    /// of its text.
    Unread,
    /// There is more text than [`ReadLimits::text`]: the page is judged by its beginning.
    TooMuchText,
    /// There are more links than [`ReadLimits::links`]: the first ones were kept.
    TooManyLinks,
}

impl Document {
    /// All visible text of the page, a block a line.
    #[must_use]
    pub fn full_text(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }

    /// The same, where nothing else of the document is needed any more.
    #[must_use]
    pub fn into_full_text(self) -> String {
        self.full.unwrap_or(self.text)
    }

    /// The page's own text: what [`MainContent::PageFallback`] has beside, or the text itself.
    #[must_use]
    pub fn own_text(&self) -> &str {
        match &self.own {
            MainContent::Main => &self.text,
            MainContent::PageFallback { own_text } => own_text,
        }
    }

    /// The text that verdicts on duplicates are made from: everything outside of the site's frame,
    /// lines of links, comments and posts included; the whole page where that has next to nothing
    /// else. Of a page with a `<main>`, that without the frames in it.
    #[must_use]
    pub fn judged_text(&self) -> &str {
        match &self.judged {
            JudgedText::Main => &self.text,
            JudgedText::Full => self.full_text(),
            JudgedText::Other(text) => text,
        }
    }

    /// Tells how much of [`Document::judged_text`] is the page's own.
    #[must_use]
    pub const fn judged_own(&self) -> &MainContent {
        &self.judged_own
    }

    fn unread(media: Media) -> Self {
        Self {
            media,
            charset: "",
            language: None,
            title: None,
            heading: None,
            text: String::new(),
            own: MainContent::Main,
            links: Vec::new(),
            directives: Directives::default(),
            canonical: None,
            oddities: Vec::new(),
            full: None,
            judged: JudgedText::Full,
            judged_own: MainContent::Main,
        }
    }
}

/// Reads a body whose content coding was taken off.
#[must_use]
pub fn read(
    body: &[u8],
    hints: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let mut document = Document::unread(Media::of(hints.content_type, body));
    for value in hints.x_robots_tag {
        document.directives.add_header(value, hints.agent);
    }
    let mut headed = Headed::read(hints, form, limits);
    document.canonical = headed.canonical.take();
    if document.media == Media::Other {
        if limits.kinds.has(LinkKind::Requisite)
            && let Some(part) = Part::of(hints.content_type)
        {
            document.read_part(part, body, headed.links, hints, form, limits);
            return document;
        }
        document.links_of_header(headed, hints, form, limits);
        return document;
    }
    let decoded = charset::decode(body, hints.content_type, top_level_domain(hints.url));
    document.charset = decoded.charset;
    if decoded.repaired {
        document.oddities.push(ParseWarning::Undecodable);
    }
    if document.media == Media::Html {
        document.read_page(&decoded.text, headed.links, hints, form, limits);
    } else {
        document.links_of_header(headed, hints, form, limits);
        document.read_text(&decoded.text, limits);
    }
    if document.language.is_none() {
        document.language = language::of_text(&document.text);
    }
    document
}

impl Document {
    fn links_of_header(
        &mut self,
        headed: Headed,
        hints: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let resolved = References::new(limits).resolve(headed.links, hints.url, form, limits);
        self.links = resolved.links;
        self.oddities.extend(resolved.oddity);
    }

    fn read_text(&mut self, text: &str, limits: &ReadLimits) {
        let end = text::end_of_share(text, limits.text);
        if end < text.len() {
            self.oddities.push(ParseWarning::TooMuchText);
        }
        text[..end].clone_into(&mut self.text);
    }

    fn read_page(
        &mut self,
        text: &str,
        headed: Links,
        hints: &ResponseMetadata<'_>,
        form: &CanonicalForm,
        limits: &ReadLimits,
    ) {
        let (markup, unscripted);
        let mut effort = WorkBudget::new(limits.tree_effort);
        let selectors = Selection::of(hints);
        let parsed = selectors.parse(text, limits, &mut effort);
        let mut walk = Walk::new(hints.agent, limits, text.len() / 4);
        walk.directives = self.directives;
        walk.selected = selectors.find(&parsed.html);
        walk.tree(parsed.html.tree.root());
        if let Some(rest) = &parsed.rest {
            self.oddities.push(ParseWarning::Parsing(rest.why));
            walk.rest(text, rest);
        }
        if walk.lines.words() < MIN_MAIN_WORDS && !walk.unscripted.is_empty() {
            // All of the page is made by scripts, but for what it has for readers without.
            markup = std::mem::take(&mut walk.unscripted);
            unscripted = selectors.parse(&markup, limits, &mut effort);
            walk.selected = selectors.find(&unscripted.html);
            walk.tree(unscripted.html.tree.root());
            if let Some(rest) = &unscripted.rest {
                walk.rest(&markup, rest);
            }
        }
        walk.read_nested();
        if limits.kinds.has(LinkKind::Form) {
            let effort = WorkBudget::new(limits.stream_effort / 4);
            let start = &text[..text.floor_char_boundary(FORM_BYTES)];
            for (url, rel) in forms::urls(start, hints.url, effort) {
                walk.references.add(url.into(), LinkKind::Form, &rel);
            }
        }
        let resolved = walk.references.resolve(headed, hints.url, form, limits);
        if walk.effort.is_spent() {
            self.oddities.push(ParseWarning::Unread);
        }
        if walk.lines.is_full() {
            self.oddities.push(ParseWarning::TooMuchText);
        }
        let texts = content::finish(walk.lines, limits.title_chars);
        self.title = walk.title;
        self.language = walk.language;
        self.directives = walk.directives;
        self.links = resolved.links;
        self.canonical = self.canonical.take().or(resolved.canonical);
        self.oddities.extend(resolved.oddity);
        self.text = texts.text;
        self.full = texts.full;
        self.own = texts.own;
        self.judged = texts.judged;
        self.judged_own = texts.judged_own;
        self.heading = texts.heading;
    }
}

/// What header fields say of other pages. They are relative to the page itself, whatever its
/// `<base>` is.
struct Headed {
    links: Links,
    canonical: Option<PageUrl>,
}

impl Headed {
    fn read(hints: &ResponseMetadata<'_>, form: &CanonicalForm, limits: &ReadLimits) -> Self {
        let mut headed = Self {
            links: Links::default(),
            canonical: None,
        };
        for link in hints
            .link
            .iter()
            .flat_map(|value| link_header::links(value))
        {
            // What is from another page is that page's link.
            let is_ours = link.anchor.as_ref().is_none_or(|anchor| {
                hints
                    .url
                    .join(anchor, form)
                    .is_ok_and(|from| from == *hints.url)
            });
            let Ok(url) = hints.url.join(link.target, form) else {
                continue;
            };
            if !is_ours {
                continue;
            }
            if headed.canonical.is_none() && has_relation(&link.rel, "canonical") {
                headed.canonical = Some(url.clone());
            }
            if let Some(kind) = places::of_relations(&link.rel) {
                headed.add(url, kind, &link.rel, hints, limits);
            }
        }
        let location = hints.content_location.map(str::trim);
        if let Some(Ok(url)) = location.map(|location| hints.url.join(location, form)) {
            headed.add(url, LinkKind::Page, "", hints, limits);
        }
        let refresh = hints.refresh.and_then(refresh::target);
        if let Some(Ok(url)) = refresh.map(|target| hints.url.join(target, form)) {
            headed.add(url, LinkKind::Refresh, "", hints, limits);
        }
        headed
    }

    fn add(
        &mut self,
        url: PageUrl,
        kind: LinkKind,
        rel: &str,
        hints: &ResponseMetadata<'_>,
        limits: &ReadLimits,
    ) {
        if url != *hints.url {
            let reference = Reference {
                href: "".into(),
                kind,
                relations: Relations::of_rel(rel),
                rel: relations::words(rel, limits.rel_bytes),
                anchor: String::new(),
                is_needed: kind.is_needed(),
            };
            self.links.add(url, reference, limits);
        }
    }
}

/// The last label of a host's name; nothing for an address.
fn top_level_domain(url: &PageUrl) -> Option<&str> {
    url.as_url().domain()?.rsplit('.').next()
}
