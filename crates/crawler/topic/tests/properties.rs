//! Properties of the relevance of any page to any topic.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use neardup::frequencies::DocumentFrequencies as Counted;
use neardup::{HashKey, HashedText, PageText};
use neardup::{NormalText, Unit, Width};
use proptest::prelude::*;
use topic::{
    DocumentFrequencies, ExampleText, LinkText, MAX_PAGE_BYTES, MAX_TOPIC_WORDS,
    MIN_DIFFERENT_WORDS, Relevance, Topic, Warning,
};
use web::{CanonicalForm, PageUrl};

/// Words that no list of stop words has.
const VOCABULARY: [&str; 12] = [
    "tidal", "power", "turbine", "estuary", "barrage", "lagoon", "bread", "flour", "oven", "yeast",
    "crust", "dough",
];

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&VOCABULARY[..]), 1..most)
}

/// Different words that are not the topic's, so that a page is a text.
fn filler(count: usize) -> String {
    (0..count)
        .map(|number| format!(" filler{number}"))
        .collect()
}

fn relevance(topic: &Topic, text: &str) -> Relevance {
    topic.judge(&PageText::of(text), None).relevance
}

fn example(text: &str) -> ExampleText<'_> {
    ExampleText {
        name: "example",
        page: PageText::of(text),
    }
}

/// Returns a topic of words, of examples, or of both.
fn topics() -> impl Strategy<Value = Topic> {
    let of_words = words(6).prop_map(|words| Topic::of_words(&words.join(" "), None).unwrap());
    let of_examples = prop::collection::vec(words(40), 1..5).prop_map(|examples| {
        let texts: Vec<String> = examples.iter().map(|words| words.join(" ")).collect();
        let examples: Vec<_> = texts.iter().map(|text| example(text)).collect();
        Topic::of_examples(&examples, None).unwrap().0
    });
    prop_oneof![of_words, of_examples]
}

proptest! {
    #[test]
    fn a_topic_is_read_as_it_was_written_and_judges_alike(
        topic in topics(),
        text in words(60),
        threshold in prop::option::of(0_u16..=1_000),
    ) {
        let topic = topic.with_threshold(threshold.map(Relevance::from_thousandths));
        let written = serde_json::to_string(&topic).unwrap();
        let read: Topic = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read, &topic);
        prop_assert_eq!(read.threshold(), topic.threshold());
        let page = text.join(" ") + &filler(40);
        let page = PageText::of(&page);
        prop_assert_eq!(read.judge(&page, None), topic.judge(&page, None));
        let words = topic.words_that_spoke(&page, None, 9);
        prop_assert_eq!(read.words_that_spoke(&page, None, 9), words);
    }

    #[test]
    fn a_page_is_judged_alike_by_the_hashes_of_its_signature_whatever_their_key(
        topic in topics(),
        text in words(60),
        key in any::<u64>(),
    ) {
        let text = text.join(" ") + &filler(40);
        let page = PageText { title: Some("Tidal bread"), ..PageText::of(&text) };
        let url = PageUrl::parse("http://a.test/Oven", &CanonicalForm::default()).unwrap();
        let expected = topic.judge(&page, Some(&url));
        let hashed = HashedText::of(&text, HashKey::new(key));
        let keyed = topic.clone().hashed_under(HashKey::new(key));
        prop_assert_eq!(&keyed, &topic);
        prop_assert_eq!(&keyed.judge_hashed(&page, &hashed, Some(&url)), &expected);
        // Hashes under another key are made again.
        prop_assert_eq!(&topic.judge_hashed(&page, &hashed, Some(&url)), &expected);
        // The topic that was weighed again keeps the key.
        let mut pages = DocumentFrequencies::default();
        pages.learn(&expected);
        let (keyed, topic) = (keyed.reweigh(&pages), topic.reweigh(&pages));
        let expected = topic.judge(&page, Some(&url));
        prop_assert_eq!(keyed.judge_hashed(&page, &hashed, Some(&url)), expected);
    }

    #[test]
    fn another_word_of_the_topic_never_makes_a_natural_page_less_relevant(
        topic in topics(),
        text in words(40),
        added in 0..20_usize,
    ) {
        let word = topic.words()[0].0.to_owned();
        // The length stays the same: words of the topic take the place of others. They are fewer
        // than a quarter of all.
        let page = |times: usize| {
            let others = vec!["other"; 20 - times].join(" ");
            format!("{} {} {others} {}", text.join(" "), vec![&*word; times].join(" "), filler(240))
        };
        prop_assert!(relevance(&topic, &page(added)) <= relevance(&topic, &page(added + 1)));
    }

    #[test]
    fn words_that_spoke_add_up_to_the_relevance(topic in topics(), text in words(60)) {
        let page = text.join(" ") + &filler(10);
        let page = PageText::of(&page);
        let sum: f64 = topic
            .words_that_spoke(&page, None, MAX_TOPIC_WORDS)
            .iter()
            .map(|(_, part)| part)
            .sum();
        prop_assert!(topic.judge(&page, None).relevance.share() <= sum + 0.001);
    }

    #[test]
    fn a_link_has_a_score_from_0_to_1(topic in topics(), anchor in words(9), around in words(30)) {
        let url = url("https://example.org/tidal/bread.html");
        let link = |anchor, around| LinkText { anchor, around, url: &url };
        let (anchor, around) = (anchor.join(" "), around.join(" "));
        let score = topic.link_score(&link(&anchor, &around));
        prop_assert!((0.0..=1.0).contains(&score), "{score}");
        prop_assert!(topic.link_score(&link("", &around)) <= score);
        prop_assert!(topic.link_score(&link(&anchor, "")) <= score);
    }

    #[test]
    fn any_text_is_judged(topic in topics(), text in "\\PC{0,300}", title in "\\PC{0,40}") {
        let page = PageText { title: Some(&title), ..PageText::of(&text) };
        prop_assert!(topic.judge(&page, None).relevance <= Relevance::FULL);
    }
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

