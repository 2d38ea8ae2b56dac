//! `crawler config`: the settings in effect, each with the layer that its value comes from.
//!
//! The table is a valid settings file: it can be saved, edited and passed to `--config`. The
//! explanation of a setting is its text in `--help`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Arg, Args, Command};
use messages::{CommandError, fault, printable, usage, wrapped};
use serde::Serialize;
use settings::{Origins, SETTINGS_FILE, Settings, suggestions};

use crate::args::{ConfigArgs, CrawlArgs};
use crate::output::{self, Format};

/// A setting with its value.
#[derive(Serialize)]
struct ShownSetting {
    key: String,
    /// `None` if the setting is not set.
    value: Option<toml::Value>,
    /// `default`, `preset NAME`, `flag` or the path of a file.
    from: String,
    default: Option<toml::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// Prints the settings that a crawl with these arguments would have.
pub(crate) fn run(args: &ConfigArgs) -> Result<(), CommandError> {
    let flags = &args.crawl.flags;
    let mut out = flags.get_one::<PathBuf>("out").cloned();
    let mut config = args.crawl.run.config.clone();
    for path in &args.shown.paths {
        let (place, what) = match path.is_dir() {
            true => (&mut out, "directory"),
            false => (&mut config, "settings file"),
        };
        if let Some(other) = place.replace(path.clone()) {
            let error = usage(format!(
                "{} and {} given, but a crawl has only one {what}",
                other.display(),
                path.display()
            ));
            return Err(error.with_remedy("name one of them"));
        }
        if path.is_dir() && !path.join(SETTINGS_FILE).is_file() {
            let error = usage(format!("{} does not contain a crawl", path.display()));
            return Err(
                error.with_remedy(format!("the settings of a crawl are in {SETTINGS_FILE}"))
            );
        }
    }
    let (settings, origins) =
        Settings::gather_from(&args.crawl.flags, out.as_deref(), config.as_deref())?;
    let shown = shown_settings(&settings, &origins)?;
    let format = args.shown.format;
    match &args.shown.explain {
        Some(key) => explain(key, shown, format),
        None => output::to_stdout(|out| match format {
            Format::Json => shown.iter().try_for_each(|one| output::json_line(out, one)),
            Format::Table => write_file(out, &shown),
        }),
    }
}

/// Returns every setting in the order of the help, without the credentials of a proxy.
fn shown_settings(
    settings: &Settings,
    origins: &Origins,
) -> Result<Vec<ShownSetting>, CommandError> {
    let settings = Settings {
        proxy: settings.proxy()?.map(|proxy| proxy.to_string()),
        ..settings.clone()
    };
    let table =
        |settings: &Settings| toml::Table::try_from(settings).map_err(|error| fault(&error));
    let (values, defaults) = (table(&settings)?, table(&Settings::default())?);
    let keys = Settings::keys().into_iter();
    let shown = keys.map(|key| ShownSetting {
        value: values.get(&key).cloned(),
        default: defaults.get(&key).cloned(),
        from: origins.of(&key).to_string(),
        option: None,
        help: None,
        key,
    });
    Ok(shown.collect())
}

/// Writes a settings file with the origin of each value in a comment.
fn write_file(out: &mut dyn Write, shown: &[ShownSetting]) -> io::Result<()> {
    let lines = shown.iter().map(|one| match &one.value {
        Some(value) => format!("{} = {value}", one.key),
        None => format!("# {} =", one.key),
    });
    let lines: Vec<String> = lines.map(|line| printable(&line)).collect();
    // Long lists do not push the comments of other settings to the right.
    let widths = lines.iter().map(|line| line.chars().count());
    let width = widths.filter(|width| *width <= 40).max().unwrap_or(0);
    for (line, one) in lines.iter().zip(shown) {
        writeln!(out, "{line:width$}  # {}", printable(&one.from))?;
    }
    Ok(())
}

/// Prints the explanation of a setting.
fn explain(key: &str, shown: Vec<ShownSetting>, format: Format) -> Result<(), CommandError> {
    let name = key.trim_start_matches('-');
    let found = shown.into_iter().find(|one| one.key == name);
    let Some(setting) = found else {
        let error = usage(format!("there is no setting {key:?}"));
        let remedy = suggestions::for_key(name, &Settings::keys());
        return Err(error.with_remedy(
            remedy
                .as_deref()
                .unwrap_or("`crawler config` lists all settings"),
        ));
    };
    let command = CrawlArgs::augment_args(Command::default());
    let id = name.replace('-', "_");
    let option = command
        .get_arguments()
        .find(|option| option.get_id() == id.as_str());
    let help = option.and_then(Arg::get_help).map(ToString::to_string);
    let setting = ShownSetting {
        option: option.and_then(spelling),
        help: Some(help.unwrap_or_else(|| without_option(name).to_owned())),
        ..setting
    };
    output::to_stdout(|out| match format {
        Format::Json => output::json_line(out, &setting),
        Format::Table => write_explanation(out, &setting),
    })
}

/// Returns the explanation of a setting that has no command-line option.
fn without_option(key: &str) -> &'static str {
    match key {
        "host" => {
            "Settings of single hosts, in a settings file: [host.\"example.org\"] for a host, \
             [host.\"*.example.org\"] for its subdomains, with delay, concurrency, max-pages, \
             main-selector, proxy, headers, client-cert and client-key. For each key, the most \
             specific table that contains it applies. Header fields are sent over https, and to \
             origins of seeds, and are never shown, stored or archived."
        }
        "prefix" => {
            "Settings of the pages below a URL, in a settings file: \
             [prefix.\"https://example.org/wiki/\"] for this page and everything below it, with \
             max-depth, main-selector, fields and render. For each key, the longest prefix that \
             contains it applies, before the tables of hosts."
        }
        "seed" => {
            "Settings of single seeds, in a settings file: [seed.\"https://example.org/docs/\"] \
             with scope, which says what this seed lets in."
        }
        _ => "Names of the secret options that the crawl was run with. Secrets are never stored.",
    }
}

