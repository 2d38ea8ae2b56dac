//! `dedup` finds exactly the result of comparing everything with everything, whatever the memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use batch::dedup::{
    self, DEFAULT_MEMORY, Document, DocumentTexts, Finding, FindingKind, NamedDocument, Options,
    Summary, TextVerdict,
};
use batch::{BatchError, Control, MIN_MEMORY, Progress, Step};
use neardup::{
    Features, HashKey, MatchKind, PageSignature, PageText, SignatureBuilder, SignatureIndex,
    TextSignature, Thresholds,
};
use proptest::prelude::*;

fn signature_builder() -> SignatureBuilder {
    SignatureBuilder::new(Features::default(), HashKey::ZERO)
}

fn signature(payload: u128, text: &str, main_content: Option<&str>) -> PageSignature {
    signature_builder().signature(
        payload,
        Some(PageText {
            main_content,
            ..PageText::of(text)
        }),
    )
}

fn documents(signatures: &[PageSignature]) -> impl Iterator<Item = Result<Document, BatchError>> {
    signatures.iter().enumerate().map(|(number, signature)| {
        Ok(Document {
            id: format!("{number}").into(),
            signature: signature.clone().into(),
        })
    })
}

/// A finding without borrows.
#[derive(Clone, Debug, PartialEq)]
enum OwnedFinding {
    Duplicate(usize, usize, MatchKind),
    Pair(usize, usize, MatchKind),
    Cluster(Vec<usize>),
    Original(usize),
}

fn number(id: &str) -> usize {
    id.parse().unwrap()
}

fn owned(finding: &Finding<'_>) -> OwnedFinding {
    match finding {
        Finding::Duplicate(found) => OwnedFinding::Duplicate(
            number(found.document),
            number(found.duplicate_of),
            found.match_kind,
        ),
        Finding::Original(found) => OwnedFinding::Original(number(found.document)),
        Finding::Pair(found) => {
            OwnedFinding::Pair(number(found.a), number(found.b), found.match_kind)
        }
        Finding::Cluster(found) => {
            let members: Vec<usize> = found.members().map(|id| number(&id.unwrap())).collect();
            assert_eq!(members.len(), found.len());
            OwnedFinding::Cluster(members)
        }
    }
}

fn run(
    signatures: &[PageSignature],
    kind: FindingKind,
    memory: usize,
    workers: usize,
) -> (Vec<OwnedFinding>, Summary) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        memory,
        workers: NonZeroUsize::new(workers).unwrap(),
        ..Options::new(kind, directory.path())
    };
    let mut findings = Vec::new();
    let summary = dedup::run(
        documents(signatures),
        &options,
        Control::none(),
        |finding| {
            findings.push(owned(&finding));
            Ok::<(), BatchError>(())
        },
    )
    .unwrap();
    assert_eq!(summary.findings, findings.len() as u64);
    assert_eq!(summary.documents, signatures.len() as u64);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    (findings, summary)
}

/// The same in much and in little memory.
fn found(signatures: &[PageSignature], kind: FindingKind, workers: usize) -> Vec<OwnedFinding> {
    let (roomy, summary) = run(signatures, kind, DEFAULT_MEMORY, workers);
    assert_eq!(summary.spilled, 0);
    let (tight, _) = run(signatures, kind, 0, workers);
    let differs = (0..roomy.len().max(tight.len())).find(|&at| roomy.get(at) != tight.get(at));
    assert_eq!(differs.map(|at| (roomy.get(at), tight.get(at))), None);
    roomy
}

/// Returns each document with the signature of the first that is equal to it, and which that is.
fn with_equal_ones_taken_as_one(signatures: &[PageSignature]) -> Vec<(usize, &PageSignature)> {
    let mut payloads: BTreeMap<u128, usize> = BTreeMap::new();
    let mut texts: BTreeMap<u128, usize> = BTreeMap::new();
    let mut firsts: Vec<(usize, &PageSignature)> = Vec::new();
    for (number, signature) in signatures.iter().enumerate() {
        let digest = signature.text.as_deref().map(|text| text.digest);
        let first = match payloads.get(&signature.payload) {
            Some(&same) => firsts[same].0,
            None => *digest
                .and_then(|digest| texts.get(&digest))
                .unwrap_or(&number),
        };
        payloads.entry(signature.payload).or_insert(number);
        if let (Some(digest), true) = (digest, first == number) {
            texts.entry(digest).or_insert(number);
        }
        firsts.push((first, &signatures[first]));
    }
    firsts
}

