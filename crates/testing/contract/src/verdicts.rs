//! A random crawl cannot distinguish a near-duplicate index from the index in memory, across any
//! number of sessions.

use neardup::PageSignature;
use proptest::prelude::*;
use store::{ComparisonOptions, DuplicateScope};
use tokio::runtime::Runtime;

use crate::admissions::{admitted, claiming, prose, signature};
use crate::backend::{Backend, End, Promise, Setup};
use crate::fixtures::{agree, at, url};
use crate::memory::Memory;
use crate::property::holds;
use crate::sentence::{Sentence, properties};

pub(crate) const PROPERTIES: &[Sentence] = &properties!(
    &[Promise::Sessions],
    no_verdict_distinguishes_the_index_from_the_one_in_memory,
);

/// A version of one of a few texts.
#[derive(Clone, Debug)]
struct Text {
    topic: u8,
    /// Number of leading words that the version excludes.
    cut: usize,
    payload: u8,
}

impl Text {
    fn signature(&self) -> PageSignature {
        let text = match self.topic {
            // A picture, and a text that is too short to be judged by similarity.
            0 => String::new(),
            1 => "one two three".to_owned(),
            topic => prose(["tea", "coffee", "cake"][usize::from(topic % 3)]),
        };
        let kept = text.split_inclusive(' ').skip(self.cut).collect::<String>();
        signature(self.payload.into(), &kept)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A page, and the page that it calls canonical.
    Admit(u8, Text, Option<u8>),
    Forget(u8),
    Separate(u8, u8),
    Flush,
    Reopen(End),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cut = prop_oneof![4 => Just(0_usize), 4 => 1..6_usize, 2 => 6..40_usize];
    let text = (0..9_u8, cut, 0..30_u8);
    let text = text.prop_map(|(topic, cut, payload)| Text {
        topic,
        cut,
        payload,
    });
    let end = prop_oneof![
        Just(End::InOrder),
        Just(End::Death),
        any::<u8>().prop_map(End::DeathInFlush),
    ];
    let step = prop_oneof![
        24 => (0..24_u8, text, proptest::option::of(0..24_u8))
            .prop_map(|(page, text, canonical)| Step::Admit(page, text, canonical)),
        4 => (0..24_u8).prop_map(Step::Forget),
        3 => (0..24_u8, 0..24_u8).prop_map(|(page, other)| Step::Separate(page, other)),
        1 => Just(Step::Flush),
        1 => end.prop_map(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Returns the URL of a page on one of three hosts in two domains.
fn name(page: u8) -> String {
    format!("http://h{}.one{}.test/{page}", page % 3, page % 2)
}

/// Takes the steps and returns the verdicts.
async fn play(backend: &dyn Backend, rules: ComparisonOptions, steps: &[Step]) -> Vec<String> {
    let mut session = backend.open(&Setup::with_comparison(rules)).await;
    let mut verdicts = Vec::new();
    for step in steps {
        let index = session.index().as_ref();
        match step {
            Step::Admit(page, text, None) => {
                verdicts.push(admitted(index, &name(*page), &text.signature()).await);
            }
            Step::Admit(page, text, Some(canonical)) => {
                let (page, canonical) = (name(*page), name(*canonical));
                verdicts.push(claiming(index, &page, &text.signature(), &canonical).await);
            }
            Step::Forget(page) => index.forget(url(&name(*page)).key()).await.unwrap(),
            Step::Separate(page, other) => {
                let (page, other) = (url(&name(*page)), url(&name(*other)));
                index.separate(&page, &other).await.unwrap();
            }
            Step::Flush => session.flush().await,
            Step::Reopen(end) => session = session.reopen(*end, at(0)).await,
        }
    }
    agree(session).await;
    verdicts
}

fn no_verdict_distinguishes_the_index_from_the_one_in_memory(
    backend: &dyn Backend,
    runtime: &Runtime,
) {
    let scope = prop_oneof![
        2 => Just(DuplicateScope::Crawl),
        1 => Just(DuplicateScope::Domain),
        1 => Just(DuplicateScope::Host),
    ];
    let values = (steps(), scope, 1..4_u32);
    holds(
        backend,
        48,
        file!(),
        &values,
        |(steps, scope, per_cluster)| {
            let rules = ComparisonOptions {
                scope,
                per_cluster: per_cluster.try_into().unwrap(),
                ..ComparisonOptions::default()
            };
            let expected = runtime.block_on(play(&Memory, rules, &steps));
            let seen = runtime.block_on(play(backend, rules, &steps));
            prop_assert_eq!(expected, seen);
            Ok(())
        },
    );
}
