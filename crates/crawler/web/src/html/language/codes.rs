//! Codes of declared and detected languages.

use whatlang::Lang;

/// Returns the primary subtag of a language tag in lower case, for example `en` of `en-GB` (RFC
/// 5646 section 2.2.1).
pub(crate) fn of_tag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    let is_language =
        (2..=3).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    // `und` and `mul` mean unknown; `xx` is a placeholder of templates.
    (is_language && !matches!(&*primary, "und" | "mul" | "zxx" | "xx")).then_some(primary)
}

/// Returns the language with this code, if it can be detected.
pub(super) fn language_of(code: &str) -> Option<Lang> {
    if matches!(code, "no" | "nn") {
        return Some(Lang::Nob);
    }
    let mut codes = CODES.iter().filter_map(|codes| codes.split_once(' '));
    let (long, _) = codes.find(|(_, short)| *short == code)?;
    Lang::from_code(long)
}

/// Returns the code of a language: ISO 639-1 if there is one, else ISO 639-3.
pub(super) fn code_of(language: Lang) -> &'static str {
    let long = language.code();
    let mut codes = CODES.iter().filter_map(|codes| codes.split_once(' '));
    let known = codes.find(|(known, _)| *known == long);
    known.map_or(long, |(_, short)| short)
}

/// Codes of ISO 639-3 with their equivalents in ISO 639-1. Languages without an equivalent are
/// missing.
const CODES: &[&str] = &[
    "afr af", "aka ak", "amh am", "ara ar", "aze az", "bel be", "ben bn", "bul bg", "cat ca",
    "ces cs", "cmn zh", "cym cy", "dan da", "deu de", "ell el", "eng en", "epo eo", "est et",
    "fin fi", "fra fr", "guj gu", "heb he", "hin hi", "hrv hr", "hun hu", "hye hy", "ind id",
    "ita it", "jav jv", "jpn ja", "kan kn", "kat ka", "khm km", "kor ko", "lat la", "lav lv",
    "lit lt", "mal ml", "mar mr", "mkd mk", "mya my", "nep ne", "nld nl", "nob nb", "ori or",
    "pan pa", "pes fa", "pol pl", "por pt", "ron ro", "rus ru", "sin si", "slk sk", "slv sl",
    "sna sn", "spa es", "srp sr", "swe sv", "tam ta", "tel te", "tgl tl", "tha th", "tuk tk",
    "tur tr", "ukr uk", "urd ur", "uzb uz", "vie vi", "yid yi", "zul zu",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primary_language_of_a_tag_counts() {
        for (tag, language) in [
            ("en", Some("en")),
            ("de-AT", Some("de")),
            ("PT_br", Some("pt")),
            ("gsw-CH", Some("gsw")),
            (" fr ", Some("fr")),
            ("", None),
            ("und", None),
            ("english", None),
            ("{{lang}}", None),
        ] {
            assert_eq!(of_tag(tag).as_deref(), language, "{tag}");
        }
    }

    #[test]
    fn every_language_that_is_recognised_has_a_code_of_two_letters() {
        for language in Lang::all() {
            let code = code_of(*language);
            assert_eq!(code.len(), 2, "{language:?}");
            assert_eq!(language_of(code), Some(*language));
        }
    }
}
