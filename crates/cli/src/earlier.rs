//! `--against`: earlier crawls whose pages count as seen.

use std::path::{Path, PathBuf};

use store::StoreFault;
use store::embedded::Earlier;

use crate::complaint::{Complaint, usage};
use crate::history;
use crate::settings::Settings;

/// The directories of `--against` as absolute paths, each once, and before each those that its crawl was run against
/// itself: what it did not archive because it was unchanged is in them.
pub(crate) fn directories(settings: &Settings) -> Result<Vec<PathBuf>, Complaint> {
    let mut found = Vec::new();
    let mut path = Vec::new();
    for directory in &settings.against {
        add(directory, settings, &mut path, &mut found)?;
    }
    Ok(found)
}

/// `path` leads from the crawl here: a crawl that was run against itself by a detour is added once.
fn add(
    directory: &Path,
    settings: &Settings,
    path: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) -> Result<(), Complaint> {
    history::state_of(directory)?;
    let absolute = directory
        .canonicalize()
        .map_err(|error| usage(format!("cannot read {}: {error}", directory.display())))?;
    if settings.out.canonicalize().is_ok_and(|out| out == absolute) {
        let told = usage(format!("--against {} is this crawl itself", directory.display()));
        return Err(told.with_remedy("write to another directory with --out"));
    }
    if found.contains(&absolute) || path.contains(&absolute) {
        return Ok(());
    }
    let theirs = Settings::of_crawl(&absolute)?;
    if theirs.main_content != settings.main_content {
        let (theirs, ours) = (theirs.main_content.as_str(), settings.main_content.as_str());
        let told = usage(format!(
            "{} was crawled with --main-content {theirs}, this crawl with {ours}: their pages cannot be compared",
            directory.display()
        ));
        return Err(told.with_remedy(format!("--main-content {theirs}")));
    }
    path.push(absolute.clone());
    for deeper in &theirs.against {
        add(deeper, settings, path, found)?;
    }
    path.pop();
    found.push(absolute);
    Ok(())
}

/// The pages of the crawls in `--against`; reads all of their journals.
pub(crate) fn load(settings: &Settings) -> Result<Option<Earlier>, Complaint> {
    let states: Vec<PathBuf> = settings
        .against
        .iter()
        .map(|directory| history::state(directory))
        .collect();
    let features = settings.recipe_name();
    Earlier::load(&states, &features, settings.likeness()?).map_err(|error| {
        let remedy = match &error {
            StoreFault::InUse { .. } => "wait until that crawl has ended, or interrupt it",
            StoreFault::Incomparable { .. } => {
                "crawls are compared that have one key, made by one version with the same --features"
            }
            _ => "--against wants the directory of a crawl; `crawler verify DIR` says whether it is whole",
        };
        Complaint::of_usage(&error).with_remedy(remedy)
    })
}
