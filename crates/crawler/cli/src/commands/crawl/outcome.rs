//! The outcome of a session.

use std::process::ExitCode;

use journal::StoreFault;
use messages::CommandError;

use super::served_dashboard::ServedDashboard;

/// The exit code that shells report for an interrupted process.
pub(super) const INTERRUPTED: u8 = 130;

/// The end of a session.
pub(in crate::commands) enum SessionEnd {
    /// The crawl, or this session of it, has ended.
    Finished(ExitCode),
    /// The node's term expired first. Unsettled visits will be repeated.
    TermEnded(StoreFault),
}

impl SessionEnd {
    /// Returns the exit code of the command.
    pub(super) fn code(self) -> ExitCode {
        match self {
            Self::Finished(code) => code,
            Self::TermEnded(_) => ExitCode::FAILURE,
        }
    }
}

/// The end of a session that is not summarised.
pub(super) enum EarlyEnd {
    /// The node's term expired.
    TermEnded(StoreFault),
    Failed(CommandError),
}

impl From<CommandError> for EarlyEnd {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

/// The end of a session, and its summary as JSON, unless the session ended early.
pub(super) struct Outcome {
    pub(super) end: Result<SessionEnd, CommandError>,
    pub(super) summary: Option<Vec<u8>>,
    /// The dashboard, if it stays.
    pub(super) dashboard: Option<ServedDashboard>,
}

impl Outcome {
    /// Returns true if neither a signal nor a fault ended the crawl.
    pub(super) fn has_finished(&self) -> bool {
        matches!(
            self.end,
            Ok(SessionEnd::Finished(code)) if code != ExitCode::from(INTERRUPTED)
        )
    }
}

impl From<EarlyEnd> for Outcome {
    fn from(early: EarlyEnd) -> Self {
        let end = match early {
            EarlyEnd::TermEnded(ended) => Ok(SessionEnd::TermEnded(ended)),
            EarlyEnd::Failed(error) => Err(error),
        };
        Self {
            end,
            summary: None,
            dashboard: None,
        }
    }
}
