//! `crawler man` and `crawler completions`: made from the options themselves, so they are true.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::unwritable;
use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::cli_error::CliError;
use crate::output;

/// Writes the manual pages: that of the program to standard output, or all of them to a directory.
pub(crate) fn man(args: &ManArgs) -> Result<(), CliError> {
    match &args.output {
        Some(directory) => write_all(directory).map_err(unwritable(directory)),
        None => {
            let page = Man::new(built());
            output::file_to_stdout(|out| page.render(out))
        }
    }
}

/// Returns the command with everything that its parser adds.
fn built() -> Command {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Writes `crawler.1`, and `crawler-NAME.1` for each command.
fn write_all(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Arguments::command(), directory)
}

/// Prints the script with which a shell completes commands and options.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut Arguments::command(),
        "crawler",
        &mut script,
    );
    output::file_to_stdout(|out| out.write_all(&script))
}
