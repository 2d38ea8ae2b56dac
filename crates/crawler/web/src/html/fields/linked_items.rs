//! Items in linked data (JSON-LD in the terms of schema.org) that describe the page or its site.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Found;
use super::sources::{Item, SOURCES, Source};

/// Maximum bytes of linked data of a page. The parser limits nesting to 128 levels.
const MAX_BYTES: usize = 256 << 10;

/// Maximum number of items of a page.
const MAX_ITEMS: usize = 512;

/// Maximum nesting of items that are read, and of references between them.
const MAX_DEPTH: usize = 6;

/// Maximum number of values that are looked at.
const MAX_STEPS: usize = 10_000;

/// Linked data of a page.
#[derive(Debug, Default)]
pub(super) struct LinkedItems {
    data: Vec<Value>,
    bytes: usize,
}

type Properties = Map<String, Value>;

impl LinkedItems {
    /// Adds a script with linked data, if it is JSON and within the limits.
    pub(super) fn add(&mut self, script: &str) {
        if self.bytes + script.len() > MAX_BYTES {
            return;
        }
        self.bytes += script.len();
        // Many programs leave line breaks in strings, which JSON forbids; elsewhere they are space.
        let script = script.replace(|c: char| c.is_ascii_control(), " ");
        let script = script.trim().trim_end_matches(';');
        if let Ok(value) = serde_json::from_str(script) {
            self.data.push(value);
        }
    }

    /// Adds the values of the page's items.
    pub(super) fn read(&self, found: &mut Found) {
        let mut items = Vec::new();
        for value in &self.data {
            gather(value, &mut items, MAX_DEPTH);
        }
        let named = items
            .iter()
            .filter_map(|item| Some((item.get("@id")?.as_str()?, *item)));
        let mut texts = Texts {
            by_id: named.collect(),
            steps: MAX_STEPS,
            found,
        };
        for class in [Item::Content, Item::Page, Item::Site, Item::Publisher] {
            let of_class = items.iter().filter(|item| class_of(item) == Some(class));
            // An article may contain a film or review a product.
            let chosen = of_class.clone().find(|item| is_article(item));
            let Some(item) = chosen.or_else(|| of_class.clone().next()) else {
                continue;
            };
            for (_, source) in SOURCES.iter() {
                if let Source::Linked(of, key) = source
                    && *of == class
                    && let Some(value) = item.get(*key)
                {
                    texts.add(value, *source, key, MAX_DEPTH);
                }
            }
        }
    }
}

/// Collects the items in a value and in their main entities.
fn gather<'v>(value: &'v Value, items: &mut Vec<&'v Properties>, depth: usize) {
    let Some(depth) = depth.checked_sub(1).filter(|_| items.len() < MAX_ITEMS) else {
        return;
    };
    match value {
        Value::Array(values) => values.iter().for_each(|value| gather(value, items, depth)),
        Value::Object(item) => {
            if item.contains_key("@type") {
                items.push(item);
            }
            for key in ["@graph", "mainEntity", "mainEntityOfPage"] {
                if let Some(value) = item.get(key) {
                    gather(value, items, depth);
                }
            }
        }
        _ => {}
    }
}

fn types(item: &Properties) -> impl Iterator<Item = &str> {
    let types = match item.get("@type") {
        Some(Value::Array(types)) => types.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    types.iter().filter_map(Value::as_str)
}

fn is_article(item: &Properties) -> bool {
    types(item).any(|name| {
        ["Article", "Posting", "Report"]
            .iter()
            .any(|end| name.ends_with(end))
    })
}

fn class_of(item: &Properties) -> Option<Item> {
    types(item).find_map(class_of_type)
}

/// Returns the class of a type of schema.org; `None` for parts of pages, people and places.
pub(super) fn class_of_type(name: &str) -> Option<Item> {
    const CONTENTS: &str = "Article Posting Report Review Recipe Product Event Book Movie Course \
                            Question HowTo VideoObject AudioObject Dataset Application \
                            SoftwareSourceCode CreativeWork Episode Thesis Guide";
    if CONTENTS.split(' ').any(|end| name.ends_with(end)) {
        return Some(Item::Content);
    }
    if name.ends_with("Page") {
        return Some(Item::Page);
    }
    if name == "WebSite" {
        return Some(Item::Site);
    }
    let is_publisher = name.ends_with("Organization") || name.ends_with("Corporation");
    is_publisher.then_some(Item::Publisher)
}

/// A reader of the values of items.
struct Texts<'v, 'f> {
    by_id: HashMap<&'v str, &'v Properties>,
    /// Values that may still be looked at. Items may refer to each other many times.
    steps: usize,
    found: &'f mut Found,
}

impl<'v> Texts<'v, '_> {
    /// Adds the texts of a value: of an item its name, or its URL where that is meant.
    fn add(&mut self, value: &'v Value, source: Source<'_>, key: &str, depth: usize) {
        let names: &[&str] = match key {
            "image" | "thumbnailUrl" => &["url", "contentUrl"],
            "license" => &["url", "@id", "name"],
            _ => &["name", "@value"],
        };
        let Some(steps) = self.steps.checked_sub(1).filter(|_| depth > 0) else {
            return;
        };
        self.steps = steps;
        match value {
            Value::String(text) => self.found.add(source, text),
            Value::Array(values) => {
                for value in values {
                    self.add(value, source, key, depth - 1);
                }
            }
            Value::Object(item) => {
                let referred = || self.by_id.get(item.get("@id")?.as_str()?).copied();
                let named = |item: &'v Properties| names.iter().find_map(|name| item.get(*name));
                if let Some(value) = named(item).or_else(|| named(referred()?)) {
                    self.add(value, source, key, depth - 1);
                }
            }
            _ => {}
        }
    }
}
