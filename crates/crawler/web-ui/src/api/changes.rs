//! The changes since an earlier crawl.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{Asked, Json, JsonRefusal, Listed, part, read};
use crate::caps;
use crate::dashboard::Dashboard;
use crate::dashboard::frame::Refusal;

/// The question for changes of a kind, or of all kinds but `unchanged`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChangesQuery {
    change: Option<String>,
    from: usize,
}

/// Changes, with the fields of `crawler changes`.
#[derive(Serialize)]
struct ChangesAnswer {
    counts: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    changes: Listed<Value>,
}

/// Answers with the changes since the crawl of `--against`.
pub(crate) async fn changes(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<ChangesQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let answer = move |dashboard: &Dashboard| {
        let Some(list) = &dashboard.crawl.queries.changes else {
            let reason = "the server was started without --against OLD";
            return Err(Refusal::Question(reason.to_owned()));
        };
        let changes = list(query.change.as_deref(), query.from, caps::LISTED);
        let changes = changes.map_err(Refusal::Question)?;
        Json::of(&ChangesAnswer {
            counts: changes.counts,
            changes: Listed::of(&part(query.from, changes.total), changes.listed),
        })
    };
    Ok(dashboard.answer_slowly(answer).await?)
}
