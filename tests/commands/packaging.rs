//! Files of the packages that name options, settings and metrics of the program.
//!
//! `packaging/try` installs and runs the packages; these tests notice what a change of the program
//! breaks in them.

use crate::support::{Crawl, root};

fn read(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the long options in a text.
fn options(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.split('=').next().unwrap_or(word))
        .collect()
}

#[test]
fn the_example_of_the_service_is_a_file_of_settings() {
    let crawl = Crawl::bare();
    crawl.write("example.toml", read("packaging/systemd/example.toml"));
    let run = crawl.run_command(&["config", "example.toml"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn the_unit_runs_the_program_with_options_that_exist() {
    let unit = read("packaging/systemd/crawler@.service");
    let command = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .unwrap();
    let help = Crawl::bare().run_command(&["--help", "--all"]).output;
    let options = options(command);
    assert!(options.contains(&"--config"), "{options:?}");
    for option in options {
        assert!(help.contains(&format!("{option} <")), "{option}");
    }
}

/// bash runs wherever these tests do; `packaging/complete.py` has zsh and fish, too.
#[test]
fn bash_completes_commands_options_and_values() {
    let crawl = Crawl::bare();
    let script = crawl.run_command(&["completions", "bash"]).output;
    crawl.write("completions.bash", script);
    for (line, expected) in [
        ("crawler exp", "export"),
        ("crawler --max-dep", "--max-depth"),
        ("crawler --scope dom", "domain"),
        ("crawler export --format par", "parquet"),
        ("crawler completions fi", "fish"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let last = words.len() - 1;
        let complete = format!(
            ". ./completions.bash; COMP_WORDS=({line}); COMP_CWORD={last}; \
             _crawler crawler {} {}; echo \"${{COMPREPLY[@]}}\"",
            words[last],
            words[last - 1]
        );
        let run = std::process::Command::new("bash")
            .args(["-c", &complete])
            .current_dir(crawl.directory())
            .output()
            .unwrap();
        let replies = String::from_utf8_lossy(&run.stdout);
        assert_eq!(replies.trim(), expected, "{line}: {run:?}");
    }
}
