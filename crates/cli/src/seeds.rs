//! The seeds of a crawl: the seeds file and the URLs on the command line.

use std::collections::HashSet;
use std::path::Path;

use web::{CanonicalForm, PageUrl, read_seeds};

use crate::cli_error::{CliError, usage};
use crate::input;
use crate::settings::Settings;

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
            if !argument.contains(['.', ':', '/']) {
                let remedy =
                    "`crawler --help` lists the commands; a seed looks like https://example.org/";
                let error = usage(format!("{argument:?} is neither a command nor a URL"));
                return Err(error.with_remedy(remedy));
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

fn read(file: &Path) -> Result<String, CliError> {
    let bytes = input::read(file, MAX_SEEDS_BYTES).map_err(|error| {
        let file = file.display();
        usage(format!("cannot read the seeds file {file}: {error}"))
    })?;
    // A line that is not UTF-8 becomes a line that is not a URL, and is reported as such.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
