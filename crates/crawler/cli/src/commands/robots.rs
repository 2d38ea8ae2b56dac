//! `crawler robots`: checks URLs against a robots.txt, and names the rule that decides.

use std::io::{self, Write};
use std::process::ExitCode;

use messages::CommandError;
use serde::Serialize;
use settings::input::{parse_url, read_input};
use web::{CanonicalForm, RobotsRules, RobotsVerdict};

use crate::args::{RobotsArgs, RobotsForm};
use crate::output;

/// The exit code if some URL is disallowed.
const DISALLOWED: u8 = 3;

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    allowed: bool,
    /// The rule that decided, if any, and its line number.
    rule: Option<String>,
    line: Option<u32>,
    /// The user agent of its group.
    agent: Option<&'a str>,
    /// Section of RFC 9309.
    section: &'static str,
    reason: String,
}

pub(crate) fn run(args: &RobotsArgs) -> Result<ExitCode, CommandError> {
    let rules = RobotsRules::parse(&read_input(&args.file)?, &args.agent);
    let mut verdicts = Vec::with_capacity(args.urls.len());
    for text in &args.urls {
        let url = parse_url(text, &CanonicalForm::keep_all())?;
        verdicts.push((text.as_str(), rules.verdict(&url)));
    }
    output::to_stdout(|out| {
        verdicts
            .iter()
            .try_for_each(|(url, verdict)| match args.format {
                Some(RobotsForm::Json) => output::json_line(out, &answer(url, verdict)),
                Some(RobotsForm::Text) | None if args.explain => explain(out, verdict),
                Some(RobotsForm::Text) | None => writeln!(out, "{}", word(verdict)),
            })
    })?;
    Ok(match verdicts.iter().all(|(_, verdict)| verdict.allowed) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(DISALLOWED),
    })
}

const fn word(verdict: &RobotsVerdict) -> &'static str {
    match verdict.allowed {
        true => "allowed",
        false => "disallowed",
    }
}

/// Writes the rule that decided. Rules are visible ASCII and need no escaping.
fn explain(out: &mut dyn Write, verdict: &RobotsVerdict) -> io::Result<()> {
    write!(out, "{}\t{}", word(verdict), verdict.grounds)?;
    if let Some(rule) = verdict.rule() {
        write!(out, " (line {}, for {})", rule.line, rule.group)?;
    }
    writeln!(out)
}

fn answer<'a>(url: &'a str, verdict: &'a RobotsVerdict) -> Answer<'a> {
    let rule = verdict.rule();
    Answer {
        url,
        allowed: verdict.allowed,
        rule: rule.map(ToString::to_string),
        line: rule.map(|rule| rule.line),
        agent: rule.map(|rule| rule.group.as_str()),
        section: verdict.grounds.section(),
        reason: verdict.grounds.to_string(),
    }
}
