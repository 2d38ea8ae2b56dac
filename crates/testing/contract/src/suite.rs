//! All sentences of the contract, and the program that checks them against stores.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use crate::backend::Backend;
use crate::sentence::Sentence;
use crate::{
    best_first, canonical, claims, earlier_crawls, frontier, host_memory, index, last_chance,
    model, patterns, politeness, probes, redirects, requisites, restarts, sessions, verdicts,
};

/// Returns all sentences.
fn sentences() -> impl Iterator<Item = &'static Sentence> {
    let modules = [
        frontier::SENTENCES,
        frontier::COUNTED,
        frontier::IN_ORDER,
        claims::SENTENCES,
        claims::OVER_SESSIONS,
        host_memory::SENTENCES,
        requisites::SENTENCES,
        best_first::SENTENCES,
        best_first::IN_ORDER,
        best_first::OVER_SESSIONS,
        patterns::SENTENCES,
        patterns::OVER_SESSIONS,
        probes::SENTENCES,
        probes::IN_ORDER,
        probes::OVER_SESSIONS,
        index::SENTENCES,
        last_chance::SENTENCES,
        last_chance::COUNTED,
        last_chance::IN_ORDER,
        last_chance::OVER_SESSIONS,
        canonical::SENTENCES,
        canonical::AFTER_OTHERS,
        earlier_crawls::SENTENCES,
        sessions::SENTENCES,
        sessions::ALONE,
        model::PROPERTIES,
        model::IN_ORDER,
        politeness::PROPERTIES,
        verdicts::PROPERTIES,
        redirects::PROPERTIES,
        restarts::PROPERTIES,
        restarts::IN_ORDER,
    ];
    modules.into_iter().flatten()
}

/// Checks every sentence against every backend, according to the options on the command line.
/// Reports on standard error the number of sentences that a backend does not promise.
#[must_use]
pub fn run(backends: impl IntoIterator<Item = Arc<dyn Backend>>) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for backend in backends {
        for sentence in sentences() {
            if sentence.beyond(&*backend).is_some() {
                continue;
            }
            let is_ignored = backend.missing().is_some();
            let (name, backend) = (backend.name(), Arc::clone(&backend));
            let name = format!("{name}::{}", sentence.title());
            let check = move || {
                sentence.check(&*backend);
                Ok(())
            };
            trials.push(Trial::test(name, check).with_ignored_flag(is_ignored));
        }
        report_beyond(&*backend);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Reports the sentences that are not held against the backend.
#[expect(clippy::print_stderr, reason = "a test says what it does not test")]
fn report_beyond(backend: &dyn Backend) {
    if let Some(missing) = backend.missing() {
        eprintln!(
            "{} is not tested: {missing} is not installed",
            backend.name()
        );
    }
    for promise in backend.lacks() {
        let beyond = sentences().filter(|sentence| sentence.beyond(backend) == Some(*promise));
        let (name, count) = (backend.name(), beyond.count());
        eprintln!("{name} does not promise {promise}: {count} sentences are not held against it");
    }
}
