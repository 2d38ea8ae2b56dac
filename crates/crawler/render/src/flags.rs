//! The command line of the browser.
//!
//! Invariant: Chromium's own sandbox is never switched off.

use std::path::Path;

/// The means that deny the browser a network of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// An empty network namespace and a PID namespace, which ends with the browser.
    #[default]
    Namespaces,
    /// A dead proxy and no names, where namespaces are forbidden.
    Flags,
}

const QUIET: [&str; 18] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--metrics-recording-only",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
    "--mute-audio",
    // Each window of version 156 has two pages for its address bar, which cost more than the page
    // itself; a renderer in reserve is for clicks.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess",
    // The headless shell has no blocker of windows, and a page waits for the one that it opened.
    "--block-new-web-contents",
    // Only this part is drawn; the page itself sees a window ten times as high.
    "--window-size=1280,1200",
];

const OFFLINE: [&str; 5] = [
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    // Two names: of the headless shell, and of Chromium since it was renamed there.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// Returns the arguments of the browser. The offline flags cost nothing, so both modes have them.
pub(crate) fn browser(profile: &Path, heap_mib: u32, user_agent: Option<&str>) -> Vec<String> {
    let mut flags: Vec<String> = QUIET
        .iter()
        .chain(&OFFLINE)
        .map(|flag| flag.to_string())
        .collect();
    flags.push(format!("--js-flags=--max-old-space-size={heap_mib}"));
    flags.push(format!("--user-data-dir={}", profile.display()));
    flags.extend(user_agent.map(|agent| format!("--user-agent={agent}")));
    flags.push("about:blank".to_owned());
    flags
}

/// Returns the arguments of `setpriv`: the browser ends with us and is never root.
pub(crate) fn privileges(root: bool) -> Vec<&'static str> {
    let mut flags = vec!["--pdeathsig", "KILL"];
    if root {
        flags.extend(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    flags
}

/// Returns the arguments of `unshare`.
pub(crate) fn namespaces() -> [&'static str; 7] {
    [
        "--user",
        "--map-current-user",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_of_chromium_is_never_switched_off() {
        let flags = browser(Path::new("/p"), 128, Some("bot/1"));
        assert!(!flags.iter().any(|flag| flag.contains("no-sandbox")));
        assert!(flags.contains(&"--user-agent=bot/1".to_owned()));
        assert!(flags.contains(&"--user-data-dir=/p".to_owned()));
    }

    #[test]
    fn only_root_drops_to_nobody() {
        assert!(privileges(true).contains(&"--reuid=65534"));
        assert!(!privileges(false).contains(&"--reuid=65534"));
    }
}
