//! Options of the browser.

use std::path::PathBuf;

use crate::flags::Sandbox;

/// Options of a [`Chromium`](crate::Chromium).
#[derive(Debug, Clone)]
pub struct ChromiumOptions {
    /// Path of the browser; `None` searches PATH.
    pub program: Option<PathBuf>,
    /// The means that deny the browser a network.
    pub sandbox: Sandbox,
    /// Maximum number of pages at a time.
    pub tabs: usize,
    /// Maximum heap of the scripts of a page, in MiB.
    pub heap_mib: u32,
    /// Memory of the browser above which it is replaced, in bytes.
    pub max_memory: u64,
    /// The user agent that scripts see; `None` is the browser's own.
    pub user_agent: Option<String>,
}

impl Default for ChromiumOptions {
    fn default() -> Self {
        Self {
            program: None,
            sandbox: Sandbox::default(),
            tabs: 1,
            heap_mib: 128,
            max_memory: 1536 << 20,
            user_agent: None,
        }
    }
}
