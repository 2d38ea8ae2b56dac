//! The sources of each field, in the order of trust.

use std::sync::LazyLock;

use Field::{Author, Description, Image, Kind, License, Modified, Published, Site, Tags};
use Source::{
    AuthorName, Byline, DateLine, ItemType, Linked, Meta, Microdata, Relation, Time, Url, UserName,
    WrittenBy,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Author,
    Published,
    Modified,
    Description,
    Site,
    Image,
    Kind,
    License,
    Tags,
}

/// A place in a page where a field may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'n> {
    /// A property of an item in linked data (JSON-LD).
    Linked(Item, &'n str),
    /// The content of `<meta>` with this `name` or `property`, in lower case.
    Meta(&'n str),
    /// A property in microdata.
    Microdata(&'n str),
    /// The type of an item in microdata.
    ItemType,
    /// A link with this relation.
    Relation(&'n str),
    /// The text of an element that its class calls the author's name, the author or the user.
    AuthorName,
    Byline,
    UserName,
    /// A line that begins with "by".
    WrittenBy,
    /// `<time>`.
    Time(Event),
    /// The text of an element that its class calls a date.
    DateLine(Event),
    /// A date in the page's URL.
    Url,
}

/// An item of linked data, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The subject of the page: an article, a recipe, a product.
    Content,
    /// The page.
    Page,
    /// The site.
    Site,
    /// An organisation, mostly the publisher.
    Publisher,
}

/// An event in the life of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Published,
    Modified,
    Unknown,
}

/// Sources of the fields, of each the most trusted first. An entry names several sources of a kind,
/// separated by blanks.
const TABLE: &[(Field, Source<'static>)] = &[
    (Author, Linked(Item::Content, "author creator")),
    (Author, Meta("citation_author author article:author")),
    // X shows this next to a label, here "Written by".
    (
        Author,
        Meta("parsely-author sailthru.author byl twitter:data1"),
    ),
    (Author, Meta("dc.creator dcterms.creator")),
    (Author, Linked(Item::Page, "author")),
    (Author, Microdata("author creator")),
    (Author, Relation("author")),
    (Author, AuthorName),
    (Author, Byline),
    (Author, UserName),
    (Author, WrittenBy),
    (Published, Linked(Item::Content, "datePublished")),
    (
        Published,
        Meta("article:published_time citation_publication_date"),
    ),
    (
        Published,
        Meta("citation_date parsely-pub-date sailthru.date"),
    ),
    (Published, Meta("dc.date.issued dcterms.issued pubdate")),
    (Published, Meta("publish-date published")),
    (Published, Microdata("datePublished")),
    (Published, Linked(Item::Content, "uploadDate dateCreated")),
    (Published, Linked(Item::Page, "datePublished")),
    (Published, Time(Event::Published)),
    (Published, Meta("date dc.date dcterms.date dcterms.created")),
    (Published, Microdata("dateCreated")),
    (Published, Url),
    (Published, Time(Event::Unknown)),
    (Published, DateLine(Event::Published)),
    (Published, DateLine(Event::Unknown)),
    (Modified, Linked(Item::Content, "dateModified")),
    (Modified, Meta("article:modified_time og:updated_time")),
    (
        Modified,
        Meta("dcterms.modified dc.date.modified last-modified"),
    ),
    (Modified, Microdata("dateModified")),
    (Modified, Linked(Item::Page, "dateModified")),
    (Modified, Time(Event::Modified)),
    (Modified, DateLine(Event::Modified)),
    (Description, Meta("og:description description")),
    (Description, Meta("twitter:description dc.description")),
    (Description, Meta("dcterms.description")),
    (Description, Linked(Item::Content, "description")),
    (Description, Linked(Item::Page, "description")),
    (Description, Microdata("description")),
    (Site, Meta("og:site_name")),
    (Site, Linked(Item::Site, "name")),
    (Site, Linked(Item::Content, "publisher")),
    (Site, Meta("application-name citation_journal_title")),
    (Site, Meta("dc.publisher dcterms.publisher")),
    (Site, Linked(Item::Publisher, "name")),
    (Image, Meta("og:image og:image:url og:image:secure_url")),
    (Image, Linked(Item::Content, "image")),
    (Image, Meta("twitter:image twitter:image:src")),
    (Image, Linked(Item::Content, "thumbnailUrl")),
    (Image, Microdata("image")),
    (Image, Relation("image_src")),
    (Kind, Linked(Item::Content, "@type")),
    (Kind, ItemType),
    (Kind, Meta("og:type")),
    (Kind, Linked(Item::Page, "@type")),
    (License, Linked(Item::Content, "license")),
    (License, Relation("license")),
    (License, Microdata("license")),
    (License, Meta("dcterms.license dc.rights")),
    (License, Linked(Item::Page, "license")),
    (Tags, Meta("article:tag")),
    (Tags, Linked(Item::Content, "keywords")),
    (Tags, Meta("news_keywords keywords citation_keywords")),
    (Tags, Microdata("keywords")),
    (Tags, Relation("tag")),
];

/// The sources one by one.
pub(super) static SOURCES: LazyLock<Vec<(Field, Source<'static>)>> = LazyLock::new(|| {
    let sources = TABLE.iter().flat_map(|(field, source)| {
        let one_by_one = single(*source).into_iter();
        one_by_one.map(move |source| (*field, source))
    });
    sources.collect()
});

/// Returns the sources that an entry names.
fn single(source: Source<'static>) -> Vec<Source<'static>> {
    let each = |names: &'static str, make: &dyn Fn(&'static str) -> Source<'static>| {
        names.split(' ').map(make).collect()
    };
    match source {
        Linked(item, names) => each(names, &|name| Linked(item, name)),
        Meta(names) => each(names, &Meta),
        Microdata(names) => each(names, &Microdata),
        Relation(names) => each(names, &Relation),
        other => vec![other],
    }
}
