//! `crawler wacz`: packs crawls and WARC files into one file that replay tools open directly.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use inspect::wacz::{Options, PackageInputs};
use messages::{CommandError, counted, usage};

use super::exit_code;
use crate::args::WaczArgs;
use crate::output;

pub(crate) fn run(args: &WaczArgs) -> Result<ExitCode, CommandError> {
    let inputs = PackageInputs::open(Options {
        inputs: &args.inputs,
        output: &args.output,
        title: args.title.as_deref(),
        description: args.description.as_deref(),
        text: args.text,
        sign: args.sign.as_deref(),
    })?;
    let to_stdout = args.output == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        return Err(
            usage("cannot write a WACZ to a terminal").with_remedy("use --output FILE, or a pipe")
        );
    }
    let mut packing = inputs.index()?;
    let is_whole = packing.is_whole();
    if to_stdout {
        packing.pack_to_stream(io::stdout().lock())?;
    } else {
        let pages = counted(packing.pack_to_file(&args.output)?, "page");
        let opened = "open it at https://replayweb.page or with pywb";
        output::say_written(&args.output, &pages, opened);
    }
    packing.check_pages()?;
    Ok(exit_code(is_whole))
}
