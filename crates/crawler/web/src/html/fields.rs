//! Fields of a page: its statements about itself, such as its author and its date.
//!
//! A page repeats them for search engines, previews and readers, often with different values. So
//! [`SOURCES`] has the sources of each field in the order of trust, and the first source with a
//! usable value decides. The order follows trafilatura's (Barbaresi 2021, `metadata.py`), except
//! that linked data of the page's main item goes first.
//!
//! Invariant: a page cannot make this expensive. The tree is walked once; the number of values per
//! source, the length of each value, and the bytes and the depth of linked data have limits.

mod authors;
mod linked_items;
mod markup;
mod sources;

use scraper::Html;

use self::linked_items::LinkedItems;
use self::sources::{Field, SOURCES, Source};
use crate::html::character_references::{self, TextContext};
use crate::html::lines::joined;
use crate::html::page_date::PageDate;
use crate::html::page_fields::PageFields;
use crate::url::page_url::PageUrl;

/// Maximum number of values of one source.
const MAX_VALUES: usize = 32;

/// Maximum length of a value in characters. The rest of a description is cut; other values beyond
/// [`MAX_NAME_CHARS`] are not names.
const MAX_CHARS: usize = 2_000;

/// Maximum length of a value in bytes.
const MAX_BYTES: usize = 4 * MAX_CHARS;

/// Maximum length of a name, a type or a tag in characters.
const MAX_NAME_CHARS: usize = 120;

/// Separator of several authors or tags.
const SEPARATOR: &str = "; ";

/// Returns the fields of a page. `resolve` returns the URL of a reference in the page.
pub(crate) fn of_page(
    html: &Html,
    page: &PageUrl,
    resolve: impl Fn(&str) -> Option<String>,
) -> PageFields {
    let mut found = Found::default();
    let mut items = LinkedItems::default();
    markup::read(html, &mut found, &mut items);
    items.read(&mut found);
    if let Some(date) = date_in(page.as_url().path()) {
        found.add(Source::Url, &date);
    }
    let resolved = |text: &str| {
        let url = text.trim();
        // A longer value was cut; a template has braces.
        let is_url = text.len() < MAX_BYTES - 4 && !url.is_empty();
        let is_url = is_url && !url.contains(|c: char| c.is_whitespace() || c == '{');
        is_url.then(|| resolve(url)).flatten()
    };
    let site = found.first(Field::Site, name);
    PageFields {
        author: authors::of(&found, site.as_deref(), page),
        published: found.first(Field::Published, PageDate::find),
        modified: found.first(Field::Modified, PageDate::find),
        description: found.first(Field::Description, |text| folded(text, MAX_CHARS)),
        site,
        image: found.first(Field::Image, resolved),
        kind: found.first(Field::Kind, |text| {
            let text = text.trim().trim_end_matches('/');
            name(text.rsplit(['/', '#']).next()?)
        }),
        license: found.first(Field::License, |text| match text.contains('/') {
            true => resolved(text).or_else(|| name(text)),
            false => name(text),
        }),
        tags: found.list(Field::Tags, |_, text| {
            text.split([',', ';']).map(name).collect()
        }),
    }
}

/// The values that a page has in each of [`SOURCES`], in document order.
struct Found {
    values: Vec<Vec<String>>,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            values: vec![Vec::new(); SOURCES.len()],
        }
    }
}

impl Found {
    /// Returns the number of a source that may have another value.
    fn wanted(&self, source: Source<'_>) -> Option<usize> {
        let number = SOURCES.iter().position(|(_, known)| *known == source)?;
        (self.values[number].len() < MAX_VALUES).then_some(number)
    }

    fn add(&mut self, source: Source<'_>, value: &str) {
        if let Some(number) = self.wanted(source) {
            let value = &value[..value.floor_char_boundary(MAX_BYTES)];
            self.values[number].push(value.to_owned());
        }
    }

    fn sources(&self, field: Field) -> impl Iterator<Item = (Source<'static>, &[String])> {
        let all = SOURCES.iter().zip(&self.values);
        let of_field = all.filter(move |((found, _), _)| *found == field);
        of_field.map(|((_, source), values)| (*source, &**values))
    }

    /// Returns the first usable value of the most trusted source.
    fn first<T>(&self, field: Field, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut values = self.sources(field).flat_map(|(_, values)| values);
        values.find_map(|value| read(value))
    }

    /// Returns the usable values of the most trusted source that has any, each once.
    fn list(
        &self,
        field: Field,
        read: impl Fn(Source<'_>, &str) -> Vec<Option<String>>,
    ) -> Option<String> {
        self.sources(field).find_map(|(source, values)| {
            // Later bylines in the markup are mostly those of other texts.
            let most = match (field, source) {
                (Field::Tags, _) | (_, Source::Linked(..) | Source::Meta(_)) => MAX_VALUES,
                _ => 1,
            };
            let mut list: Vec<String> = Vec::new();
            let values = values.iter().flat_map(|value| read(source, value));
            for value in values.flatten() {
                if list.len() < most && !list.contains(&value) {
                    list.push(value);
                }
            }
            (!list.is_empty()).then(|| list.join(SEPARATOR))
        })
    }
}

/// Returns a text with folded white space, without what follows this many characters; `None` if
/// nothing is left.
fn folded(text: &str, most: usize) -> Option<String> {
    let text = character_references::resolve(text, TextContext::Content);
    let text = joined(text.split_whitespace(), most);
    (!text.is_empty()).then_some(text)
}

/// Returns the date in a path such as `/blog/2026/11/20/title`.
fn date_in(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let dates = parts.windows(3).filter(|parts| {
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        parts[0].len() == 4 && parts.iter().all(is_number)
    });
    let mut dates = dates.map(|parts| parts.join("-"));
    dates.find(|date| PageDate::find(date).is_some())
}

/// Returns a text that may be a name: short, with a letter or a digit.
fn name(text: &str) -> Option<String> {
    let name = folded(text, MAX_NAME_CHARS + 1)?;
    let is_short = name.chars().count() <= MAX_NAME_CHARS;
    (is_short && name.contains(char::is_alphanumeric)).then_some(name)
}
