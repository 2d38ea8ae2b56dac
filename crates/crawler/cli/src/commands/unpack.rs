//! `crawler unpack`: writes archives as files that a browser opens without a server.

use std::io;
use std::process::ExitCode;

use inspect::unpack::{self, Summary};
use messages::{CommandError, counted, printable};

use super::exit_code;
use crate::args::UnpackArgs;
use crate::output::{self, Format};

pub(crate) fn run(args: &UnpackArgs) -> Result<ExitCode, CommandError> {
    let (summary, is_whole) = unpack::unpack(&args.inputs, &args.output, args.force)?;
    output::to_stdout(|out| match args.format {
        Format::Json => output::json_line(out, &summary),
        Format::Table => write(&summary, out),
    })?;
    let files = counted(summary.files, "file");
    let opened = match &summary.start {
        Some(start) => format!("open {} in a browser", printable(start)),
        None => "there is no page to open".to_owned(),
    };
    output::say_written_bytes(&args.output, &files, summary.bytes, &opened);
    Ok(exit_code(is_whole))
}

fn write(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    let some = |count: u64| (count > 0).then(|| count.to_string());
    output::columns(
        out,
        &[
            ("links to files", Some(summary.links_to_files.to_string())),
            ("links to the web", Some(summary.links_to_web.to_string())),
            ("redirects and duplicates", some(summary.redirected)),
            ("without content", some(summary.without_content)),
            ("unreadable", some(summary.unreadable)),
        ],
    )
}