#[test]
fn a_page_of_one_word_is_never_on_topic() {
    for topic in ["tides", "tidal power", "tidal power turbine estuary"] {
        let topic = Topic::of_words(topic, None).unwrap();
        for word in ["tides", "tidal", "power"] {
            for times in [1, 10, 1_000, 200_000] {
                let page = vec![word; times].join(" ");
                assert!(
                    relevance(&topic, &page) < topic.threshold(),
                    "{word} {times}"
                );
            }
        }
    }
}

#[test]
fn a_page_of_the_topics_words_a_million_times_is_no_more_relevant_than_a_good_one() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let good = "tidal power ".repeat(11) + &filler(300);
    let stuffed = "tidal power ".repeat(500_000);
    assert!(relevance(&topic, &stuffed) < topic.threshold());
    let stuffed_text = filler(MIN_DIFFERENT_WORDS) + &stuffed;
    assert!(relevance(&topic, &stuffed_text) <= Relevance::FULL);
    assert_eq!(relevance(&topic, &good), Relevance::FULL);
}

/// Pages stuffed with the topic's words were as relevant as the best: a farm of them took half of
/// a crawl's visits.
#[test]
fn a_page_stuffed_with_the_topics_words_among_others_is_off_topic() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let page = |times: usize| "tidal power ".repeat(times) + &filler(200);
    assert_eq!(relevance(&topic, &page(30)), Relevance::FULL);
    assert!(relevance(&topic, &page(60)) < Relevance::FULL);
    assert!(relevance(&topic, &page(150)) < topic.threshold());
    let (topic, _) = Topic::of_examples(&ABOUT_TIDES.map(example), None).unwrap();
    let words: Vec<&str> = topic.words().iter().map(|(word, _)| *word).collect();
    let stuffed = format!("{} ", words.join(" ")).repeat(100) + &filler(200);
    assert!(relevance(&topic, &stuffed) < topic.threshold());
}

#[test]
fn both_words_count_and_one_alone_does_not_suffice() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let is_on_topic = |text: &str| relevance(&topic, text) >= topic.threshold();
    let about = |words: &str, times: usize| format!("{words} ").repeat(times) + &filler(400);
    assert!(is_on_topic(&about("tidal power", 3)));
    assert!(!is_on_topic(&about("power", 50)));
    assert!(!is_on_topic(&about("bread", 50)));
    assert!(!is_on_topic(&("tidal power".to_owned() + &filler(5_000))));
}

const ABOUT_TIDES: [&str; 4] = [
    "The tidal barrage closes the estuary. Turbines in the barrage turn with the tide, and the \
     power station gives power for four hours.",
    "Tidal lagoons keep the estuary open. The turbines of a lagoon turn with each tide and give \
     power to the coast.",
    "A turbine below the water turns in the tidal stream of a strait. No barrage is needed, and \
     turbines give power at each tide.",
    "The tidal range decides on the power of a barrage or lagoon in an estuary with turbines.",
];

const OTHERS: [&str; 3] = [
    "Bread is made of flour, water, yeast and salt. The baker kneads the dough, lets it rest and \
     bakes it until the crust is brown. Good bread needs time more than anything else.",
    "The violin has four strings, which are tuned in fifths. A bow of horsehair makes the strings \
     sound, and the body of maple and spruce makes the sound loud enough for a hall.",
    "Wind turbines stand on hills where the wind is steady. Their blades are as long as the wing \
     of an airliner, and each gives electricity to a thousand houses.",
];

#[test]
fn examples_are_on_topic_by_the_topic_of_the_others_and_other_pages_are_not() {
    for left_out in 0..ABOUT_TIDES.len() {
        let mut others = ABOUT_TIDES.to_vec();
        let text = others.remove(left_out);
        let examples: Vec<_> = others.iter().map(|text| example(text)).collect();
        let (topic, warnings) = Topic::of_examples(&examples, None).unwrap();
        assert_eq!(warnings, []);
        // Short texts have few different words.
        let page = text.to_owned() + &filler(MIN_DIFFERENT_WORDS);
        assert!(relevance(&topic, &page) >= topic.threshold(), "{text}");
        for other in OTHERS {
            assert!(relevance(&topic, other) < topic.threshold(), "{other}");
        }
    }
}

