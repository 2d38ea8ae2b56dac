//! The fields of one JSON object, picked while it is parsed: the rest of it is dropped.
//!
//! Python's `json.dumps` writes `NaN`, `Infinity` and halves of surrogate pairs, which are not
//! JSON. A line with them is read as if the numbers were unused values and each half were U+FFFD
//! ([`lenient_json`]).

use std::fmt;
use std::ops::Range;

use batch::DocumentId;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{Field, FieldNames};
use crate::lenient_json;

/// The fields of a document.
#[derive(Debug)]
pub(crate) struct JsonObject {
    pub(crate) id: Option<DocumentId>,
    pub(crate) text: String,
    pub(crate) title: Option<String>,
    pub(crate) heading: Option<String>,
}

/// The longest id that is neither a string nor a number, in bytes.
const MAX_OTHER_ID: usize = 1 << 10;

/// Reads a document from a JSON object.
///
/// # Errors
/// The reason why it is not a document, as the rest of a sentence about its line.
pub(crate) fn read(bytes: &[u8], names: &FieldNames) -> Result<JsonObject, String> {
    let wanted: Vec<&Field> = names.all().collect();
    match parse(bytes, Picking(&wanted)) {
        Ok(values) => object(bytes, bytes, values, names),
        Err(error) => {
            let mended = lenient_json::mended(bytes);
            let values = mended
                .as_ref()
                .map(|mended| parse(mended, Picking(&wanted)));
            match (&mended, values) {
                (Some(mended), Some(Ok(values))) => object(bytes, mended, values, names),
                _ => Err(is_none(&error)),
            }
        }
    }
}

/// Returns the reason why bytes are not a JSON object. The line is one of many, so the reason names
/// only the column.
fn is_none(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let cause = message.strip_suffix(&format!(" at line {line} column {column}"));
    let cause = cause.unwrap_or(&message);
    format!("is not a JSON object: {cause} at column {column}")
}

/// Returns the document in an object with these values of the wanted fields. `object` has the
/// length of `bytes`, as they were written.
fn object(
    bytes: &[u8],
    object: &[u8],
    mut values: Vec<Option<Scalar>>,
    names: &FieldNames,
) -> Result<JsonObject, String> {
    let present = || parse(object, Names).map_err(|error| is_none(&error));
    let mut take_text = || match values.pop() {
        Some(Some(Scalar::Text(text))) => Some(text),
        _ => None,
    };
    let (heading, title) = (take_text(), take_text());
    let id = match values.pop().flatten() {
        Some(Scalar::Text(id)) => Some(id.into()),
        Some(Scalar::Integer(digits)) => Some(DocumentId::of_digits(digits)),
        Some(Scalar::Other) => other_id(bytes, place_of(object, &names.id)),
        None => None,
    };
    if id.is_none() && names.is_id_wanted {
        return Err(names.no_id(present()?.iter().map(String::as_str)));
    }
    let texts = names.text.iter().zip(values);
    let found = texts
        .filter_map(|(field, value)| Some((field, value?)))
        .next();
    let text = match found {
        Some((_, Scalar::Text(text))) => text,
        Some((field, _)) => return Err(format!("has a {:?} that is not a string", field.name)),
        None => {
            let null = names.text.iter().find(|field| is_null(object, field));
            if let Some(field) = null {
                return Err(format!("has a {:?} that is null", field.name));
            }
            return Err(names.no_text(present()?.iter().map(String::as_str)));
        }
    };
    Ok(JsonObject {
        id,
        text,
        title,
        heading,
    })
}

/// Returns an id that is neither a string nor a number of 64 bits, as it is written. `1.0` is the
/// whole number 1: pandas writes it so for columns with gaps.
fn other_id(bytes: &[u8], place: Option<Range<usize>>) -> Option<DocumentId> {
    let written = place.and_then(|place| std::str::from_utf8(&bytes[place]).ok());
    let written = written.filter(|id| id.len() <= MAX_OTHER_ID && *id != "NaN")?;
    let (whole, fraction) = written.split_once('.').unwrap_or((written, "0"));
    let is_whole = fraction.bytes().all(|digit| digit == b'0')
        && whole
            .bytes()
            .all(|digit| digit.is_ascii_digit() || digit == b'-');
    Some(match is_whole {
        true => DocumentId::of_digits(whole.to_owned()),
        false => written.into(),
    })
}

/// Returns the place of the text in the bytes of a document; `None` if they are not a document.
pub(crate) fn place_of_text(bytes: &[u8], names: &FieldNames) -> Option<Range<usize>> {
    let start = bytes.iter().position(|byte| *byte == b'{')?;
    let object = &bytes[start..];
    let find = |object: &[u8]| names.text.iter().find_map(|field| place_of(object, field));
    let text = find(object).or_else(|| find(&lenient_json::mended(object)?))?;
    Some(start + text.start..start + text.end)
}

