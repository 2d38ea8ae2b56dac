//! `--against` and `--since`: earlier crawls whose pages count as seen, and the archives that
//! unchanged pages are read from. Archives of other programs are imported first.

mod import;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawl::EarlierArchives;
use journal::StoreFault;
use messages::{CommandError, say, usage};
use settings::{Settings, crawl_directory, series};
use sinks::warc::locate;
use store::EarlierCrawls;

/// Makes the paths in `--since` and `--against` absolute and unique, and finds `latest`. Each path
/// is preceded by the crawls that its own crawl was run against, because they contain the pages
/// that it found unchanged. All paths of `since` are added to `against`. A file is replaced by the
/// directory of its import.
pub fn resolve(settings: &mut Settings) -> Result<(), CommandError> {
    let (mut since, mut against) = (Vec::new(), Vec::new());
    for (option, directories, found) in [
        ("--since", &settings.since, &mut since),
        ("--against", &settings.against, &mut against),
    ] {
        for directory in directories {
            let directory = match directory == Path::new(series::LATEST) {
                true => series::latest_before(&settings.out),
                false => Some(directory.clone()),
            };
            let Some(directory) = directory else {
                let out = settings.out.display();
                say(&format!(
                    "{option} latest: {out} is the first crawl of its series"
                ));
                continue;
            };
            let directory = match directory.is_file() {
                true => import::import(&directory, option, settings)?,
                false => directory,
            };
            add(&directory, option, settings, &mut Vec::new(), found)?;
        }
    }
    for directory in &since {
        if !against.contains(directory) {
            against.push(directory.clone());
        }
    }
    (settings.since, settings.against) = (since, against);
    Ok(())
}

/// Adds a crawl after the crawls that it was run against. `path` contains the crawls on the current
/// path, so a crawl that was indirectly run against itself is added once.
fn add(
    directory: &Path,
    option: &str,
    settings: &Settings,
    path: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> Result<(), CommandError> {
    crawl_directory::state_of(directory)?;
    let shown = directory.display();
    let absolute = directory.canonicalize();
    let absolute = absolute.map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    if settings.out.canonicalize().is_ok_and(|out| out == absolute) {
        let error = usage(format!("{option} {shown} is the same crawl"));
        return Err(error.with_remedy("choose another directory with --out"));
    }
    if found.contains(&absolute) || path.contains(&absolute) {
        return Ok(());
    }
    let theirs = Settings::of_crawl(&absolute)?;
    if theirs.main_content != settings.main_content {
        let (theirs, ours) = (theirs.main_content.as_str(), settings.main_content.as_str());
        let error = usage(format!(
            "{shown} was crawled with --main-content {theirs}, but this crawl with {ours}: their \
             pages cannot be compared"
        ));
        return Err(error.with_remedy(format!("--main-content {theirs}")));
    }
    path.push(absolute.clone());
    // After a run, `against` includes all of `since`. In a file written by hand, it may not.
    for deeper in theirs.against.iter().chain(&theirs.since) {
        add(deeper, option, settings, path, found)?;
    }
    path.pop();
    found.push(absolute);
    Ok(())
}

/// Returns the archives of the earlier crawls, for the pages that `load` found. Only the archives
/// of crawls in `--since` may be read; all of their files must exist.
pub fn archives(
    settings: &Settings,
    pages: Option<&Arc<EarlierCrawls>>,
) -> Result<Option<EarlierArchives>, CommandError> {
    let Some(pages) = pages else {
        return Ok(None);
    };
    let mut directories = Vec::new();
    for (crawl, directory) in settings.against.iter().enumerate() {
        if !settings.since.contains(directory) {
            directories.push(None);
            continue;
        }
        let (archive, shown) = (crawl_directory::archive(directory), directory.display());
        for file in pages.archive_files(crawl) {
            let path = locate(&archive, file);
            if let Err(error) = File::open(&path) {
                let path = path.display();
                let error = usage(format!("--since {shown}: cannot read {path}: {error}"));
                return Err(error.with_remedy(format!(
                    "restore the file, or use --against {shown}, which works without the archive \
                     and fetches every page in full"
                )));
            }
        }
        directories.push(Some(archive));
    }
    Ok(Some(EarlierArchives::new(Arc::clone(pages), directories)))
}

/// Returns the states of the crawls in `--against`.
pub fn states(settings: &Settings) -> Vec<PathBuf> {
    let directories = settings.against.iter();
    directories
        .map(|path| crawl_directory::state(path))
        .collect()
}

/// Returns the pages of the crawls in `--against`. Reads all of their journals.
pub fn load(settings: &Settings) -> Result<Option<EarlierCrawls>, CommandError> {
    let states = states(settings);
    let features = settings.feature_settings_name();
    EarlierCrawls::load(&states, &features, settings.comparison()?).map_err(|error| {
        let remedy = match &error {
            StoreFault::InUse { .. } => "wait until that crawl has ended, or interrupt it",
            StoreFault::Incomparable { .. } => {
                "crawls can be compared if they have the same key, version and --features"
            }
            _ => {
                "--against and --since require the directory of a crawl; check it with `crawler \
                 verify DIR`"
            }
        };
        CommandError::of_usage(&error).with_remedy(remedy)
    })
}
