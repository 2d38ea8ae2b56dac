//! The values of JSON in their order, each as Python writes it, and named by the last key.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns the values of a JSON text with their names; `None` unless it is valid. Values outside an
/// object have no name, and are left out.
pub(super) fn values(json: &[u8]) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut input = serde_json::Deserializer::from_slice(json);
    let values = Values {
        name: "",
        found: &mut found,
    };
    values.deserialize(&mut input).ok()?;
    input.end().ok()?;
    Some(found)
}

/// The values below a key.
struct Values<'a> {
    name: &'a str,
    found: &'a mut Vec<(String, String)>,
}

impl Values<'_> {
    fn push<E: Error>(self, value: impl fmt::Display) -> Result<(), E> {
        if !self.name.is_empty() {
            self.found.push((self.name.to_owned(), value.to_string()));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.push("None")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.push(if value { "True" } else { "False" })
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.push(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.push(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.push(python_float(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.push(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { name, found } = self;
        while items.next_element_seed(Values { name, found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            members.next_value_seed(Values {
                name: &name,
                found: self.found,
            })?;
        }
        Ok(())
    }
}

/// Returns a number as Python's `repr`: the shortest digits, with an exponent of two digits below
/// 0.0001 and from 10,000,000,000,000,000 on.
fn python_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..16).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{value:?}"),
    }
}
