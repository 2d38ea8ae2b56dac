//! Looks for a Chromium on PATH and sets `has_chromium` if there is one.
//!
//! Tests that need the browser are then reported as ignored, not as passed, where it is missing.

#[path = "src/names.rs"]
mod names;

use names::NAMES;

fn main() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .any(|folder| NAMES.iter().any(|name| folder.join(name).is_file()));
    let mut lines = vec![
        "cargo::rerun-if-changed=build.rs",
        "cargo::rerun-if-changed=src/names.rs",
        "cargo::rerun-if-env-changed=PATH",
        "cargo::rustc-check-cfg=cfg(has_chromium)",
    ];
    if found {
        lines.push("cargo::rustc-cfg=has_chromium");
    }
    let text = lines.join("\n") + "\n";
    if let Err(fault) = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()) {
        panic!("cannot write to cargo: {fault}");
    }
}
