//! `crawler node`: takes part in a crawl that several nodes share.
//!
//! If a node's term ends before the node leaves (the store was unreachable, or the node hung), the
//! node begins a new term in a new image of its process. Unsettled visits are cut from its archive
//! and repeated.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use journal::StoreFault;
use messages::{CommandError, fault, say};
use setup::membership::{self, ENDED_TERM, NodeOptions};
use setup::shared;

use super::crawl::{self, SessionEnd};
use crate::args::{Arguments, NodeArgs};

/// The program of this process on Linux, even after an upgrade has removed its file.
const RUNNING: &str = "/proc/self/exe";

pub(crate) fn run(args: &NodeArgs) -> Result<ExitCode, CommandError> {
    let url = shared::required_url(args.own.store.as_ref())?;
    let options = NodeOptions {
        name: args.own.name.as_deref(),
        term: args.own.term,
        flags: &args.crawl.flags,
        config: args.crawl.run.config.as_deref(),
        suggest: Arguments::suggest_command,
    };
    let node = shared::runtime()?.block_on(membership::prepare(&options, url))?;
    match crawl::run_as(&args.crawl, Some(node))? {
        SessionEnd::Finished(code) => Ok(code),
        SessionEnd::TermEnded(ended) => {
            say(&format!("{ended}; a new term begins"));
            // A new image has no lock, connection or task of the old term.
            let mut command = Command::new(image()?);
            command.args(std::env::args_os().skip(1));
            if let StoreFault::TermEnded { term, .. } = ended {
                command.env(ENDED_TERM, term.to_string());
            }
            Err(fault(&command.exec()))
        }
    }
}

/// Returns the path of this program.
fn image() -> Result<PathBuf, CommandError> {
    match std::env::current_exe() {
        Ok(program) if program.exists() => Ok(program),
        _ if Path::new(RUNNING).exists() => Ok(RUNNING.into()),
        Ok(program) => Ok(program),
        Err(error) => Err(fault(&error)),
    }
}
