//! JSON Feed (<https://www.jsonfeed.org/version/1.1/>): `url` and `external_url` of its items, or
//! their `id` if it is the only URL, its `home_page_url` and its `next_url`.
//!
//! Items are read one by one and not kept, so that their URLs bound the memory. Items before a
//! syntax error count.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::letter_case::starts_with_ignore_case;
use crate::sitemap::gathered::Gathered;
use crate::sitemap::listing::{ListedUrl, ListingWarning};

/// Returns true if the beginning of a JSON text identifies a JSON Feed: `version` is a URL of the
/// specification.
pub(super) fn is_feed(start: &[u8]) -> bool {
    const SPECIFICATION: &[u8] = b"jsonfeed.org";
    start
        .windows(SPECIFICATION.len())
        .any(|window| window == SPECIFICATION)
}

pub(super) fn read(body: impl Read, gathered: &mut Gathered<'_>) {
    let mut body = BufReader::new(body);
    let mark = b"\xef\xbb\xbf";
    if body.fill_buf().is_ok_and(|start| start.starts_with(mark)) {
        body.consume(mark.len());
    }
    let mut reader = serde_json::Deserializer::from_reader(body);
    let broken = Feed(gathered).deserialize(&mut reader).is_err();
    gathered.note_if(broken, ListingWarning::Broken);
}

struct Feed<'g, 'a>(&'g mut Gathered<'a>);
struct Items<'g, 'a>(&'g mut Gathered<'a>);

#[derive(Deserialize)]
struct Item<'d> {
    #[serde(borrow, default)]
    url: Option<Cow<'d, str>>,
    #[serde(borrow, default)]
    external_url: Option<Cow<'d, str>>,
    /// Some feeds use numbers.
    #[serde(default)]
    id: serde_json::Value,
}

impl Item<'_> {
    /// Returns the `id`, if it is the only URL.
    fn permalink(&self) -> Option<&str> {
        let is_only = self.url.is_none() && self.external_url.is_none();
        let id = self.id.as_str().filter(|_| is_only)?;
        let is_url = |scheme| starts_with_ignore_case(id, scheme);
        (is_url("http://") || is_url("https://")).then_some(id)
    }
}

impl<'d> DeserializeSeed<'d> for Feed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'d> Visitor<'d> for Feed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON Feed")
    }

    fn visit_map<M: MapAccess<'d>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'d, str>>()? {
            match &*key {
                "items" => map.next_value_seed(Items(&mut *self.0))?,
                "home_page_url" => {
                    let home = map.next_value::<Option<Cow<'d, str>>>()?;
                    if let Some(url) = home.and_then(|home| self.0.resolve(None, &home)) {
                        self.0.keep_page(ListedUrl { url, lastmod: None });
                    }
                }
                "next_url" => {
                    let next = map.next_value::<Option<Cow<'d, str>>>()?;
                    if let Some(url) = next.and_then(|next| self.0.resolve(None, &next)) {
                        self.0.keep_further(ListedUrl { url, lastmod: None });
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'d> DeserializeSeed<'d> for Items<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'d> Visitor<'d> for Items<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("items")
    }

    fn visit_seq<S: SeqAccess<'d>>(self, mut items: S) -> Result<(), S::Error> {
        while let Some(item) = items.next_element::<Item<'d>>()? {
            let urls = item.url.iter().chain(&item.external_url).map(AsRef::as_ref);
            for address in urls.chain(item.permalink()) {
                if let Some(url) = self.0.resolve(None, address) {
                    self.0.keep_page(ListedUrl { url, lastmod: None });
                }
            }
        }
        Ok(())
    }
}
