//! The seeds of a crawl: the seeds file and the URLs on the command line.
//!
//! A list may contain millions of seeds. The first seeds are read before the crawl begins, so that
//! wrong usage ends the program before it writes anything. The rest is read into the queue in parts
//! (`assembly/long_list.rs`). A short list is stored in the crawl's settings, a long list in a
//! separate file ([`SEEDS_FILE`]).

mod lines;

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use messages::{CommandError, pasted, usage};
use web::{CanonicalForm, PageUrl, SeedLine};

use self::lines::Lines;
use crate::settings::{SETTINGS_FILE, Settings};

/// Name of the file for seeds that are too many for the settings, below the crawl's directory: one
/// canonical URL per line.
pub const SEEDS_FILE: &str = "crawler.seeds";

/// Maximum number of seeds that are stored in the settings, and read before the crawl begins.
const SHORT_LIST: usize = 10_000;

/// Maximum number of warnings about lines that are printed; the rest are counted.
const MAX_WARNINGS: usize = 20;

/// The seeds of a crawl, in the given order and without repetition, and the warnings about their
/// lines.
#[derive(Default)]
pub struct Seeds {
    /// The first seeds, or all seeds if the whole list was read.
    pub urls: Vec<PageUrl>,
    /// Warnings about lines.
    pub warnings: SeedWarnings,
    /// The rest of a long list.
    rest: Option<SeedReader>,
}

/// The part of the seeds that is read before the crawl begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// The first seeds of a long list.
    First,
    /// All seeds, because other settings depend on the complete list.
    All,
}

/// A function that returns the remedy for an argument that is neither a URL nor a command.
pub type Suggest = fn(&str) -> Option<String>;

impl Seeds {
    /// Reads the file and the arguments. An empty list of seeds is a usage error.
    pub fn gather(
        settings: &Settings,
        form: &CanonicalForm,
        ahead: ReadAhead,
        suggest: Suggest,
    ) -> Result<Self, CommandError> {
        for argument in &settings.url {
            if let Some(error) = not_a_url(argument, suggest) {
                return Err(error);
            }
        }
        let mut reader = SeedReader::new(settings, form);
        let most = match ahead {
            ReadAhead::First => SHORT_LIST,
            ReadAhead::All => usize::MAX,
        };
        let mut known = HashSet::new();
        let mut urls = Vec::new();
        while urls.len() < most && !reader.is_at_end() {
            let mut part = reader.next_part(SHORT_LIST)?;
            part.retain(|url| known.insert(url.key()));
            urls.append(&mut part);
        }
        let warnings = std::mem::take(&mut reader.warnings);
        if urls.is_empty() {
            return Err(nothing(settings, &warnings));
        }
        let rest = (!reader.is_at_end()).then_some(reader);
        Ok(Self {
            urls,
            warnings,
            rest,
        })
    }

    /// Returns the reader of the seeds after the first ones. Only the first call returns it.
    pub fn take_rest(&mut self) -> Option<SeedReader> {
        self.rest.take()
    }
}

/// Returns the part to read ahead: a topic, secrets and certificates are bound to all seeds.
pub fn read_ahead(settings: &Settings, has_secrets: bool) -> ReadAhead {
    let mut of_hosts = settings.host.values();
    let needs_all = has_secrets
        || settings.has_topic()
        || settings.client_cert.is_some()
        || of_hosts.any(|own| own.client_cert.is_some());
    match needs_all {
        true => ReadAhead::All,
        false => ReadAhead::First,
    }
}

/// Calls `give` with each seed of a crawl that has run.
pub fn each_of_crawl(
    settings: &Settings,
    form: &CanonicalForm,
    mut give: impl FnMut(&PageUrl),
) -> Result<(), CommandError> {
    let settings = Settings {
        seeds: None,
        ..settings.clone()
    };
    let mut reader = SeedReader::new(&settings, form);
    while !reader.is_at_end() {
        reader.next_part(SHORT_LIST)?.iter().for_each(&mut give);
    }
    Ok(())
}

/// The first warnings about lines, and their total number.
#[derive(Default)]
pub struct SeedWarnings {
    /// The first warnings.
    pub first: Vec<String>,
    count: usize,
}

impl SeedWarnings {
    fn add(&mut self, warning: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MAX_WARNINGS {
            self.first.push(warning());
        }
    }

    /// Returns the lines to print.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let more = self.count - self.first.len();
        let more = (more > 0).then(|| format!("{more} more lines of the seeds have warnings"));
        self.first.iter().cloned().chain(more)
    }
}

/// A list that seeds are read from.
enum Source {
    /// The crawl's own seeds file.
    Kept(PathBuf),
    /// A file named by the user, or standard input.
    File(PathBuf),
    Arguments(Vec<String>),
}

/// A reader of the seeds of all sources, one source after another.
pub struct SeedReader {
    form: CanonicalForm,
    sources: VecDeque<Source>,
    /// The file that is being read, and the number of the last line read.
    open: Option<(Lines, usize)>,
    /// Warnings about lines.
    pub warnings: SeedWarnings,
}

