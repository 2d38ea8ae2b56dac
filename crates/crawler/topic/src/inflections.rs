//! Inflections: the inflected forms of an English word that count as the same word.
//!
//! Words of pages are compared by hash, so a topic must list all forms of its words in advance.
//! [`base`] is a light stemmer for plurals (Harman 1991, *How effective is suffixing?*),
//! participles, and nouns in *-ion* and *-or* derived from verbs. To find the forms of a word, the
//! code combines its roots with all endings and keeps the results that have the same base. A form
//! that no text contains costs a few bytes.
//!
//! Only words of at least four lower-case letters from a to z have forms. Words of other languages
//! that look English are inflected, too, but texts in these languages rarely contain such forms.

/// Minimum number of letters of an inflected word.
const SHORTEST: usize = 4;
/// Minimum number of letters that remain without *-ing* or *-ed*.
const SHORTEST_VERB: usize = 3;
/// Minimum number of letters that remain without *-ion* or *-or*: *option* has no verb.
const SHORTEST_OF_NOUN: usize = 5;

/// Endings that [`base`] removes and `inflected_forms` appends.
const ENDINGS: [&str; 13] = [
    "", "s", "es", "e", "ed", "ing", "ings", "ion", "ions", "or", "ors", "ation", "ations",
];

/// Returns the common part of all forms of a word; the word itself if it is not inflected.
pub(crate) fn base(word: &str) -> String {
    if !is_inflected(word) {
        return word.to_owned();
    }
    let singular = singular(word);
    let verb = verb_of_participle(&singular).unwrap_or(singular);
    let verb = verb_of_noun(&verb).unwrap_or(verb);
    match verb.strip_suffix('e') {
        Some(without) if without.len() >= SHORTEST_VERB => without.to_owned(),
        _ => verb,
    }
}

