//! `crawler unpack`: writes archives as files that a browser opens without a server.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use bytesize::ByteSize;
use inspect::unpack::{self, Summary};
use messages::{CommandError, counted};

use super::exit_code;
use crate::args::UnpackArgs;
use crate::output::{self, Format};

pub(crate) fn run(args: &UnpackArgs) -> Result<ExitCode, CommandError> {
    let (summary, is_whole) = unpack::unpack(&args.inputs, &args.output, args.force)?;
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &summary),
        Format::Table => write(&summary, out, &args.output),
    })?;
    Ok(exit_code(is_whole))
}

fn write(summary: &Summary, out: &mut dyn io::Write, output: &Path) -> io::Result<()> {
    let size = ByteSize(summary.bytes).display().iec();
    let files = counted(summary.files, "file");
    writeln!(out, "{}: {files}, {size}", output.display())?;
    let some = |count: u64| (count > 0).then(|| count.to_string());
    output::columns(
        out,
        &[
            ("links to files", Some(summary.links_to_files.to_string())),
            ("links to the web", Some(summary.links_to_web.to_string())),
            ("redirects and duplicates", some(summary.redirected)),
            ("without content", some(summary.without_content)),
            ("unreadable", some(summary.unreadable)),
            ("begin at", summary.start.clone()),
        ],
    )
}
