//! `crawler skipped`: lists the URLs that a crawl has seen and not visited, with the reasons. Works
//! while the crawl runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use export::List;
use inspect::skipped::{Skipped, Unvisited, UnvisitedUrls};
use journal::ReasonKind;
use messages::{CommandError, printable, say};

use crate::args::SkippedArgs;
use crate::output;

pub(crate) fn run(args: &SkippedArgs) -> Result<(), CommandError> {
    let unvisited = Unvisited::read(&args.directory, args.why)?;
    write(args, unvisited.urls)?;
    unvisited.gaps.check()
}

/// Columns of CSV.
const COLUMNS: &[&str] = &["url", "why", "reason", "via"];

/// Writes the list and the number of URLs per kind.
fn write(args: &SkippedArgs, urls: UnvisitedUrls) -> Result<(), CommandError> {
    let counts = RefCell::new(BTreeMap::<ReasonKind, u64>::new());
    output::list(&args.list, COLUMNS, |list| {
        urls.each(|skipped| {
            let kind = skipped.kind();
            if args.why.is_some_and(|why| why != kind) {
                return Ok(());
            }
            *counts.borrow_mut().entry(kind).or_insert(0) += 1;
            write_line(list, &skipped)
        })
    })?;
    let counts = counts.into_inner();
    for (kind, count) in &counts {
        say(&format!("{count:>9}  {kind}"));
    }
    if counts.is_empty() {
        say("every URL found was visited");
    }
    Ok(())
}

fn write_line(list: &mut List<'_>, skipped: &Skipped) -> io::Result<()> {
    let line = skipped.line();
    list.write(&line, |out| {
        write!(
            out,
            "{:>16}  {}  {}",
            line.why,
            printable(line.url),
            printable(line.reason)
        )?;
        match line.via {
            Some(via) => writeln!(out, " (found on {})", printable(via)),
            None => writeln!(out),
        }
    })
}
