//! `crawler patterns`: lists URL patterns that bring new pages, patterns that were closed because
//! they bring none, and links that were classified as traps. Reads the journal, so it works while
//! the crawl runs; reopening a pattern needs exclusive access to the crawl, or a line in its
//! control.toml.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use journal::{History, LeftOut, PatternName, Record};
use serde::Serialize;
use store::{Example, PatternReport, PatternState, Patterns};

use super::order;
use super::shared::{OpenCrawl, Refused};
use crate::args::PatternsArgs;
use crate::cli_error::{CliError, usage};
use crate::crawl_directory;
use crate::output::{self, Format};
use crate::terminal::{pasted, printable, say};

/// Maximum number of examples per rule.
const EXAMPLES: usize = 3;

/// A pattern of URLs.
#[derive(Serialize)]
struct Pattern<'a> {
    pattern: String,
    state: &'static str,
    visited: u64,
    new: u64,
    repeated: u64,
    /// Pages that were gone, or left out after they were fetched.
    nothing: u64,
    /// Pages off topic in a focused crawl.
    #[serde(skip_serializing_if = "is_zero")]
    off_topic: u64,
    /// URLs left out unvisited.
    left_out: u64,
    examples: &'a [Example],
}

/// A rule that classified links as traps.
#[derive(Default, Serialize)]
struct Rule {
    /// Number of links that it left out.
    links: u64,
    /// Some of these links.
    examples: Vec<String>,
}

#[derive(Serialize)]
struct TrapLine<'a> {
    /// The name of the rule.
    trap: &'a str,
    #[serde(flatten)]
    rule: &'a Rule,
}

pub(crate) fn run(args: &PatternsArgs) -> Result<(), CliError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), &args.store)?;
    let state = crawl_directory::state_of(crawl.directory())?;
    if let Some(name) = &args.reopen {
        crawl.refuse_for_mirror("--reopen", Refused::Writes)?;
        return reopen(crawl.directory(), name);
    }
    let (mut patterns, mut rules) = (Patterns::default(), BTreeMap::<String, Rule>::new());
    for record in History::open(&state)? {
        let record = record?;
        patterns.apply(&record);
        if let Record::Settled(settled) = record {
            for links in settled.visit.left_out {
                rules.entry(links.rule.clone()).or_default().add(&links);
            }
        }
    }
    let mut reports: Vec<PatternReport<'_>> = patterns.reports().collect();
    reports.sort_by_key(|report| {
        let state = match report.state {
            PatternState::Closed => 0,
            PatternState::Poor => 1,
            PatternState::Open => 2,
        };
        (state, std::cmp::Reverse(report.visited))
    });
    let format = Format::or_fitting(args.format);
    output::to_stdout(|out| {
        for report in &reports {
            Pattern::of(report).write(format, out)?;
        }
        for (name, rule) in &rules {
            rule.write(name, format, out)?;
        }
        Ok(())
    })
}

/// Reopens a pattern.
fn reopen(directory: &Path, name: &str) -> Result<(), CliError> {
    let unknown = || {
        let remedy = format!(
            "`crawler patterns {}` lists them: HOST/PATH?KEYS",
            pasted(directory)
        );
        usage(format!("{name:?} is not a URL pattern of this crawl")).with_remedy(remedy)
    };
    let pattern = PatternName::from_text(name).ok_or_else(unknown)?;
    let line = format!("reopen = [\"{pattern}\"]");
    let queued = order(directory, &line, async |store| store.reopen(&pattern).await)?;
    let queued = queued.ok_or_else(unknown)?;
    say(&format!(
        "{pattern} is open again, and {queued} excluded URLs are queued; continue with `crawler \
         --out {}`",
        pasted(directory)
    ));
    Ok(())
}

impl Rule {
    fn add(&mut self, left_out: &LeftOut) {
        self.links += left_out.links;
        let example = left_out.example.to_string();
        if self.examples.len() < EXAMPLES && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }

    fn write(&self, name: &str, format: Format, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Json {
            let line = TrapLine {
                trap: name,
                rule: self,
            };
            return output::json_line(out, &line);
        }
        let (name, links) = (printable(name), self.links);
        writeln!(out, "trap    {name}: {links} links excluded")?;
        for example in &self.examples {
            writeln!(out, "          {}", printable(example))?;
        }
        Ok(())
    }
}

/// Returns true for a zero count, which is omitted: the crawl has no topic.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl<'a> Pattern<'a> {
    fn of(report: &'a PatternReport<'a>) -> Self {
        Self {
            pattern: format!("{}{}", report.host, report.pattern.as_str()),
            state: report.state.as_str(),
            visited: report.visited,
            new: report.new,
            repeated: report.repeated,
            nothing: report.nothing,
            off_topic: report.off_topic,
            left_out: report.left_out,
            examples: report.examples,
        }
    }

    fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Json {
            return output::json_line(out, self);
        }
        let some = |count: u64, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        let off_topic = some(self.off_topic, "off topic");
        let left_out = some(self.left_out, "left out");
        writeln!(
            out,
            "{:<6}  {}: {} visited, {} new{off_topic}{left_out}",
            self.state,
            printable(&self.pattern),
            self.visited,
            self.new
        )?;
        if self.state == PatternState::Open.as_str() {
            return Ok(());
        }
        for Example { url, original } in self.examples {
            write!(out, "          {}", printable(url))?;
            if let Some(original) = original {
                write!(out, "  repeats {}", printable(original))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
