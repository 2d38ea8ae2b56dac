//! Checks the options of the archive.

use messages::{CommandError, usage};
use sinks::warc::{Packing, is_prefix};

use super::Settings;

/// Checks that the settings fit together. Reads no file, so that commands work without the
/// dictionary.
pub(super) fn check(settings: &Settings) -> Result<(), CommandError> {
    let refuse = |message: String, remedy: &str| Err(usage(message).with_remedy(remedy));
    let packing = settings.compression;
    if let Some(level) = settings.compression_level {
        let message =
            format!("--compression-level {level} is not valid with --compression {packing}");
        match packing.levels() {
            None => return refuse(message, "only gzip and zstd have levels: omit the option"),
            Some((levels, default)) if !levels.contains(&level) => {
                let (first, last) = (levels.start(), levels.end());
                let range = format!(
                    "must be between {first} (fast) and {last} (small); the \
                    default is {default}"
                );
                return refuse(message, &range);
            }
            Some(_) => {}
        }
    }
    if settings.zstd_dictionary.is_some() && packing != Packing::Zstd {
        let message = format!("--zstd-dictionary is not valid with --compression {packing}");
        return refuse(message, "--compression zstd");
    }
    if !is_prefix(&settings.warc_prefix) {
        let message = format!("--warc-prefix {:?} is not valid", settings.warc_prefix);
        let range = "use letters, digits, - _ and ., with a letter or a digit first; --out sets \
            the directory";
        return refuse(message, range);
    }
    if settings.warc_max_time.is_some_and(|time| time.0.is_zero()) {
        let message = "--warc-max-time 0 is not valid".to_owned();
        return refuse(message, "a time span such as 1h");
    }
    Ok(())
}