fn are_candidates(one: &TextSignature, other: &TextSignature, distance: u32) -> bool {
    let bands = |text: &TextSignature| text.sketch.as_ref().map(|sketch| sketch.bands());
    let share = bands(one)
        .into_iter()
        .flatten()
        .zip(bands(other).into_iter().flatten())
        .any(|(one, other)| one == other);
    share || one.fingerprint.distance(other.fingerprint) <= distance
}

fn all_pairs(signatures: &[PageSignature]) -> Vec<(usize, usize, MatchKind)> {
    let thresholds = Thresholds::default();
    let firsts = with_equal_ones_taken_as_one(signatures);
    let mut pairs = Vec::new();
    for (a, (first_a, one)) in firsts.iter().enumerate() {
        for (b, (first_b, other)) in firsts.iter().enumerate().skip(a + 1) {
            let match_kind =
                if first_a == first_b {
                    Some(if signatures[a].payload == signatures[b].payload {
                        MatchKind::SamePayload
                    } else {
                        MatchKind::SameText
                    })
                } else {
                    let candidates = one.text.as_deref().zip(other.text.as_deref()).is_some_and(
                        |(one, other)| are_candidates(one, other, thresholds.distance()),
                    );
                    candidates
                        .then(|| thresholds.match_kind(one, other))
                        .flatten()
                };
            pairs.extend(match_kind.map(|match_kind| (a, b, match_kind)));
        }
    }
    pairs
}

fn components(count: usize, pairs: &[(usize, usize, MatchKind)]) -> Vec<OwnedFinding> {
    let mut least: Vec<usize> = (0..count).collect();
    loop {
        let before = least.clone();
        for &(one, other, _) in pairs {
            let both = least[one].min(least[other]);
            (least[one], least[other]) = (both, both);
        }
        if before == least {
            return clusters_of(&least);
        }
    }
}

fn clusters_of(firsts: &[usize]) -> Vec<OwnedFinding> {
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (document, &first) in firsts.iter().enumerate() {
        clusters.entry(first).or_default().push(document);
    }
    let several = clusters.into_values().filter(|members| members.len() > 1);
    several.map(OwnedFinding::Cluster).collect()
}

/// Returns the answers of the crawl's signature index to one document after another, where a
/// document that is equal to an earlier one is judged as that one was.
fn by_signature_index(signatures: &[PageSignature]) -> Vec<OwnedFinding> {
    let mut signature_index = SignatureIndex::new(Thresholds::default());
    let mut judged: BTreeMap<usize, Option<(usize, MatchKind)>> = BTreeMap::new();
    let mut duplicates = Vec::new();
    for (number, (first, signature)) in with_equal_ones_taken_as_one(signatures)
        .into_iter()
        .enumerate()
    {
        let near = *judged.entry(first).or_insert_with(|| {
            let found = signature_index.find(signature);
            if found.is_none() {
                signature_index.insert(first as u64, signature.clone());
            }
            found.map(|like| (like.of as usize, like.match_kind))
        });
        let equal = if signatures[number].payload == signature.payload {
            MatchKind::SamePayload
        } else {
            MatchKind::SameText
        };
        let repeated = near.or((first != number).then_some((first, equal)));
        duplicates.extend(
            repeated.map(|(of, match_kind)| OwnedFinding::Duplicate(number, of, match_kind)),
        );
    }
    duplicates
}

/// Checks all four kinds of findings against brute force, and tells how many pairs there are.
fn check(signatures: &[PageSignature], workers: usize) -> usize {
    let duplicates = by_signature_index(signatures);
    assert_eq!(
        found(signatures, FindingKind::Duplicates, workers),
        duplicates
    );

    let mut firsts: Vec<usize> = (0..signatures.len()).collect();
    for duplicate in &duplicates {
        if let OwnedFinding::Duplicate(document, original, _) = duplicate {
            firsts[*document] = *original;
        }
    }
    let around_originals = found(
        signatures,
        FindingKind::Clusters { chained: false },
        workers,
    );
    assert_eq!(around_originals, clusters_of(&firsts));

    let expected = all_pairs(signatures);
    let owned = found(signatures, FindingKind::Pairs, workers);
    let mut pairs: Vec<(usize, usize, MatchKind)> = owned
        .into_iter()
        .map(|owned| match owned {
            OwnedFinding::Pair(a, b, match_kind) => (a, b, match_kind),
            _ => panic!("{owned:?}"),
        })
        .collect();
    pairs.sort_by_key(|&(a, b, _)| (a, b));
    let differs =
        (0..pairs.len().max(expected.len())).find(|&at| pairs.get(at) != expected.get(at));
    assert_eq!(differs.map(|at| (pairs.get(at), expected.get(at))), None);

    let chained = found(signatures, FindingKind::Clusters { chained: true }, workers);
    assert_eq!(chained, components(signatures.len(), &expected));
    expected.len()
}

/// SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Returns a document of one of `families`: its family's words with some of them changed, or
/// something odd.
fn relative(seed: u64, number: u64, families: u64) -> PageSignature {
    let drawn = mixed(seed.wrapping_add(number));
    let family = drawn % families;
    let changes = (drawn >> 8) % 9;
    let length = 20 + mixed(family) % 60;
    let mut words: Vec<String> = (0..length)
        .map(|at| format!("w{}", mixed(family * 1_000 + at) % 5_000))
        .collect();
    for change in 0..changes / 2 {
        let at = mixed(drawn ^ change) % length;
        words[at as usize] = format!("x{}", mixed(drawn + change) % 50);
    }
    let text = words.join(" ");
    match drawn >> 16 & 31 {
        0 => signature_builder().signature(u128::from(drawn >> 24 & 7), None),
        1 => signature(u128::from(drawn), &words[..8].join(" "), None),
        2 => signature(u128::from(drawn), &text, Some("own words")),
        3 => signature(u128::from(drawn), &text, Some("")),
        // Two documents with one payload and different texts.
        4 => signature(u128::from(family), &text, None),
        5..9 => signature(u128::from(drawn), &words.join(" ").to_uppercase(), None),
        _ => signature(u128::from(drawn), &text, None),
    }
}

/// Returns the findings about the documents from `first` on, with those before as the reference.
fn against(
    signatures: &[PageSignature],
    first: usize,
    kind: FindingKind,
    memory: usize,
) -> Vec<OwnedFinding> {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        memory,
        originals: kind == FindingKind::Duplicates,
        ..Options::new(kind, directory.path())
    };
    let mut findings = Vec::new();
    let mut all = documents(signatures);
    let reference: Vec<_> = all.by_ref().take(first).collect();
    let summary = dedup::run_against(reference, all, &options, Control::none(), |finding| {
        if let Finding::Duplicate(found) = finding {
            assert_eq!(found.number as usize, number(found.document) - first);
        }
        findings.push(owned(&finding));
        Ok::<(), BatchError>(())
    })
    .unwrap();
    assert_eq!(summary.reference, first as u64);
    assert_eq!(summary.documents, (signatures.len() - first) as u64);
    findings
}

#[test]
fn a_reference_takes_part_and_nothing_of_it_is_found() {
    for seed in 0..12 {
        let signatures: Vec<PageSignature> =
            (0..90).map(|number| relative(seed, number, 9)).collect();
        let first = (seed * 7) as usize;
        for kind in [
            FindingKind::Duplicates,
            FindingKind::Pairs,
            FindingKind::Clusters { chained: false },
            FindingKind::Clusters { chained: true },
        ] {
            let mut expected = found(&signatures, kind, 1);
            expected.retain(|finding| match finding {
                OwnedFinding::Duplicate(document, _, _) => *document >= first,
                OwnedFinding::Pair(_, b, _) => *b >= first,
                OwnedFinding::Cluster(members) => members.iter().any(|member| *member >= first),
                OwnedFinding::Original(_) => false,
            });
            for memory in [DEFAULT_MEMORY, 0] {
                let mut findings = against(&signatures, first, kind, memory);
                findings.retain(|finding| !matches!(finding, OwnedFinding::Original(_)));
                assert!(findings == expected, "{kind:?} from {first} on");
            }
        }
    }
}

