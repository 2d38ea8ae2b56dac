//! Files of a site, other than robots.txt, with preferences of its owner.
//!
//! Callers store what is known about a site as one text. [`SiteFile::lines`] therefore translates
//! each file into lines of one form, `SOURCE PATH ANSWER`, which `site_rules.rs` reads.

use serde::Deserialize;

use crate::preferences::preference::PreferenceSource;
use crate::robots::RobotsRules;
use crate::url::page_url::PageUrl;

/// A file with preferences at a fixed place of each site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteFile {
    /// The TDM file (TDMRep section 5.1).
    Tdm,
    /// The file that Spawning reads.
    AiTxt,
}

/// A rule of tdmrep.json; a rule without both members is none.
#[derive(Deserialize)]
struct TdmRule {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: serde_json::Value,
}

impl SiteFile {
    /// All files, in the order of their requests.
    pub const ALL: [Self; 2] = [Self::Tdm, Self::AiTxt];

    /// Returns the path of the file.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Tdm => "/.well-known/tdmrep.json",
            Self::AiTxt => "/ai.txt",
        }
    }

    /// Returns the file at a URL; `None` for other URLs.
    #[must_use]
    pub fn at(url: &PageUrl) -> Option<Self> {
        let path = url.as_url().path();
        Self::ALL.into_iter().find(|file| file.path() == path)
    }

    /// Returns the statements of a file for the crawler with this product token, a line each. A
    /// file of another form states nothing: several conventions share the name `ai.txt`.
    #[must_use]
    pub fn lines(self, body: &[u8], agent: &str) -> String {
        match self {
            Self::Tdm => tdm_lines(body),
            Self::AiTxt => ai_txt_lines(body, agent),
        }
    }
}

fn tdm_lines(body: &[u8]) -> String {
    let rules: Vec<serde_json::Value> = serde_json::from_slice(body).unwrap_or_default();
    let rules = rules.into_iter().map(serde_json::from_value::<TdmRule>);
    let lines = rules.filter_map(Result::ok).filter_map(|rule| {
        let answer = match rule.reservation {
            serde_json::Value::Number(number) => number.to_string(),
            serde_json::Value::String(text) => text,
            _ => return None,
        };
        line(PreferenceSource::TdmFile, &rule.location, answer.trim())
    });
    lines.collect()
}

/// Reads a file in the form of robots.txt. The rules of all groups that name us count, or else of
/// all groups for `*`.
fn ai_txt_lines(body: &[u8], agent: &str) -> String {
    let rules = RobotsRules::parse(body, agent);
    let lines = rules.paths().filter_map(|(path, is_allowed)| {
        let answer = if is_allowed { "y" } else { "n" };
        line(PreferenceSource::AiTxt, &path, answer)
    });
    lines.collect()
}

/// Returns a line; `None` if the path could not be told from the answer.
fn line(source: PreferenceSource, path: &str, answer: &str) -> Option<String> {
    let is_plain =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let path = path.replace(' ', "%20");
    let is_line = is_plain(&path) && is_plain(answer);
    is_line.then(|| format!("{} {path} {answer}\n", source.as_str()))
}
