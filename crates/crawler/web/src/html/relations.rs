//! Link relations that may be a reason not to follow a link.
//!
//! `nofollow` as in the HTML standard (section 4.6.7.11), and `ugc` and `sponsored`, which the
//! large search engines document. The crawl decides whether to obey them.

use std::fmt;
use std::str::FromStr;

/// A set of link relations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Relations(u8);

/// An unknown relation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be nofollow, ugc, sponsored or none, got {0:?}")]
pub struct UnknownRelation(pub String);

impl Relations {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// The page does not vouch for the target.
    pub const NOFOLLOW: Self = Self(1);
    /// Visitors wrote the link.
    pub const UGC: Self = Self(1 << 1);
    /// Somebody paid for the link.
    pub const SPONSORED: Self = Self(1 << 2);

    const WORDS: [(&str, Self); 3] = [
        ("nofollow", Self::NOFOLLOW),
        ("ugc", Self::UGC),
        ("sponsored", Self::SPONSORED),
    ];

    /// Returns the relations in a `rel` attribute; other words in it are ignored.
    #[must_use]
    pub fn of_rel(rel: &str) -> Self {
        let words = rel.split_ascii_whitespace();
        words.filter_map(Self::of_word).fold(Self::NONE, Self::with)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns the intersection of two sets: the relations of a link that occurs twice.
    #[must_use]
    pub const fn shared_with(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Returns true if the sets intersect.
    #[must_use]
    pub const fn has_any_of(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the names of these relations, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Self::WORDS
            .into_iter()
            .filter(move |(_, relation)| self.has_any_of(*relation))
            .map(|(word, _)| word)
    }

    fn of_word(word: &str) -> Option<Self> {
        Self::WORDS
            .into_iter()
            .find(|(known, _)| word.eq_ignore_ascii_case(known))
            .map(|(_, relation)| relation)
    }
}

/// Returns true if a `rel` names this relation.
pub(crate) fn has_relation(rel: &str, relation: &str) -> bool {
    rel.split_ascii_whitespace()
        .any(|word| word.eq_ignore_ascii_case(relation))
}

/// Returns the words of a `rel` attribute in lower case, each once, separated by blanks; words that
/// do not fit into `most` bytes are dropped, [`Relations`] last.
pub(crate) fn words(rel: &str, most: usize) -> String {
    if most == 0 {
        return String::new();
    }
    let known: usize = Relations::of_rel(rel)
        .words()
        .map(|word| word.len() + 1)
        .sum();
    let mut room = most.saturating_sub(known);
    let mut kept = String::new();
    for word in rel.split_ascii_whitespace() {
        let is_known = Relations::of_word(word).is_some();
        let is_there = kept
            .split(' ')
            .any(|other| other.eq_ignore_ascii_case(word));
        let takes = if is_known { 0 } else { word.len() + 1 };
        if is_there || takes > room || kept.len() + 1 + word.len() > most {
            continue;
        }
        room -= takes;
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    kept
}

/// Returns the words common to both: the `rel` of a link that occurs twice.
pub(crate) fn shared(words: &str, others: &str) -> String {
    let words = words.split(' ');
    let shared = words.filter(|word| others.split(' ').any(|other| other == *word));
    shared.collect::<Vec<&str>>().join(" ")
}

impl fmt::Display for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.words().collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl FromStr for Relations {
    type Err = UnknownRelation;

    /// Parses a comma-separated list of an option; an empty one and `none` are [`Relations::NONE`].
    fn from_str(text: &str) -> Result<Self, UnknownRelation> {
        if text.trim().is_empty() || text.trim() == "none" {
            return Ok(Self::NONE);
        }
        text.split(',')
            .map(str::trim)
            .try_fold(Self::NONE, |all, word| {
                let relation =
                    Self::of_word(word).ok_or_else(|| UnknownRelation(word.to_owned()))?;
                Ok(all.with(relation))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rel_attribute_names_relations_among_other_words() {
        for (rel, relations) in [
            ("", Relations::NONE),
            ("noopener noreferrer", Relations::NONE),
            ("nofollowing", Relations::NONE),
            ("nofollow,ugc", Relations::NONE),
            ("NoFollow", Relations::NOFOLLOW),
            (
                "external\tugc\nnofollow",
                Relations::NOFOLLOW.with(Relations::UGC),
            ),
            ("sponsored", Relations::SPONSORED),
        ] {
            assert_eq!(Relations::of_rel(rel), relations, "{rel:?}");
        }
    }

    #[test]
    fn all_words_of_a_rel_are_kept_once_as_far_as_there_is_room() {
        for (rel, most, kept) in [
            ("", 20, ""),
            ("nofollow", 0, ""),
            (" NoOpener\tugc  noopener ", 20, "noopener ugc"),
            ("a-word-that-is-too-long me", 20, "me"),
            ("one two three nofollow", 20, "one two nofollow"),
        ] {
            assert_eq!(words(rel, most), kept, "{rel:?}");
        }
        assert_eq!(shared("noopener ugc me", "me ugcs noopener"), "noopener me");
        assert_eq!(shared("me", ""), "");
    }

    #[test]
    fn written_relations_are_parsed_again() {
        for bits in 0..8 {
            let relations = Relations(bits);
            assert_eq!(relations.to_string().parse(), Ok(relations));
        }
        assert_eq!(Relations::NONE.to_string(), "none");
        assert_eq!("".parse(), Ok(Relations::NONE));
        assert_eq!(
            " ugc , nofollow ".parse::<Relations>().unwrap().to_string(),
            "nofollow,ugc"
        );
        for wrong in ["noindex", "nofollow,", "nofollow,none", "nofollow ugc"] {
            assert!(wrong.parse::<Relations>().is_err(), "{wrong}");
        }
    }
}
