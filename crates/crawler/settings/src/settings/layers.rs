//! The layers of settings, and the file that stores them.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use messages::{CommandError, fault, usage};
use sinks::warc::Packing;
use toml::de::DeTable;

use super::origins::{Origin, Origins};
use super::{SETTINGS_FILE, Settings, parts};
use crate::preset::Preset;
use crate::series::dated;
use crate::{machine, secret_options, suggestions};

/// Returns the path of a directory with the date of today.
fn of_today(path: &Path) -> PathBuf {
    dated(path, machine::clock().now())
}

impl Settings {
    /// Merges the preset over the defaults, the file over both and the flags over all. The file is
    /// `--config`, or else the file of the crawl in `--out`.
    pub fn gather(flags: &ArgMatches, config: Option<&Path>) -> Result<Self, CommandError> {
        let out = flags.get_one::<PathBuf>("out");
        let (settings, _) = Self::gather_from(flags, out.map(PathBuf::as_path), config)?;
        Ok(settings)
    }

    /// Merges the same layers for this directory and this file, with the origin of each value.
    pub fn gather_from(
        given: &ArgMatches,
        out: Option<&Path>,
        config: Option<&Path>,
    ) -> Result<(Self, Origins), CommandError> {
        let preset = given.get_one("preset").copied();
        let (mut settings, mut origins) = Self::without_flags(out, config, preset)?;
        let packing = given.get_one::<Packing>("compression");
        if packing.is_some_and(|packing| *packing != settings.compression) {
            // They belong to the old packing.
            settings.compression_level = None;
            settings.zstd_dictionary = None;
            origins.reset(&["compression-level", "zstd-dictionary"]);
        }
        let updated = settings.update_from_arg_matches(given);
        updated.map_err(|error| fault(&error))?;
        let is_given = |id: &clap::Id| {
            let source = given.value_source(id.as_str());
            source == Some(ValueSource::CommandLine)
        };
        let flags = given.ids().filter(|id| is_given(id));
        let flags: Vec<String> = flags.map(|id| id.as_str().replace('_', "-")).collect();
        origins.set(&flags, &Origin::Flag);
        settings.out = of_today(&settings.out);
        settings.check()?;
        Ok((settings, origins))
    }

    /// Returns the settings of the last run of the crawl in `directory`.
    pub fn of_crawl(directory: &Path) -> Result<Self, CommandError> {
        let (settings, _) = Self::without_flags(Some(directory), None, None)?;
        settings.check()?;
        Ok(settings)
    }

    /// Returns the settings in a file merged over the defaults, as they were run.
    pub fn of_file(path: &Path) -> Result<Self, CommandError> {
        let (table, _) = read_file(path)?;
        table
            .try_into()
            .map_err(|error| usage(format!("{}: {}", path.display(), one_line(&error))))
    }

    /// Merges the preset and the file over the defaults. The file of an existing crawl contains
    /// every setting, so a preset given as a flag is merged over it.
    fn without_flags(
        out: Option<&Path>,
        config: Option<&Path>,
        preset: Option<Preset>,
    ) -> Result<(Self, Origins), CommandError> {
        let directory = out.map_or_else(|| Self::default().out, of_today);
        let begun = directory.join(SETTINGS_FILE);
        let is_begun = config.is_none() && begun.exists();
        let (file, named) = match config {
            Some(file) => read_file(file)?,
            None if is_begun => read_file(&begun)?,
            None => Default::default(),
        };
        let of_file = Origin::file(config.unwrap_or(&begun));
        let chosen = preset.or(named);
        let of_preset = chosen.map(Preset::table).unwrap_or_default();
        let preset_origin = chosen.map_or(Origin::Default, Origin::Preset);
        let layers = match preset.is_some() && is_begun {
            true => [(file, of_file), (of_preset, preset_origin)],
            false => [(of_preset, preset_origin), (file, of_file)],
        };
        let (mut table, mut origins) = (toml::Table::new(), Origins::default());
        for (layer, origin) in layers {
            origins.set(layer.keys(), &origin);
            table.extend(layer);
        }
        let mut settings: Self = table.try_into().map_err(|error| usage(one_line(&error)))?;
        // The file contains the crawl's path at the start, which may have changed since.
        if out.is_some() || is_begun {
            settings.out = directory;
        }
        Ok((settings, origins))
    }