impl SeedReader {
    fn new(settings: &Settings, form: &CanonicalForm) -> Self {
        let kept = settings.out.join(SEEDS_FILE);
        let kept = kept.is_file().then_some(Source::Kept(kept));
        let file = settings.seeds.clone().map(Source::File);
        let arguments = Source::Arguments(settings.url.clone());
        Self {
            form: form.clone(),
            sources: kept.into_iter().chain(file).chain([arguments]).collect(),
            open: None,
            warnings: SeedWarnings::default(),
        }
    }

    /// Returns true if all sources were read.
    pub fn is_at_end(&self) -> bool {
        self.sources.is_empty()
    }

    /// Reads up to `most` lines, and returns their seeds. Seeds may repeat.
    pub fn next_part(&mut self, most: usize) -> Result<Vec<PageUrl>, CommandError> {
        let mut seeds = Vec::new();
        let is_done = match self.sources.front() {
            None => return Ok(seeds),
            Some(Source::Arguments(arguments)) => {
                for argument in arguments {
                    let line = line_of(argument, &self.form);
                    take(line, "the arguments", None, &mut seeds, &mut self.warnings);
                }
                true
            }
            Some(Source::Kept(path)) => {
                let (open, form) = (&mut self.open, &self.form);
                read_lines(open, path, most, |_, line| {
                    seeds.extend(PageUrl::parse(&line, form));
                })?
            }
            Some(Source::File(path)) => {
                let (open, form, warnings) = (&mut self.open, &self.form, &mut self.warnings);
                let source = path.display().to_string();
                read_lines(open, path, most, |number, line| {
                    let line = SeedLine::parse(&line, form);
                    take(line, &source, Some(number), &mut seeds, warnings);
                })?
            }
        };
        if is_done {
            self.open = None;
            self.sources.pop_front();
        }
        Ok(seeds)
    }
}

/// Calls `give` with the number and text of up to `most` lines. Returns true at the end.
fn read_lines(
    open: &mut Option<(Lines, usize)>,
    path: &Path,
    most: usize,
    mut give: impl FnMut(usize, String),
) -> Result<bool, CommandError> {
    let unreadable = |error| {
        let file = path.display();
        usage(format!("cannot read the seeds file {file}: {error}"))
    };
    let (lines, number) = match open {
        Some(open) => open,
        none => none.insert((Lines::open(path).map_err(unreadable)?, 0)),
    };
    for _ in 0..most {
        let Some(line) = lines.next_line().map_err(unreadable)? else {
            return Ok(true);
        };
        *number += 1;
        give(*number, line);
    }
    Ok(false)
}

/// Reads an argument: one URL, or a line of several words if it contains white space.
fn line_of(argument: &str, form: &CanonicalForm) -> SeedLine {
    match argument.trim().contains(char::is_whitespace) {
        true => SeedLine::parse(argument, form),
        false => SeedLine::of_url(argument, form),
    }
}

/// Adds the seeds and the warning of a line.
fn take(
    line: SeedLine,
    source: &str,
    number: Option<usize>,
    seeds: &mut Vec<PageUrl>,
    warnings: &mut SeedWarnings,
) {
    seeds.extend(line.seeds);
    if let Some(warning) = line.warning {
        warnings.add(|| match number {
            Some(number) => format!("{source}, line {number}: {warning}"),
            None => format!("{source}: {warning}"),
        });
    }
}

/// Returns the error for a crawl without seeds.
fn nothing(settings: &Settings, warnings: &SeedWarnings) -> CommandError {
    let shape = "one URL per line, such as https://example.org/";
    match (&settings.seeds, warnings.first.first()) {
        (_, Some(first)) => usage(format!("no seed is a URL: {first}")).with_remedy(shape),
        (Some(file), None) => usage(format!("{} has no seeds", file.display())).with_remedy(shape),
        (None, None) => usage("no seeds")
            .with_remedy("crawler --seeds seeds.txt, or crawler https://example.org/"),
    }
}

/// Returns the error for an argument that is clearly not a URL: a file, a crawl's directory, or a
/// misspelt command.
fn not_a_url(argument: &str, suggest: Suggest) -> Option<CommandError> {
    if argument.contains("://") {
        return None;
    }
    let path = Path::new(argument);
    if path.is_file() {
        let error = usage(format!("{argument:?} is a file, not a URL"));
        return Some(error.with_remedy(format!("did you mean --seeds {}?", pasted(path))));
    }
    if path.join(SETTINGS_FILE).is_file() {
        let error = usage(format!(
            "{argument:?} is the directory of a crawl, not a URL"
        ));
        return Some(error.with_remedy(format!("`crawler --out {}` continues it", pasted(path))));
    }
    if argument.contains(['.', ':', '/']) {
        return None;
    }
    let remedy = suggest(argument);
    let remedy = remedy.unwrap_or_else(|| {
        "`crawler --help` lists the commands; a seed looks like https://example.org/".to_owned()
    });
    Some(usage(format!("{argument:?} is neither a command nor a URL")).with_remedy(remedy))
}
