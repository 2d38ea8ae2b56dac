//! Sets `has_chromium` if a Chromium runs on this machine.
//!
//! Tests that need the browser are then reported as ignored, not as passed, where it does not run.

mod probe;

fn main() {
    let mut lines = vec![
        "cargo::rerun-if-changed=build.rs",
        "cargo::rerun-if-changed=probe.rs",
        "cargo::rerun-if-changed=src/names.rs",
        "cargo::rerun-if-env-changed=PATH",
        "cargo::rustc-check-cfg=cfg(has_chromium)",
    ];
    if probe::chromium_runs() {
        lines.push("cargo::rustc-cfg=has_chromium");
    }
    let text = lines.join("\n") + "\n";
    if let Err(fault) = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes()) {
        panic!("cannot write to cargo: {fault}");
    }
}
