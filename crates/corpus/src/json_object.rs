//! The fields of one JSON object, picked while it is parsed: nothing else of it is kept.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{Field, FieldNames};

/// The fields of a document.
#[derive(Debug)]
pub(crate) struct JsonObject {
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) title: Option<String>,
    pub(crate) heading: Option<String>,
}

/// Reads a document from a JSON object.
///
/// # Errors
/// The reason for which it is none, as the rest of a sentence about its line.
pub(crate) fn read(bytes: &[u8], names: &FieldNames) -> Result<JsonObject, String> {
    let wanted: Vec<&Field> = names.all().collect();
    let is_none = |error: serde_json::Error| format!("is not a JSON object: {error}");
    let mut values = parse(bytes, Picking(&wanted)).map_err(is_none)?;
    let mut take_text = || match values.pop() {
        Some(Some(Scalar::Text(text))) => Some(text),
        _ => None,
    };
    let (heading, title) = (take_text(), take_text());
    let id = match values.pop().flatten() {
        Some(Scalar::Text(id) | Scalar::Integer(id)) => Some(id),
        None if names.is_id_wanted => {
            let present = parse(bytes, Names).map_err(is_none)?;
            return Err(names.no_id(present.iter().map(String::as_str)));
        }
        None => None,
        Some(Scalar::Other) => {
            let name = &names.id.name;
            return Err(format!(
                "has a {name:?} that is neither a string nor a whole number"
            ));
        }
    };
    let texts = names.text.iter().zip(values);
    let found = texts
        .filter_map(|(field, value)| Some((field, value?)))
        .next();
    let text = match found {
        Some((_, Scalar::Text(text))) => text,
        Some((field, _)) => return Err(format!("has a {:?} that is not a string", field.name)),
        None => {
            let present = parse(bytes, Names).map_err(is_none)?;
            return Err(names.no_text(present.iter().map(String::as_str)));
        }
    };
    Ok(JsonObject {
        id,
        text,
        title,
        heading,
    })
}

/// Returns the place of the text in the bytes of a document; none if they are no document.
pub(crate) fn place_of_text(bytes: &[u8], names: &FieldNames) -> Option<Range<usize>> {
    let start = bytes.iter().position(|byte| *byte == b'{')?;
    let object = &bytes[start..];
    let of_field = |field: &Field| {
        let value = place(object, std::slice::from_ref(&field.name));
        value.or_else(|| place(object, &field.parts))
    };
    let text = names.text.iter().find_map(of_field)?;
    Some(start + text.start..start + text.end)
}

/// Returns the place of the value that is not null behind these names, each within the one before.
fn place(object: &[u8], names: &[String]) -> Option<Range<usize>> {
    let (name, inner) = names.split_first()?;
    let value = parse(object, RawValueOf(name)).ok()??.get().as_bytes();
    let start = value.as_ptr() as usize - object.as_ptr() as usize;
    if inner.is_empty() {
        return (value != b"null").then_some(start..start + value.len());
    }
    let within = place(value, inner)?;
    Some(start + within.start..start + within.end)
}

/// A parser of the bytes of one field; the last one of several with the same name, as parsers of
/// JSON take it.
struct RawValueOf<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for RawValueOf<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RawValueOf<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = object.next_key::<String>()? {
            match key == self.0 {
                true => found = Some(object.next_value()?),
                false => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

fn parse<'de, S: DeserializeSeed<'de>>(
    bytes: &'de [u8],
    seed: S,
) -> Result<S::Value, serde_json::Error> {
    let mut input = serde_json::Deserializer::from_slice(bytes);
    let parsed = seed.deserialize(&mut input)?;
    input.end()?;
    Ok(parsed)
}

/// A value as far as documents need it. Null counts as absent.
enum Scalar {
    Text(String),
    /// A whole number, in decimal digits.
    Integer(String),
    Other,
}

/// A parser of the wanted fields of an object.
struct Picking<'f>(&'f [&'f Field]);

impl<'de> DeserializeSeed<'de> for Picking<'_> {
    type Value = Vec<Option<Scalar>>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Picking<'_> {
    type Value = Vec<Option<Scalar>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut values: Vec<Option<Scalar>> = self.0.iter().map(|_| None).collect();
        // A field that is called so precedes a nested one, whichever comes first.
        let mut is_exact = vec![false; values.len()];
        while let Some(key) = object.next_key::<String>()? {
            let is_in = |field: &Field| field.name == key || field.parts[0] == key;
            let matching: Vec<usize> = (0..self.0.len())
                .filter(|number| is_in(self.0[*number]))
                .collect();
            match matching[..] {
                [] => {
                    object.next_value::<IgnoredAny>()?;
                    continue;
                }
                [only] if self.0[only].name == key => {
                    values[only] = object.next_value_seed(ScalarSeed)?;
                    is_exact[only] = true;
                    continue;
                }
                _ => {}
            }
            let value: Value = object.next_value()?;
            for number in matching {
                let field = self.0[number];
                let exact = field.name == key;
                if exact || !is_exact[number] {
                    let nested = match exact {
                        true => Some(&value),
                        false => descend(&value, &field.parts[1..]),
                    };
                    values[number] = nested.and_then(Scalar::of);
                    is_exact[number] = exact;
                }
            }
        }
        Ok(values)
    }
}

fn descend<'v>(value: &'v Value, parts: &[String]) -> Option<&'v Value> {
    parts.iter().try_fold(value, |value, part| value.get(part))
}

