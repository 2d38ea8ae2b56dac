//! The seeds of a crawl: the seeds file and the URLs on the command line.

use std::collections::HashSet;
use std::path::Path;

use clap::CommandFactory;
use web::{CanonicalForm, PageUrl, read_seeds};

use crate::args::Arguments;
use crate::cli_error::{CliError, usage};
use crate::input;
use crate::settings::{SETTINGS_FILE, Settings};
use crate::suggestions;

/// The largest seeds file: a hundred million short URLs.
const MAX_SEEDS_BYTES: u64 = 4 << 30;

/// The seeds of a crawl, in order and without repetition, and a warning for each line that is not a
/// URL.
#[derive(Default)]
pub(crate) struct Seeds {
    pub(crate) urls: Vec<PageUrl>,
    pub(crate) complaints: Vec<String>,
}

impl Seeds {
    /// Reads the file and the arguments. No seed at all is wrong usage.
    pub(crate) fn gather(settings: &Settings, form: &CanonicalForm) -> Result<Self, CliError> {
        let mut found = Self::default();
        if let Some(file) = &settings.seeds {
            found.add(&read(file)?, &file.display().to_string(), form);
        }
        for argument in &settings.url {
            if let Some(error) = not_a_url(argument) {
                return Err(error);
            }
            found.add(argument, "the arguments", form);
        }
        if found.urls.is_empty() {
            return Err(found.nothing(settings));
        }
        let mut known = HashSet::new();
        found.urls.retain(|url| known.insert(url.key()));
        Ok(found)
    }

    fn add(&mut self, text: &str, source: &str, form: &CanonicalForm) {
        let list = read_seeds(text, form);
        self.urls.extend(list.seeds);
        for bad in &list.errors {
            let (line, text, error) = (bad.line, &bad.text, &bad.error);
            let warning = format!("{source}, line {line}: {text:?} is skipped: {error}");
            self.complaints.push(warning);
        }
        for line in &list.with_login {
            self.complaints.push(format!(
                "{source}, line {line}: user and password in a URL are left out; --http-user says \
                 them"
            ));
        }
    }

    fn nothing(&self, settings: &Settings) -> CliError {
        let shape = "one URL a line, such as https://example.org/";
        match (&settings.seeds, self.complaints.first()) {
            (_, Some(first)) => usage(format!("no seed is a URL: {first}")).with_remedy(shape),
            (Some(file), None) => {
                usage(format!("{} has no seeds", file.display())).with_remedy(shape)
            }
            (None, None) => usage("no seeds")
                .with_remedy("crawler --seeds seeds.txt, or crawler https://example.org/"),
        }
    }
}

/// Returns the error of an argument that cannot be meant as a URL: a file, a directory of a crawl,
/// or a misspelt command.
fn not_a_url(argument: &str) -> Option<CliError> {
    if argument.contains("://") {
        return None;
    }
    let path = Path::new(argument);
    if path.is_file() {
        let error = usage(format!("{argument:?} is a file, not a URL"));
        return Some(error.with_remedy(format!("did you mean --seeds {argument}?")));
    }
    if path.join(SETTINGS_FILE).is_file() {
        let error = usage(format!(
            "{argument:?} is the directory of a crawl, not a URL"
        ));
        return Some(error.with_remedy(format!("`crawler --out {argument}` continues it")));
    }
    if argument.contains(['.', ':', '/']) {
        return None;
    }
    let remedy = suggestions::for_command(argument, &Arguments::command());
    let remedy = remedy.unwrap_or_else(|| {
        "`crawler --help` lists the commands; a seed looks like https://example.org/".to_owned()
    });
    Some(usage(format!("{argument:?} is neither a command nor a URL")).with_remedy(remedy))
}

fn read(file: &Path) -> Result<String, CliError> {
    let bytes = input::read(file, MAX_SEEDS_BYTES).map_err(|error| {
        let file = file.display();
        usage(format!("cannot read the seeds file {file}: {error}"))
    })?;
    // A line that is not UTF-8 becomes a line that is not a URL, and is reported as such.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