    /// Returns the keys of all settings, in the order of the help.
    pub fn keys() -> Vec<String> {
        let command = Self::augment_args_for_update(Command::default());
        let ids = command
            .get_arguments()
            .map(|option| option.get_id().as_str());
        let keys = ids.map(|id| id.replace('_', "-"));
        // There are no flags for the names of secret options or for the tables of parts.
        let tables = ["secrets", "host", "prefix", "seed"].map(str::to_owned);
        keys.chain(tables).collect()
    }

    /// Returns the settings file that is stored in the crawl's directory and in its archive. It
    /// does not contain secrets: the hash key is only in the journal, and the proxy's credentials
    /// are never stored.
    pub fn as_run(&self, seeds: Vec<String>) -> Result<String, CommandError> {
        self.as_run_from(None, seeds)
    }

    /// Returns the same file with a seeds file that was not read completely.
    pub fn as_run_from(
        &self,
        unread: Option<PathBuf>,
        seeds: Vec<String>,
    ) -> Result<String, CommandError> {
        let kept = Self {
            seeds: unread,
            fresh: false,
            hash_key: None,
            proxy: self.proxy()?.map(|proxy| proxy.to_string()),
            url: seeds,
            ..self.clone()
        };
        let text = toml::to_string(&kept).map_err(|error| fault(&error))?;
        Ok(format!(
            "# This crawl as it was last run. `crawler --out DIR` goes on with it.\n{text}"
        ))
    }

    /// Records that these options were given, so that a later run without them prints a warning.
    pub fn remember_secrets(&mut self, options: &[String]) {
        for option in options {
            if !self.secrets.contains(option) {
                self.secrets.push(option.clone());
            }
        }
    }
}

/// Refuses an unknown key, with its line and a suggested key.
fn refuse_unknown_key(text: &str, path: &Path) -> Result<(), CommandError> {
    let Ok(table) = DeTable::parse(text) else {
        return Ok(());
    };
    let keys = Settings::keys();
    for (key, _) in table.get_ref() {
        let name: &str = key.get_ref();
        if keys.iter().any(|known| known == name) {
            continue;
        }
        let line = text[..key.span().start].matches('\n').count() + 1;
        let path = path.display();
        let error = usage(format!(
            "{path}: at line {line}: there is no setting {name:?}"
        ));
        let remedy = suggestions::for_key(name, &keys);
        return Err(error.with_remedy(remedy.unwrap_or_else(|| {
            "settings are named like the long options in `crawler --help --all`; `crawler config` \
             lists them"
                .to_owned()
        })));
    }
    parts::refuse_misplaced(text, path, table.get_ref(), &keys)
}

/// Reads a settings file: a table of its own keys, and the preset that it names.
fn read_file(path: &Path) -> Result<(toml::Table, Option<Preset>), CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    let wrong = |error: toml::de::Error| usage(format!("{}: {}", path.display(), one_line(&error)));
    let table = toml::from_str(&text).map_err(wrong)?;
    secret_options::refuse_in(&table, path)?;
    refuse_unknown_key(&text, path)?;
    // Parsed a second time with the types of the settings, to report a wrong value with its line.
    let typed = toml::from_str(&text);
    let settings: Settings = typed.map_err(|error| wrong_value(&text, &error, wrong))?;
    Ok((table, settings.preset))
}

/// Adds the remedy to the error for a value of the wrong type: how the value is written.
fn wrong_value(
    text: &str,
    error: &toml::de::Error,
    wrong: impl Fn(toml::de::Error) -> CommandError,
) -> CommandError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.split_once('=').map_or("", |(key, _)| key.trim());
    let expected = error.message().rsplit_once("expected ");
    let remedy = match (key, expected.map_or("", |(_, expected)| expected)) {
        ("", _) => None,
        ("seeds", _) => Some("seeds names a file; URLs go into url = [\"…\"]".to_owned()),
        (_, "u8" | "u16" | "u32" | "u64" | "usize") => {
            Some(format!("write a whole number without quotes: {key} = 10"))
        }
        (_, "f64") => Some(format!("write a number without quotes: {key} = 0.5")),
        (_, "a boolean") => Some(format!("write {key} = true or {key} = false")),
        (_, "a sequence") => Some(format!("write a list: {key} = [\"…\"]")),
        _ => None,
    };
    let wrong = wrong(error.clone());
    match remedy {
        Some(remedy) => wrong.with_remedy(remedy),
        None => wrong,
    }
}

/// Describes an error in a file and its position in one line.
pub fn one_line(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let place = first.strip_prefix("TOML parse error ");
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    format!("{place}{}", error.message().replace('\n', "; "))
}
