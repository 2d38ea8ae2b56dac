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
    CODES
        .iter()
        .find(|(known, _)| *known == language)
        .map_or_else(|| language.code(), |(_, code)| code)
}

/// ISO 639-1 codes. Languages that are missing here have none.
const CODES: &[(Lang, &str)] = &[
    (Lang::Afr, "af"),
    (Lang::Aka, "ak"),
    (Lang::Amh, "am"),
    (Lang::Ara, "ar"),
    (Lang::Aze, "az"),
    (Lang::Bel, "be"),
    (Lang::Ben, "bn"),
    (Lang::Bul, "bg"),
    (Lang::Cat, "ca"),
    (Lang::Ces, "cs"),
    (Lang::Cmn, "zh"),
    (Lang::Cym, "cy"),
    (Lang::Dan, "da"),
    (Lang::Deu, "de"),
    (Lang::Ell, "el"),
    (Lang::Eng, "en"),
    (Lang::Epo, "eo"),
    (Lang::Est, "et"),
    (Lang::Fin, "fi"),
    (Lang::Fra, "fr"),
    (Lang::Guj, "gu"),
    (Lang::Heb, "he"),
    (Lang::Hin, "hi"),
    (Lang::Hrv, "hr"),
    (Lang::Hun, "hu"),
    (Lang::Hye, "hy"),
    (Lang::Ind, "id"),
    (Lang::Ita, "it"),
    (Lang::Jav, "jv"),
    (Lang::Jpn, "ja"),
    (Lang::Kan, "kn"),
    (Lang::Kat, "ka"),
    (Lang::Khm, "km"),
    (Lang::Kor, "ko"),
    (Lang::Lat, "la"),
    (Lang::Lav, "lv"),
    (Lang::Lit, "lt"),
    (Lang::Mal, "ml"),
    (Lang::Mar, "mr"),
    (Lang::Mkd, "mk"),
    (Lang::Mya, "my"),
    (Lang::Nep, "ne"),
    (Lang::Nld, "nl"),
    (Lang::Nob, "nb"),
    (Lang::Ori, "or"),
    (Lang::Pan, "pa"),
    (Lang::Pes, "fa"),
    (Lang::Pol, "pl"),
    (Lang::Por, "pt"),
    (Lang::Ron, "ro"),
    (Lang::Rus, "ru"),
    (Lang::Sin, "si"),
    (Lang::Slk, "sk"),
    (Lang::Slv, "sl"),
    (Lang::Sna, "sn"),
    (Lang::Spa, "es"),
    (Lang::Srp, "sr"),
    (Lang::Swe, "sv"),
    (Lang::Tam, "ta"),
    (Lang::Tel, "te"),
    (Lang::Tgl, "tl"),
    (Lang::Tha, "th"),
    (Lang::Tuk, "tk"),
    (Lang::Tur, "tr"),
    (Lang::Ukr, "uk"),
    (Lang::Urd, "ur"),
    (Lang::Uzb, "uz"),
    (Lang::Vie, "vi"),
    (Lang::Yid, "yi"),
    (Lang::Zul, "zu"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_its_primary_language() {
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
    fn a_text_says_its_language_where_that_is_plain() {
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