/// An index of originals is all that a later run needs: the documents that it keeps are those that
/// one run over everything keeps.
#[test]
fn originals_are_handed_over_and_suffice_for_the_next_run() {
    for seed in 0..12 {
        // In a corpus equal payloads have equal texts, and these equal signatures.
        let mut signatures: Vec<PageSignature> = (0..120)
            .map(|number| relative(seed, number, 9))
            .filter(|signature| {
                let text = signature.text.as_deref();
                text.is_none_or(|text| text.sketch.is_some() && text.main_content.is_none())
            })
            .collect();
        for signature in &mut signatures {
            if let Some(text) = &signature.text {
                signature.payload = text.digest;
            }
        }
        let originals_of = |findings: &[OwnedFinding]| -> Vec<usize> {
            let originals = findings.iter().filter_map(|finding| match finding {
                OwnedFinding::Original(document) => Some(*document),
                _ => None,
            });
            originals.collect()
        };
        let kind = FindingKind::Duplicates;
        let at_once = originals_of(&against(&signatures, 0, kind, DEFAULT_MEMORY));
        let duplicates = found(&signatures, kind, 1);
        assert_eq!(at_once.len() + duplicates.len(), signatures.len());

        let (earlier, later) = signatures.split_at(60);
        let index = originals_of(&against(earlier, 0, kind, 0));
        let mut second: Vec<PageSignature> =
            index.iter().map(|&at| signatures[at].clone()).collect();
        second.extend(later.iter().cloned());
        let of_both = originals_of(&against(&second, index.len(), kind, 0));
        let names: Vec<usize> = index.iter().copied().chain(60..signatures.len()).collect();
        let renamed: Vec<usize> = of_both.into_iter().map(|at| names[at]).collect();
        assert_eq!(renamed, at_once, "{seed}");
    }
}

#[test]
fn no_documents_make_no_findings() {
    assert_eq!(check(&[], 1), 0);
    assert_eq!(check(&[signature(1, "alone", None)], 2), 0);
}

#[test]
fn a_chain_is_one_cluster_only_if_chains_are_asked_for() {
    let words: Vec<String> = (0..120).map(|at| format!("word{at}")).collect();
    // Each lacks three more words than the one before it.
    let signatures: Vec<PageSignature> = (0..12)
        .map(|step| signature(step as u128, &words[step * 3..].join(" "), None))
        .collect();
    assert!(
        Thresholds::default()
            .match_kind(&signatures[0], &signatures[11])
            .is_none()
    );
    check(&signatures, 1);
    let all = found(&signatures, FindingKind::Clusters { chained: true }, 1);
    assert_eq!(all, [OwnedFinding::Cluster((0..12).collect())]);
    let apart = found(&signatures, FindingKind::Clusters { chained: false }, 1);
    assert!(!apart.is_empty() && apart != all, "{apart:?}");
}

#[test]
fn equal_documents_have_distance_0_and_resemblance_1() {
    let signatures = [
        signature(1, "the same words", None),
        signature(2, "The same: words!", None),
    ];
    let [OwnedFinding::Pair(0, 1, match_kind)] = found(&signatures, FindingKind::Pairs, 1)[..]
    else {
        panic!("no pair");
    };
    assert_eq!((match_kind.distance(), match_kind.resemblance()), (0, 1.0));
    assert_eq!(match_kind, MatchKind::SameText);
}

/// Many different texts that all share a band: more than a tile of them, so that all threads
/// compare.
#[test]
fn a_thousand_variations_are_paired_as_brute_force_pairs_them() {
    let words: Vec<String> = (0..300).map(|at| format!("word{at}")).collect();
    let signatures: Vec<PageSignature> = (0..1_000_u64)
        .map(|number| {
            let mut words = words.clone();
            words[(number % 300) as usize] = format!("changed{number}");
            signature(number.into(), &words.join(" "), None)
        })
        .collect();
    let pairs = check(&signatures, 3);
    assert!(pairs > 400_000, "{pairs}");
}

fn a_million_times(
    kind: FindingKind,
    same_payload: bool,
    memory: usize,
) -> (Vec<OwnedFinding>, Summary) {
    let signature = signature(0, &"one and the same text again ".repeat(9), None);
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        memory,
        ..Options::new(kind, directory.path())
    };
    let documents = (0..1_000_000_u128).map(|number| {
        let payload = if same_payload { 7 } else { number };
        Ok::<_, BatchError>(Document {
            id: format!("{number}").into(),
            signature: PageSignature {
                payload,
                ..signature.clone()
            }
            .into(),
        })
    });
    let (mut count, mut some) = (0, Vec::new());
    let summary = dedup::run(documents, &options, Control::none(), |finding| {
        count += 1;
        if some.len() < 3 {
            some.push(owned(&finding));
        }
        // The first million of half a trillion pairs is enough.
        let enough = count == 1_000_000 && kind == FindingKind::Pairs;
        if enough {
            Err(BatchError::Cancelled)
        } else {
            Ok(())
        }
    });
    (some, summary.unwrap_or_default())
}

