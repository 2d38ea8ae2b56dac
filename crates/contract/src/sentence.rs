//! Sentences of the contract as tests, and the program that runs them.

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::backend::{Backend, Promise};
use crate::{
    canonical, earlier_crawls, frontier, host_memory, index, model, patterns, politeness, probes,
    requisites, restarts, sessions, verdicts,
};

/// A sentence that a store keeps.
pub(crate) struct Sentence {
    /// The path of its function.
    pub(crate) name: &'static str,
    /// The promises that it is about.
    pub(crate) about: &'static [Promise],
    pub(crate) check: Check,
}

/// The course of a scenario with a backend.
type Course<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The function that holds a sentence against a backend. It panics if the sentence is broken.
pub(crate) enum Check {
    /// One scenario.
    Scenario(for<'a> fn(&'a dyn Backend) -> Course<'a>),
    /// A property of many random scenarios, each of which runs to its end in this runtime.
    Property(fn(&dyn Backend, &Runtime)),
}

/// Lists scenarios of a module, and the promises that all of them are about.
macro_rules! scenarios {
    ($about:expr, $($name:ident),+ $(,)?) => {
        [$($crate::sentence::Sentence {
            name: concat!(module_path!(), "::", stringify!($name)),
            about: $about,
            check: $crate::sentence::Check::Scenario(|backend| Box::pin($name(backend))),
        }),+]
    };
}

/// Lists property tests of a module, and the promises that all of them are about.
macro_rules! properties {
    ($about:expr, $($name:ident),+ $(,)?) => {
        [$($crate::sentence::Sentence {
            name: concat!(module_path!(), "::", stringify!($name)),
            about: $about,
            check: $crate::sentence::Check::Property($name),
        }),+]
    };
}

pub(crate) use {properties, scenarios};

/// Returns all sentences.
fn sentences() -> impl Iterator<Item = &'static Sentence> {
    let modules = [
        frontier::SENTENCES,
        frontier::COUNTED,
        frontier::IN_ORDER,
        host_memory::SENTENCES,
        requisites::SENTENCES,
        patterns::SENTENCES,
        patterns::OVER_SESSIONS,
        probes::SENTENCES,
        probes::OVER_SESSIONS,
        index::SENTENCES,
        canonical::SENTENCES,
        canonical::AFTER_OTHERS,
        earlier_crawls::SENTENCES,
        sessions::SENTENCES,
        sessions::ALONE,
        model::PROPERTIES,
        model::IN_ORDER,
        politeness::PROPERTIES,
        verdicts::PROPERTIES,
        restarts::PROPERTIES,
        restarts::IN_ORDER,
    ];
    modules.into_iter().flatten()
}

impl Sentence {
    /// Returns its name without that of this crate.
    fn title(&self) -> &'static str {
        self.name
            .split_once("::")
            .map_or(self.name, |(_, name)| name)
    }

    /// Returns the first promise that the sentence is about and the backend lacks.
    fn beyond(&self, backend: &dyn Backend) -> Option<Promise> {
        let lacks = backend.lacks();
        self.about
            .iter()
            .copied()
            .find(|about| lacks.contains(about))
    }

    fn check(&self, backend: &dyn Backend) {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        match self.check {
            Check::Scenario(check) => runtime.block_on(check(backend)),
            Check::Property(check) => check(backend, &runtime),
        }
    }
}

/// Holds every sentence against every backend, as the options on the command line say. Reports the
/// number of sentences that a backend does not promise on standard error.
#[must_use]
pub fn run(backends: impl IntoIterator<Item = Arc<dyn Backend>>) -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for backend in backends {
        for sentence in sentences() {
            if sentence.beyond(&*backend).is_some() {
                continue;
            }
            let (name, backend) = (backend.name(), Arc::clone(&backend));
            let name = format!("{name}::{}", sentence.title());
            let check = move || {
                sentence.check(&*backend);
                Ok(())
            };
            trials.push(Trial::test(name, check));
        }
        report_beyond(&*backend);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Reports the sentences that the backend does not promise.
#[expect(clippy::print_stderr, reason = "a test says what it does not test")]
fn report_beyond(backend: &dyn Backend) {
    for promise in backend.lacks() {
        let beyond = sentences().filter(|sentence| sentence.beyond(backend) == Some(*promise));
        let (name, count) = (backend.name(), beyond.count());
        eprintln!("{name} does not promise {promise}: {count} sentences are not held against it");
    }
}
