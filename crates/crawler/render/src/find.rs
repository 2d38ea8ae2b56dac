//! The search for a Chromium and for the programs that confine it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::failure::LaunchError;
use crate::names::NAMES;

/// Returns the browser to start: the named one, or the first on PATH.
///
/// # Errors
/// [`LaunchError::NotAFile`] and [`LaunchError::NotFound`].
pub fn find_browser(named: Option<&Path>) -> Result<PathBuf, LaunchError> {
    browser(named, &std::env::var_os("PATH").unwrap_or_default())
}

fn browser(named: Option<&Path>, path: &OsStr) -> Result<PathBuf, LaunchError> {
    if let Some(named) = named {
        let file = named.is_file().then(|| behind_wrapper(named.to_path_buf()));
        return file.ok_or_else(|| LaunchError::NotAFile(named.to_path_buf()));
    }
    let found = NAMES.iter().find_map(|name| on_path(name, path));
    found.map(behind_wrapper).ok_or(LaunchError::NotFound)
}

/// Returns the full path of the program `name` of util-linux.
pub(crate) fn tool(name: &'static str, path: &OsStr) -> Result<PathBuf, LaunchError> {
    on_path(name, path).ok_or(LaunchError::NoTool(name))
}

fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Returns the program behind Debian's shell wrapper `/usr/bin/NAME`, which is
/// `/usr/lib/chromium/NAME`, or `file` itself.
fn behind_wrapper(file: PathBuf) -> PathBuf {
    let behind = file.file_name().and_then(|name| {
        let prefix = file.parent()?.parent()?;
        Some(prefix.join("lib/chromium").join(name))
    });
    behind.filter(|behind| behind.is_file()).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_name_on_path_is_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("google-chrome"), "").unwrap();
        let path = folder.path().as_os_str();
        assert_eq!(
            browser(None, path).unwrap(),
            folder.path().join("google-chrome")
        );
        std::fs::write(folder.path().join("chromium"), "").unwrap();
        assert_eq!(browser(None, path).unwrap(), folder.path().join("chromium"));
    }

    #[test]
    fn the_program_behind_the_wrapper_of_debian_is_preferred() {
        let usr = tempfile::tempdir().unwrap();
        let path = usr.path().join("bin");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::create_dir_all(usr.path().join("lib/chromium")).unwrap();
        // The shell is preferred where both are.
        for name in ["chromium", "chromium-headless-shell"] {
            let behind = usr.path().join("lib/chromium").join(name);
            std::fs::write(path.join(name), "").unwrap();
            assert_eq!(browser(None, path.as_os_str()).unwrap(), path.join(name));
            std::fs::write(&behind, "").unwrap();
            assert_eq!(browser(None, path.as_os_str()).unwrap(), behind);
        }
    }

    #[test]
    fn an_error_names_the_remedy() {
        let text = browser(None, OsStr::new("/nowhere"))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("apt-get install chromium") && text.contains("--browser"),
            "{text}"
        );
        let text = browser(Some(Path::new("/nowhere/x")), OsStr::new(""))
            .unwrap_err()
            .to_string();
        assert!(text.contains("/nowhere/x"), "{text}");
        let text = tool("unshare", OsStr::new("")).unwrap_err().to_string();
        assert!(
            text.contains("unshare") && text.contains("util-linux"),
            "{text}"
        );
    }
}
