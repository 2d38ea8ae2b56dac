//! The records of pages, and of their canonical pages.

use std::io::Write;
use std::time::Duration;

use export::{
    AUDIT_CANONICALS, AUDIT_PAGES, AUDIT_SITEMAP, AuditTable, AuditWriter, ExportFault, Value,
};
use web::PageUrl;

use super::known_urls::{Indexability, KnownUrl, KnownUrls};
use super::page_entry::{PageContent, PageEntry};

/// Writes a page, its canonical page if that is another, and the page's absence from the sitemaps.
pub(super) fn write<W: Write + Send>(
    page: &PageEntry,
    urls: &KnownUrls,
    has_sitemap: bool,
    out: &mut AuditWriter<W>,
) -> Result<(), ExportFault> {
    let Some(known) = urls.get(page.url()) else {
        return Ok(());
    };
    let is_listed = has_sitemap.then_some(known.is_listed);
    let kind = canonical_kind(page, urls);
    out.write(AuditTable::Pages, &fields(page, known, kind, is_listed))?;
    if let (Some(canonical), Some(kind)) = (page.canonical(), kind)
        && kind != SELF
    {
        let fields: [Option<Value<'_>>; AUDIT_CANONICALS.columns.len()] = [
            url(page.url()),
            url(canonical),
            Some(Value::Text(kind)),
            urls.get(canonical).and_then(status),
        ];
        out.write(AuditTable::Canonicals, &fields)?;
    }
    let is_html = page.content.as_ref().is_some_and(|content| content.is_html);
    let is_indexable = known.indexability == Indexability::Indexable;
    if is_listed == Some(false) && is_html && is_indexable {
        let issue = Some(Value::Text("not in a sitemap"));
        let fields: [Option<Value<'_>>; AUDIT_SITEMAP.columns.len()] =
            [url(page.url()), None, issue, status(known)];
        out.write(AuditTable::Sitemap, &fields)?;
    }
    Ok(())
}

/// The kind of a canonical page that is the page itself.
const SELF: &str = "self";

/// Returns the kind of a page's canonical page; `None` if it is unknown.
fn canonical_kind(page: &PageEntry, urls: &KnownUrls) -> Option<&'static str> {
    let Some(canonical) = page.canonical() else {
        let content = page.content.as_ref();
        return content.filter(|content| content.is_html).map(|_| "missing");
    };
    if page.is_at(canonical) {
        return Some(SELF);
    }
    Some(match urls.get(canonical).map(|known| known.indexability) {
        None => "not visited",
        Some(Indexability::Indexable) => "other",
        Some(Indexability::Canonicalised) => "chain",
        Some(Indexability::Redirect) => "redirect",
        Some(Indexability::Failed) => "broken",
        Some(Indexability::NoIndex) => "noindex",
        Some(Indexability::Robots | Indexability::Excluded) => "excluded",
    })
}

fn fields<'a>(
    page: &'a PageEntry,
    known: &KnownUrl,
    canonical_kind: Option<&'a str>,
    is_listed: Option<bool>,
) -> [Option<Value<'a>>; AUDIT_PAGES.columns.len()] {
    let (visit, content) = (&*page.visit, page.content.as_ref());
    let text = |text: &'a Option<String>| text.as_deref().map(Value::Text);
    let of_content =
        |part: fn(&PageContent) -> &Option<String>| content.and_then(|content| text(part(content)));
    let length = |text: Option<&str>| text.map(|text| Value::Number(text.chars().count() as u64));
    let number = |number: u32| Value::Number(number.into());
    let obstacle = known.indexability.obstacle();
    let description = content.and_then(|content| content.description.as_deref());
    let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    [
        url(page.url()),
        visit.final_url.as_ref().and(url(&visit.url)),
        status(known),
        Some(Value::Text(visit.fate.as_str())),
        Some(Value::Bool(obstacle.is_none())),
        obstacle.map(Value::Text),
        text(&visit.title),
        length(visit.title.as_deref()),
        description.map(Value::Text),
        length(description),
        of_content(|content| &content.h1),
        content.map(|content| number(content.h1_count)),
        of_content(|content| &content.robots),
        canonical_kind.map(Value::Text),
        page.canonical().and_then(url),
        text(&visit.language),
        visit.details.words.map(number),
        Some(number(visit.depth)),
        Some(number(known.inlinks)),
        content.map(|content| number(content.outlinks)),
        is_listed.map(Value::Bool),
        visit.duplicate_of.as_ref().and_then(url),
        Some(Value::Number(visit.bytes)),
        visit.details.duration.map(millis).map(Value::Number),
        visit.reason.as_ref().map(Value::Reason),
    ]
}

fn url(url: &PageUrl) -> Option<Value<'_>> {
    Some(Value::Text(url.as_str()))
}

fn status(known: &KnownUrl) -> Option<Value<'static>> {
    known.status().map(|status| Value::Number(status.into()))
}
