//! The arguments of a crawl: its settings as flags, and options for a single run.

use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use messages::CommandError;
use settings::{Origins, Settings};
use setup::on_file::FileCommand;
use setup::secrets::SecretArgs;

use crate::args::serve::{DEFAULT, ListenAddress};
use crate::log::Verbosity;
use crate::output::Format;

/// The last headings of the help. Flags without a heading come first.
const LAST: [&str; 3] = ["Advanced", "Archive", "Output"];

/// The arguments of a crawl.
#[derive(Clone)]
pub(crate) struct CrawlArgs {
    /// The given flags. Flags that are settings update [`Settings`].
    pub(crate) flags: ArgMatches,
    pub(crate) run: RunArgs,
}

/// Options that are not settings: no crawl keeps them.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    /// Read settings from this file; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) secrets: SecretArgs,
    /// Final summary on standard output: text or json [default: text]
    #[arg(long, value_name = "FORM", help_heading = "Output")]
    pub(crate) summary: Option<SummaryForm>,
    /// Serve a dashboard while the crawl runs, like `crawler serve`, and print its URL; on a
    /// terminal, it stays until Ctrl-C [default ADDR: a free port of this machine]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = DEFAULT,
        help_heading = "Output"
    )]
    pub(crate) serve: Option<ListenAddress>,
    /// Read the token of the dashboard from this file, as in `crawler serve`
    #[arg(long, value_name = "FILE", requires = "serve", help_heading = "Output")]
    pub(crate) token_file: Option<PathBuf>,
    /// Run this command for each file of the archive that is complete, with the file's path as last
    /// argument or in place of {}: one at a time, without a shell. If it fails, the crawler warns,
    /// keeps the file, and runs it again at the end and when the crawl is continued. The crawl ends
    /// after the last file. The command is not stored with the crawl
    #[arg(long, value_name = "COMMAND", help_heading = "Output")]
    pub(crate) on_file: Option<FileCommand>,
    /// Run this command with `sh -c` when the crawl has ended, for any reason, and is saved. It
    /// receives the summary as JSON on standard input and the crawl's directory in CRAWL_DIR; its
    /// output goes to standard error. Its exit code is reported. If it fails, the crawler warns and
    /// exits with the crawl's own code. The command is not stored with the crawl
    #[arg(long, value_name = "COMMAND", help_heading = "Output")]
    pub(crate) on_finish: Option<String>,
    /// Show each visit with its result; twice (-vv), also details. crawl.log always contains
    /// everything
    #[arg(
        short,
        long,
        action = ArgAction::Count,
        overrides_with = "quiet",
        help_heading = "Output"
    )]
    verbose: u8,
    /// No progress and no warnings; twice (-qq), also no summary, unless --summary is given
    #[arg(
        short,
        long,
        action = ArgAction::Count,
        overrides_with = "verbose",
        help_heading = "Output"
    )]
    quiet: u8,
}

impl CrawlArgs {
    /// Merges the preset over the defaults, the file over both and the flags over all.
    pub(crate) fn settings(&self) -> Result<(Settings, Origins), CommandError> {
        let out = self.flags.get_one::<PathBuf>("out");
        Settings::gather_from(
            &self.flags,
            out.map(PathBuf::as_path),
            self.run.config.as_deref(),
        )
    }
}

impl RunArgs {
    /// Returns what the terminal shows.
    pub(crate) const fn verbosity(&self) -> Verbosity {
        Verbosity::of_flags(self.verbose, self.quiet)
    }
}

/// The arguments of `crawler config`: the arguments of a crawl, and the settings to show.
#[derive(Clone)]
pub(crate) struct ConfigArgs {
    pub(crate) crawl: CrawlArgs,
    pub(crate) shown: ShownSettings,
}

/// The settings that `crawler config` shows.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShownSettings {
    /// Directory of a crawl, a settings file as for --config, or one of each
    #[arg(value_name = "DIR|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Explain this setting: meaning, values, default and current value
    #[arg(long, value_name = "KEY")]
    pub(crate) explain: Option<String>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

impl FromArgMatches for ConfigArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            crawl: CrawlArgs::from_arg_matches(matches)?,
            shown: ShownSettings::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ConfigArgs {
    fn augment_args(command: Command) -> Command {
        let of_crawl = CrawlArgs::augment_args(Command::default());
        // Otherwise the paths to show would be parsed as seeds.
        let of_crawl = of_crawl.mut_arg("url", |seeds| seeds.long("url").hide(true));
        let arguments: Vec<_> = of_crawl.get_arguments().cloned().collect();
        ShownSettings::augment_args(command).args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
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

#[cfg(test)]
mod tests;
