//! Ids of documents in JSON.

use std::borrow::Borrow;

use batch::DocumentId;
use serde::{Serialize, Serializer};

/// An id in JSON: a number if the document's id is a number, otherwise a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonId<I>(pub I);

impl<I: Borrow<DocumentId>> Serialize for JsonId<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = self.0.borrow();
        match id.number() {
            Some(number) => serializer.serialize_i128(number),
            None => serializer.serialize_str(id),
        }
    }
}
