//! The browser that runs scripts.

use std::sync::Arc;

use messages::CommandError;
use policy::RenderSandbox;
use render::{Chromium, ChromiumOptions, Render, Sandbox};
use settings::{Settings, machine};

/// Cores per tab: a page keeps a process of its own and the browser's busy.
const CORES_PER_TAB: usize = 2;

/// Memory that a further tab may take, in bytes.
const MEMORY_PER_TAB: u64 = 192 << 20;

/// Starts the browser, if scripts are run.
///
/// # Errors
/// The browser is missing or does not start.
pub(super) async fn start(settings: &Settings) -> Result<Option<Arc<dyn Render>>, CommandError> {
    if !settings.renders() {
        return Ok(None);
    }
    let (usual, tabs) = (ChromiumOptions::default(), machine::cores() / CORES_PER_TAB);
    let options = ChromiumOptions {
        program: settings.browser.clone(),
        sandbox: match settings.render_sandbox {
            RenderSandbox::Namespaces => Sandbox::Namespaces,
            RenderSandbox::Flags => Sandbox::Flags,
        },
        tabs: tabs.max(1),
        max_memory: usual.max_memory + MEMORY_PER_TAB * tabs.saturating_sub(1) as u64,
        user_agent: Some(settings.user_agent()),
        ..usual
    };
    let browser = Chromium::start(options).await;
    let browser = browser.map_err(|error| CommandError::of_usage(&error))?;
    Ok(Some(Arc::new(browser)))
}
