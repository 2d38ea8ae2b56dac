//! What a page asks crawlers to do with it: robots meta tags and `X-Robots-Tag`.
//!
//! Not a standard, but what the large search engines have documented alike. Where several directives speak,
//! the stricter holds.

/// What a page asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Keep it out of an index.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
    /// Do not show a copy of it.
    pub noarchive: bool,
}

impl Directives {
    /// Reads the content of a robots meta tag: `noindex, nofollow`.
    pub(crate) fn add(&mut self, content: &str) {
        for word in content.split(|c: char| c == ',' || c.is_whitespace()) {
            self.add_word(word);
        }
    }

    fn add_word(&mut self, word: &str) {
        let is = |name| word.eq_ignore_ascii_case(name);
        let none = is("none");
        self.noindex |= none || is("noindex");
        self.nofollow |= none || is("nofollow");
        self.noarchive |= is("noarchive");
    }

    /// Reads the value of one `X-Robots-Tag`: `noindex`, or `otherbot: noindex, thisbot: nofollow`.
    pub(crate) fn add_header(&mut self, value: &str, agent: &str) {
        // Directives with a value, whose colon does not make them a crawler's name.
        const WITH_VALUE: &[&str] = &[
            "unavailable_after",
            "max-snippet",
            "max-image-preview",
            "max-video-preview",
        ];
        let mut is_ours = true;
        for part in value.split(',') {
            let part = part.trim();
            let Some((name, rest)) = part.split_once(':') else {
                if is_ours {
                    self.add(part);
                }
                continue;
            };
            if WITH_VALUE
                .iter()
                .any(|directive| directive.eq_ignore_ascii_case(name.trim()))
            {
                continue;
            }
            is_ours = is_for(name, agent);
            if is_ours {
                self.add(rest);
            }
        }
    }
}

/// Whether a name in a directive is everybody's or ours.
pub(crate) fn is_for(name: &str, agent: &str) -> bool {
    let name = name.trim();
    name.eq_ignore_ascii_case("robots") || (!agent.is_empty() && name.eq_ignore_ascii_case(agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(noindex: bool, nofollow: bool, noarchive: bool) -> Directives {
        Directives {
            noindex,
            nofollow,
            noarchive,
        }
    }

    #[test]
    fn headers_speak_to_everybody_or_to_one_crawler() {
        for (value, expected) in [
            ("noindex", directives(true, false, false)),
            ("NoIndex, NOFOLLOW", directives(true, true, false)),
            ("none", directives(true, true, false)),
            ("all", directives(false, false, false)),
            ("noarchive nofollow", directives(false, true, true)),
            ("otherbot: noindex, nofollow", directives(false, false, false)),
            ("ourbot: noindex, nofollow", directives(true, true, false)),
            (
                "otherbot: noindex, OurBot: nofollow",
                directives(false, true, false),
            ),
            (
                "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex",
                directives(true, false, false),
            ),
            ("max-snippet:-1, noarchive", directives(false, false, true)),
            ("", directives(false, false, false)),
        ] {
            let mut found = Directives::default();
            found.add_header(value, "ourbot");
            assert_eq!(found, expected, "{value}");
        }
    }
}
