//! Statements in the vocabularies of headers and robots.txt.
//!
//! Unknown labels and values state nothing, as each of the sources demands.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::preferences::preference::{PreferenceSource, Preferences, Usage};

/// Reads a value of `Content-Usage`: a dictionary (RFC 9651 section 3.2) with labels of
/// draft-ietf-aipref-vocab section 6.1, `y` or `n`. A value that is not a dictionary states
/// nothing.
pub(super) fn content_usage(value: &[u8], source: PreferenceSource) -> Preferences {
    let mut all = Preferences::default();
    let Ok(labels) = Parser::new(value).parse::<Dictionary>() else {
        return all;
    };
    for (label, entry) in &labels {
        let usage = match label.as_str() {
            // `train-genai` is the label of the same use in versions 01 to 03.
            "train-ai" | "train-genai" => Usage::Train,
            "ai-use" => Usage::Input,
            "search" => Usage::Search,
            _ => continue,
        };
        let ListEntry::Item(item) = entry else {
            continue;
        };
        if let BareItem::Token(answer) = &item.bare_item
            && let Some(is_allowed) = answer_of(answer.as_str(), "y", "n")
        {
            all.add(Preferences::of(usage, is_allowed, source));
        }
    }
    all
}

/// Reads a value of `Content-Signal`: `search=yes, ai-train=no`. The policy at contentsignals.org
/// has no grammar, so case and white space do not matter.
pub(super) fn content_signal(value: &[u8], source: PreferenceSource) -> Preferences {
    let mut all = Preferences::default();
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    for part in value.split(',') {
        let (label, answer) = part.split_once('=').unwrap_or((part, ""));
        let usage = match label.trim() {
            "ai-train" => Usage::Train,
            "ai-input" => Usage::Input,
            "search" => Usage::Search,
            _ => continue,
        };
        if let Some(is_allowed) = answer_of(answer.trim(), "yes", "no") {
            all.add(Preferences::of(usage, is_allowed, source));
        }
    }
    all
}

/// Reads a value of `tdm-reservation`: 1 reserves the right to mine texts and data, to which
/// training belongs; 0 waives it; other values are unset (TDMRep section 4.1).
pub(super) fn tdm_reservation(value: &str, source: PreferenceSource) -> Preferences {
    let answer = answer_of(value.trim(), "0", "1");
    let stated = answer.map(|is_allowed| Preferences::of(Usage::Train, is_allowed, source));
    stated.unwrap_or_default()
}

fn answer_of(word: &str, yes: &str, no: &str) -> Option<bool> {
    match word {
        _ if word == yes => Some(true),
        _ if word == no => Some(false),
        _ => None,
    }
}
