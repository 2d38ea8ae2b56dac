//! The URLs of forms that are submitted unchanged by GET.
//!
//! Follows the HTML standard's section 4.10.22, "Form submission": the entries are the named
//! controls with their initial values, including the default button; they replace the action's
//! query. A button with a `formaction` gives another URL. The encoding is the first in the form's
//! `accept-charset`, or else the page's; UTF-16 pages send UTF-8.

use std::borrow::Cow;
use std::collections::HashMap;

use encoding_rs::{Encoding, UTF_8};
use url::form_urlencoded;

use crate::html::character_references::{self, TextContext};
use crate::html::scanner::Tag;
use crate::html::tag_stream::{StreamPiece, TagStream};
use crate::html::work_budget::WorkBudget;
use crate::html::{link_attributes, relations};
use crate::url::page_url::{MAX_URL_BYTES, PageUrl};

/// Maximum number of controls in all forms of a page.
const MAX_CONTROLS: usize = 20_000;

/// Maximum bytes of a form's `rel`; each button with its own target repeats it.
const MAX_REL: usize = 500;

/// Maximum number of forms of a page and of buttons with their own target.
const MAX_FORMS: usize = 1_000;

/// Returns the URLs that the forms of a page in this encoding request, each with the form's `rel`.
pub(crate) fn urls(
    text: &str,
    page: &PageUrl,
    encoding: &'static Encoding,
    budget: WorkBudget,
) -> Vec<(String, String)> {
    let mut reader = Reader {
        encoding: Some(encoding),
        ..Reader::default()
    };
    for piece in TagStream::new(text, 0, None, budget) {
        reader.read_piece(&piece);
    }
    reader.end_select();
    reader.urls(page)
}

#[derive(Default)]
struct Reader {
    /// The encoding of the page.
    encoding: Option<&'static Encoding>,
    forms: Vec<Form>,
    ids: HashMap<String, usize>,
    controls: Vec<Control>,
    /// The open form.
    open: Option<usize>,
    /// Number of open lists of suggestions, which contain no controls.
    suggestions: usize,
    /// The open fieldsets; true for disabled ones.
    fieldsets: Vec<bool>,
    select: Option<Select>,
}

struct Form {
    action: String,
    is_get: bool,
    rel: String,
    encoding: &'static Encoding,
}

/// The owner of a control.
#[derive(Clone)]
enum Owner {
    Form(usize),
    /// The form with this id, anywhere on the page.
    Id(String),
}

struct Control {
    owner: Owner,
    name: String,
    value: String,
    button: Option<Button>,
    is_radio: bool,
}

/// Submit button of a control.
struct Button {
    action: Option<String>,
    is_get: Option<bool>,
    is_image: bool,
}

struct Select {
    control: Option<(Owner, String)>,
    is_multiple: bool,
    options: Vec<Choice>,
    group_is_disabled: bool,
    /// True if the last option's value is its text, which follows.
    is_text: bool,
}

/// An option of a selection.
struct Choice {
    value: String,
    is_selected: bool,
    is_enabled: bool,
}

impl Reader {
    fn read_piece(&mut self, piece: &StreamPiece<'_>) {
        match piece {
            StreamPiece::Text(text, _) => {
                if let Some(Select {
                    options,
                    is_text: true,
                    ..
                }) = &mut self.select
                    && let Some(option) = options.last_mut()
                {
                    option
                        .value
                        .push_str(&character_references::resolve(text, TextContext::Content));
                }
            }
            StreamPiece::Start(tag, name, ..) => self.start(tag, name.as_str()),
            StreamPiece::Raw(tag, name, content) if name.as_str() == "textarea" => {
                self.end_select();
                let value = character_references::resolve(content, TextContext::Content)
                    .replace("\r\n", "\n")
                    .replace('\r', "\n");
                let value = value
                    .strip_prefix('\n')
                    .unwrap_or(&value)
                    .replace('\n', "\r\n");
                self.add(tag, value, None, false);
            }
            StreamPiece::Raw(..) | StreamPiece::Inert(..) => {}
            StreamPiece::End(name, _) => match name.as_str() {
                "form" => {
                    self.end_select();
                    self.open = None;
                }
                "select" => self.end_select(),
                "option" => self.end_option(),
                "optgroup" => {
                    if let Some(select) = &mut self.select {
                        select.group_is_disabled = false;
                    }
                }
                "datalist" => self.suggestions = self.suggestions.saturating_sub(1),
                "fieldset" => {
                    self.fieldsets.pop();
                }
                _ => {}
            },
        }
    }