impl Scalar {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) if !number.is_f64() => Some(Self::Integer(number.to_string())),
            _ => Some(Self::Other),
        }
    }
}

/// A parser of one value.
struct ScalarSeed;

impl<'de> DeserializeSeed<'de> for ScalarSeed {
    type Value = Option<Scalar>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarSeed {
    type Value = Option<Scalar>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Text(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Text(text)))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Integer(number.to_string())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Integer(number.to_string())))
    }

    fn visit_f64<E: Error>(self, _number: f64) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Other))
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<Self::Value, E> {
        Ok(Some(Scalar::Other))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(Scalar::Other))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Some(Scalar::Other))
    }
}

/// A parser of the names in an object, in their order.
struct Names;

impl<'de> DeserializeSeed<'de> for Names {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Names {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some((name, _)) = object.next_entry::<String, IgnoredAny>()? {
            names.push(name);
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input_options::InputOptions;

    fn check(
        json: &str,
        text: Option<&str>,
        id: Option<&str>,
        expected: Result<(&str, &str), &str>,
    ) {
        let mut options = InputOptions::new("");
        options.text_field = text.map(str::to_owned);
        options.id_field = id.map(str::to_owned);
        let read = read(json.as_bytes(), &FieldNames::of(&options));
        let read = read.map(|object| (object.id.unwrap_or_default(), object.text));
        let read = read.as_ref().map(|(id, text)| (id.as_str(), text.as_str()));
        assert_eq!(read.map_err(String::as_str), expected, "{json}");
    }

    #[test]
    fn options_name_the_fields_also_within_objects() {
        let nested = r#"{"meta": {"url": "u", "n": {"k": 7}}, "content": "c", "text": "t"}"#;
        check(nested, Some("content"), Some("meta.url"), Ok(("u", "c")));
        check(nested, Some("meta.url"), Some("meta.n.k"), Ok(("7", "u")));
        check(nested, Some("text"), Some("text"), Ok(("t", "t")));
        check(nested, None, None, Ok(("", "t")));
        let dotted = r#"{"a.b": "exact", "a": {"b": "nested"}}"#;
        check(dotted, Some("a.b"), None, Ok(("", "exact")));
        check(
            r#"{"judged_text": "part", "text": "all"}"#,
            Some("text"),
            None,
            Ok(("", "all")),
        );
    }

    #[test]
    fn the_place_of_the_text_is_that_of_the_field_that_is_read() {
        let check = |json: &str, name: Option<&str>, expected: Option<&str>| {
            let mut options = InputOptions::new("");
            options.text_field = name.map(str::to_owned);
            let place = place_of_text(json.as_bytes(), &FieldNames::of(&options));
            assert_eq!(place.map(|place| &json[place]), expected, "{json}");
        };
        check(r#"{"id":1, "text" : "t\n" }"#, None, Some(r#""t\n""#));
        check(
            r#"{"text": "all", "judged_text": "part"}"#,
            None,
            Some(r#""part""#),
        );
        check(
            r#"{"text": "all", "judged_text": null}"#,
            None,
            Some(r#""all""#),
        );
        check(
            r#"{"a": {"b": "nested"}, "c": 1}"#,
            Some("a.b"),
            Some(r#""nested""#),
        );
        check(
            r#"{"a": {"b": "nested"}, "a.b": "exact"}"#,
            Some("a.b"),
            Some(r#""exact""#),
        );
        check(
            r#"{"text": "first", "text": "last"}"#,
            None,
            Some(r#""last""#),
        );
        check("\u{feff}{\"text\": \"\"}", None, Some("\"\""));
        check("[]", None, None);
        check(r#"{"id": 1}"#, None, None);
    }

    #[test]
    fn an_absent_field_is_reported_with_those_that_are_there() {
        check(
            r#"{"content": "c", "url": "u"}"#,
            None,
            None,
            Err(r#"has no "text"; it has "content", "url": --text-field names another"#),
        );
        check(
            r#"{"text": "t", "id": 1}"#,
            None,
            Some("url"),
            Err(r#"has no "url"; it has "text", "id": --id-field names another"#),
        );
        check("{}", None, None, Err(r#"has no "text"; it is empty"#));
        check(
            r#"{"text": 5}"#,
            None,
            None,
            Err(r#"has a "text" that is not a string"#),
        );
        check(
            r#"{"text": "t", "id": [1]}"#,
            None,
            None,
            Err(r#"has a "id" that is neither a string nor a whole number"#),
        );
    }
}
