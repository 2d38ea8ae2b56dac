//! `crawler patterns`: lists URL patterns that bring new pages, patterns that were closed because
//! they bring none, and links that were classified as traps. Reads the journal, so it works while
//! the crawl runs; reopening a pattern needs exclusive access to the crawl, or a line in its
//! control.toml.

use std::io::{self, Write};
use std::path::Path;

use export::List;
use inspect::patterns::{Pattern, Rule, Scripts, TrapLine, TrapsFound};
use journal::PatternName;
use messages::{CommandError, counted, counted_as, pasted, printable, say, usage};
use serde_json::json;
use settings::crawl_directory;
use setup::crawl_store::apply;
use setup::shared::{OpenCrawl, Refused};
use store::{Example, PatternState};

use crate::args::PatternsArgs;
use crate::output;

/// Columns of CSV.
const COLUMNS: &[&str] = &[
    "pattern",
    "state",
    "visited",
    "new",
    "repeated",
    "nothing",
    "off_topic",
    "excluded",
];

pub(crate) fn run(args: &PatternsArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let state = crawl_directory::state_of(crawl.directory())?;
    if let Some(name) = &args.reopen {
        crawl.refuse_for_replica("--reopen", Refused::Writes)?;
        return reopen(crawl.directory(), name);
    }
    let found = TrapsFound::read(&state)?;
    output::list(&args.list, COLUMNS, |list| {
        for report in &found.reports() {
            let pattern = Pattern::of(report);
            list.write(&pattern, |out| write_pattern(&pattern, out))?;
        }
        for (trap, rule) in &found.rules {
            if args.list.needs_rows() {
                write_row(list, trap, rule)?;
            } else {
                let line = TrapLine { trap, rule };
                list.write(&line, |out| write_rule(rule, trap, out))?;
            }
        }
        Ok(())
    })
}

/// Writes a rule in the columns of patterns.
fn write_row(list: &mut List<'_>, trap: &str, rule: &Rule) -> io::Result<()> {
    let row = json!({"pattern": trap, "state": "trap", "excluded": rule.links});
    list.write(&row, |_| Ok(()))
}

/// Reopens a pattern.
fn reopen(directory: &Path, name: &str) -> Result<(), CommandError> {
    let unknown = || {
        let remedy = format!(
            "`crawler patterns {}` lists them: HOST/PATH?KEYS",
            pasted(directory)
        );
        usage(format!("{name:?} is not a URL pattern of this crawl")).with_remedy(remedy)
    };
    let pattern = PatternName::from_text(name).ok_or_else(unknown)?;
    let line = format!("reopen = [\"{pattern}\"]");
    let queued = apply(directory, &line, async |store| store.reopen(&pattern).await)?;
    let queued = queued.ok_or_else(unknown)?;
    say(&format!(
        "{pattern} is open again, and {}; continue with `crawler --out {}`",
        counted_as(queued, "excluded URL is queued", "excluded URLs are queued"),
        pasted(directory)
    ));
    Ok(())
}

fn write_rule(rule: &Rule, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let (name, links) = (printable(name), counted(rule.links, "link"));
    writeln!(out, "trap    {name}: {links} excluded")?;
    for example in &rule.examples {
        writeln!(out, "          {}", printable(example))?;
    }
    Ok(())
}

fn write_pattern(pattern: &Pattern<'_>, out: &mut dyn Write) -> io::Result<()> {
    let some = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    let off_topic = some(pattern.off_topic, "off topic");
    let excluded = some(pattern.excluded, "excluded");
    let scripts = match &pattern.scripts {
        Some(Scripts {
            used,
            rendered,
            adding,
        }) => {
            let pages = counted(u64::from(*rendered), "page");
            format!(
                "; scripts: {}, {pages} rendered, {adding} gained",
                used.as_str()
            )
        }
        None => String::new(),
    };
    writeln!(
        out,
        "{:<6}  {}: {} visited, {} new{off_topic}{excluded}{scripts}",
        pattern.state,
        printable(&pattern.pattern),
        pattern.visited,
        pattern.new
    )?;
    if pattern.state == PatternState::Open.as_str() {
        return Ok(());
    }
    for Example { url, original } in pattern.examples {
        write!(out, "          {}", printable(url))?;
        if let Some(original) = original {
            write!(out, "  repeats {}", printable(original))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
