//! Differing blocks in JSON output.

use serde::{Serialize, Serializer};

use crate::differing::{BlockWeight, DifferingBlock};

/// A differing block in JSON output.
#[derive(Clone, Debug, Serialize)]
pub struct PrintedBlock {
    /// `counts`, or the reason why it does not: `frame`, `changes`, `same-words` or `aside`.
    #[serde(serialize_with = "by_name")]
    pub weight: BlockWeight,
    /// Text of the first page, if it has the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Text of the second page, if it has the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<String>,
}

/// Writes the name of a weight.
fn by_name<S: Serializer>(weight: &BlockWeight, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(weight.as_str())
}

impl PrintedBlock {
    /// Returns the blocks for output, with the page first.
    #[must_use]
    pub fn with_page_first(blocks: &[DifferingBlock]) -> Vec<Self> {
        let printed = blocks.iter().map(|block| Self {
            weight: block.weight,
            a: block.page.clone(),
            b: block.original.clone(),
        });
        printed.collect()
    }

    /// Returns the blocks for output, with the original first.
    #[must_use]
    pub fn with_original_first(blocks: &[DifferingBlock]) -> Vec<Self> {
        let printed = blocks.iter().map(|block| Self {
            weight: block.weight,
            a: block.original.clone(),
            b: block.page.clone(),
        });
        printed.collect()
    }
}
