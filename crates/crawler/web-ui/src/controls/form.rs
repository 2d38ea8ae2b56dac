//! ControlForm as the fields of a form, written into `control.toml` so that its comments stay.
//!
//! A field that the form omits leaves its key alone, an empty one removes it. Values are written as
//! the user typed them and checked afterwards, as a whole, by `policy::control_file`: this module
//! knows the shape of the file, and no rule about its values.
//!
//! A new control is a field of [`ControlForm`] and of [`Values`], a line of
//! [`ControlForm::write_into`], and an input in `templates/dashboard/controls.html`.

use policy::control_file::{self, ControlError};
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};

/// The fields of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct ControlForm {
    /// `true`, or anything else.
    pause: Option<String>,
    delay: Option<String>,
    delay_factor: Option<String>,
    max_delay: Option<String>,
    concurrency: Option<String>,
    rate: Option<String>,
    /// Expressions, one per line.
    exclude: Option<String>,
    /// The name of a host, for `host-delay`.
    host: Option<String>,
    host_delay: Option<String>,
    /// A pattern to add to the patterns to be reopened.
    reopen: Option<String>,
    /// A URL to add to the pages that are not duplicates.
    distinct: Option<String>,
    /// A selection of failed pages to request again.
    retry: Option<String>,
}

/// The values in a file, as the form shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) pause: bool,
    pub(crate) delay: String,
    pub(crate) delay_factor: String,
    pub(crate) max_delay: String,
    pub(crate) concurrency: String,
    pub(crate) rate: String,
    pub(crate) exclude: String,
    /// Hosts with a delay of their own.
    pub(crate) hosts: Vec<(String, String)>,
    /// Patterns that are to be reopened, pages declared not to be duplicates, and failed
    /// pages to request again.
    pub(crate) actions: Vec<(&'static str, String)>,
}

impl ControlForm {
    /// Returns the form that pauses or resumes the crawl.
    pub(crate) fn of_pause(pause: bool) -> Self {
        Self {
            pause: Some(pause.to_string()),
            ..Self::default()
        }
    }

    /// Returns the text of the file with these changes. They are not checked.
    ///
    /// # Errors
    /// The text cannot be changed, because it is not TOML, or a key has another shape.
    pub(crate) fn write_into(&self, text: &str) -> Result<String, ControlError> {
        let shape = |key: &str| ControlError::Wrong {
            line: 1,
            column: None,
            what: format!("the form cannot change this value of {key}: edit the file"),
        };
        let mut file: DocumentMut = match text.parse() {
            Ok(file) => file,
            // The same parser of the same text, with the line in its error.
            Err(_) => {
                return Err(control_file::read(text)
                    .err()
                    .unwrap_or_else(|| shape("it")));
            }
        };
        if let Some(pause) = &self.pause {
            let pause = (pause == "true").then(|| Value::from(true));
            set(&mut file, "pause", pause);
        }
        for (key, field) in [
            ("delay", &self.delay),
            ("max-delay", &self.max_delay),
            ("rate", &self.rate),
        ] {
            if let Some(typed) = field {
                set(&mut file, key, given(typed).map(Value::from));
            }
        }
        if let Some(typed) = &self.delay_factor {
            set(&mut file, "delay-factor", given(typed).map(number::<f64>));
        }
        if let Some(typed) = &self.concurrency {
            set(&mut file, "concurrency", given(typed).map(number::<i64>));
        }
        if let Some(typed) = &self.exclude {
            let lines: Vec<&str> = typed.lines().filter_map(given).collect();
            if lines != strings(file.get("exclude")) {
                let array =
                    (!lines.is_empty()).then(|| Value::Array(lines.iter().copied().collect()));
                set(&mut file, "exclude", array);
            }
        }
        for (key, field) in [
            ("reopen", &self.reopen),
            ("distinct", &self.distinct),
            ("retry", &self.retry),
        ] {
            let Some(typed) = field.as_deref().and_then(given) else {
                continue;
            };
            let mut given_before = strings(file.get(key));
            if !given_before.contains(&typed) {
                given_before.push(typed);
                let array = given_before.into_iter().collect();
                set(&mut file, key, Some(Value::Array(array)));
            }
        }
        if let (Some(host), Some(typed)) = (self.host.as_deref().and_then(given), &self.host_delay)
        {
            set_host(&mut file, host, given(typed)).ok_or_else(|| shape("host"))?;
        }
        Ok(file.to_string())
    }

