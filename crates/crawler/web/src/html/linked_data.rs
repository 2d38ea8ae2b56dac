//! URLs in linked data (JSON-LD in the terms of schema.org): the pictures, films and recordings
//! that it names, and pages.
//!
//! The text is read in one pass without a tree, so memory is bounded by the URLs. Text that is not
//! JSON has no URLs.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::html::lazy_attributes::looks_like_a_url;
use crate::html::link::LinkKind;
use crate::html::links::References;
use crate::html::script_links::{is_address_of_page, may_be_a_page};

/// Maximum size of a script in bytes. The parser limits nesting to 128 levels.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of URLs of one script.
const MAX_URLS: usize = 1_000;

/// Collects the URLs of linked data: pictures as requisites, pages like the pages in scripts.
pub(crate) fn gather(script: &str, references: &mut References<'_>) {
    for (url, kind) in urls(script) {
        references.add(Cow::Owned(url), kind, "");
    }
}

/// Returns the URLs in linked data, in document order.
fn urls(script: &str) -> Vec<(String, LinkKind)> {
    let mut found = Vec::new();
    if script.len() > MAX_BYTES {
        return found;
    }
    let mut json = serde_json::Deserializer::from_str(script);
    let value = LinkedValue {
        meaning: Meaning::Other,
        found: &mut found,
    };
    match value.deserialize(&mut json).and_then(|()| json.end()) {
        Ok(()) => found,
        Err(_not_json) => Vec::new(),
    }
}

/// The meaning of a value, by its key and its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The URL of a picture, a film or a recording, or its description.
    Media,
    /// The URL or the identifier of a page, or its description.
    Page,
    /// A value that is skipped: the terms of a vocabulary, or the files of a data set. No page
    /// shows them.
    Unread,
    Other,
}

impl Meaning {
    /// Returns the meaning of the value with this key in an object of this meaning.
    fn of(self, key: &str) -> Self {
        match (self, key) {
            (Self::Unread, _) | (_, "@context" | "distribution") => Self::Unread,
            (_, "image" | "logo" | "thumbnail" | "thumbnailUrl" | "contentUrl") => Self::Media,
            (Self::Media, "url") => Self::Media,
            // Its name in this data, mostly the page's URL with a fragment.
            (Self::Media, "@id") => Self::Other,
            (_, "url" | "@id" | "mainEntityOfPage" | "item") => Self::Page,
            _ => Self::Other,
        }
    }

    /// Returns the kind of the link in a string of this meaning.
    fn kind_of(self, url: &str) -> Option<LinkKind> {
        let is_media = self == Self::Media || self == Self::Page && !may_be_a_page(url);
        if is_media && looks_like_a_url(url) {
            return Some(LinkKind::Requisite);
        }
        let is_page = self == Self::Page && is_address_of_page(url) && looks_like_a_url(url);
        is_page.then_some(LinkKind::Script)
    }
}

/// A value whose URLs are collected while it is parsed.
struct LinkedValue<'f> {
    meaning: Meaning,
    found: &'f mut Vec<(String, LinkKind)>,
}

