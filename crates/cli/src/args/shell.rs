//! The arguments of commands that help with the command line itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the manual page of crawler, or write those of all commands to a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler man | man -l -                     read it
  crawler man --output ~/.local/share/man/man1
  man crawler-export                         then")]
pub(crate) struct ManArgs {
    /// Write crawler.1, and crawler-COMMAND.1 for each command, to this directory
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Print a script with which a shell completes commands, options and their values.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler completions bash > ~/.local/share/bash-completion/completions/crawler
  crawler completions zsh > ~/.zfunc/_crawler         with ~/.zfunc in fpath
  crawler completions fish > ~/.config/fish/completions/crawler.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
