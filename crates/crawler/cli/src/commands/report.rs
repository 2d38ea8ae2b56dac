//! `crawler report`: writes one file that shows a crawl.
//!
//! If the journal is damaged, the report shows the part before the damage, and the command exits
//! with code 1.

use std::path::Path;

use inspect::journal::damaged;
use inspect::report;
use messages::CommandError;
use setup::shared::OpenCrawl;
use web::Escaping;
use web_ui::Report;

use crate::args::{ReportArgs, ReportForm};
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let (report, damage) = report::of_crawl(&crawl)?;
    let directory = match crawl.is_replica() {
        true => Path::new(""),
        false => crawl.directory(),
    };
    write(args, directory, &report)?;
    damage.map_or(Ok(()), |damage| Err(damaged(crawl.directory())(damage)))
}

fn write(args: &ReportArgs, directory: &Path, report: &Report) -> Result<(), CommandError> {
    let path = args.file(directory);
    match args.format {
        ReportForm::Html => output::page(&path, "a report", |mut out| report.write_html(&mut out)),
        ReportForm::Json => output::file(&path, "a report", "one JSON object", |out| {
            output::json_line(&mut Escaping::new(out), report)
        }),
    }
}
