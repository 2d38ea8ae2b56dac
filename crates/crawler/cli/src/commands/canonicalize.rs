//! `crawler canonicalize`: prints the canonical form of URLs, which the crawler compares.

use std::io::{self, BufRead};

use messages::{CommandError, fault, usage};
use web::{CanonicalForm, PageUrl};

use crate::args::CanonicalizeArgs;
use crate::output;

pub(crate) fn run(args: &CanonicalizeArgs) -> Result<(), CommandError> {
    let form = CanonicalForm::default();
    let canonical = |text: &str| -> Result<String, CommandError> {
        let url = PageUrl::parse(text.trim(), &form)
            .map_err(|error| usage(format!("{text:?}: {error}")))?;
        Ok(match args.surt {
            true => web::surt_key(url.request().as_str()),
            false => url.to_string(),
        })
    };
    let mut lines = Vec::new();
    if args.urls.is_empty() {
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| fault(&error))?;
            if !line.trim().is_empty() {
                lines.push(canonical(&line)?);
            }
        }
    } else {
        for url in &args.urls {
            lines.push(canonical(url)?);
        }
    }
    output::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}
