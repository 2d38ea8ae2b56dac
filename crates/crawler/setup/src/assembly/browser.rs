//! The browser that runs scripts.

use std::sync::Arc;

use messages::CommandError;
use policy::RenderSandbox;
use render::{Chromium, ChromiumOptions, Render, Sandbox};
use settings::preset::Preset;
use settings::{Origin, Origins, Settings, machine};

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

/// Says how the archive preset treats pages that need their scripts, unless the user has chosen.
pub fn advice(settings: &Settings, origins: &Origins) -> Option<String> {
    let is_chosen = settings.renders() || origins.of("render") != Origin::Default;
    if settings.preset != Some(Preset::Archive) || is_chosen {
        return None;
    }
    let remedy = match render::find_browser(settings.browser.as_deref()) {
        Ok(program) => format!("add --render shells to run these in {}", program.display()),
        Err(error) => format!("to run these, add --render shells ({error})"),
    };
    Some(format!(
        "pages that need their scripts are archived as received; {remedy}"
    ))
}