    /// Returns the fields of the form that are not omitted, for its second step.
    pub(crate) fn fields(&self) -> Vec<(&'static str, String)> {
        let fields = [
            ("pause", &self.pause),
            ("delay", &self.delay),
            ("delay-factor", &self.delay_factor),
            ("max-delay", &self.max_delay),
            ("concurrency", &self.concurrency),
            ("rate", &self.rate),
            ("exclude", &self.exclude),
            ("host", &self.host),
            ("host-delay", &self.host_delay),
            ("reopen", &self.reopen),
            ("distinct", &self.distinct),
            ("retry", &self.retry),
        ];
        let fields = fields.into_iter();
        fields
            .filter_map(|(name, value)| Some((name, value.clone()?)))
            .collect()
    }
}

impl Values {
    /// Reads the values of a file; values that cannot be read are left empty.
    pub(crate) fn of(text: &str) -> Self {
        let file: DocumentMut = text.parse().unwrap_or_default();
        let word = |key: &str| file.get(key).map(shown).unwrap_or_default();
        let hosts = file.get("host").and_then(Item::as_table_like);
        let hosts = hosts.into_iter().flat_map(TableLike::iter);
        let hosts = hosts.filter_map(|(name, host)| {
            let delay = host.as_table_like()?.get("delay")?;
            Some((name.to_owned(), shown(delay)))
        });
        let actions = ["reopen", "distinct", "retry"].into_iter().flat_map(|key| {
            let given = strings(file.get(key)).into_iter();
            given.map(move |action| (key, action.to_owned()))
        });
        Self {
            actions: actions.collect(),
            pause: file.get("pause").and_then(Item::as_bool) == Some(true),
            delay: word("delay"),
            delay_factor: word("delay-factor"),
            max_delay: word("max-delay"),
            concurrency: word("concurrency"),
            rate: word("rate"),
            exclude: strings(file.get("exclude")).join("\n"),
            hosts: hosts.collect(),
        }
    }
}

/// Returns a value without its quotes.
fn shown(item: &Item) -> String {
    match item.as_value() {
        Some(Value::String(text)) => text.value().clone(),
        Some(value) => value.clone().decorated("", "").to_string(),
        None => String::new(),
    }
}

fn strings(item: Option<&Item>) -> Vec<&str> {
    let array = item.and_then(Item::as_array);
    let values = array.into_iter().flat_map(Array::iter);
    values.filter_map(Value::as_str).collect()
}

/// Returns the text that was typed; `None` if it is empty.
fn given(typed: &str) -> Option<&str> {
    Some(typed.trim()).filter(|typed| !typed.is_empty())
}

/// Returns a number, or the text as it is: the check names it then, with its line.
fn number<N: std::str::FromStr + Into<Value>>(typed: &str) -> Value {
    typed
        .parse::<N>()
        .map_or_else(|_no_number| Value::from(typed), Into::into)
}

/// Sets or removes a key. The comments on its line and above it stay.
fn set(file: &mut DocumentMut, key: &str, value: Option<Value>) {
    match value {
        Some(value) => put(file.as_table_mut(), key, value),
        None => remove(file, key),
    }
}

/// Gives a key a value, with the comments of the old one.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    let Some(item) = table.get_mut(key) else {
        table.insert(key, Item::Value(value));
        return;
    };
    if let Some(old) = item.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

/// Removes a key, and leaves the comments above it to the next key.
fn remove(file: &mut DocumentMut, key: &str) {
    let table = file.as_table_mut();
    let Some(removed) = table.key(key) else {
        return;
    };
    let above = removed.leaf_decor().prefix().and_then(RawString::as_str);
    let above = above.unwrap_or_default().to_owned();
    let values = |table: &Table| -> Vec<String> {
        let items = table.iter().filter(|(_, item)| item.is_value());
        items.map(|(name, _)| name.to_owned()).collect()
    };
    let names = values(table);
    let next = names.iter().skip_while(|name| *name != key).nth(1).cloned();
    table.remove(key);
    if !above.contains('#') {
        return;
    }
    let next = next.and_then(|next| {
        table.key_mut(&next).map(|mut next| {
            let decor = next.leaf_decor_mut();
            let own = decor
                .prefix()
                .and_then(RawString::as_str)
                .unwrap_or_default();
            let both = format!("{above}{own}");
            decor.set_prefix(both);
        })
    });
    if next.is_none() {
        let rest = file.trailing().as_str().unwrap_or_default().to_owned();
        file.set_trailing(format!("{above}{rest}"));
    }
}