/// Returns the inflected forms of a word, the word itself first.
pub(crate) fn inflected_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    if word.len() < SHORTEST_VERB || !is_lower_case(word) {
        return forms;
    }
    let base = base(word);
    let own = singular(word);
    let with_e = format!("{base}e");
    // *note* has *noted*, but not *not*; *bits* has *bit*, but not *bite*.
    let not_its_own = match own {
        own if own == with_e => base.clone(),
        own if own == base => with_e,
        _ => String::new(),
    };
    for root in roots(&base) {
        for ending in ENDINGS {
            let form = format!("{root}{ending}");
            let is_form = self::base(&form) == base && singular(&form) != not_its_own;
            if is_form && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// Returns the strings that endings are appended to: the base, the base with its last letter
/// doubled (*logg-ing*), and with *i* for *y* (*repli-es*).
fn roots(base: &str) -> Vec<String> {
    let mut roots = vec![base.to_owned()];
    if let Some(last) = base.chars().next_back() {
        roots.push(format!("{base}{last}"));
    }
    roots.extend(base.strip_suffix('y').map(|start| format!("{start}i")));
    roots
}

fn is_inflected(word: &str) -> bool {
    word.len() >= SHORTEST && is_lower_case(word)
}

fn is_lower_case(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn has_vowel(word: &str) -> bool {
    word.bytes().any(|byte| b"aeiouy".contains(&byte))
}

/// Returns the singular of a word that looks like a plural, and any other word as it is.
fn singular(word: &str) -> String {
    if !is_inflected(word) {
        return word.to_owned();
    }
    let keeps_s = ["us", "ss", "is"];
    let takes_es = ["ches", "shes", "sses", "xes"];
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.len() > SHORTEST
        && let Some(start) = word.strip_suffix("ies")
        && !start.ends_with(['e', 'a'])
    {
        return format!("{start}y");
    }
    let cut = match word {
        _ if word.len() > SHORTEST && ends_in(&takes_es) => 2,
        _ if word.ends_with('s') && !ends_in(&keeps_s) => 1,
        _ => 0,
    };
    word[..word.len() - cut].to_owned()
}

/// Returns the verb of a participle (*logg-ing*, *replied*); `None` for other words.
fn verb_of_participle(word: &str) -> Option<String> {
    if let Some(start) = word.strip_suffix("ied") {
        return (start.len() >= 2).then(|| format!("{start}y"));
    }
    let verb = word.strip_suffix("ing").or_else(|| {
        let verb = word.strip_suffix("ed")?;
        (!verb.ends_with('e')).then_some(verb)
    })?;
    (verb.len() >= SHORTEST_VERB && has_vowel(verb)).then(|| undoubled(verb))
}

/// Returns a verb without the doubling of its last letter: *log* of *logg*, but *pass* of *pass*.
fn undoubled(verb: &str) -> String {
    match verb.as_bytes() {
        [start @ .., one, last]
            if one == last && start.len() >= 2 && !b"lszaeiou".contains(last) =>
        {
            verb[..verb.len() - 1].to_owned()
        }
        _ => verb.to_owned(),
    }
}

/// Returns the verb of a noun in *-ion* or *-or*: *encrypt-ion*, *generat-or*, *normal-ization*.
fn verb_of_noun(word: &str) -> Option<String> {
    if let Some(start) = word.strip_suffix("ization") {
        return (start.len() >= SHORTEST_VERB).then(|| format!("{start}iz"));
    }
    let is_verb = |verb: &&str, ends: &[char]| {
        verb.len() >= SHORTEST_OF_NOUN && verb.ends_with(|last| ends.contains(&last))
    };
    let of_ion = word.strip_suffix("ion");
    let of_or = word.strip_suffix("or").filter(|verb| verb.ends_with("at"));
    let verb = of_ion.filter(|verb| is_verb(verb, &['s', 't']));
    let verb = verb.or_else(|| of_or.filter(|verb| is_verb(verb, &['t'])));
    verb.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(word: &str, forms_of_it: &[&str], others: &[&str]) {
        let forms = inflected_forms(word);
        assert_eq!(forms[0], word);
        for form in forms_of_it {
            assert!(
                forms.iter().any(|one| one == form),
                "{word}: {form} {forms:?}"
            );
        }
        for other in others {
            assert!(!forms.iter().any(|one| one == other), "{word}: {other}");
        }
    }

    #[test]
    fn plurals_participles_and_nouns_of_verbs_are_forms_of_a_word() {
        check("tide", &["tides"], &["tid", "tidal"]);
        check("libraries", &["library"], &["librarie"]);
        check("hashes", &["hash", "hashing", "hashed"], &["hashe"]);
        check("logging", &["log", "logs", "logged"], &["logic"]);
        check("parsing", &["parse", "parses", "parsed"], &["parser"]);
        check("replies", &["reply", "replied", "replying"], &[]);
        check("encryption", &["encrypt", "encrypts", "encrypted"], &[]);
        check(
            "generators",
            &["generate", "generation", "generated"],
            &["general"],
        );
        check("normalization", &["normalize", "normalized"], &["normal"]);
        check("keys", &["key", "keyed"], &["keye"]);
    }

    /// `note` once had the form `not`, which nearly all pages have.
    #[test]
    fn a_silent_e_makes_another_word() {
        check("note", &["notes", "noted", "noting"], &["not"]);
        check("bits", &["bit"], &["bite", "bites"]);
        check("planes", &["plane"], &["plan", "plans"]);
    }

    #[test]
    fn what_only_looks_like_an_ending_stays() {
        for word in [
            "status", "class", "analysis", "string", "thing", "speed", "option", "bus",
        ] {
            assert_eq!(base(word), word);
        }
    }

    #[test]
    fn words_that_are_not_english_have_no_forms() {
        for word in ["gezeiten\u{fc}bung", "приливы", "utf8", "c", "xml", "潮"] {
            assert_eq!(base(word), word);
            if !is_lower_case(word) || word.len() < SHORTEST_VERB {
                assert_eq!(inflected_forms(word), [word]);
            }
        }
    }

    proptest! {
        #[test]
        fn forms_of_any_word_have_its_base_and_are_few(word in "[a-z]{1,12}|\\PC{0,6}") {
            let forms = inflected_forms(&word);
            prop_assert!(forms.len() <= 3 * ENDINGS.len() + 1);
            prop_assert!(forms.iter().all(|form| base(form) == base(&word)));
        }
    }
}
