//! Answers and refusals as JSON, and the questions of programs.

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

use crate::caps;
use crate::dashboard::frame::Refusal;
use crate::format::cut;
use crate::paging::Paging;

/// An answer in JSON.
#[derive(Debug)]
pub(crate) struct Json(Vec<u8>);

/// A refusal, answered as JSON.
#[derive(Debug)]
pub(crate) struct JsonRefusal(pub(crate) Refusal);

/// The parameters of a question, or the reason why they cannot be read.
pub(crate) type Asked<Q> = Result<Query<Q>, QueryRejection>;

/// A part of a list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed<T> {
    /// The number of entries of the whole list.
    total: usize,
    /// The parameter `from` of the next part; `None` for the last part.
    next_from: Option<usize>,
    listed: Vec<T>,
}

impl Json {
    /// Serializes an answer.
    pub(crate) fn of(answer: &impl Serialize) -> Result<Self, Refusal> {
        // Only a type of ours can fail.
        let bytes = serde_json::to_vec(answer);
        bytes.map(Self).map_err(|_error| Refusal::Fault)
    }

    /// Returns a text that is JSON already.
    pub(crate) fn text(text: &str) -> Self {
        Self(text.into())
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl IntoResponse for JsonRefusal {
    fn into_response(self) -> Response {
        let (status, _, reason) = self.0.parts();
        let error = json!({"error": cut(reason, caps::REASON)});
        (status, Json(error.to_string().into_bytes())).into_response()
    }
}

impl From<Refusal> for JsonRefusal {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

/// Returns the parameters of a question.
pub(crate) fn read<Q>(asked: Asked<Q>) -> Result<Q, Refusal> {
    let read = asked.map(|Query(query)| query);
    read.map_err(|error| Refusal::Question(format!("{}; see /api/openapi.json", error.body_text())))
}

impl<T> Listed<T> {
    /// Returns the entries of this part.
    pub(crate) fn of(paging: &Paging, listed: Vec<T>) -> Self {
        let end = paging.range().end;
        Self {
            total: paging.total,
            next_from: (end < paging.total).then_some(end),
            listed,
        }
    }
}

/// Returns the part of a list of this length that begins at `from`.
pub(crate) fn part(from: usize, total: usize) -> Paging {
    Paging::of("", "", from, caps::LISTED, total)
}