#[test]
fn few_examples_and_examples_with_nothing_in_common_are_warned_of() {
    let warnings = |texts: &[&str]| {
        let examples: Vec<_> = texts.iter().map(|text| example(text)).collect();
        Topic::of_examples(&examples, None).unwrap().1
    };
    assert_eq!(warnings(&ABOUT_TIDES), []);
    assert_eq!(
        warnings(&ABOUT_TIDES[..1]),
        [Warning::FewExamples { count: 1 }]
    );
    assert_eq!(
        warnings(&ABOUT_TIDES[..2]),
        [Warning::FewExamples { count: 2 }]
    );
    assert_eq!(
        warnings(&["tidal estuary", "bread flour", "violin strings"]),
        [Warning::NothingInCommon]
    );
    let many = vec!["tidal estuary"; topic::MAX_EXAMPLES + 1];
    assert_eq!(warnings(&many), [Warning::ExamplesLeftOut]);
}

#[test]
fn words_and_examples_together_make_one_topic() {
    let mut builder = topic::TopicBuilder::new(None).words("estuary mud").unwrap();
    for text in ABOUT_TIDES {
        builder.example(&example(text)).unwrap();
    }
    let (topic, _) = builder.build().unwrap();
    let weight = |word: &str| {
        topic
            .words()
            .iter()
            .find(|(one, _)| *one == word)
            .unwrap()
            .1
    };
    assert!(weight("estuary") > weight("mud"));
    assert!(weight("mud") > weight("tidal"));
    let sum: f64 = topic.words().iter().map(|(_, weight)| weight).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn a_word_that_most_pages_have_loses_its_weight_once_that_is_learned() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let mut frequencies = DocumentFrequencies::default();
    for page in 0..64 {
        let text = if page % 16 == 0 {
            "tidal power"
        } else {
            "power"
        };
        frequencies.learn(&topic.judge(&PageText::of(text), None));
    }
    let learned = topic.reweigh(&frequencies);
    assert_ne!(learned, topic);
    assert!(topic.learns());
    let [(first, weight), _] = learned.words()[..] else {
        panic!("two words");
    };
    assert!(first == "tidal" && weight > 0.9, "{first} {weight}");
}

#[test]
fn given_frequencies_decide_on_rarity_and_nothing_is_learned() {
    let mut counted = Counted::new(Unit::Words(Width::ONE));
    for text in ["power and glory", "the power", "power", "tidal"] {
        counted.learn(&NormalText::of(text));
    }
    let topic = Topic::of_words("tidal power", Some(&counted)).unwrap();
    assert_eq!(topic.words()[0].0, "tidal");
    assert!(!topic.learns());
    let mut frequencies = DocumentFrequencies::default();
    frequencies.learn(&topic.judge(&PageText::of("tidal"), None));
    assert_eq!(topic.reweigh(&frequencies), topic);
}

/// A crawl that was begun with the first formula, which knew no forms, is continued with this one.
#[test]
fn a_topic_that_was_stored_by_the_first_formula_is_read_and_judges() {
    let stored = r#"{"version":2,"words":[
        {"word":"tide","given":1,"idf":1000000,"elsewhere":0},
        {"word":"tides","given":1,"idf":1000000,"elsewhere":0},
        {"word":"power","given":0,"idf":1000000,"elsewhere":0}],
        "examples":[{"length":10,"counts":[[0,1],[2,2]]},{"length":20,"counts":[[1,1],[2,1]]}],
        "learns":true,"threshold":null}"#;
    let topic: Topic = serde_json::from_str(stored).unwrap();
    let page = "tide tides power ".repeat(5) + &filler(40);
    assert!(relevance(&topic, &page) >= topic.threshold());
    assert_eq!(topic.words().len(), 3);
    let learned = r#"{"documents":64,"counts":[1,2,60]}"#;
    let learned: DocumentFrequencies = serde_json::from_str(learned).unwrap();
    let weighed = topic.reweigh(&learned);
    assert_eq!(weighed.words()[2].0, "power");
}

#[test]
fn a_stored_topic_of_another_version_is_refused() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let written = serde_json::to_string(&topic).unwrap();
    let other = written.replace("\"version\":2", "\"version\":3");
    assert_ne!(other, written);
    let refused = serde_json::from_str::<Topic>(&other)
        .unwrap_err()
        .to_string();
    assert!(refused.starts_with("a topic of version 3"), "{refused}");
}

/// Signatures are made from all of a text, and relevance from its beginning.
#[test]
fn of_a_text_that_is_longer_than_what_is_read_the_same_part_counts_however_it_is_hashed() {
    let topic = Topic::of_words("tidal power", None).unwrap();
    let long = "é".repeat(MAX_PAGE_BYTES / 2) + &filler(40) + " tidal power";
    let hashed = HashedText::of(&long, HashKey::ZERO);
    let page = PageText::of(&long);
    let judged = topic.judge_hashed(&page, &hashed, None);
    assert_eq!(judged, topic.judge(&page, None));
    assert_eq!(judged.relevance, Relevance::NONE);
}
