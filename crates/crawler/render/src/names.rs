//! Names of Chromium, for the crate and for its build script.

/// Names under which systems install Chromium, in order of preference.
pub(crate) const NAMES: [&str; 4] = [
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
];
