//! The chapter of the report on one set.

use std::collections::{BTreeMap, BTreeSet};

use neardup::{BANDS, Features, HashKey, MIN_WORDS};

use crate::choice::{Choice, name_of};
use crate::configuration::{DISTANCES, FEATURES, MIN_WORDS as LEASTS, THRESHOLDS, WIDTHS};
use crate::judge::{self, Least, Measure, Verification};
use crate::measured::{self, Measured};
use crate::report::Report;
use crate::score::{Answer, Pairs, Score};
use crate::sets::set::{Absent, Question, Set};
use crate::shipped::Shipped;

/// The most wrongly judged pairs that are named for each question.
const EXAMPLES: usize = 8;

/// A set that was evaluated.
#[derive(Debug)]
pub(crate) struct Chapter {
    set: Set,
    main: Measured,
    whole: Measured,
    /// One for each question.
    answers: Vec<Answer>,
    shipped: Shipped,
}

impl Chapter {
    pub(crate) fn of(set: Set, features: &[Features], key: HashKey) -> Result<Self, Absent> {
        let main = Measured::of(&set, true, features, key);
        let whole = Measured::of(&set, false, &[], key);
        let answers = set
            .questions
            .iter()
            .map(|question| Answer::of(&question.truth, &whole))
            .collect();
        let shipped = Shipped::of(&set.pages, &main);
        let shipped = shipped.map_err(|why| Absent::because(why.to_string()))?;
        Ok(Self {
            set,
            main,
            whole,
            answers,
            shipped,
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.set.name
    }

    pub(crate) fn questions(&self) -> &[Question] {
        &self.set.questions
    }

    /// Returns the scores of the shipped defaults, one for each question.
    pub(crate) fn shipped_scores(&self) -> Vec<Score> {
        self.answers
            .iter()
            .map(|answer| Score::of(self.shipped_answer(answer), answer, &self.main))
            .collect()
    }

    /// Returns the findings of the shipped defaults that answer a question.
    fn shipped_answer(&self, answer: &Answer) -> &Pairs {
        match answer {
            Answer::Pairs { .. } => &self.shipped.pairs,
            Answer::Distinct { .. } => &self.shipped.left_out,
        }
    }

    /// Returns the scores of `verification` if every pair is a candidate.
    pub(crate) fn scores_of(&self, verification: &Verification) -> Vec<Score> {
        self.scores(&judge::alike(&self.main, verification), &self.main)
    }

    /// The columns of [`Chapter::pairs`].
    pub(crate) const PAIRS_HEAD: &str = "set\tone\tother\twords_of_one\twords_of_other\ttruth\t\
        counted_words\texclusive\texact_3\tsketch_3\tlarger_3\t\
        exact_5\tsketch_5\tlarger_5";

    /// Returns all pairs with at least the least resemblance, one a line, for trying rules that are
    /// not in the report.
    pub(crate) fn pairs(&self) -> String {
        let mut lines = String::new();
        for near in &self.main.near {
            let (a, b) = (near.a as usize, near.b as usize);
            let truth: Vec<&str> = self
                .answers
                .iter()
                .map(|answer| {
                    if answer.holds(near.a, near.b, &self.main) {
                        "alike"
                    } else {
                        "different"
                    }
                })
                .collect();
            let mut cells = vec![
                self.set.name.to_owned(),
                self.set.pages[a].name.clone(),
                self.set.pages[b].name.clone(),
            ];
            cells.extend(
                [self.main.pages[a].words, self.main.pages[b].words].map(|words| words.to_string()),
            );
            cells.push(truth.join(","));
            cells.push(near.words.to_string());
            cells.push(near.exclusive.1.to_string());
            for of in near.shingles {
                cells.extend(
                    [of.exact, of.sketch, of.larger].map(|resemblance| resemblance.to_string()),
                );
            }
            lines.push_str(&cells.join("\t"));
            lines.push('\n');
        }
        lines
    }

    fn scores(&self, found: &Pairs, measured: &Measured) -> Vec<Score> {
        self.answers
            .iter()
            .map(|answer| Score::of(found, answer, measured))
            .collect()
    }

    pub(crate) fn write(&self, report: &mut Report) {
        report.heading(2, self.set.name);
        report.paragraph(&self.set.about);
        self.write_rules(report);
        for number in 0..self.answers.len() {
            self.write_verifications(report, number);
            self.write_fingerprints(report, number);
        }
        self.write_candidates(report);
        for number in 0..self.answers.len() {
            self.write_examples(report, number);
        }
    }

    /// Writes the results of the shipped defaults, and the effect of each of their rules.
    fn write_rules(&self, report: &mut Report) {
        let shipped = Verification::shipped();
        let by_measures = Verification::by_measures();
        let mut head = vec!["judged by".to_owned()];
        head.extend(
            self.set
                .questions
                .iter()
                .map(|question| format!("{}: {}", question.name, unit(question))),
        );
        let mut rows = vec![row("**shipped defaults**", &self.shipped_scores())];
        let exact = Verification {
            measure: Measure::Exact,
            ..by_measures
        };
        rows.push(row(
            "exact resemblance by length of all pairs (oracle)",
            &self.scores_of(&exact),
        ));
        rows.push(row(
            "the shipped signatures alone, with all pairs as candidates",
            &self.scores_of(&shipped),
        ));
        rows.push(row(
            "equal bytes or words only",
            &self.scores(&judge::same(&self.main), &self.main),
        ));
        let whole = judge::alike(&self.whole, &shipped);
        rows.push(row(
            "all of the page instead of its main text",
            &self.scores(&whole, &self.whole),
        ));
        let any_frame = Verification {
            own_decides: false,
            ..by_measures
        };
        rows.push(row(
            "sketches by length alone, and main texts under 50 words need not be equal",
            &self.scores_of(&any_frame),
        ));
        for &min_words in LEASTS.iter().filter(|&&least| least != MIN_WORDS) {
            let name = format!(
                "sketches by length alone, from {min_words} words on instead of {MIN_WORDS}"
            );
            rows.push(row(
                &name,
                &self.scores_of(&Verification {
                    min_words,
                    ..by_measures
                }),
            ));
        }
        report.table(&head, &rows);
    }

    fn write_verifications(&self, report: &mut Report, question: usize) {
        let name = self.set.questions[question].name;
        report.paragraph(&format!("Verification, {name}: the least resemblance."));
        let mut head = vec!["shingles".to_owned()];
        head.extend(THRESHOLDS.iter().map(|least| format!("≥ {least:.2}")));
        head.push("as shipped, by length".to_owned());
        let score = |verification: &Verification| {
            let found = judge::alike(&self.main, verification);
            Score::of(&found, &self.answers[question], &self.main).to_string()
        };
        let mut rows = Vec::new();
        for (width, words) in WIDTHS.iter().enumerate() {
            for measure in [Measure::Exact, Measure::Sketch, Measure::Larger] {
                let mut cells = vec![name_of(*words, measure)];
                let leasts = THRESHOLDS
                    .iter()
                    .map(|&least| Least::Flat(least))
                    .chain([Least::Shipped]);
                cells.extend(
                    leasts.map(|least| score(&Choice::of(width, measure, least).verification)),
                );
                rows.push(cells);
            }
        }
        report.table(&head, &rows);
    }

    fn write_fingerprints(&self, report: &mut Report, question: usize) {
        let name = self.set.questions[question].name;
        report.paragraph(&format!(
            "Fingerprints alone, {name}: the bits in which they may differ."
        ));
        let mut head = vec!["features".to_owned()];
        head.extend(DISTANCES.iter().map(|distance| format!("k = {distance}")));
        let rows: Vec<Vec<String>> = (0..FEATURES.len())
            .map(|features| {
                let scores =
                    judge::simhash_alone(&self.main, &self.answers[question], features, DISTANCES);
                row(FEATURES[features], &scores)
            })
            .collect();
        report.table(&head, &rows);
    }

    /// Writes the share of the confirmed pairs that become candidates.
    fn write_candidates(&self, report: &mut Report) {
        let shipped = Verification::shipped();
        let equal = judge::same(&self.main);
        let mut confirmed = judge::confirmed(&self.main, &shipped);
        confirmed.retain(|pair| equal.binary_search(pair).is_err());
        if confirmed.len() < 20 {
            return;
        }
        let banded = self.main.sharing_a_band(shipped.width);
        let in_a_band = |pair: &(u32, u32)| banded.binary_search(pair).is_ok();
        let share =
            |reached: usize| format!("{:.2} %", 100.0 * reached as f64 / confirmed.len() as f64);
        let by_bands = confirmed.iter().filter(|pair| in_a_band(pair)).count();
        report.paragraph(&format!(
            "Candidates: of {} pairs of different texts that the sketches confirm, {} share one of \
             {BANDS} bands; so many have fingerprints within k bits, and so many either.",
            confirmed.len(),
            share(by_bands)
        ));
        let mut head = vec!["features".to_owned()];
        head.extend(DISTANCES.iter().map(|distance| format!("k = {distance}")));
        let rows: Vec<Vec<String>> = (0..FEATURES.len())
            .map(|features| {
                let mut cells = vec![FEATURES[features].to_owned()];
                for &distance in DISTANCES {
                    let reached = judge::reached(&self.main, &confirmed, features, distance);
                    let beyond = reached.iter().filter(|pair| !in_a_band(pair)).count();
                    cells.push(format!(
                        "{}, {}",
                        share(reached.len()),
                        share(by_bands + beyond)
                    ));
                }
                cells
            })
            .collect();
        report.table(&head, &rows);
    }

    /// Writes the pairs that the shipped defaults judge wrongly.
    fn write_examples(&self, report: &mut Report, question: usize) {
        let name = self.set.questions[question].name;
        let pages = &self.main.pages;
        let resemblance = |a: u32, b: u32| {
            let near = self
                .main
                .near
                .iter()
                .find(|near| (near.a, near.b) == (a, b));
            near.map_or_else(
                || format!("below {}", measured::FLOOR),
                |near| {
                    format!(
                        "{:.3}, {:.3}; words {:.3}",
                        near.shingles[0].exact, near.shingles[1].exact, near.words
                    )
                },
            )
        };
        let line = |a: u32, b: u32| {
            let words = |page: u32| pages[page as usize].words;
            let (one, two) = (
                &self.set.pages[a as usize].name,
                &self.set.pages[b as usize].name,
            );
            format!(
                "`{one}` and `{two}` ({} and {} words; exact {})",
                words(a),
                words(b),
                resemblance(a, b)
            )
        };
        let wrong = |a: u32, b: u32| !self.answers[question].holds(a, b, &self.main);
        let found = self.shipped_answer(&self.answers[question]);
        let merged: Vec<(u32, u32)> = found
            .iter()
            .copied()
            .filter(|&(a, b)| wrong(a, b))
            .collect();
        let missed: Vec<(u32, u32)> = match &self.answers[question] {
            Answer::Pairs { expected, .. } => expected
                .iter()
                .copied()
                .filter(|pair| found.binary_search(pair).is_err())
                .collect(),
            Answer::Distinct { .. } => Vec::new(),
        };
        for (what, pairs) in [
            (
                "Merged by the shipped defaults, though they should not be",
                merged,
            ),
            ("Missed by them", missed),
        ] {
            if !pairs.is_empty() {
                report.paragraph(&format!(
                    "{what}, {name}: {} pairs. Some of them:",
                    pairs.len()
                ));
                let step = pairs.len().div_ceil(EXAMPLES);
                report.list(pairs.iter().step_by(step).map(|&(a, b)| line(a, b)));
                if matches!(self.answers[question], Answer::Distinct { .. }) {
                    report.paragraph(&self.merged_by_origin(&pairs));
                }
            }
        }
    }
}

impl Chapter {
    /// Returns the number of merged pages of each package.
    fn merged_by_origin(&self, pairs: &[(u32, u32)]) -> String {
        let origin = |page: u32| {
            self.set.pages[page as usize]
                .name
                .split('/')
                .next()
                .unwrap_or_default()
        };
        let merged: BTreeSet<u32> = pairs.iter().map(|(_, b)| *b).collect();
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for page in 0..self.set.pages.len() as u32 {
            let (all, wrong) = counts.entry(origin(page)).or_default();
            *all += 1;
            *wrong += usize::from(merged.contains(&page));
        }
        let told = counts
            .iter()
            .map(|(origin, (all, wrong))| format!("{origin} {wrong} of {all}"));
        format!("Pages merged: {}.", told.collect::<Vec<_>>().join(", "))
    }
}

fn row(name: &str, scores: &[Score]) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(scores.iter().map(Score::to_string));
    cells
}

fn unit(question: &Question) -> &'static str {
    match question.truth {
        crate::sets::set::Truth::Distinct { .. } => "pages merged",
        _ => "precision / recall / F1",
    }
}
