//! The arguments of a crawl: its settings as flags, and options that hold for one run.

use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::Settings;
use crate::secrets::SecretArgs;

/// The last headings of the help. Flags without a heading come first.
const LAST: [&str; 3] = ["Advanced", "Archive", "Output"];

/// The arguments of a crawl.
#[derive(Clone)]
pub(crate) struct CrawlArgs {
    /// The flags that were given. [`Settings`] are updated with those that are settings.
    pub(super) flags: ArgMatches,
    pub(crate) run: RunArgs,
}

/// Options that are not settings: no crawl keeps them.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Read settings from this file; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    /// The final summary on standard output: text or json [default: text]
    #[arg(long, value_name = "FORM", help_heading = "Output")]
    pub(crate) summary: Option<SummaryForm>,
    /// No progress and no warnings
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryForm {
    Text,
    Json,
}

impl FromArgMatches for CrawlArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            flags: matches.clone(),
            run: RunArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CrawlArgs {
    fn augment_args(command: Command) -> Command {
        // As for an update, no setting is required. `--fresh` stands for `--fresh=true`.
        let settings = Settings::augment_args_for_update(Command::default());
        let settings = settings.mut_args(|arg| match arg.get_action() {
            ArgAction::SetTrue => arg
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL"),
            _ => arg,
        });
        let all = RunArgs::augment_args(settings);
        let mut arguments: Vec<_> = all.get_arguments().cloned().collect();
        arguments.sort_by_key(|arg| {
            let heading = arg.get_help_heading();
            LAST.iter().position(|last| heading == Some(*last))
        });
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
