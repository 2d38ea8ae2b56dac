//! A series of crawls in directories that are named by date: `--out weekly/{date} --since latest`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use store::EmbeddedStore;
use web::Timestamp;

use crate::crawl_directory;

/// The part of `--out` that is replaced by the date.
const DATE: &str = "{date}";

/// The value of `--since` and `--against` that stands for the crawl before this one.
pub const LATEST: &str = "latest";

/// Returns the path with the date of `now` (UTC) in place of `{date}`: `weekly/2026-11-30`.
pub fn dated(path: &Path, now: Timestamp) -> PathBuf {
    let Some(text) = path.to_str().filter(|text| text.contains(DATE)) else {
        return path.to_owned();
    };
    let now = now.to_string();
    let day = now.split('T').next().unwrap_or_default();
    PathBuf::from(text.replace(DATE, day))
}

/// Returns the crawl that precedes the one in `out`: in alphabetical order, the last directory
/// before `out` that holds a crawl.
pub fn latest_before(out: &Path) -> Option<PathBuf> {
    let own = out.file_name()?;
    let parent = out.parent().filter(|parent| *parent != Path::new(""));
    let items = fs::read_dir(parent.unwrap_or(Path::new("."))).ok()?;
    let paths = items.filter_map(|item| Some(item.ok()?.path()));
    let is_earlier = |name: &OsStr| name < own;
    paths
        .filter(|path| path.file_name().is_some_and(is_earlier))
        .filter(|path| EmbeddedStore::exists(&crawl_directory::state(path)))
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_takes_the_place_of_its_name_and_nothing_else_changes() {
        let now = Timestamp::from_millis(1_796_083_200_000);
        for (given, dated_path) in [
            ("weekly/{date}", "weekly/2026-12-01"),
            ("{date}-news", "2026-12-01-news"),
            ("crawl", "crawl"),
            ("{dates}", "{dates}"),
        ] {
            assert_eq!(dated(Path::new(given), now), Path::new(dated_path));
        }
    }
}
