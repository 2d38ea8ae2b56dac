//! The statements of a site, with the URLs that they are about.
//!
//! Paths match as in robots.txt (RFC 9309 section 2.2.2). `Content-Usage`, `Content-Signal` and
//! `ai.txt` are searched for the longest matching path (draft-ietf-aipref-attach section 4.1);
//! rules with the same path add up. In tdmrep.json, the first match counts (TDMRep section 5.1).

use std::cmp::Ordering;

use crate::preferences::preference::{PreferenceSource, Preferences, Usage};
use crate::preferences::statement::{content_signal, content_usage, tdm_reservation};
use crate::robots::pattern::{Pattern, Target};

/// The statements of a site for one crawler.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteRules(Vec<SiteRule>);

#[derive(Clone, Debug)]
struct SiteRule {
    pattern: Pattern,
    stated: Preferences,
    source: PreferenceSource,
}

impl SiteRules {
    /// Adds a `Content-Usage` or `Content-Signal` line of robots.txt: a path and a statement. Older
    /// files have no path, which means all of the site.
    pub(crate) fn add_line(&mut self, value: &[u8], source: PreferenceSource) {
        let has_path = value.starts_with(b"/") || value.starts_with(b"*");
        let end = value.iter().position(u8::is_ascii_whitespace);
        let (path, statement) = match (has_path, end) {
            (false, _) => (b"/".as_slice(), value),
            (true, Some(end)) => value.split_at(end),
            (true, None) => return,
        };
        let read = match source {
            PreferenceSource::RobotsSignal => content_signal,
            _ => content_usage,
        };
        self.add(path, read(statement.trim_ascii(), source), source);
    }

    /// Adds a statement about the URLs that match a path, unless it states nothing.
    fn add(&mut self, path: &[u8], stated: Preferences, source: PreferenceSource) {
        let Some(stated) = stated.stated() else {
            return;
        };
        let rule = |pattern| SiteRule {
            pattern,
            stated,
            source,
        };
        self.0
            .extend(Pattern::parse(path).into_iter().flatten().map(rule));
    }

    /// Adds the statements of other files of the site, in lines of [`SiteFile::lines`]. Other lines
    /// state nothing.
    ///
    /// [`SiteFile::lines`]: crate::SiteFile::lines
    pub(crate) fn add_site_lines(&mut self, lines: &[u8]) {
        for line in String::from_utf8_lossy(lines).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [source, path, answer] = words[..] else {
                continue;
            };
            let (tdm, ai_txt) = (PreferenceSource::TdmFile, PreferenceSource::AiTxt);
            let (source, stated) = match source {
                _ if source == tdm.as_str() => (tdm, tdm_reservation(answer, tdm)),
                _ if source == ai_txt.as_str() => {
                    let may_train = Preferences::of(Usage::Train, answer == "y", ai_txt);
                    (ai_txt, may_train)
                }
                _ => continue,
            };
            self.add(path.as_bytes(), stated, source);
        }
    }

    /// Returns the statement of each source about the path and query of a URL. Every use is refused
    /// if finding it costs more than `work` octets examined.
    pub(crate) fn about(&self, target: &str, mut work: usize) -> Vec<Preferences> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let target = Target::new(target);
        let mut longest: Vec<(PreferenceSource, u32, Preferences)> = Vec::new();
        for rule in &self.0 {
            let matches = rule.pattern.matches(&target, &mut work);
            if work == 0 {
                return vec![Preferences::refusing_all(rule.source)];
            }
            if !matches {
                continue;
            }
            let octets = rule.pattern.octets();
            let mut known = longest.iter_mut();
            match known.find(|(source, ..)| *source == rule.source) {
                None => longest.push((rule.source, octets, rule.stated)),
                Some(_first) if rule.source == PreferenceSource::TdmFile => {}
                Some((_, most, stated)) => match octets.cmp(most) {
                    Ordering::Greater => (*most, *stated) = (octets, rule.stated),
                    Ordering::Equal => stated.add(rule.stated),
                    Ordering::Less => {}
                },
            }
        }
        longest.into_iter().map(|(.., stated)| stated).collect()
    }
}
