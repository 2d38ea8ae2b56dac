//! The layers of settings, and the file that stores them.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Args, Command, FromArgMatches};
use sinks::warc::Packing;
use toml::de::DeTable;

use super::origins::{Origin, Origins};
use super::{CrawlArgs, SETTINGS_FILE, Settings};
use crate::cli_error::{CliError, fault, usage};
use crate::preset::Preset;
use crate::{secrets, suggestions};

impl Settings {
    /// Merges the preset over the defaults, the file over both and the flags over all. The file is
    /// `--config`, or else the file of the crawl in `--out`.
    pub(crate) fn gather(args: &CrawlArgs) -> Result<Self, CliError> {
        let out = args.flags.get_one::<PathBuf>("out");
        let (settings, _) =
            Self::gather_from(args, out.map(PathBuf::as_path), args.run.config.as_deref())?;
        Ok(settings)
    }

    /// Merges the same layers for this directory and this file, with the origin of each value.
    pub(crate) fn gather_from(
        args: &CrawlArgs,
        out: Option<&Path>,
        config: Option<&Path>,
    ) -> Result<(Self, Origins), CliError> {
        let preset = args.flags.get_one("preset").copied();
        let (mut settings, mut origins) = Self::without_flags(out, config, preset)?;
        let packing = args.flags.get_one::<Packing>("compression");
        if packing.is_some_and(|packing| *packing != settings.compression) {
            // They belong to the old packing.
            settings.compression_level = None;
            settings.zstd_dictionary = None;
            origins.reset(&["compression-level", "zstd-dictionary"]);
        }
        let updated = settings.update_from_arg_matches(&args.flags);
        updated.map_err(|error| fault(&error))?;
        let given = |id: &clap::Id| {
            let source = args.flags.value_source(id.as_str());
            source == Some(ValueSource::CommandLine)
        };
        let flags = args.flags.ids().filter(|id| given(id));
        let flags: Vec<String> = flags.map(|id| id.as_str().replace('_', "-")).collect();
        origins.set(&flags, &Origin::Flag);
        settings.check()?;
        Ok((settings, origins))
    }

    /// Returns the settings of the last run of the crawl in `directory`.
    pub(crate) fn of_crawl(directory: &Path) -> Result<Self, CliError> {
        let (settings, _) = Self::without_flags(Some(directory), None, None)?;
        settings.check()?;
        Ok(settings)
    }

    /// Returns the settings in a file merged over the defaults, as they were run.
    pub(crate) fn of_file(path: &Path) -> Result<Self, CliError> {
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
    ) -> Result<(Self, Origins), CliError> {
        let directory = out.map_or_else(|| Self::default().out, Path::to_owned);
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
    pub(crate) fn keys() -> Vec<String> {
        let command = Self::augment_args_for_update(Command::default());
        let ids = command
            .get_arguments()
            .map(|option| option.get_id().as_str());
        let keys = ids.map(|id| id.replace('_', "-"));
        // There are no flags for the names of secret options or for the tables of single hosts.
        keys.chain(["secrets", "host"].map(str::to_owned)).collect()
    }

    /// Returns the settings file that is stored in the crawl's directory and in its archive. It
    /// does not contain secrets: the hash key is only in the journal, and the proxy's credentials
    /// are never stored.
    pub(crate) fn as_run(&self, seeds: Vec<String>) -> Result<String, CliError> {
        self.as_run_from(None, seeds)
    }

    /// Returns the same file with a seeds file that was not read completely.
    pub(crate) fn as_run_from(
        &self,
        unread: Option<PathBuf>,
        seeds: Vec<String>,
    ) -> Result<String, CliError> {
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
    pub(crate) fn remember_secrets(&mut self, options: &[String]) {
        for option in options {
            if !self.secrets.contains(option) {
                self.secrets.push(option.clone());
            }
        }
    }
}

/// Refuses an unknown key, with its line and a suggested key.
fn refuse_unknown_key(text: &str, path: &Path) -> Result<(), CliError> {
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
            "settings are named like the long options in `crawler --help`; `crawler config` lists \
             them"
                .to_owned()
        })));
    }
    Ok(())
}

/// Reads a settings file: a table of its own keys, and the preset that it names.
fn read_file(path: &Path) -> Result<(toml::Table, Option<Preset>), CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    let wrong = |error: toml::de::Error| usage(format!("{}: {}", path.display(), one_line(&error)));
    let table = toml::from_str(&text).map_err(wrong)?;
    secrets::refuse_in(&table, path)?;
    refuse_unknown_key(&text, path)?;
    // Parsed a second time with the types of the settings, to report a wrong value with its line.
    let settings: Settings = toml::from_str(&text).map_err(wrong)?;
    Ok((table, settings.preset))
}

