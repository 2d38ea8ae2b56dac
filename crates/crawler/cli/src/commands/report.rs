//! `crawler report`: writes one file that shows a crawl.
//!
//! If the journal is damaged, the report shows the part before the damage, and the command exits
//! with code 1.

use std::io::Write;
use std::path::Path;

use disk::OutputFile;
use inspect::journal::damaged;
use inspect::report;
use messages::CommandError;
use settings::input::unwritable;
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
    let Some(path) = args.file(directory) else {
        return match args.format {
            ReportForm::Html => output::file_to_stdout(|mut out| report.write_html(&mut out)),
            ReportForm::Json => output::to_stdout(|out| output::json_line(out, report)),
        };
    };
    let unwritable = unwritable(&path);
    let mut draft = OutputFile::replacing(&path).map_err(unwritable)?;
    let mut whole = Vec::new();
    let made = match args.format {
        ReportForm::Html => report.write_html(&mut whole),
        ReportForm::Json => output::json_line(&mut Escaping::new(&mut whole), report),
    };
    made.and_then(|()| draft.write_all(&whole))
        .map_err(unwritable)?;
    draft.complete().map_err(unwritable)?;
    let opened = match args.format {
        ReportForm::Html => "open it in a browser",
        ReportForm::Json => "one JSON object",
    };
    output::say_written(&path, "a report", opened);
    Ok(())
}
