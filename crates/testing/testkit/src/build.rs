//! Building the crawler from within a program that cargo runs.

use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Builds the crawler for release, with these further targets (`["--example", "demo"]`), and says
/// where it is.
///
/// The environment that cargo sets (`CARGO_MANIFEST_DIR`, `OUT_DIR` and the like) is removed:
/// ring's build script would take it for a change, and everything above ring would be built again.
///
/// # Errors
/// Those of starting cargo, and one that says that the build failed.
pub fn build_crawler(with: &[&str]) -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--release", "-p", "crawler", "--bin", "crawler"])
        .args(with);
    for (name, _value) in std::env::vars_os() {
        let told = name.to_str().is_some_and(|name| {
            [
                "CARGO_MANIFEST",
                "CARGO_PKG_",
                "CARGO_BIN_",
                "CARGO_CRATE_",
                "CARGO_PRIMARY_",
                "OUT_DIR",
            ]
            .iter()
            .any(|told| name.starts_with(told))
        });
        if told {
            build.env_remove(name);
        }
    }
    if !build.status()?.success() {
        return Err(io::Error::other("the crawler could not be built"));
    }
    // We are target/release/ours, or target/release/examples/ours.
    let ours = std::env::current_exe()?;
    let near = ours
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join("crawler"))
        .find(|binary| binary.is_file());
    near.ok_or_else(|| io::Error::other("the crawler was built somewhere else than this program"))
}
