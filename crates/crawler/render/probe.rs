//! Finds out if Chromium runs on this machine. The build scripts of tests that need it share this.

use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[path = "src/names.rs"]
mod names;

/// User and group of a browser that root starts: `nobody`.
const NOBODY: u32 = 65534;
const AS_NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// Returns true if a Chromium on PATH shows an empty page in namespaces of its own. Many containers
/// forbid these.
pub(crate) fn chromium_runs() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files =
        std::env::split_paths(&path).flat_map(|folder| names::NAMES.map(|name| folder.join(name)));
    files
        .find(|file| file.is_file())
        .is_some_and(|program| shows_a_page(&program).unwrap_or_default())
}

#[expect(
    clippy::disallowed_methods,
    reason = "`nobody` must reach the directory, and may not reach the build's"
)]
fn shows_a_page(program: &Path) -> io::Result<bool> {
    let is_root = std::fs::metadata("/proc/self")?.uid() == 0;
    let profile: PathBuf = std::env::temp_dir().join(format!("chromium-{}", std::process::id()));
    std::fs::create_dir(&profile)?;
    if is_root {
        chown(&profile, Some(NOBODY), Some(NOBODY))?;
    }
    let shown = Command::new("timeout")
        .args(["--kill-after=5", "60", "setpriv", "--pdeathsig=KILL"])
        .args(if is_root { &AS_NOBODY[..] } else { &[] })
        .args(["unshare", "--user", "--map-current-user", "--net", "--pid"])
        .args(["--fork", "--kill-child", "--mount-proc"])
        .arg(program)
        .args(["--headless", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .env("HOME", &profile)
        .current_dir(&profile)
        .stdin(Stdio::null())
        .output();
    std::fs::remove_dir_all(&profile)?;
    let shown = shown?;
    Ok(shown.status.success() && String::from_utf8_lossy(&shown.stdout).contains("<html"))
}
