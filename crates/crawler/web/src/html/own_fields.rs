//! Fields that a user wants from the pages of a host: the text of the first element that a CSS
//! selector matches, as `price = ".price"`.

use std::collections::BTreeMap;

use scraper::{ElementRef, Html};

use crate::html::lines::joined;
use crate::html::main_selectors::{BadSelector, MainSelectors};
use crate::url::page_url::PageUrl;

/// Maximum length of a value in characters.
const MAX_CHARS: usize = 2_000;

/// Names of fields, each with its selectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelectors(BTreeMap<String, MainSelectors>);

impl FieldSelectors {
    /// Parses selectors of the form `HOST=CSS` for each name. The first selector that is for the
    /// host of a page and matches decides.
    ///
    /// # Errors
    /// [`BadSelector`] for the first unusable selector.
    pub fn parse(fields: BTreeMap<String, Vec<String>>) -> Result<Self, BadSelector> {
        let parsed = fields.into_iter().map(|(name, selectors)| {
            let selectors = MainSelectors::parse(&selectors)?;
            Ok((name, selectors))
        });
        parsed.collect::<Result<_, _>>().map(Self)
    }

    /// Returns true if a selector for a page needs attributes that are otherwise omitted.
    pub(super) fn need_data(&self, page: &PageUrl) -> bool {
        self.0.values().any(|selectors| selectors.need_data(page))
    }

    /// Returns the fields of a page, by name.
    pub(super) fn of_page(&self, html: &Html, page: &PageUrl) -> BTreeMap<String, String> {
        let fields = self.0.iter().filter_map(|(name, selectors)| {
            let value = value_of(selectors.first(html, page)?);
            (!value.is_empty()).then(|| (name.clone(), value))
        });
        fields.collect()
    }
}

/// Returns the text of an element with folded white space, or the value of one without text.
fn value_of(element: ElementRef<'_>) -> String {
    let attribute = match element.value().name() {
        "meta" => element.attr("content"),
        "input" => element.attr("value"),
        _ => None,
    };
    match attribute {
        Some(value) => joined(value.split_whitespace(), MAX_CHARS),
        None => joined(element.text().flat_map(str::split_whitespace), MAX_CHARS),
    }
}