/// Returns the forms of an option: `--delay TIME, -w TIME`. A positional argument has no such
/// forms.
fn spelling(option: &Arg) -> Option<String> {
    let value = option.get_value_names().and_then(<[_]>::first);
    let value = value.map_or_else(String::new, |name| format!(" {name}"));
    let long = option.get_long().map(|long| format!("--{long}{value}"));
    let short = option.get_short().map(|short| format!("-{short}{value}"));
    let forms: Vec<String> = long.into_iter().chain(short).collect();
    (!forms.is_empty()).then(|| forms.join(", "))
}

fn write_explanation(out: &mut dyn Write, setting: &ShownSetting) -> io::Result<()> {
    let shown = |value: &Option<toml::Value>| {
        value
            .as_ref()
            .map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    let option = setting.option.as_deref();
    writeln!(out, "{}", option.unwrap_or(&setting.key))?;
    let help = setting.help.as_deref().unwrap_or_default();
    let words: Vec<&str> = help.split_whitespace().collect();
    writeln!(out, "{}", wrapped(&format!("    {}", words.join(" ")), 4))?;
    output::columns(
        out,
        &[
            ("key", Some(setting.key.clone())),
            ("value", Some(shown(&setting.value))),
            ("from", Some(setting.from.clone())),
            ("default", Some(shown(&setting.default))),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_an_explanation() {
        let command = CrawlArgs::augment_args(Command::default());
        for key in Settings::keys() {
            let id = key.replace('-', "_");
            let option = command
                .get_arguments()
                .find(|option| option.get_id() == id.as_str());
            let help = option.and_then(Arg::get_help);
            let is_explained =
                help.is_some() || ["secrets", "host", "prefix", "seed"].contains(&key.as_str());
            assert!(is_explained, "{key}");
        }
    }
}
