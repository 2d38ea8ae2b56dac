//! `crawler patterns`: lists URL patterns that bring new pages, patterns that were closed because
//! they bring none, and links that were classified as traps. Reads the journal, so it works while
//! the crawl runs; reopening a pattern needs exclusive access to the crawl, or a line in its
//! control.toml.

use std::io::{self, Write};
use std::path::Path;

use inspect::patterns::{Pattern, Rule, Scripts, TrapLine, TrapsFound};
use journal::PatternName;
use messages::{CommandError, counted, pasted, printable, say, usage};
use settings::crawl_directory;
use setup::crawl_store::apply;
use setup::shared::{OpenCrawl, Refused};
use store::{Example, PatternState};

use crate::args::PatternsArgs;
use crate::output::{self, Format};

pub(crate) fn run(args: &PatternsArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let state = crawl_directory::state_of(crawl.directory())?;
    if let Some(name) = &args.reopen {
        crawl.refuse_for_replica("--reopen", Refused::Writes)?;
        return reopen(crawl.directory(), name);
    }
    let found = TrapsFound::read(&state)?;
    let format = Format::or_fitting(args.format);
    output::to_stdout(|out| {
        for report in &found.reports() {
            write_pattern(&Pattern::of(report), format, out)?;
        }
        for (name, rule) in &found.rules {
            write_rule(rule, name, format, out)?;
        }
        Ok(())
    })
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
        "{pattern} is open again, and {queued} excluded URLs are queued; continue with `crawler \
         --out {}`",
        pasted(directory)
    ));
    Ok(())
}

fn write_rule(rule: &Rule, name: &str, format: Format, out: &mut dyn Write) -> io::Result<()> {
    if format == Format::Json {
        let line = TrapLine { trap: name, rule };
        return output::json_line(out, &line);
    }
    let (name, links) = (printable(name), counted(rule.links, "link"));
    writeln!(out, "trap    {name}: {links} excluded")?;
    for example in &rule.examples {
        writeln!(out, "          {}", printable(example))?;
    }
    Ok(())
}

fn write_pattern(pattern: &Pattern<'_>, format: Format, out: &mut dyn Write) -> io::Result<()> {
    if format == Format::Json {
        return output::json_line(out, pattern);
    }
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
