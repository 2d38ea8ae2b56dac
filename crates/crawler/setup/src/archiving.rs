//! Archive options, derived from a crawl's settings.

use messages::{CommandError, usage};
use settings::Settings;
use settings::machine::random;
use sinks::ArchiveOptions;
use sinks::warc::{Compression, Dictionary, Packing};
use web::Clock;

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
