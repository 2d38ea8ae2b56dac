//! Names of files that have a meaning.

use std::path::Path;

/// Returns true for `-`, which means standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns true for standard input, and for a pipe or device, which can be read once only.
#[must_use]
pub(crate) fn is_read_once(path: &Path) -> bool {
    let is_special = |path: &Path| {
        path.metadata()
            .is_ok_and(|about| !about.is_file() && !about.is_dir())
    };
    is_standard_input(path) || is_special(path)
}

/// Returns true if a file has the extension of a WACZ.
pub(crate) fn is_wacz(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("wacz")
}

/// Returns true if a file has one of these extensions, alone or before the extension of a
/// compression.
pub(crate) fn is_named(path: &Path, extensions: &[&str]) -> bool {
    let ends_with = |path: &Path, extensions: &[&str]| {
        let extension = path.extension().unwrap_or_default();
        let mut extensions = extensions.iter();
        extensions.any(|one| extension.eq_ignore_ascii_case(one))
    };
    let is_packed = ends_with(path, &["gz", "zst", "bz2", "xz"]);
    ends_with(path, extensions) || is_packed && ends_with(&path.with_extension(""), extensions)
}