/// Returns the place of the value of a field that is not null.
fn place_of(object: &[u8], field: &Field) -> Option<Range<usize>> {
    let value = place(object, std::slice::from_ref(&field.name));
    value.or_else(|| place(object, &field.parts))
}

/// Returns true if a field is present and null.
fn is_null(object: &[u8], field: &Field) -> bool {
    let mut inner = object;
    for (number, part) in field.parts.iter().enumerate() {
        match parse(inner, RawValueOf(part)) {
            Ok(Some(value)) if number + 1 == field.parts.len() => return value.get() == "null",
            Ok(Some(value)) => inner = value.get().as_bytes(),
            _ => return false,
        }
    }
    false
}

/// Returns the place of the value behind these names, each within the previous one, unless it is
/// null.
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

/// A value, reduced to the needs of documents. Null counts as absent.
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
        // A field of exactly this name precedes a nested one, whichever comes first.
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
        let read = read.map(|object| (object.id.unwrap_or_default().to_string(), object.text));
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
            r#"{"compared_text": "part", "text": "all"}"#,
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
            r#"{"text": "all", "compared_text": "part"}"#,
            None,
            Some(r#""part""#),
        );
        check(
            r#"{"text": "all", "compared_text": null}"#,
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
            Err(r#"has no "text"; it has "content", "url": choose one with --text-field"#),
        );
        check(
            r#"{"text": "t", "id": 1}"#,
            None,
            Some("url"),
            Err(r#"has no "url"; it has "text", "id": choose one with --id-field"#),
        );
        check("{}", None, None, Err(r#"has no "text"; it is empty"#));
        check(
            r#"{"text": 5}"#,
            None,
            None,
            Err(r#"has a "text" that is not a string"#),
        );
        check(
            r#"{"id": 1, "text": null}"#,
            None,
            None,
            Err(r#"has a "text" that is null"#),
        );
        check(
            r#"{"a": {"b": null}}"#,
            Some("a.b"),
            None,
            Err(r#"has a "a.b" that is null"#),
        );
    }

    /// Lines with such a field were skipped, though nobody had asked for ids.
    #[test]
    fn an_id_of_any_type_is_an_id_as_it_is_written() {
        for (id, expected) in [
            ("1.0", "1"),
            ("-7.00", "-7"),
            ("1.5", "1.5"),
            ("1e3", "1e3"),
            ("18446744073709551616", "18446744073709551616"),
            (
                "100000000000000000000000000001",
                "100000000000000000000000000001",
            ),
            (r#"{"$oid": "5f"}"#, r#"{"$oid": "5f"}"#),
            ("true", "true"),
            ("[1]", "[1]"),
            ("null", ""),
            ("NaN", ""),
            ("-Infinity", "-Infinity"),
        ] {
            let line = format!(r#"{{"id": {id}, "text": "t"}}"#);
            check(&line, None, None, Ok((expected, "t")));
            let nested = format!(r#"{{"a": {{"id": {id}}}, "text": "t"}}"#);
            let nested_expected = match expected {
                "" => Err(r#"has no "a.id"; it has "a", "text": choose one with --id-field"#),
                id => Ok((id, "t")),
            };
            check(&nested, None, Some("a.id"), nested_expected);
        }
    }

    /// Python writes such lines by default. They were skipped, also if only a field that nobody
    /// reads had such a value, and the exit code was 0.
    #[test]
    fn what_python_writes_and_json_does_not_have_is_read() {
        for (line, text) in [
            (r#"{"text": "t", "score": NaN}"#, "t"),
            (
                r#"{"score": [-Infinity, {"a": Infinity}], "text": "NaN"}"#,
                "NaN",
            ),
            (r#"{"text": "a \ud83d b"}"#, "a \u{fffd} b"),
            (r#"{"text": "\udca9\ud83d"}"#, "\u{fffd}\u{fffd}"),
            (
                r#"{"text": "\ud83d\ude00 \\ud83d \ud83dx"}"#,
                "\u{1f600} \\ud83d \u{fffd}x",
            ),
        ] {
            check(line, None, None, Ok(("", text)));
        }
        let nested = r#"{"doc": {"text": "t", "author": "\ud83d"}}"#;
        check(nested, Some("doc.text"), None, Ok(("", "t")));
        check(
            r#"{"text": "t", "x": oops}"#,
            None,
            None,
            Err("is not a JSON object: expected value at column 20"),
        );
    }
}
