//! A crawl's directory: prepared before the crawl, and left ready for the next one.

use std::fs::{File, OpenOptions};
use std::path::Path;

use disk::Disk;
use messages::cannot;
use messages::{CommandError, pasted, usage};
use settings::seeds::Seeds;
use settings::{SETTINGS_FILE, Settings, crawl_directory};

use super::long_list::ReadList;
use crate::target_directory::refuse_occupied;

/// Creates the crawl's directory and opens its log. Refuses a directory with other contents.
pub fn prepare_directory(settings: &Settings) -> Result<File, CommandError> {
    refuse_occupied(settings)?;
    let directory = &settings.out;
    std::fs::create_dir_all(directory)
        .map_err(|error| cannot("create", directory, &error, directory))?;
    let log = directory.join("crawl.log");
    let opened = OpenOptions::new().create(true).append(true).open(&log);
    opened.map_err(|error| cannot("write", &log, &error, directory))
}

/// Refuses a directory with an archive but without a journal. With a new journal, the whole archive
/// would be excess.
pub(super) fn refuse_to_forget(directory: &Path) -> Result<(), CommandError> {
    let archive = crawl_directory::archive(directory);
    let has_files = std::fs::read_dir(&archive).is_ok_and(|mut items| items.next().is_some());
    if !has_files {
        return Ok(());
    }
    let remedy = format!(
        "rebuild it from the archive with `crawler rebuild {}`, or choose another --out",
        pasted(directory)
    );
    let archive = archive.display();
    Err(usage(format!(
        "{archive} contains an archive, but its state is missing"
    ))
    .with_remedy(remedy))
}

/// Writes the settings of this run, atomically.
pub(super) fn keep_settings(
    settings: &Settings,
    seeds: &Seeds,
    list: Option<&ReadList>,
    disk: &dyn Disk,
) -> Result<(), CommandError> {
    let text = match list {
        None => settings.as_run(seeds.urls.iter().map(ToString::to_string).collect())?,
        // The seeds are in a separate file.
        Some(list) => settings.as_run_from(list.unread.clone(), Vec::new())?,
    };
    let path = settings.out.join(SETTINGS_FILE);
    disk.replace(&path, text.as_bytes())
        .map_err(|error| cannot("write", &path, &error, &settings.out))
}
