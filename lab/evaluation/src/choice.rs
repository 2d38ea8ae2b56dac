//! The verifications that the report compares.

use crate::configuration::{BY_LENGTH, LARGER_SKETCH, THRESHOLDS, TWO_MEASURES, WIDTHS};
use crate::judge::{Least, Measure, Subject, Verification};

/// A verification and its name.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) verification: Verification,
}

/// All verifications that are compared.
pub(crate) fn choices() -> Vec<Choice> {
    let mut choices = vec![Choice {
        name: "**the shipped signatures**".to_owned(),
        verification: Verification::shipped(),
    }];
    for width in 0..WIDTHS.len() {
        for measure in [Measure::Exact, Measure::Sketch, Measure::Larger] {
            for &least in THRESHOLDS {
                choices.push(Choice::of(width, measure, Least::Flat(least)));
            }
        }
        for &(least, of_words) in TWO_MEASURES {
            let mut choice = Choice::of(width, Measure::Sketch, Least::Flat(least));
            choice.name += &format!(", counted words ≥ {of_words:.2}");
            choice.verification.min_of_words = Some(of_words);
            choices.push(choice);
        }
        for table in BY_LENGTH {
            for measure in [Measure::Exact, Measure::Sketch, Measure::Larger] {
                choices.push(Choice::of(width, measure, Least::ByLength(table)));
            }
        }
    }
    for (by, subject) in [
        ("all words", Subject::ByAllWords),
        ("the most frequent words", Subject::ByFrequentWords),
        ("title and heading", Subject::ByTitles),
    ] {
        choices.push(Choice {
            name: format!("word:5 sketch, by length, and no other subject by {by}"),
            verification: Verification {
                subject,
                ..Verification::by_measures()
            },
        });
    }
    choices
}

impl Choice {
    pub(crate) fn of(width: usize, measure: Measure, least: Least) -> Self {
        let asked = match least {
            Least::Flat(least) => format!("≥ {least:.2}"),
            Least::Shipped => "as shipped".to_owned(),
            Least::ByLength(table) => {
                let lines = table.iter().rev().map(|(from, least)| match from {
                    0 => format!("≥ {least:.2}"),
                    _ => format!("from {from} words ≥ {least:.2}"),
                });
                lines.collect::<Vec<_>>().join(", ")
            }
        };
        Self {
            name: format!("{}, {asked}", name_of(WIDTHS[width], measure)),
            verification: Verification {
                width,
                measure,
                least,
                ..Verification::by_measures()
            },
        }
    }
}

/// Returns the name of a measure of shingles of `words` words.
pub(crate) fn name_of(words: usize, measure: Measure) -> String {
    match measure {
        Measure::Exact => format!("word:{words} exact (oracle)"),
        Measure::Sketch => format!("word:{words} sketch"),
        Measure::Larger => format!("word:{words} sketch of {LARGER_SKETCH}"),
    }
}