impl<'de> DeserializeSeed<'de> for LinkedValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LinkedValue<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.found.len() == MAX_URLS || matches!(self.meaning, Meaning::Unread | Meaning::Other)
        {
            return Ok(());
        }
        // Many programs escape it as in markup.
        let url = text.trim().replace("&amp;", "&");
        if let Some(kind) = self.meaning.kind_of(&url) {
            self.found.push((url, kind));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let (meaning, found) = (self.meaning, self.found);
        while values
            .next_element_seed(LinkedValue { meaning, found })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            let meaning = self.meaning.of(&key);
            let found = &mut *self.found;
            entries.next_value_seed(LinkedValue { meaning, found })?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const PICTURE: &str = "requisite";
    const PAGE: &str = "script";

    fn found(script: &str) -> Vec<(String, &'static str)> {
        let urls = urls(script).into_iter();
        urls.map(|(url, kind)| (url, kind.as_str())).collect()
    }

    fn check(data: &Value, expected: &[(&str, &'static str)]) {
        let expected = expected
            .iter()
            .map(|(url, kind)| ((*url).to_owned(), *kind));
        assert_eq!(
            found(&data.to_string()),
            expected.collect::<Vec<_>>(),
            "{data}"
        );
    }

    #[test]
    fn pictures_and_pages_are_found_by_their_keys() {
        for (data, expected) in [
            (json!({"image": "a.jpg"}), &[("a.jpg", PICTURE)][..]),
            (
                json!({"image": ["/a", {"url": " https://b.test/b "}, {"contentUrl": "/c.jpg"}]}),
                &[
                    ("/a", PICTURE),
                    ("https://b.test/b", PICTURE),
                    ("/c.jpg", PICTURE),
                ],
            ),
            (
                json!([{"logo": {"@type": "ImageObject", "@id": "/#logo", "url": "/l"}}]),
                &[("/l", PICTURE)],
            ),
            (
                json!({"@graph": [{"contentUrl": "/f.mp4", "thumbnailUrl": ["/t?a=1&amp;b"]}]}),
                &[("/f.mp4", PICTURE), ("/t?a=1&b", PICTURE)],
            ),
            (
                json!({"@id": "/a/#x", "mainEntityOfPage": {"@id": "http://b.test/c"}}),
                &[("/a/#x", PAGE), ("http://b.test/c", PAGE)],
            ),
            (
                json!({"itemListElement": [
                    {"item": "https://a.test/b"}, {"item": {"@id": "/c"}}, {"url": "/d"},
                ]}),
                &[("https://a.test/b", PAGE), ("/c", PAGE), ("/d", PAGE)],
            ),
            (
                json!({"@type": "ImageObject", "url": "/i.png"}),
                &[("/i.png", PICTURE)],
            ),
            (
                json!({"image": {"author": {"url": "/who", "image": "/me.jpg"}}}),
                &[("/me.jpg", PICTURE), ("/who", PAGE)],
            ),
        ] {
            check(&data, expected);
        }
    }

    #[test]
    fn other_values_have_no_urls() {
        for data in [
            json!({"@context": {"url": {"@id": "http://a.test/url"}, "image": "http://a.test/b"}}),
            json!({"@context": "https://schema.org", "sameAs": "https://a.test/b"}),
            json!({"distribution": [{"contentUrl": "http://a.test/data.zip"}]}),
            json!({"image": ["", "#a", "{{image.url}}", "a picture", "[a/b]", 1, null, true, {}]}),
            json!({"url": ["page.html", "www.a.test", "/{{a}}", "http://", "_:b.0", 1.5, -1]}),
            json!({"name": "/a.jpg", "description": "http://a.test/b"}),
            json!("http://a.test/b.jpg"),
            json!({"image": {"@id": "http://a.test/#image"}}),
        ] {
            check(&data, &[]);
        }
    }

    #[test]
    fn text_that_is_not_json_has_no_urls() {
        let deep = |levels| {
            format!(
                "{}{{\"url\": \"/a\"}}{}",
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert_eq!([found(&deep(100)).len(), found(&deep(200)).len()], [1, 0]);
        for script in [
            "",
            "{\"url\": \"/a\"",
            "{\"url\": \"/a\",}",
            "{\"url\": \"/a\"};",
            "{\"url\": \"/a\"}{\"url\": \"/a\"}",
            "<!-- {\"url\": \"/a\"} -->",
            "{\"url\": \"/a\", \"name\": \"a\nb\"}",
        ] {
            assert!(found(script).is_empty(), "{script}");
        }
    }

    #[test]
    fn size_and_number_are_limited() {
        let sized = |bytes: usize| format!("{{\"url\": \"/a\"{}}}", " ".repeat(bytes - 13));
        assert_eq!(sized(MAX_BYTES).len(), MAX_BYTES);
        assert_eq!(found(&sized(MAX_BYTES)).len(), 1);
        assert!(found(&sized(MAX_BYTES + 1)).is_empty());
        for (pictures, expected) in [(MAX_URLS, MAX_URLS), (MAX_URLS + 1, MAX_URLS)] {
            let data = json!({"image": vec!["/a.jpg"; pictures]});
            assert_eq!(found(&data.to_string()).len(), expected);
        }
    }

    /// Generates data, whose URLs are the strings of its keys in [`keys`].
    fn data() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            "(/|https://a\\.test/)[a-z]{1,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys(), inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn keys() -> impl Strategy<Value = String> {
        let keys = [
            "image", "logo", "url", "@id", "item", "@graph", "name", "@context",
        ];
        prop::sample::select(keys.map(str::to_owned).to_vec())
    }

    /// Reads a tree of data: the oracle of the reader without one.
    fn of_tree(value: &Value, meaning: Meaning, found: &mut Vec<(String, LinkKind)>) {
        match value {
            Value::String(text) => {
                let url = text.trim().replace("&amp;", "&");
                found.extend(meaning.kind_of(&url).map(|kind| (url, kind)));
            }
            Value::Array(values) => values
                .iter()
                .for_each(|value| of_tree(value, meaning, found)),
            Value::Object(entries) => {
                for (key, value) in entries {
                    of_tree(value, meaning.of(key), found);
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn any_data_has_the_urls_of_its_tree_and_no_beginning_of_it_has_any(
            data in data(),
            end in any::<prop::sample::Index>(),
        ) {
            let text = json!([data]).to_string();
            let mut expected = Vec::new();
            of_tree(&data, Meaning::Other, &mut expected);
            prop_assert_eq!(urls(&text), expected);
            let end = end.index(text.len());
            if text.is_char_boundary(end) {
                prop_assert_eq!(urls(&text[..end]), []);
            }
        }

        #[test]
        fn any_text_can_be_read(text in "([\\[\\]{}:,\"/.a]|\"url\"|\"image\"|\\PC){0,30}") {
            let _any = urls(&text);
        }
    }
}
