//! A sentence of the contract as a test.

use std::future::Future;
use std::pin::Pin;

use tokio::runtime::{Builder, Runtime};

use crate::backend::{Backend, Promise};

/// A sentence that a store must fulfil.
pub(crate) struct Sentence {
    /// The path of its function.
    pub(crate) name: &'static str,
    /// The promises that it is about.
    pub(crate) about: &'static [Promise],
    pub(crate) check: Check,
}

/// The execution of a scenario with a backend.
type Course<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The function that checks a sentence against a backend. It panics if the sentence is broken.
pub(crate) enum Check {
    /// One scenario.
    Scenario(for<'a> fn(&'a dyn Backend) -> Course<'a>),
    /// A property of many random scenarios; each runs to completion in this runtime.
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

impl Sentence {
    /// Returns its name without the name of this crate.
    pub(crate) fn title(&self) -> &'static str {
        self.name
            .split_once("::")
            .map_or(self.name, |(_, name)| name)
    }

    /// Returns the first promise of the sentence that the backend lacks.
    pub(crate) fn beyond(&self, backend: &dyn Backend) -> Option<Promise> {
        let lacks = backend.lacks();
        self.about
            .iter()
            .copied()
            .find(|about| lacks.contains(about))
    }

    pub(crate) fn check(&self, backend: &dyn Backend) {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        match self.check {
            Check::Scenario(check) => runtime.block_on(check(backend)),
            Check::Property(check) => check(backend, &runtime),
        }
    }
}
