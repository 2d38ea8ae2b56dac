//! The names of the fields of a document, in JSON lines and in tables.

use crate::input_options::InputOptions;

/// Maximum number of fields that a message about an absent field names.
const NAMED: usize = 20;

/// A field: its name, and its path into nested objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name as given. A field of exactly this name precedes a nested one.
    pub(crate) name: String,
    /// The parts between the dots; a name without dots has one part.
    pub(crate) parts: Vec<String>,
}

/// The fields that make a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldNames {
    /// The fields that may have the text, the first precedes.
    pub(crate) text: Vec<Field>,
    /// The field with the id.
    pub(crate) id: Field,
    /// True if every document must have the field of the id, because it was requested.
    pub(crate) is_id_wanted: bool,
    /// The field with the title.
    pub(crate) title: Field,
    /// The field with the first heading.
    pub(crate) heading: Field,
}

impl Field {
    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            parts: name.split('.').map(str::to_owned).collect(),
        }
    }
}

impl Default for FieldNames {
    /// Returns the fields of options that name none.
    fn default() -> Self {
        Self {
            text: vec![Field::named("compared_text"), Field::named("text")],
            id: Field::named("id"),
            is_id_wanted: false,
            title: Field::named("title"),
            heading: Field::named("heading"),
        }
    }
}

impl FieldNames {
    /// Returns the fields that these options name.
    pub(crate) fn of(options: &InputOptions) -> Self {
        let mut fields = Self::default();
        if let Some(name) = &options.text_field {
            fields.text = vec![Field::named(name)];
        }
        if let Some(name) = &options.id_field {
            fields.id = Field::named(name);
            fields.is_id_wanted = true;
        }
        fields
    }

    /// Returns all fields.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Field> {
        let others = [&self.id, &self.title, &self.heading];
        self.text.iter().chain(others)
    }

    /// Returns the name of the field that a text is expected in.
    pub(crate) fn text_name(&self) -> &str {
        self.text.last().map_or("text", |field| &field.name)
    }

    /// Describes an absent text, with the fields that are there.
    pub(crate) fn no_text<'a>(&self, present: impl IntoIterator<Item = &'a str>) -> String {
        absent(self.text_name(), "--text-field", present)
    }

    /// Describes an absent id, with the fields that are there.
    pub(crate) fn no_id<'a>(&self, present: impl IntoIterator<Item = &'a str>) -> String {
        absent(&self.id.name, "--id-field", present)
    }
}

fn absent<'a>(name: &str, option: &str, present: impl IntoIterator<Item = &'a str>) -> String {
    let mut present = present.into_iter();
    let mut named: Vec<String> = present
        .by_ref()
        .take(NAMED)
        .map(|n| format!("{n:?}"))
        .collect();
    if present.next().is_some() {
        named.push("…".to_owned());
    }
    match named.is_empty() {
        true => format!("has no {name:?}; it is empty"),
        false => format!(
            "has no {name:?}; it has {}: choose one with {option}",
            named.join(", ")
        ),
    }
}
