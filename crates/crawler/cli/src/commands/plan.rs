//! `crawler plan`: compares designs of permuted tables for a number of pages, and shows the bands
//! for a resemblance.

use std::io::{self, Write};

use classics::blocks::expected_bits;
use indicatif::{HumanBytes, HumanCount};
use messages::{CommandError, usage};
use neardup::tables::{Plan, TableDesign};
use neardup::{BandDesign, DEFAULT_RECALL};
use serde::Serialize;

use crate::args::PlanArgs;
use crate::output::{self, Format};

#[derive(Serialize)]
struct Line {
    tables: usize,
    /// Bits of the shortest prefix.
    prefix: u32,
    longest_prefix: u32,
    /// Bytes of all tables, without coding.
    memory: u128,
    /// Expected bytes of all tables in coded blocks (section 3.3); absent for 32 bits.
    coded_memory: Option<u128>,
    /// Expected candidates in the table with the most candidates.
    expected_candidates: f64,
    /// Expected candidates over all tables.
    candidates_in_all: f64,
    /// Number of blocks that the bits are split into, then the number for the bits after the chosen
    /// blocks, and so on.
    blocks: Vec<u32>,
    chosen: bool,
}

pub(crate) fn run(args: &PlanArgs) -> Result<(), CommandError> {
    let Some(pages) = &args.pages else {
        return bands(args);
    };
    let pages = pages.0;
    let plan = match args.candidates {
        Some(candidates) => Plan::allowing(candidates, pages, args.distance, args.bits),
        None => Plan::new(pages, args.distance, args.bits),
    };
    let plan = plan.map_err(usage)?;
    let lines: Vec<Line> = (0..plan.options().len())
        .map(|at| Line::of(&plan, at))
        .collect();
    output::to_stdout(|out| match args.format {
        Format::Json => lines
            .iter()
            .try_for_each(|line| output::json_line(out, line)),
        Format::Table => table(out, &plan, &lines),
    })
}

/// The bands for a resemblance.
#[derive(Serialize)]
struct BandPlan {
    resemblance: f64,
    bands: usize,
    rows: usize,
    /// Probability that a pair with this resemblance becomes a candidate.
    recall: f64,
    curve: Vec<CurvePoint>,
}

/// A point of the curve: the share of all pairs with a resemblance that become candidates.
#[derive(Serialize)]
struct CurvePoint {
    resemblance: f64,
    /// Probability that a pair becomes a candidate.
    probability: f64,
    /// Probability with the bands of a crawl.
    in_a_crawl: f64,
}

/// Prints the bands of sketches for a resemblance.
fn bands(args: &PlanArgs) -> Result<(), CommandError> {
    let resemblance = args.resemblance.unwrap_or(1.0);
    let design = BandDesign::for_resemblance(resemblance, args.recall.unwrap_or(DEFAULT_RECALL))
        .map_err(|error| CommandError::of_usage(&error))?;
    let point = |twentieths: u32| {
        let resemblance = f64::from(twentieths) / 20.0;
        CurvePoint {
            resemblance,
            probability: design.recall(resemblance),
            in_a_crawl: BandDesign::SKETCH.recall(resemblance),
        }
    };
    let plan = BandPlan {
        resemblance,
        bands: design.bands(),
        rows: design.rows(),
        recall: design.recall(resemblance),
        curve: (1..=20).map(point).collect(),
    };
    output::to_stdout(|out| match args.format {
        Format::Json => output::json_line(out, &plan),
        Format::Table => band_table(out, &plan),
    })
}

fn band_table(out: &mut dyn Write, plan: &BandPlan) -> io::Result<()> {
    writeln!(
        out,
        "{} bands of {} rows find {:.2} % of the pairs at a resemblance of {}.\n",
        plan.bands,
        plan.rows,
        100.0 * plan.recall,
        plan.resemblance
    )?;
    writeln!(out, "  resemblance   found   by the bands of a crawl")?;
    for point in &plan.curve {
        writeln!(
            out,
            "  {:>11.2} {:>7.4} {:>25.4}",
            point.resemblance, point.probability, point.in_a_crawl
        )?;
    }
    Ok(())
}

impl Line {
    fn of(plan: &Plan, at: usize) -> Self {
        let design: &TableDesign = &plan.options()[at];
        let prefix = design.prefix_bits();
        Self {
            tables: design.tables().len(),
            prefix: *prefix.start(),
            longest_prefix: *prefix.end(),
            memory: plan.memory(design),
            coded_memory: (design.bits() == u64::BITS).then(|| {
                let coded = expected_bits(plan.pages()) / f64::from(u64::BITS);
                (plan.memory(design) as f64 * coded) as u128
            }),
            expected_candidates: design.max_candidates(plan.pages()),
            candidates_in_all: design.expected_candidates(plan.pages()),
            blocks: design.levels().to_vec(),
            chosen: at == plan.chosen(),
        }
    }
}

fn table(out: &mut dyn Write, plan: &Plan, lines: &[Line]) -> io::Result<()> {
    writeln!(
        out,
        "{} pages: a probe reads the entries of each table that share its prefix.\n",
        HumanCount(plan.pages())
    )?;
    writeln!(
        out,
        "  tables   prefix       memory        coded  candidates a probe   in all  blocks"
    )?;
    for line in lines {
        let prefix = match (line.prefix, line.longest_prefix) {
            (shortest, longest) if shortest == longest => shortest.to_string(),
            (shortest, longest) => format!("{shortest}–{longest}"),
        };
        let bytes = |bytes: u128| HumanBytes(u64::try_from(bytes).unwrap_or(u64::MAX)).to_string();
        let coded = line.coded_memory.map_or_else(|| "–".to_owned(), bytes);
        writeln!(
            out,
            "{} {:>6} {prefix:>8} {:>12} {coded:>12} {:>19} {:>8}  {:?}",
            if line.chosen { ">" } else { " " },
            line.tables,
            bytes(line.memory),
            rounded(line.expected_candidates),
            rounded(line.candidates_in_all),
            line.blocks,
        )?;
    }
    writeln!(out, "\n> {}", plan.reason())
}

/// Formats small counts to a tenth and large ones in thousands.
fn rounded(count: f64) -> String {
    match count {
        0.0 => "0".to_owned(),
        few if few < 0.1 => "< 0.1".to_owned(),
        some if some < 10.0 => format!("{some:.1}"),
        many if many < 1e6 => HumanCount(many.round() as u64).to_string(),
        very_many => format!("{very_many:.1e}"),
    }
}
