//! Writing systems, to the extent that they distinguish languages.

/// A writing system, or a group of writing systems that have no language in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    /// The scripts of South and Southeast Asia.
    Southern,
    Georgian,
    Ethiopic,
    Khmer,
    Han,
    Kana,
    Hangul,
}

pub(super) const EAST_ASIAN: [Script; 3] = [Script::Han, Script::Kana, Script::Hangul];

/// All scripts, in their order.
pub(super) const SCRIPTS: [Script; 13] = [
    Script::Latin,
    Script::Greek,
    Script::Cyrillic,
    Script::Armenian,
    Script::Hebrew,
    Script::Arabic,
    Script::Southern,
    Script::Georgian,
    Script::Ethiopic,
    Script::Khmer,
    Script::Han,
    Script::Kana,
    Script::Hangul,
];

impl Script {
    /// Returns the script of a letter, by the blocks of Unicode.
    pub(super) fn of(letter: char) -> Option<Self> {
        if letter.is_ascii() {
            return letter.is_ascii_alphabetic().then_some(Self::Latin);
        }
        Some(match u32::from(letter) {
            0xaa | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..=0x24f | 0x1e00..=0x1eff => Self::Latin,
            0x370..=0x3ff | 0x1f00..=0x1fff => Self::Greek,
            0x400..=0x52f => Self::Cyrillic,
            0x531..=0x58f => Self::Armenian,
            0x591..=0x5ff => Self::Hebrew,
            0x600..=0x77f | 0xfb50..=0xfdff | 0xfe70..=0xfeff => Self::Arabic,
            0x900..=0x109f => Self::Southern,
            0x10a0..=0x10ff => Self::Georgian,
            0x1200..=0x139f => Self::Ethiopic,
            0x1780..=0x17ff => Self::Khmer,
            0x3041..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Self::Kana,
            0x1100..=0x11ff | 0x3131..=0x318e | 0xac00..=0xd7af => Self::Hangul,
            0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff => Self::Han,
            _ => return None,
        })
    }

    /// Returns how many Latin letters one letter of this script is worth. Names, code and addresses
    /// are Latin in texts of all languages, so letters of other alphabets count double.
    pub(super) const fn weight(self) -> usize {
        match self {
            Self::Latin => 1,
            Self::Han | Self::Hangul => 4,
            _ => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_numbered_in_their_order() {
        for (script, number) in SCRIPTS.into_iter().zip(0..) {
            assert_eq!(script as usize, number);
        }
    }
}
