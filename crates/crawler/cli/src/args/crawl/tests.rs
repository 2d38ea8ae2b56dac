//! The flags of a crawl over the other layers of settings, and their documentation.

use std::path::Path;
use std::time::Duration;

use ::policy::{OnDuplicate, Requisites};
use clap::{CommandFactory, Parser};
use settings::preset::Preset;
use settings::values::Span;
use settings::{Origin, SECRET_OPTIONS, SETTINGS_FILE, Settings};

use crate::args::Arguments;

const DOCUMENTED: &str = include_str!("../../../../../../config/default.toml");

/// Gathers the settings of `crawler --out DIR` with more flags.
fn gather(out: &Path, flags: &[&str]) -> Settings {
    let begin = ["crawler", "--out", out.to_str().unwrap()];
    let arguments = Arguments::try_parse_from(begin.iter().chain(flags)).unwrap();
    arguments.crawl.settings().unwrap().0
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
        arguments.crawl.settings().unwrap().0.out
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
    let gathered = Settings::gather_from(&arguments.crawl.flags, None, Some(&file));
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

#[test]
fn help_and_default_file_list_the_settings_of_every_preset() {
    let command = Arguments::command();
    let crawl = command.find_subcommand("crawl").unwrap();
    let option = crawl
        .get_arguments()
        .find(|argument| argument.get_long() == Some("preset"));
    let help = option
        .and_then(|option| option.get_help())
        .unwrap()
        .to_string();
    // Its lists are wrapped.
    let file = DOCUMENTED.replace("\n#            ", " ");
    for preset in Preset::ALL {
        let table = preset.table();
        table.clone().try_into::<Settings>().unwrap();
        let list: Vec<String> = table
            .iter()
            .map(|(key, value)| format!("{key} {}", value.as_str().unwrap()))
            .collect();
        let listed = format!("{preset} ({})", list.join(", "));
        assert!(help.contains(&listed), "{listed} is missing in --help");
        let documented = format!("#   {preset:<8} {}", list.join(", "));
        assert!(
            file.contains(&documented),
            "{documented:?} is missing in config/default.toml"
        );
    }
}

#[test]
fn every_setting_and_every_option_is_documented_in_the_default_file() {
    let documented = |key: &str| {
        let set = format!("\n{key} = ");
        let unset = format!("\n# {key} = ");
        DOCUMENTED.contains(&set) || DOCUMENTED.contains(&unset)
    };
    let command = Arguments::command();
    let crawl = command.find_subcommand("crawl").unwrap();
    let not_settings = [
        "config",
        "summary",
        "on-file",
        "on-finish",
        "serve",
        "token-file",
        "quiet",
        "verbose",
        "help",
        "version",
    ];
    for option in SECRET_OPTIONS {
        assert!(
            DOCUMENTED.contains(&format!("--{option}")),
            "--{option} is missing in config/default.toml"
        );
    }
    for option in crawl
        .get_arguments()
        .filter_map(|argument| argument.get_long())
    {
        assert!(
            not_settings.contains(&option)
                || SECRET_OPTIONS.contains(&option)
                || documented(option),
            "--{option} is missing in config/default.toml"
        );
    }
    for key in toml::Table::try_from(Settings::default()).unwrap().keys() {
        assert!(documented(key), "{key} is missing in config/default.toml");
    }
}
