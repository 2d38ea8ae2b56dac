//! Sets `cfg(postgres)` where a PostgreSQL server is installed, and `cfg(has_chromium)` where a
//! Chromium runs, so that tests that need one are ignored elsewhere. The crates with such tests
//! share this script.
//!
//! After PostgreSQL is installed, `touch crates/testing/testkit/build.rs` builds those tests anew.

#[path = "../../crawler/render/probe.rs"]
mod probe;
#[path = "src/postgres/programs.rs"]
mod programs;

/// The directory in which Debian installs the versions of the server.
const VERSIONS: &str = "/usr/lib/postgresql";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(postgres)");
    // A path that does not exist would count as changed each time.
    let is_there = std::path::Path::new(VERSIONS).exists();
    let watched = if is_there { VERSIONS } else { "Cargo.toml" };
    println!("cargo::rerun-if-changed={watched}");
    if programs::find().is_some() {
        println!("cargo::rustc-cfg=postgres");
    }

    println!("cargo::rustc-check-cfg=cfg(has_chromium)");
    println!("cargo::rerun-if-env-changed=PATH");
    if probe::chromium_runs() {
        println!("cargo::rustc-cfg=has_chromium");
    }
}
