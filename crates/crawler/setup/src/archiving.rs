//! Archive options, derived from a crawl's settings.

use messages::{CommandError, usage};
use sinks::ArchiveOptions;
use sinks::warc::{Compression, Dictionary, Packing, is_prefix};
use web::Clock;

use crate::machine::random;
use crate::settings::Settings;

/// Checks that the settings fit together. Reads no file, so that commands work without the
/// dictionary.
pub fn check(settings: &Settings) -> Result<(), CommandError> {
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

/// Returns the compression of the archive.
pub fn compression(settings: &Settings) -> Result<Compression, CommandError> {
    let default = settings.compression.levels().map(|(_, default)| default);
    let level = settings.compression_level.or(default).unwrap_or_default();
    Ok(match settings.compression {
        Packing::Gzip => Compression::Gzip { level },
        Packing::Zstd => Compression::Zstd {
            level,
            dictionary: dictionary(settings)?,
        },
        Packing::Plain => Compression::None,
    })
}

fn dictionary(settings: &Settings) -> Result<Option<Dictionary>, CommandError> {
    let Some(path) = &settings.zstd_dictionary else {
        return Ok(None);
    };
    let wrong = |what: String| usage(format!("--zstd-dictionary {}: {what}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let dictionary = Dictionary::new(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(Some(dictionary))
}

/// Returns the archive's options, with the description of the crawl.
pub fn options(settings: &Settings, clock: &Clock) -> Result<ArchiveOptions, CommandError> {
    let ignores = settings.ignore_robots;
    let robots = if ignores { "ignore" } else { "obey" };
    Ok(ArchiveOptions {
        software: format!("crawler/{}", env!("CARGO_PKG_VERSION")),
        user_agent: settings.user_agent(),
        robots: robots.to_owned(),
        operator: settings.contact.clone().unwrap_or_default(),
        part_of: settings.warc_prefix.clone(),
        settings: settings.as_run(Vec::new())?,
        prefix: settings.warc_prefix.clone(),
        max_file: settings.warc_max_size.0,
        max_age: settings.warc_max_time.map(|time| time.0),
        compression: compression(settings)?,
        digest: settings.digest,
        seed: u128::from(random()?) << 64 | u128::from(random()?),
        ..ArchiveOptions::new(clock.clone())
    })
}
