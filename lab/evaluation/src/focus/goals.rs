//! The goals of the order of visits, beside the figures.

use super::rows::Row;
use super::rules::Rule;
use super::topics::FocusTopic;
use crate::report::Report;

/// The rows that the goals compare, from one set of seeds, for topics given in one way.
pub(crate) struct Compared<'a> {
    /// The engine without a topic.
    pub(crate) breadth_first: &'a Row,
    /// The engine with the anticipation of the program's default.
    pub(crate) ours: &'a Row,
    /// The simulated rule of the literature with the greatest area under recall.
    pub(crate) best_other: &'a Row,
    pub(crate) ceiling: &'a Row,
}

impl<'a> Compared<'a> {
    pub(crate) fn of(breadth_first: &'a Row, ours: &'a Row, simulated: &'a [Row]) -> Self {
        let is_other = |row: &&Row| row.rule.is_some_and(Rule::is_other);
        let others = simulated.iter().filter(is_other);
        let area = |row: &Row| row.mean(|outcome| outcome.area);
        let best = others.max_by(|one, two| area(one).total_cmp(&area(two)));
        let ceiling = simulated.iter().find(|row| row.rule == Some(Rule::Oracle));
        Self {
            breadth_first,
            ours,
            best_other: best.expect("the rules of the literature are simulated"),
            ceiling: ceiling.expect("the oracle is simulated"),
        }
    }

    /// Returns the cells of the figures and the best other row; what is missed is bold.
    pub(crate) fn cells(&self, topics: &[&FocusTopic]) -> Vec<String> {
        let area = |row: &Row| row.mean(|outcome| outcome.area);
        let harvest = |row: &Row| row.mean(|outcome| outcome.harvest[1]);
        let said = |is_reached: bool, figure: String| match is_reached {
            true => figure,
            false => format!("**{figure}**"),
        };
        let ratio = |figure: f64, goal: f64| said(figure >= goal, format!("{figure:.3}"));
        let ratios = self
            .ours
            .areas()
            .into_iter()
            .zip(self.breadth_first.areas());
        let worse = ratios
            .zip(topics)
            .filter(|((ours, base), _)| *ours < 0.9 * base);
        let worse: Vec<&str> = worse.map(|(_, topic)| topic.name.as_str()).collect();
        vec![
            ratio(area(self.ours) / area(self.breadth_first), BREADTH_FIRST),
            self.best_other.name.to_owned(),
            ratio(area(self.ours) / area(self.best_other), OTHER),
            ratio(harvest(self.ours) / harvest(self.ceiling), CEILING),
            match worse.is_empty() {
                true => "none".to_owned(),
                false => said(false, worse.join(", ")),
            },
        ]
    }
}

/// The least area under recall, in parts of that of breadth-first.
const BREADTH_FIRST: f64 = 2.0;
/// The least area under recall, in parts of that of the best other rule.
const OTHER: f64 = 1.15;
/// The least harvest at 1,000 pages, in parts of the ceiling's.
const CEILING: f64 = 0.6;

/// Writes the figures; each row begins with its seeds and the way in which the topics are given.
pub(crate) fn write_goals(report: &mut Report, rows: &[Vec<String>]) {
    report.heading(2, "Goals of the order of visits");
    report.paragraph(
        "Ours is the engine with an anticipation of 5 s, the best other row the rule of the \
         literature with the greatest area, and the ceiling the oracle over known links. What is \
         missed is **bold**.",
    );
    let head = [
        "seeds".to_owned(),
        "topics by".to_owned(),
        format!("area under recall ÷ breadth-first: ≥ {BREADTH_FIRST}"),
        "best other row".to_owned(),
        format!("area under recall ÷ best other row: ≥ {OTHER}"),
        format!("harvest at 1,000 pages ÷ ceiling: ≥ {CEILING}"),
        "topics more than a tenth worse than breadth-first: none".to_owned(),
    ];
    report.table(&head, rows);
}
