//! The names of the options for secrets, which no settings file may have.

use std::path::Path;

use messages::{CommandError, usage};

/// Names of the options, as stored in `crawler.toml`.
pub const SECRET_OPTIONS: [&str; 6] = [
    "header",
    "http-user",
    "http-password",
    "http-password-file",
    "load-cookies",
    "netrc",
];

/// Refuses secrets in a settings file, because copies of it are kept.
pub(crate) fn refuse_in(table: &toml::Table, path: &Path) -> Result<(), CommandError> {
    match SECRET_OPTIONS
        .iter()
        .find(|option| table.contains_key(**option))
    {
        Some(option) => {
            let path = path.display();
            let error = usage(format!(
                "{path}: {option} is not allowed in a settings file, because crawls store their \
                 settings"
            ));
            Err(error.with_remedy(format!(
                "give --{option} on the command line; --header @FILE, --http-password-file FILE \
                 and --load-cookies FILE read secrets from files"
            )))
        }
        None => Ok(()),
    }
}
