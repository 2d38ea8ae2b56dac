//! The dashboard of a session, which outlives the crawl on a terminal.

use messages::say;
use tokio::task::JoinHandle;
use web_ui::DashboardServer;

use crate::commands::serve;

/// A dashboard that is served until it is dropped.
pub(in crate::commands) struct ServedDashboard {
    url: String,
    task: JoinHandle<()>,
}

impl ServedDashboard {
    /// Prints the URL, and begins to serve.
    pub(super) fn begin(server: DashboardServer) -> Self {
        serve::announce(&server);
        Self {
            url: server.url(),
            task: tokio::spawn(server.run()),
        }
    }

    /// Serves the crawl, which has ended, until a signal ends the command.
    pub(super) async fn stay(self) {
        let url = &self.url;
        say(&format!(
            "the crawl has ended; the dashboard stays until Ctrl-C: {url}"
        ));
        serve::ended().await;
    }
}

impl Drop for ServedDashboard {
    fn drop(&mut self) {
        self.task.abort();
    }
}
