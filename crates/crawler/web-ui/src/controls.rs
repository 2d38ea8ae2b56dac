//! Controls: a form whose fields become lines of `control.toml`.
//!
//! First a preview shows the lines that the file will get, then the file is replaced in one step;
//! the crawl applies it. A text is written only if [`control_file::read`] accepts it and
//! the file has not changed since the preview. Pause and Resume need no preview: their button shows
//! the lines, and they change one key of the file as it is. The file is the only way in: the form
//! can only change what an editor can write there.

pub(crate) mod file;
mod form;
pub(crate) mod lines;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use askama::Template;
use axum::Extension;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::Redirect;
use data_encoding::HEXLOWER;
use disk::{Disk, SystemDisk};
use policy::{
    RuntimeOverrides,
    control_file::{self, CONTROL, ControlRecord, MAX_BYTES},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use self::form::{ControlForm, Values};
use self::lines::Line;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::Dashboard;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::cut;

/// The end of the controls' address after a change was written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ControlsQuery {
    written: bool,
}

/// A change, and the file that its preview was made of.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OrderForm {
    /// The digest of the file that was previewed; `None` without a preview.
    base: Option<String>,
    #[serde(flatten)]
    values: ControlForm,
}

#[derive(Template)]
#[template(path = "dashboard/controls.html")]
struct ControlsPage {
    frame: Frame,
    values: Values,
    /// The text of the file, if there is one.
    text: Option<String>,
    /// The mistake in it, if it has one.
    mistake: Option<String>,
    /// The overrides in force, in words; `None` if the settings hold.
    in_force: Option<String>,
    written: bool,
}

#[derive(Template)]
#[template(path = "dashboard/preview.html")]
struct PreviewPage {
    frame: Frame,
    fields: Vec<(&'static str, String)>,
    base: String,
    lines: Vec<Line>,
    has_changes: bool,
    /// The overrides in the new file, in words.
    effect: String,
}

#[derive(Template)]
#[template(path = "dashboard/mistake.html")]
struct MistakePage {
    frame: Frame,
    mistake: String,
    lines: Vec<Line>,
}

/// Shows the controls.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<ControlsQuery>,
) -> Result<Html, Refusal> {
    let page = dashboard.answer(move |dashboard| {
        let text = read(&path(dashboard)?)?;
        let mistake = control_file::read(text.as_deref().unwrap_or_default()).err();
        let record = ControlRecord::of(&dashboard.crawl.state).unwrap_or_default();
        let in_force = record.overrides().ok().flatten();
        let in_force = in_force.filter(|overrides| *overrides != RuntimeOverrides::default());
        Html::of(&ControlsPage {
            frame: dashboard.look(|look| dashboard.frame(Tab::Controls, granted, look)),
            values: Values::of(text.as_deref().unwrap_or_default()),
            text: text.map(|text| cut(&text, caps::PAGE_TEXT)),
            mistake: mistake.map(|mistake| cut(&mistake.to_string(), caps::REASON)),
            in_force: in_force
                .map(|overrides| cut(&control_file::describe(&overrides), caps::REASON)),
            written: query.written,
        })
    });
    page.await
}

/// Shows the lines that a change writes.
pub(crate) async fn preview(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Form(form): Form<OrderForm>,
) -> Result<Html, Refusal> {
    let page = dashboard.answer(move |dashboard| {
        let before = read(&path(dashboard)?)?;
        let text = before.as_deref().unwrap_or_default();
        let frame = dashboard
            .look(|look| dashboard.frame(Tab::Controls, granted, look))
            .still();
        let after = form.values.write_into(text).map_err(in_file)?;
        let lines = lines::between(text, &after);
        match control_file::read(&after) {
            Ok(overrides) => Html::of(&PreviewPage {
                frame,
                fields: form.values.fields(),
                base: digest(before.as_deref()),
                has_changes: after != text,
                lines,
                effect: cut(&control_file::describe(&overrides), caps::REASON),
            }),
            Err(mistake) => Html::of(&MistakePage {
                frame,
                mistake: cut(&mistake.to_string(), caps::REASON),
                lines,
            }),
        }
    });
    page.await
}

/// Writes a change into the file. Without a preview, the answer is the page that has the button.
pub(crate) async fn write(
    State(dashboard): State<Arc<Dashboard>>,
    headers: HeaderMap,
    Form(form): Form<OrderForm>,
) -> Result<Redirect, Refusal> {
    let target = match form.base {
        None => page_before(&headers),
        Some(_) => "/controls?written=true".to_owned(),
    };
    let written = dashboard.answer(move |dashboard| {
        let lock = dashboard.write_lock.lock();
        let _lock = lock.unwrap_or_else(PoisonError::into_inner);
        let path = path(dashboard)?;
        let before = read(&path)?;
        let is_other = |base: &String| *base != digest(before.as_deref());
        if form.base.as_ref().is_some_and(is_other) {
            return Err(Refusal::Conflict(format!(
                "{CONTROL} has changed since its preview: go back to the controls and try again."
            )));
        }
        let after = form
            .values
            .write_into(before.as_deref().unwrap_or_default());
        let after = after.map_err(in_file)?;
        control_file::read(&after).map_err(in_file)?;
        if after.len() as u64 > MAX_BYTES {
            return Err(Refusal::Question(format!(
                "{CONTROL} would exceed {MAX_BYTES} bytes"
            )));
        }
        let replaced = SystemDisk.replace(&path, after.as_bytes());
        replaced.map_err(|error| {
            Refusal::Unavailable(format!("cannot write {}: {error}", path.display()))
        })
    });
    written.await?;
    Ok(Redirect::to(&target))
}

/// Returns the path and the question of the page that sent a form. It stays on this host: a path
/// that begins with two slashes would not (RFC 3986, section 4.2).
fn page_before(headers: &HeaderMap) -> String {
    let referrer = headers.get(header::REFERER);
    let referrer = referrer.and_then(|value| value.to_str().ok());
    let behind_scheme = referrer.and_then(|url| url.split_once("://"));
    let path = behind_scheme.and_then(|(_, rest)| rest.split_once('/'));
    match path.map_or("", |(_, path)| path.trim_start_matches(['/', '\\'])) {
        // A preview is not a page of its own.
        path if path.starts_with("controls") => "/controls?written=true".to_owned(),
        path => format!("/{path}"),
    }
}

/// Returns the path of the file, or a refusal if no crawl reads it.
fn path(dashboard: &Dashboard) -> Result<PathBuf, Refusal> {
    if dashboard.crawl.takes_actions {
        return Ok(dashboard.crawl.directory.join(CONTROL));
    }
    Err(Refusal::Question(format!(
        "This is a shared crawl, and the dashboard only reads it: edit the {CONTROL} of each node."
    )))
}

/// Returns the refusal of a file that cannot be changed as requested.
fn in_file(mistake: impl std::fmt::Display) -> Refusal {
    Refusal::Question(format!("{CONTROL}: {mistake}"))
}

fn read(path: &Path) -> Result<Option<String>, Refusal> {
    file::read(path).map_err(Refusal::Unavailable)
}

/// Names a version of the file.
fn digest(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| {
        HEXLOWER.encode(&Sha256::digest(text.as_bytes()))
    })
}