    fn start(&mut self, tag: &Tag<'_>, name: &str) {
        let has = |name: &str| tag.value(name).is_some();
        match name {
            "form" => self.form(tag),
            "datalist" => self.suggestions += 1,
            "fieldset" => self.fieldsets.push(has("disabled")),
            "input" => {
                self.end_select();
                self.input(tag);
            }
            "button" => {
                let kind = tag.value("type").unwrap_or_default().to_ascii_lowercase();
                if kind != "button" && kind != "reset" {
                    let value = tag.value("value").unwrap_or_default().into_owned();
                    self.add(tag, value, Some(button(tag, false)), false);
                }
            }
            "select" => {
                self.end_select();
                let name = tag.value("name").unwrap_or_default().into_owned();
                let control = self.owner(tag).map(|owner| (owner, name));
                self.select = Some(Select {
                    control: control.filter(|(_, name)| !name.is_empty()),
                    is_multiple: has("multiple"),
                    options: Vec::new(),
                    group_is_disabled: false,
                    is_text: false,
                });
            }
            "optgroup" => {
                self.end_option();
                if let Some(select) = &mut self.select {
                    select.group_is_disabled = has("disabled");
                }
            }
            "option" => {
                self.end_option();
                if let Some(select) = &mut self.select
                    && select.options.len() < MAX_CONTROLS
                {
                    let value = tag.value("value");
                    select.is_text = value.is_none();
                    select.options.push(Choice {
                        value: value.unwrap_or_default().into_owned(),
                        is_selected: has("selected"),
                        is_enabled: !has("disabled") && !select.group_is_disabled,
                    });
                }
            }
            _ => {}
        }
    }

    fn form(&mut self, tag: &Tag<'_>) {
        // A form inside a form is ignored.
        if self.open.is_some() || self.forms.len() >= MAX_FORMS {
            return;
        }
        let index = self.forms.len();
        self.open = Some(index);
        if let Some(id) = tag.value("id") {
            self.ids.entry(id.into_owned()).or_insert(index);
        }
        self.forms.push(Form {
            action: tag.value("action").unwrap_or_default().into_owned(),
            is_get: is_get(tag.value("method").as_deref()),
            rel: relations::words(&link_attributes::rel(tag), MAX_REL),
            encoding: self.encoding_of(tag),
        });
    }

