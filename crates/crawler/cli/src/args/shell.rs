//! The arguments of commands that help with the command line itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the manual page of crawler, or write the manual pages of all commands to a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler man | man -l -                     read it
  crawler man --output ~/.local/share/man/man1
  man crawler-export                         afterwards")]
pub(crate) struct ManArgs {
    /// Write crawler.1, and crawler-COMMAND.1 for each command, to this directory
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Print a script for shell completion of commands, options and values.
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
