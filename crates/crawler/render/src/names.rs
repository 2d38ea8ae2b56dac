//! Names of Chromium, for the crate and for its build script.

/// Names under which systems install Chromium, in order of preference. A page in the shell costs
/// half of what it costs in the whole browser, which opens a window with tabs for each.
pub(crate) const NAMES: [&str; 4] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
];
