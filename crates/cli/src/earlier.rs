//! `--against` and `--since`: earlier crawls whose pages count as seen, and those whose archives
//! are asked what they have.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawl::EarlierArchives;
use sinks::warc::locate;
use store::StoreFault;
use store::embedded::EarlierCrawls;

use crate::cli_error::{CliError, usage};
use crate::crawl_directory;
use crate::settings::Settings;

/// Puts absolute paths for the directories of `--since` and `--against`, each once, and before each
/// those that its crawl was run against itself: what it did not archive because it was unchanged is
/// in them. All that is in `since` is in `against`.
pub(crate) fn resolve(settings: &mut Settings) -> Result<(), CliError> {
    let (mut since, mut against) = (Vec::new(), Vec::new());
    for directory in &settings.since {
        add(directory, "--since", settings, &mut Vec::new(), &mut since)?;
    }
    for directory in &settings.against {
        add(
            directory,
            "--against",
            settings,
            &mut Vec::new(),
            &mut against,
        )?;
    }
    for directory in &since {
        if !against.contains(directory) {
            against.push(directory.clone());
        }
    }
    (settings.since, settings.against) = (since, against);
    Ok(())
}

/// `path` leads from the crawl here: a crawl that was run against itself by a detour is added once.
fn add(
    directory: &Path,
    option: &str,
    settings: &Settings,
    path: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> Result<(), CliError> {
    crawl_directory::state_of(directory)?;
    let absolute = directory
        .canonicalize()
        .map_err(|error| usage(format!("cannot read {}: {error}", directory.display())))?;
    if settings.out.canonicalize().is_ok_and(|out| out == absolute) {
        let told = usage(format!(
            "{option} {} is this crawl itself",
            directory.display()
        ));
        return Err(told.with_remedy("write to another directory with --out"));
    }
    if found.contains(&absolute) || path.contains(&absolute) {
        return Ok(());
    }
    let theirs = Settings::of_crawl(&absolute)?;
    if theirs.main_content != settings.main_content {
        let (theirs, ours) = (theirs.main_content.as_str(), settings.main_content.as_str());
        let told = usage(format!(
            "{} was crawled with --main-content {theirs}, this crawl with {ours}: their pages \
             cannot be compared",
            directory.display()
        ));
        return Err(told.with_remedy(format!("--main-content {theirs}")));
    }
    path.push(absolute.clone());
    // Once it ran, the second list has the first; a file that somebody wrote by hand may say so or
    // not.
    for deeper in theirs.against.iter().chain(&theirs.since) {
        add(deeper, option, settings, path, found)?;
    }
    path.pop();
    found.push(absolute);
    Ok(())
}

/// Returns the archives of the crawls in `--since`, for the pages that `load` found; all of their
/// files must exist.
pub(crate) fn archives(
    settings: &Settings,
    pages: Option<&Arc<EarlierCrawls>>,
) -> Result<Option<EarlierArchives>, CliError> {
    let Some(pages) = pages.filter(|_| !settings.since.is_empty()) else {
        return Ok(None);
    };
    let mut directories = Vec::new();
    for (crawl, directory) in settings.against.iter().enumerate() {
        let archive = settings
            .since
            .contains(directory)
            .then(|| crawl_directory::archive(directory));
        for file in archive.iter().flat_map(|_| pages.archive_files(crawl)) {
            let path = locate(&crawl_directory::archive(directory), file);
            if let Err(error) = File::open(&path) {
                let told = usage(format!(
                    "--since {}: cannot read {}: {error}",
                    directory.display(),
                    path.display()
                ));
                return Err(told.with_remedy(format!(
                    "put the file back, or use --against {}, which needs no archive and fetches \
                     every page in full",
                    directory.display()
                )));
            }
        }
        directories.push(archive);
    }
    Ok(Some(EarlierArchives::new(Arc::clone(pages), directories)))
}

/// Returns the pages of the crawls in `--against`; reads all of their journals.
pub(crate) fn load(settings: &Settings) -> Result<Option<EarlierCrawls>, CliError> {
    let states: Vec<PathBuf> = settings
        .against
        .iter()
        .map(|directory| crawl_directory::state(directory))
        .collect();
    let features = settings.feature_settings_name();
    EarlierCrawls::load(&states, &features, settings.likeness()?).map_err(|error| {
        let remedy = match &error {
            StoreFault::InUse { .. } => "wait until that crawl has ended, or interrupt it",
            StoreFault::Incomparable { .. } => {
                "crawls can be compared if they have the same key, version and --features"
            }
            _ => {
                "--against and --since take the directory of a crawl; `crawler verify DIR` \
                  checks it"
            }
        };
        CliError::of_usage(&error).with_remedy(remedy)
    })
}
