//! Sets `cfg(postgres)` where a PostgreSQL server is installed, and `cfg(has_chromium)` where a
//! Chromium is, so that tests that need one are ignored elsewhere. The crates with such tests share
//! this script.
//!
//! After PostgreSQL is installed, `touch crates/testing/testkit/build.rs` builds those tests anew.

#[path = "../../crawler/render/src/names.rs"]
mod names;
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
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    if folders.any(|folder| names::NAMES.iter().any(|name| folder.join(name).is_file())) {
        println!("cargo::rustc-cfg=has_chromium");
    }
}