/// Sets or removes the delay of a host; `None` if `host` is not a table of tables.
fn set_host(file: &mut DocumentMut, host: &str, delay: Option<&str>) -> Option<()> {
    let mut hosts = Table::new();
    hosts.set_implicit(true);
    let hosts = file.entry("host").or_insert(Item::Table(hosts));
    let hosts = hosts.as_table_like_mut()?;
    let Some(delay) = delay else {
        if let Some(own) = hosts.get_mut(host) {
            own.as_table_like_mut()?.remove("delay");
            if own.as_table_like()?.is_empty() {
                hosts.remove(host);
            }
        }
        return Some(());
    };
    let own = hosts.entry(host).or_insert(Item::Table(Table::new()));
    put(own.as_table_like_mut()?, "delay", Value::from(delay));
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOCUMENTED: &str = include_str!("../../../../../config/control.toml");

    fn form(fields: &[(&str, &str)]) -> ControlForm {
        let fields = fields
            .iter()
            .map(|(name, value)| (*name, Some((*value).to_owned())));
        let mut form = ControlForm::default();
        for (name, value) in fields {
            let field = match name {
                "pause" => &mut form.pause,
                "delay" => &mut form.delay,
                "delay-factor" => &mut form.delay_factor,
                "concurrency" => &mut form.concurrency,
                "exclude" => &mut form.exclude,
                "host" => &mut form.host,
                "host-delay" => &mut form.host_delay,
                "reopen" => &mut form.reopen,
                "distinct" => &mut form.distinct,
                "retry" => &mut form.retry,
                other => panic!("{other}"),
            };
            *field = value;
        }
        form
    }

    fn write(text: &str, fields: &[(&str, &str)]) -> String {
        form(fields).write_into(text).unwrap()
    }

    #[test]
    fn comments_stay_and_only_the_changed_keys_change() {
        let text = "# Slowly.\ndelay = \"1s\" # as agreed\nrate = \"2/s\"\n\n\
                    # Their wish.\n[host.\"a.test\"]\ndelay = \"9s\"\n";
        assert_eq!(write(text, &[("delay", "5s")]), text.replace("1s", "5s"),);
        assert_eq!(
            write(
                text,
                &[("pause", "true"), ("host", "a.test"), ("host-delay", "3s")]
            ),
            text.replace("rate = \"2/s\"\n", "rate = \"2/s\"\npause = true\n")
                .replace("9s", "3s"),
        );
        assert_eq!(
            write(text, &[("delay", "")]),
            text.replace("delay = \"1s\" # as agreed\n", ""),
        );
        assert_eq!(write(text, &[("pause", "false"), ("exclude", "")]), text);
        let both = write(text, &[("host", "b.test"), ("host-delay", "2s")]);
        assert!(both.starts_with(text.trim_end()), "{both}");
        assert!(
            both.contains("[host.\"b.test\"]\ndelay = \"2s\"\n"),
            "{both}"
        );
        assert_eq!(
            write(&both, &[("host", "b.test"), ("host-delay", " ")]).trim(),
            text.trim()
        );
    }

    #[test]
    fn the_documented_example_keeps_all_of_its_comments() {
        let changed = write(
            DOCUMENTED,
            &[
                ("delay", "5s"),
                ("exclude", "/a\n\n /b \n"),
                ("concurrency", "8"),
            ],
        );
        for line in DOCUMENTED.lines() {
            assert!(changed.contains(line), "{line}");
        }
        assert!(changed.contains("exclude = [\"/a\", \"/b\"]"), "{changed}");
        assert_eq!(
            control_file::describe(&control_file::read(&changed).unwrap()),
            "delay 5s, concurrency 8, exclude \"/a\" and \"/b\""
        );
        let undone = write(
            &changed,
            &[("delay", ""), ("exclude", ""), ("concurrency", "")],
        );
        for line in DOCUMENTED.lines() {
            assert!(undone.contains(line), "{line}");
        }
        assert_eq!(
            control_file::read(&undone),
            Ok(policy::RuntimeOverrides::default())
        );
    }

    #[test]
    fn an_action_is_added_to_those_that_are_there_once() {
        let text = "# Mistaken.\ndistinct = [\"http://a.test/1\"] # by hand\n";
        let both = write(text, &[("distinct", "http://a.test/2")]);
        let expected = "distinct = [\"http://a.test/1\", \"http://a.test/2\"] # by hand";
        assert!(both.contains(expected), "{both}");
        assert_eq!(write(&both, &[("distinct", " http://a.test/2 ")]), both);
        let reopened = write(&both, &[("reopen", "a.test/f/{n}?a")]);
        let overrides = control_file::read(&reopened).unwrap();
        assert_eq!(
            (
                overrides.actions.reopen.len(),
                overrides.actions.distinct.len()
            ),
            (1, 2)
        );
        assert_eq!(
            Values::of(&reopened).actions,
            [
                ("reopen", "a.test/f/{n}?a".to_owned()),
                ("distinct", "http://a.test/1".to_owned()),
                ("distinct", "http://a.test/2".to_owned()),
            ]
        );
        let retried = write(&both, &[("retry", "temporary")]);
        let overrides = control_file::read(&retried).unwrap();
        assert_eq!(overrides.actions.retry.len(), 1);
        let wrong = write("", &[("retry", "everything")]);
        assert!(control_file::read(&wrong).is_err());
        let wrong = write("", &[("distinct", "not a url")]);
        assert!(control_file::read(&wrong).is_err());
    }

    #[test]
    fn a_wrong_value_is_written_as_typed_and_named_by_the_check() {
        for (field, typed, words) in [
            ("delay", "soon", "\"soon\" is not a time span"),
            ("concurrency", "0", "concurrency 0 is not valid"),
            ("concurrency", "many", "invalid type"),
            ("delay-factor", "1e9", "is not valid"),
            ("exclude", "a\n(", "\"(\" is not a valid expression"),
            ("delay", "1s\"\npause = true\n#", "is not a time span"),
        ] {
            let written = write("rate = \"1/s\"\n", &[(field, typed)]);
            let mistake = control_file::read(&written).unwrap_err().to_string();
            assert!(
                mistake.starts_with("at line 2") && mistake.contains(words),
                "{typed}: {mistake}"
            );
        }
        let mistake = form(&[("pause", "true")])
            .write_into("delay = 2s")
            .unwrap_err();
        assert!(mistake.to_string().starts_with("at line 1"), "{mistake}");
        let host = [("host", "a.test"), ("host-delay", "1s")];
        assert!(form(&host).write_into("host = 3").is_err());
    }

    #[test]
    fn the_form_shows_the_values_of_the_file() {
        let values = Values::of(
            "delay = \"5s\"\ndelay-factor = 2.5\nconcurrency = 8 # few\npause = true\n\
             exclude = [\"/a\", \"/b\"]\n[host.\"a.test\"]\ndelay = \"9s\"\n",
        );
        let expected = Values {
            pause: true,
            delay: "5s".to_owned(),
            delay_factor: "2.5".to_owned(),
            concurrency: "8".to_owned(),
            exclude: "/a\n/b".to_owned(),
            hosts: vec![("a.test".to_owned(), "9s".to_owned())],
            ..Values::default()
        };
        assert_eq!(values, expected);
        assert_eq!(Values::of("delay = 2s"), Values::default());
    }

    proptest! {
        /// Written and read again, every value is as it was typed, and every comment is there.
        #[test]
        fn any_text_is_written_as_one_value(
            typed in "\\PC{1,20}",
            lines in proptest::collection::vec("\\PC{1,12}", 1..4),
            host in "[a-z\"\\\\.\\[\\]# ]{1,10}",
        ) {
            let text = "# one\nrate = \"1/s\" # two\n# three\n\n\
                        # four\n[host.\"a.test\"]\ndelay = \"1s\"\n";
            let form = ControlForm {
                delay: Some(typed.clone()),
                exclude: Some(lines.join("\n")),
                host: Some(host.clone()),
                host_delay: Some(typed.clone()),
                ..ControlForm::default()
            };
            let written = form.write_into(text).unwrap();
            for comment in ["# one", "# two", "# three", "# four"] {
                prop_assert!(written.contains(comment), "{}", written);
            }
            let values = Values::of(&written);
            prop_assert_eq!(&values.rate, "1/s");
            prop_assert_eq!(&values.delay, typed.trim());
            let expected: Vec<&str> = lines.iter().filter_map(|line| given(line)).collect();
            prop_assert_eq!(values.exclude, expected.join("\n"));
            if let (Some(host), Some(delay)) = (given(&host), given(&typed)) {
                let own = values.hosts.iter().find(|(name, _)| name == host);
                prop_assert_eq!(own.map(|(_, delay)| delay.as_str()), Some(delay));
            }
        }
    }
}
