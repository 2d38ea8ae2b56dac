//! Repeated parts are those that occurred before, whatever the memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::HashMap;

use batch::{
    BatchError, Control, DocumentId, PartOptions, PartSummary, PartedDocument, repeated_parts,
};
use proptest::prelude::*;

/// A repetition: a document and its part, and the place of the first.
type Found = (u64, u32, DocumentId, u32);

fn found(
    documents: &[Vec<Option<u128>>],
    reference: usize,
    memory: usize,
) -> (Vec<Found>, PartSummary) {
    let directory = tempfile::tempdir().unwrap();
    let options = PartOptions {
        memory,
        scratch: directory.path().to_owned(),
    };
    let mut parted = documents.iter().enumerate().map(|(number, parts)| {
        Ok(PartedDocument {
            id: format!("document {number}").into(),
            parts: parts.clone(),
        })
    });
    let mut found = Vec::new();
    let earlier: Vec<_> = parted.by_ref().take(reference).collect();
    let summary =
        repeated_parts::<BatchError>(earlier, parted, &options, Control::none(), |repeated| {
            let document = repeated.number as usize + reference;
            assert_eq!(**repeated.document, format!("document {document}"));
            let of = repeated.duplicate_of.to_owned();
            found.push((repeated.number, repeated.part, of, repeated.part_of));
            Ok(())
        })
        .unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    (found, summary)
}

fn expected(documents: &[Vec<Option<u128>>], reference: usize) -> Vec<Found> {
    let mut first = HashMap::new();
    let mut found = Vec::new();
    for (document, parts) in documents.iter().enumerate() {
        for (part, digest) in parts.iter().enumerate() {
            let Some(digest) = digest else { continue };
            let &mut (of, part_of) = first.entry(*digest).or_insert((document, part));
            if (of, part_of) != (document, part) && document >= reference {
                let number = (document - reference) as u64;
                found.push((
                    number,
                    part as u32,
                    format!("document {of}").into(),
                    part_of as u32,
                ));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn every_later_occurrence_is_found_in_order(
        documents in prop::collection::vec(
            prop::collection::vec(prop::option::of(0_u128..40), 0..12),
            0..30,
        ),
        reference in 0_usize..30,
    ) {
        let reference = reference.min(documents.len());
        for memory in [0, 1 << 20] {
            let (repetitions, summary) = found(&documents, reference, memory);
            prop_assert_eq!(&repetitions, &expected(&documents, reference));
            let parts = documents[reference..].iter().flatten().flatten().count() as u64;
            prop_assert_eq!(summary, PartSummary {
                documents: (documents.len() - reference) as u64,
                parts,
                repeated: repetitions.len() as u64,
            });
        }
    }
}

/// One paragraph in a million documents must not cost a million comparisons each.
#[test]
fn more_parts_than_memory_holds_spill_and_change_no_result() {
    let documents: Vec<Vec<Option<u128>>> = (0..20_000_u128)
        .map(|number| vec![Some(number), Some(7), None, Some(number / 3)])
        .collect();
    let (tight, _) = found(&documents, 100, 0);
    let (roomy, _) = found(&documents, 100, 1 << 26);
    assert!(tight == roomy && tight == expected(&documents, 100));
}
