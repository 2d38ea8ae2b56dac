//! The language of a page.

use whatlang::Lang;

/// Characters examined: the trigrams of a thousand decide as well as those of a page.
const DETECT_CHARS: usize = 1_000;

/// Returns the primary subtag of a language tag in lower case, `en` of `en-GB` (RFC 5646 section
/// 2.2.1).
pub(crate) fn of_tag(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    let is_language =
        (2..=3).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    // `und` and `mul` mean unknown; `xx` is a placeholder of templates.
    (is_language && !matches!(&*primary, "und" | "mul" | "zxx" | "xx")).then_some(primary)
}

/// Returns the language of a text if the detection is reliable: ISO 639-1 if there is a code, else
/// ISO 639-3.
pub(crate) fn of_text(text: &str) -> Option<String> {
    let end = text
        .char_indices()
        .nth(DETECT_CHARS)
        .map_or(text.len(), |(end, _)| end);
    let info = whatlang::detect(&text[..end])?;
    info.is_reliable().then(|| code(info.lang()).to_owned())
}

fn code(language: Lang) -> &'static str {
    let long = language.code();
    let mut codes = CODES.iter().filter_map(|codes| codes.split_once(' '));
    let known = codes.find(|(known, _)| *known == long);
    known.map_or(long, |(_, short)| short)
}

/// Codes of ISO 639-3 and their equals of ISO 639-1. Languages that are missing here have none.
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
            assert_eq!(code(*language).len(), 2, "{language:?}");
        }
    }

    #[test]
    fn the_language_of_a_text_is_detected_if_it_is_clear() {
        let german = "Die Katze liegt auf dem Ofen und schläft, weil draußen der Wind über die \
        Felder geht und niemand \
                      vor die Tür gehen möchte.";
        assert_eq!(of_text(german).as_deref(), Some("de"));
        assert_eq!(
            of_text("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。")
                .as_deref(),
            Some("ja")
        );
        assert_eq!(of_text("404"), None);
    }
}
