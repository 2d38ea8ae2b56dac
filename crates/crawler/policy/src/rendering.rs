//! The pages whose scripts are run.

use std::fmt;
use std::str::FromStr;

use web::{HostTable, PageUrl, PrefixTable, UnknownChoice, parse_choice};

/// A choice of the pages whose scripts are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderMode {
    /// No page.
    #[default]
    Off,
    /// Pages with next to no text without their scripts (`Document::needs_scripts`).
    Shells,
    /// All HTML pages.
    All,
}

impl RenderMode {
    /// Returns true if the scripts of some pages are run.
    #[must_use]
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

/// A choice of the means that isolate the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenderSandbox {
    /// Namespaces without a network and without other processes.
    #[default]
    Namespaces,
    /// Options of the browser alone, where namespaces are forbidden.
    Flags,
}

/// The rules for running scripts.
#[derive(Clone, Debug, Default)]
pub struct RenderRules {
    /// The pages of all other hosts.
    pub mode: RenderMode,
    /// The pages of single hosts; `None` is the mode of all others.
    pub of_hosts: HostTable<Option<RenderMode>>,
    /// The pages below a URL, which go before those of hosts.
    pub of_prefixes: PrefixTable<RenderMode>,
    /// True if pictures of rendered pages are archived.
    pub screenshots: bool,
    /// True if POST requests of scripts are sent to the domain of their page.
    pub posts: bool,
}

impl RenderRules {
    /// Returns the mode for a page.
    #[must_use]
    pub fn mode_of(&self, page: &PageUrl) -> RenderMode {
        let of_host = || self.of_hosts.get(&page.host()).copied().flatten();
        let own = self.of_prefixes.get(page).copied().or_else(of_host);
        own.unwrap_or(self.mode)
    }
}

impl fmt::Display for RenderMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Off => "off",
            Self::Shells => "shells",
            Self::All => "all",
        })
    }
}

impl FromStr for RenderMode {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        parse_choice(word, [Self::Off, Self::Shells, Self::All])
    }
}

impl fmt::Display for RenderSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Namespaces => "namespaces",
            Self::Flags => "flags",
        })
    }
}

impl FromStr for RenderSandbox {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        parse_choice(word, [Self::Namespaces, Self::Flags])
    }
}