#[test]
fn a_million_equal_documents_are_a_million_duplicates_of_the_first() {
    for same_payload in [false, true] {
        let (some, summary) = a_million_times(FindingKind::Duplicates, same_payload, MIN_MEMORY);
        assert_eq!(summary.findings, 999_999);
        // The text is kept once; a document leaves its name and the digest of its payload.
        assert!(summary.spilled < 64 << 20, "{}", summary.spilled);
        assert!(matches!(some[2], OwnedFinding::Duplicate(3, 0, _)));
    }
}

#[test]
fn a_million_equal_documents_are_one_cluster() {
    for chained in [false, true] {
        let (some, summary) =
            a_million_times(FindingKind::Clusters { chained }, false, DEFAULT_MEMORY);
        assert_eq!((summary.findings, summary.documents), (1, 1_000_000));
        let [OwnedFinding::Cluster(members)] = &some[..] else {
            panic!("no cluster");
        };
        assert_eq!(members.len(), 1_000_000);
    }
}

/// Every document is a text that is known, but too many payloads to remember: equal ones are found
/// by sorting.
#[test]
fn equal_documents_beyond_the_memory_are_one_cluster() {
    let one = signature(0, &"one and the same text again ".repeat(9), None);
    let signatures: Vec<PageSignature> = (0..30_000)
        .map(|payload| PageSignature {
            payload: payload / 2,
            ..one.clone()
        })
        .collect();
    let (clusters, summary) = run(
        &signatures,
        FindingKind::Clusters { chained: true },
        MIN_MEMORY,
        1,
    );
    assert!(summary.spilled > 0);
    assert_eq!(clusters, [OwnedFinding::Cluster((0..30_000).collect())]);
}

#[test]
fn the_pairs_of_a_million_equal_documents_are_streamed() {
    let (some, _) = a_million_times(FindingKind::Pairs, false, DEFAULT_MEMORY);
    let pair = |b| OwnedFinding::Pair(0, b, MatchKind::SameText);
    assert_eq!(some, [pair(1), pair(2), pair(3)]);
}

#[test]
fn twenty_thousand_nearly_equal_documents_in_one_chain_are_united_without_comparing_all_pairs() {
    let words: Vec<String> = (0..200).map(|at| format!("word{at}")).collect();
    let signatures: Vec<PageSignature> = (0..20_000_u64)
        .map(|number| {
            let mut words = words.clone();
            words[(number % 200) as usize] = format!("changed{number}");
            signature(number.into(), &words.join(" "), None)
        })
        .collect();
    let (clusters, _) = run(
        &signatures,
        FindingKind::Clusters { chained: true },
        DEFAULT_MEMORY,
        2,
    );
    assert_eq!(clusters, [OwnedFinding::Cluster((0..20_000).collect())]);
}

#[test]
fn a_missing_directory_matters_only_if_memory_does_not_suffice() {
    let signatures: Vec<PageSignature> = (0..2_000)
        .map(|number| relative(1, number, 2_000))
        .collect();
    for kind in [
        FindingKind::Duplicates,
        FindingKind::Pairs,
        FindingKind::Clusters { chained: true },
    ] {
        let run = |memory| {
            let options = Options {
                memory,
                ..Options::new(kind, Path::new("/no/such/directory"))
            };
            dedup::run(documents(&signatures), &options, Control::none(), |_| {
                Ok::<(), BatchError>(())
            })
        };
        assert!(run(DEFAULT_MEMORY).is_ok());
        let message = run(0).unwrap_err().to_string();
        assert_eq!(message, "cannot use /no/such/directory for temporary files");
    }
}

