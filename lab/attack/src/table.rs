//! The table of attacks and their results.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use crate::namespace::Isolation;

/// An attack and its result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    attack: String,
    tried: u64,
    lost: u64,
    twice: u64,
    silent: u64,
    figure: String,
    goal: String,
    fits: bool,
    skipped: bool,
}

impl Row {
    pub(crate) fn new(attack: impl Into<String>) -> Self {
        Self {
            attack: attack.into(),
            fits: true,
            ..Self::default()
        }
    }

    pub(crate) fn tried(mut self, tried: u64) -> Self {
        self.tried = tried;
        self
    }

    /// Sets the number of pages that disappeared, of those archived more than once, and of damages
    /// that were not reported. The goal of each is 0.
    pub(crate) fn lost(mut self, lost: u64, twice: u64, silent: u64) -> Self {
        (self.lost, self.twice, self.silent) = (lost, twice, silent);
        self
    }

    pub(crate) fn figure(mut self, figure: impl Into<String>) -> Self {
        self.figure = figure.into();
        self
    }

    pub(crate) fn goal(mut self, goal: impl Into<String>) -> Self {
        self.goal = goal.into();
        self
    }

    /// Sets whether the figure reaches the goal.
    pub(crate) fn is(mut self, fits: bool) -> Self {
        self.fits = fits;
        self
    }

    /// Marks an attack that this machine does not allow, with the reason.
    pub(crate) fn skipped(mut self, why: &str) -> Self {
        why.clone_into(&mut self.figure);
        self.skipped = true;
        self
    }

    fn holds(&self) -> bool {
        self.fits && self.lost + self.twice + self.silent == 0
    }

    fn cells(&self) -> [String; 8] {
        let verdict = match () {
            () if self.skipped => "SKIPPED",
            () if self.holds() => "yes",
            () => "NO",
        };
        [
            self.attack.clone(),
            self.tried.to_string(),
            self.lost.to_string(),
            self.twice.to_string(),
            self.silent.to_string(),
            self.figure.clone(),
            self.goal.clone(),
            verdict.to_owned(),
        ]
    }
}

const HEADS: [&str; 8] = [
    "attack", "tried", "lost", "twice", "silent", "figure", "goal", "ok",
];

/// All rows, and their origin.
pub(crate) struct Table {
    rows: Vec<Row>,
    isolation: String,
    seed: u64,
}

impl Table {
    pub(crate) fn new(isolation: &Isolation, seed: u64) -> Self {
        Self {
            rows: Vec::new(),
            isolation: isolation.description.clone(),
            seed,
        }
    }

    /// Adds a row, and shows it.
    pub(crate) fn add(&mut self, row: Row) {
        let cells = row.cells();
        println!("   {}", cells.join(" · "));
        self.rows.push(row);
    }

    pub(crate) fn all_hold(&self) -> bool {
        self.rows.iter().all(|row| row.skipped || row.holds())
    }

    /// Formats it in columns, for a terminal.
    pub(crate) fn text(&self, took: Duration) -> String {
        let lines: Vec<[String; 8]> = std::iter::once(HEADS.map(str::to_owned))
            .chain(self.rows.iter().map(Row::cells))
            .collect();
        let width = |column: usize| {
            let widths = lines.iter().map(|cells| cells[column].chars().count());
            widths.max().unwrap_or_default()
        };
        let mut text = String::new();
        for cells in &lines {
            for (column, cell) in cells.iter().enumerate() {
                let width = width(column);
                let _infallible = match column {
                    1..=4 => write!(text, "{cell:>width$}  "),
                    7 => write!(text, "{cell}"),
                    _ => write!(text, "{cell:<width$}  "),
                };
            }
            text.push('\n');
        }
        let _infallible = writeln!(text, "\n{}", self.origin(took));
        text
    }

    /// Formats it as Markdown.
    pub(crate) fn markdown(&self, took: Duration) -> String {
        let mut text = format!(
            "# An attack\n\n`just attack --report docs/measurements/attack.md` writes this page. \
             Lost, twice and silent are to be 0;\na figure stands beside its goal, also where it \
             misses.\n\n{}.\n\n",
            self.origin(took)
        );
        let _infallible = writeln!(
            text,
            "| {} |\n|---|--:|--:|--:|--:|---|---|---|",
            HEADS.join(" | ")
        );
        for row in &self.rows {
            let _infallible = writeln!(text, "| {} |", row.cells().join(" | "));
        }
        text
    }

    /// Describes the run: date, misses, machine, seed and isolation.
    fn origin(&self, took: Duration) -> String {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?").to_owned();
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu.lines().find(|line| line.starts_with("model name"));
        let cpu = cpu
            .and_then(|line| line.split_once(": "))
            .map_or("?", |(_, name)| name);
        let date = Command::new("date").args(["-u", "+%F"]).output();
        let date = date.map(|ended| String::from_utf8_lossy(&ended.stdout).trim().to_owned());
        let date = date.unwrap_or_else(|_no_such_program| "?".to_owned());
        let missed = self
            .rows
            .iter()
            .filter(|row| !row.skipped && !row.holds())
            .count();
        format!(
            "{date}: {missed} of {} miss; {:.0} s on {cores} cores ({cpu}), load {load} at the \
             end; seed {}; {}",
            self.rows.len(),
            took.as_secs_f64(),
            self.seed,
            self.isolation
        )
    }
}