/// Describes an error in a file and its position in one line.
pub(crate) fn one_line(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let place = first.strip_prefix("TOML parse error ");
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    format!("{place}{}", error.message().replace('\n', "; "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;
    use crawl::{OnDuplicate, Requisites};

    use super::*;
    use crate::args::Arguments;
    use crate::values::Span;

    /// Gathers the settings of `crawler --out DIR` with more flags.
    fn gather(out: &Path, flags: &[&str]) -> Settings {
        let begin = ["crawler", "--out", out.to_str().unwrap()];
        let arguments = Arguments::try_parse_from(begin.iter().chain(flags)).unwrap();
        Settings::gather(&arguments.crawl).unwrap()
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_the_defaults() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "delay = \"2s\"\ntries = 7\nforms = true\n").unwrap();
        let flags = ["--config", file.to_str().unwrap(), "--delay", "3s"];
        let settings = gather(&directory.path().join("out"), &flags);
        assert_eq!(settings.delay, "3s".parse().unwrap());
        assert_eq!((settings.tries, settings.forms), (7, true));
        assert_eq!(settings.concurrency, 64);
    }

    /// `out` in the file was ignored, and the crawl went into crawl/.
    #[test]
    fn the_file_may_name_the_directory_and_the_flag_wins_over_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "out = \"monday\"\n").unwrap();
        let gather = |more: &[&str]| {
            let begin = ["crawler", "--config", file.to_str().unwrap()];
            let arguments = Arguments::try_parse_from(begin.iter().chain(more)).unwrap();
            Settings::gather(&arguments.crawl).unwrap().out
        };
        assert_eq!(gather(&[]), Path::new("monday"));
        assert_eq!(gather(&["--out", "tuesday"]), Path::new("tuesday"));
    }

    #[test]
    fn every_value_has_its_origin() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "tries = 7\npreset = \"archive\"\ndelay = \"2s\"\n").unwrap();
        let arguments = ["crawler", "--delay", "3s", "--forms"];
        let arguments = Arguments::try_parse_from(arguments).unwrap();
        let gathered = Settings::gather_from(&arguments.crawl, None, Some(&file));
        let (_, origins) = gathered.unwrap();
        for (key, origin) in [
            ("delay", Origin::Flag),
            ("forms", Origin::Flag),
            ("tries", Origin::File(file.clone())),
            ("on-duplicate", Origin::Preset(Preset::Archive)),
            ("scope", Origin::Default),
        ] {
            assert_eq!(origins.of(key), origin, "{key}");
        }
    }

    #[test]
    fn an_option_given_twice_has_its_last_value_and_lists_have_all() {
        let directory = tempfile::tempdir().unwrap();
        let flags = [
            "--delay",
            "3s",
            "--delay",
            "4s",
            "--include",
            "a",
            "--include",
            "b",
        ];
        let settings = gather(
            directory.path(),
            &[&flags[..], &["--fresh", "--fresh"]].concat(),
        );
        assert_eq!(settings.delay, "4s".parse().unwrap());
        assert_eq!(settings.include, ["a", "b"]);
        assert!(settings.fresh);
    }

    #[test]
    fn a_flag_that_turns_a_setting_on_can_turn_it_off_too() {
        let directory = tempfile::tempdir().unwrap();
        for (flags, expected) in [
            (&[][..], false),
            (&["--forms"], true),
            (&["--forms=true"], true),
            (&["--forms=false"], false),
        ] {
            assert_eq!(gather(directory.path(), flags).forms, expected, "{flags:?}");
        }
    }

    #[test]
    fn a_preset_changes_defaults_and_the_file_and_flags_win_over_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "preset = \"archive\"\npage-requisites = \"off\"\n").unwrap();
        let out = directory.path().join("out");
        let with = |flags: &[&str]| {
            let config = ["--config", file.to_str().unwrap()];
            gather(&out, &[&config, flags].concat())
        };
        let kept = |settings: &Settings| (settings.on_duplicate, settings.page_requisites);
        let by_file = with(&[]);
        assert_eq!(kept(&by_file), (OnDuplicate::Keep, Requisites::Off));
        let by_flag = with(&["--on-duplicate", "follow"]);
        assert_eq!(by_flag.on_duplicate, OnDuplicate::Follow);
        let other = with(&["--preset", "focused"]);
        assert_eq!(kept(&other), (OnDuplicate::Drop, Requisites::Off));
        assert_eq!(other.preset, Some(Preset::Focused));

        // The crawl keeps the settings themselves, and is continued with them, or with those of
        // another preset.
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join(SETTINGS_FILE), by_file.as_run(Vec::new()).unwrap()).unwrap();
        let settings = gather(&out, &[]);
        assert_eq!(kept(&settings), (OnDuplicate::Keep, Requisites::Off));
        let settings = gather(&out, &["--preset", "archive"]);
        assert_eq!(kept(&settings), (OnDuplicate::Keep, Requisites::Scope));
    }

    #[test]
    fn a_crawl_is_continued_with_the_settings_that_it_was_begun_with() {
        let directory = tempfile::tempdir().unwrap();
        let begun = Settings {
            delay: Span(Duration::from_millis(250)),
            ..Settings::default()
        };
        let seeds = vec!["http://a.test/".to_owned()];
        let text = begun.as_run(seeds.clone()).unwrap();
        std::fs::write(directory.path().join(SETTINGS_FILE), text).unwrap();
        for settings in [
            gather(directory.path(), &[]),
            Settings::of_crawl(directory.path()).unwrap(),
        ] {
            assert_eq!(settings.delay, begun.delay);
            assert_eq!(settings.url, seeds);
            assert_eq!(settings.out, directory.path());
        }
    }
}