#[test]
fn an_error_of_the_documents_or_of_the_visitor_comes_back_as_it_is() {
    #[derive(Debug)]
    enum Mine {
        Unreadable,
        Closed,
        Batch,
    }
    impl From<BatchError> for Mine {
        fn from(_: BatchError) -> Self {
            Mine::Batch
        }
    }
    let options = |kind| Options::new(kind, Path::new("/no/such/directory"));
    let same = || Document {
        id: "same".into(),
        signature: signature(1, "same", None).into(),
    };
    for kind in [
        FindingKind::Duplicates,
        FindingKind::Pairs,
        FindingKind::Clusters { chained: false },
    ] {
        let broken = [Ok(same()), Err(Mine::Unreadable)];
        let ended = dedup::run(broken, &options(kind), Control::none(), |_| Ok(()));
        assert!(matches!(ended, Err(Mine::Unreadable)), "{ended:?}");
        let twice = [Ok(same()), Ok(same())];
        let ended = dedup::run(twice, &options(kind), Control::none(), |_| {
            Err(Mine::Closed)
        });
        assert!(matches!(ended, Err(Mine::Closed)), "{ended:?}");
        let cancelled = AtomicBool::new(true);
        let control = Control::new(&batch::Silent, &cancelled);
        let ended = dedup::run([Ok(same())], &options(kind), control, |_| Ok(()));
        assert!(matches!(ended, Err(Mine::Batch)), "{ended:?}");
    }
}

#[test]
fn every_step_is_reported() {
    #[derive(Default)]
    struct Steps(std::sync::Mutex<BTreeSet<String>>);
    impl Progress for Steps {
        fn advanced(&self, step: Step, done: u64, of: Option<u64>) {
            assert!(of.is_none_or(|of| done <= of), "{step:?}: {done} of {of:?}");
            self.0.lock().unwrap().insert(format!("{step:?}"));
        }
    }
    let signatures: Vec<PageSignature> = (0..500).map(|number| relative(1, number, 100)).collect();
    let (steps, never) = (Steps::default(), AtomicBool::new(false));
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        memory: 0,
        ..Options::new(FindingKind::Pairs, directory.path())
    };
    dedup::run(
        documents(&signatures),
        &options,
        Control::new(&steps, &never),
        |_| Ok::<(), BatchError>(()),
    )
    .unwrap();
    let owned: Vec<String> = steps.0.into_inner().unwrap().into_iter().collect();
    assert_eq!(
        owned,
        ["Joining", "Reading", "Reporting", "Sorting", "Verifying"]
    );
}

/// Texts with one verdict about all documents.
#[derive(Debug)]
struct Texts(TextVerdict);

impl DocumentTexts for Texts {
    fn compare(&self, later: NamedDocument<'_>, earlier: NamedDocument<'_>) -> Option<TextVerdict> {
        assert!(
            number(later.id) > number(earlier.id),
            "{later:?} {earlier:?}"
        );
        Some(self.0)
    }
}

#[test]
fn the_texts_decide_about_candidates_before_the_signatures() {
    use TextVerdict::{Contains, Distinct, Repeats};
    let words = |numbers: std::ops::Range<u32>| -> String {
        numbers.map(|number| format!("word{number} ")).collect()
    };
    let near = [
        signature(1, &words(0..400), None),
        signature(2, &words(4..400), None),
    ];
    let less = [
        signature(1, &words(0..400), None),
        signature(2, &words(100..400), None),
    ];
    let chains = FindingKind::Clusters { chained: true };
    let found = |signatures: &[PageSignature], kind, texts: Option<TextVerdict>| {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            texts: texts.map(|verdict| Arc::new(Texts(verdict)) as Arc<dyn DocumentTexts>),
            ..Options::new(kind, directory.path())
        };
        let found = dedup::run(documents(signatures), &options, Control::none(), |_| {
            Ok::<(), BatchError>(())
        });
        found.unwrap().findings
    };
    for (kind, contains) in [
        (FindingKind::Duplicates, 0),
        (FindingKind::Pairs, 1),
        (chains, 1),
    ] {
        let verdicts = [None, Some(Distinct), Some(Repeats), Some(Contains)];
        let of = |signatures| verdicts.map(|texts| found(signatures, kind, texts));
        assert_eq!(of(&near), [1, 0, 1, 1], "{kind:?}");
        assert_eq!(of(&less), [0, 0, 1, contains], "{kind:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn everything_alike_is_found_and_nothing_else(
        count in 1_u64..700,
        per_family in 1_u64..30,
        workers in 1_usize..4,
        seed: u64,
    ) {
        let families = count.div_ceil(per_family);
        let signatures: Vec<PageSignature> =
            (0..count).map(|number| relative(seed, number, families)).collect();
        check(&signatures, workers);
    }
}
