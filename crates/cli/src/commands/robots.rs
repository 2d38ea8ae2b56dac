//! `crawler robots`: what a robots.txt says about URLs.

use std::process::ExitCode;

use web::{CanonicalForm, PageUrl, RobotsRules};

use crate::args::RobotsArgs;
use crate::complaint::{Complaint, usage};
use crate::output;

/// Not all are allowed.
const DISALLOWED: u8 = 3;

pub(crate) fn run(args: &RobotsArgs) -> Result<ExitCode, Complaint> {
    let rules = RobotsRules::parse(&super::read_input(&args.file)?, &args.agent);
    let mut all_allowed = true;
    let mut lines = Vec::new();
    for text in &args.urls {
        let url = PageUrl::parse(text, &CanonicalForm::keep_all())
            .map_err(|error| usage(format!("{text:?}: {error}")))?;
        let allowed = rules.verdict(&url).allowed;
        all_allowed &= allowed;
        lines.push(if allowed { "allowed" } else { "disallowed" });
    }
    output::to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(if all_allowed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(DISALLOWED)
    })
}
