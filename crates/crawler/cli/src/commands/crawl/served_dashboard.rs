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
    /// Begins to serve, and prints the URL.
    pub(super) fn begin(server: DashboardServer) -> Self {
        serve::announce(&server);
        Self {
            url: server.url(),
            task: tokio::spawn(server.run()),
        }
    }

    /// Ends it, and waits until its address is free.
    pub(super) async fn end(mut self) {
        self.task.abort();
        drop((&mut self.task).await);
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