    /// Returns the encoding of a form's submission (HTML standard, "picking an encoding for the
    /// form").
    fn encoding_of(&self, form: &Tag<'_>) -> &'static Encoding {
        let picked = match form.value("accept-charset") {
            Some(labels) => {
                let mut labels = labels.split_ascii_whitespace();
                labels.find_map(|label| Encoding::for_label(label.as_bytes()))
            }
            None => self.encoding,
        };
        picked.unwrap_or(UTF_8).output_encoding()
    }

    fn input(&mut self, tag: &Tag<'_>) {
        let kind = tag.value("type").unwrap_or_default().to_ascii_lowercase();
        let is_choice = matches!(&*kind, "checkbox" | "radio");
        if matches!(&*kind, "button" | "reset") || is_choice && tag.value("checked").is_none() {
            return;
        }
        let value = match &*kind {
            "image" | "file" => None,
            _ => tag.value("value"),
        };
        let default = match &*kind {
            "checkbox" | "radio" => "on",
            "color" => "#000000",
            "range" => "50",
            _ => "",
        };
        let value = value.map_or_else(|| default.to_owned(), Cow::into_owned);
        let is_button = matches!(&*kind, "submit" | "image");
        let button = is_button.then(|| button(tag, kind == "image"));
        self.add(tag, value, button, kind == "radio");
    }

    /// Returns the form that owns a control; `None` without a form, or if the control is disabled.
    fn owner(&self, tag: &Tag<'_>) -> Option<Owner> {
        let is_disabled = tag.value("disabled").is_some() || self.fieldsets.contains(&true);
        if is_disabled || self.suggestions > 0 {
            return None;
        }
        match tag.value("form") {
            Some(id) => Some(Owner::Id(id.into_owned())),
            None => self.open.map(Owner::Form),
        }
    }

    fn add(&mut self, tag: &Tag<'_>, value: String, button: Option<Button>, is_radio: bool) {
        let name = tag.value("name").unwrap_or_default().into_owned();
        if self.controls.len() >= MAX_CONTROLS || name.is_empty() && button.is_none() {
            return;
        }
        if let Some(owner) = self.owner(tag) {
            self.controls.push(Control {
                owner,
                name,
                value,
                button,
                is_radio,
            });
        }
    }

    fn end_option(&mut self) {
        if let Some(select) = &mut self.select
            && std::mem::take(&mut select.is_text)
            && let Some(option) = select.options.last_mut()
        {
            let words: Vec<&str> = option.value.split_ascii_whitespace().collect();
            option.value = words.join(" ");
        }
    }

    fn end_select(&mut self) {
        self.end_option();
        let Some(select) = self.select.take() else {
            return;
        };
        let Some((owner, name)) = select.control else {
            return;
        };
        let options = &select.options;
        let mut selected = options.iter().filter(|option| option.is_selected);
        let chosen: Vec<&Choice> = if select.is_multiple {
            selected.collect()
        } else {
            // The last selected option counts; a disabled one is chosen but not sent.
            let first = || options.iter().find(|option| option.is_enabled);
            selected.next_back().or_else(first).into_iter().collect()
        };
        for option in chosen.into_iter().filter(|option| option.is_enabled) {
            if self.controls.len() < MAX_CONTROLS {
                self.controls.push(Control {
                    owner: owner.clone(),
                    name: name.clone(),
                    value: option.value.clone(),
                    button: None,
                    is_radio: false,
                });
            }
        }
    }

    fn urls(self, page: &PageUrl) -> Vec<(String, String)> {
        let mut of_forms: Vec<Vec<&Control>> = self.forms.iter().map(|_| Vec::new()).collect();
        for control in &self.controls {
            let index = match &control.owner {
                Owner::Form(index) => Some(*index),
                Owner::Id(id) => self.ids.get(id).copied(),
            };
            if let Some(index) = index {
                of_forms[index].push(control);
            }
        }
        let mut urls = Vec::new();
        for (form, controls) in self.forms.iter().zip(of_forms) {
            let default = controls.iter().position(|control| control.button.is_some());
            let mut send = |sender: Option<usize>| {
                let button = sender.and_then(|sender| controls[sender].button.as_ref());
                let is_get = button
                    .and_then(|button| button.is_get)
                    .unwrap_or(form.is_get);
                let action = button
                    .and_then(|button| button.action.as_deref())
                    .unwrap_or(&form.action);
                if is_get && urls.len() < MAX_FORMS {
                    let url = url(action, form.encoding, &controls, sender, page);
                    urls.push((url, form.rel.clone()));
                }
            };
            send(default);
            for (index, control) in controls.iter().enumerate() {
                let leads_elsewhere = control
                    .button
                    .as_ref()
                    .is_some_and(|button| button.action.is_some());
                if leads_elsewhere && Some(index) != default {
                    send(Some(index));
                }
            }
        }
        urls
    }
}

/// Returns the action with the entries as its query. A URL that exceeds the limit is cut, and
/// rejected later.
fn url(
    action: &str,
    encoding: &'static Encoding,
    controls: &[&Control],
    sender: Option<usize>,
    page: &PageUrl,
) -> String {
    let action = action.trim();
    let action = if action.is_empty() {
        page.request().as_str()
    } else {
        action
    };
    let end = action.find(['?', '#']).unwrap_or(action.len());
    let start = format!("{}?", &action[..end]);
    let start_length = start.len();
    // A character that the encoding lacks becomes a character reference.
    let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|text| encoding.encode(text).0;
    let mut query = form_urlencoded::Serializer::for_suffix(start, start_length);
    query.encoding_override((encoding != UTF_8).then_some(encode));
    let mut length = end;
    for (index, control) in controls.iter().enumerate() {
        let is_sent = match &control.button {
            None => !is_chosen_again(control, &controls[index + 1..]),
            Some(button) if Some(index) == sender => {
                if button.is_image {
                    let prefix = if control.name.is_empty() {
                        String::new()
                    } else {
                        format!("{}.", control.name)
                    };
                    query.append_pair(&format!("{prefix}x"), "0");
                    query.append_pair(&format!("{prefix}y"), "0");
                }
                !button.is_image && !control.name.is_empty()
            }
            Some(_) => false,
        };
        if is_sent {
            let names_encoding = control.name.eq_ignore_ascii_case("_charset_");
            let value = match names_encoding && control.value.is_empty() {
                true => encoding.name(),
                false => &control.value,
            };
            query.append_pair(&control.name, value);
            length += control.name.len() + control.value.len() + 2;
        }
        if length > MAX_URL_BYTES {
            break;
        }
    }
    query.finish().trim_end_matches('?').to_owned()
}

/// Returns true if a later checked radio button has the same name; the last one counts.
fn is_chosen_again(control: &Control, after: &[&Control]) -> bool {
    /// Groups are small, and their buttons are close together.
    const NEAR: usize = 64;
    control.is_radio
        && after
            .iter()
            .take(NEAR)
            .any(|other| other.is_radio && other.name == control.name)
}

fn button(tag: &Tag<'_>, is_image: bool) -> Button {
    Button {
        action: tag.value("formaction").map(Cow::into_owned),
        is_get: tag.value("formmethod").map(|method| is_get(Some(&method))),
        is_image,
    }
}

/// Returns true if a form with this method is sent by GET, as unknown methods are.
fn is_get(method: Option<&str>) -> bool {
    !method.is_some_and(|method| {
        method.eq_ignore_ascii_case("post") || method.eq_ignore_ascii_case("dialog")
    })
}
