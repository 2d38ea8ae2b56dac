//! Findings, written as they are found.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use batch::dedup::{Cluster, Finding};
use batch::{BatchError, DocumentId};
use corpus::json_id::JsonId;
use corpus::{IdRanges, ResultTable, TableFormat};
use disk::OutputFile;
use indicatif::HumanCount;
use messages::{CommandError, fault, printable, usage};
use neardup::MatchKind;
use serde::Serialize;
use settings::input::unwritable;
use web::Escaping;

use crate::args::{DedupArgs, FindingForm};
use crate::output::{self, Format};

/// An error that ends a comparison early.
pub(super) enum DedupError {
    Batch(BatchError),
    Cli(CommandError),
    /// The findings cannot be written.
    Output(io::Error),
}

impl From<BatchError> for DedupError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

impl From<io::Error> for DedupError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Destination and form of findings.
pub(super) struct Findings<'a> {
    args: &'a DedupArgs,
    form: FindingForm,
    /// Ranges of all ids. Tables choose their column types by these ranges.
    pub(super) ids: IdRanges,
}

/// An output of findings.
pub(super) enum Output<'a> {
    /// A line per finding.
    Lines(&'a mut dyn Write, Format),
    /// A row per finding, or per member of a cluster.
    Rows {
        table: Box<ResultTable>,
        /// The number of clusters so far.
        clusters: u64,
    },
}

impl<'a> Findings<'a> {
    /// Chooses the form by `--format`, or else by the name of the output.
    pub(super) fn of(args: &'a DedupArgs) -> Result<Self, CommandError> {
        let form = args.finding_form();
        if let (Some(format), None) = (form.table(), args.work.output()) {
            let error = usage(format!("--format {format} needs a file"));
            return Err(error.with_remedy("name it with --output"));
        }
        Ok(Self {
            args,
            form,
            ids: IdRanges::default(),
        })
    }

    /// Runs `compare`, which writes findings. Returns `None` if their reader went away. An output
    /// file gets its final name once it is complete.
    pub(super) fn write_all<S>(
        &self,
        compare: impl FnOnce(&mut Output<'_>) -> Result<S, DedupError>,
    ) -> Result<Option<S>, DedupError> {
        let format = match (self.form, self.args.work.output()) {
            (FindingForm::Parquet, Some(path)) => {
                return self
                    .write_table(path, TableFormat::Parquet, compare)
                    .map(Some);
            }
            (FindingForm::Arrow, Some(path)) => {
                return self
                    .write_table(path, TableFormat::Arrow, compare)
                    .map(Some);
            }
            (FindingForm::Table, _) => Format::Table,
            _ => Format::Json,
        };
        let written = match self.args.work.output() {
            Some(path) if path.is_file() || !path.exists() => {
                let mut draft =
                    OutputFile::replacing(path).map_err(|error| self.unwritable(error))?;
                let compared = write_lines(&mut draft, format, compare);
                compared.and_then(|summary| Ok(draft.complete().map(|()| summary)?))
            }
            Some(path) => {
                let device = File::create(path).map_err(|error| self.unwritable(error))?;
                write_lines(device, format, compare)
            }
            None if self.args.keeps_silently() => write_lines(io::sink(), format, compare),
            None => write_lines(io::stdout().lock(), format, compare),
        };
        match written {
            Ok(summary) => Ok(Some(summary)),
            Err(DedupError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
            Err(DedupError::Output(error)) => Err(self.unwritable(error)),
            Err(other) => Err(other),
        }
    }

    fn write_table<S>(
        &self,
        path: &Path,
        format: TableFormat,
        compare: impl FnOnce(&mut Output<'_>) -> Result<S, DedupError>,
    ) -> Result<S, DedupError> {
        let unwritable = |error| self.unwritable(error);
        let (kind, ids) = (self.args.finding_kind(), self.ids.clone());
        let table = ResultTable::create(path, format, kind, ids).map_err(unwritable)?;
        let mut output = Output::Rows {
            table: Box::new(table),
            clusters: 0,
        };
        let summary = match compare(&mut output) {
            Err(DedupError::Output(error)) => return Err(self.unwritable(error)),
            other => other?,
        };
        if let Output::Rows { table, .. } = output {
            table.finish().map_err(unwritable)?;
        }
        Ok(summary)
    }

    fn unwritable(&self, error: io::Error) -> DedupError {
        DedupError::Cli(match self.args.work.output() {
            Some(path) => unwritable(path)(error),
            None => fault(&error),
        })
    }
}

fn write_lines<S>(
    target: impl Write,
    format: Format,
    compare: impl FnOnce(&mut Output<'_>) -> Result<S, DedupError>,
) -> Result<S, DedupError> {
    let mut out = BufWriter::new(Escaping::new(target));
    let summary = compare(&mut Output::Lines(&mut out, format))?;
    out.flush()?;
    Ok(summary)
}

#[derive(Serialize)]
struct DuplicateLine<'a> {
    document: JsonId<&'a DocumentId>,
    duplicate_of: JsonId<&'a DocumentId>,
    #[serde(flatten)]
    degree: Degree,
}

#[derive(Serialize)]
struct PairLine<'a> {
    a: JsonId<&'a DocumentId>,
    b: JsonId<&'a DocumentId>,
    #[serde(flatten)]
    degree: Degree,
}

/// Degree of similarity of two documents.
#[derive(Clone, Copy, Serialize)]
struct Degree {
    distance: u32,
    resemblance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<&'static str>,
}

/// Writes a finding. `is_verified` is false if the distance alone decides.
pub(super) fn write(
    output: &mut Output<'_>,
    finding: &Finding<'_>,
    is_verified: bool,
) -> Result<(), DedupError> {
    match output {
        Output::Lines(out, format) => write_line(*out, *format, finding, is_verified),
        Output::Rows { table, clusters } => write_rows(table, clusters, finding, is_verified),
    }
}

fn write_line(
    out: &mut dyn Write,
    format: Format,
    finding: &Finding<'_>,
    is_verified: bool,
) -> Result<(), DedupError> {
    match finding {
        Finding::Duplicate(found) => {
            let (document, duplicate_of) = (found.document, found.duplicate_of);
            let degree = Degree::with_measure(found.match_kind, is_verified);
            let line = DuplicateLine {
                document: JsonId(document),
                duplicate_of: JsonId(duplicate_of),
                degree,
            };
            match format {
                Format::Json => output::json_line(out, &line)?,
                Format::Table => degree.write(out, document, "repeats", duplicate_of)?,
            }
        }
        Finding::Pair(found) => {
            let degree = Degree::with_measure(found.match_kind, is_verified);
            let (a, b) = (JsonId(found.a), JsonId(found.b));
            match format {
                Format::Json => output::json_line(out, &PairLine { a, b, degree })?,
                Format::Table => degree.write(out, found.a, "and", found.b)?,
            }
        }
        Finding::Cluster(cluster) => write_cluster(out, format, cluster)?,
        Finding::Original(_) => {}
    }
    Ok(())
}

fn write_rows(
    table: &mut ResultTable,
    clusters: &mut u64,
    finding: &Finding<'_>,
    is_verified: bool,
) -> Result<(), DedupError> {
    let (one, other, match_kind) = match finding {
        Finding::Duplicate(found) => (found.document, found.duplicate_of, found.match_kind),
        Finding::Pair(found) => (found.a, found.b, found.match_kind),
        Finding::Cluster(cluster) => {
            for member in cluster.members() {
                table.write_member(*clusters, &member?)?;
            }
            *clusters += 1;
            return Ok(());
        }
        Finding::Original(_) => return Ok(()),
    };
    let (distance, resemblance) = (match_kind.distance(), match_kind.resemblance());
    let measure = match_kind.measure(is_verified);
    table.write_pair(one, other, distance, resemblance, measure)?;
    Ok(())
}

impl Degree {
    fn of(match_kind: MatchKind) -> Self {
        Self {
            distance: match_kind.distance(),
            resemblance: match_kind.resemblance(),
            measure: None,
        }
    }

    fn with_measure(match_kind: MatchKind, is_verified: bool) -> Self {
        Self {
            measure: Some(match_kind.measure(is_verified)),
            ..Self::of(match_kind)
        }
    }

    /// Returns the degree of a cluster member. An original counts as identical to itself.
    fn of_member(match_kind: Option<MatchKind>) -> Self {
        Self::of(match_kind.unwrap_or(MatchKind::SamePayload))
    }

    /// Writes a line of text.
    fn write(self, out: &mut dyn Write, one: &str, relation: &str, two: &str) -> io::Result<()> {
        let (one, two) = (printable(one), printable(two));
        writeln!(out, "{self}  {one}  {relation}  {two}")
    }
}

impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}  {:>2} bits", self.resemblance, self.distance)
    }
}

/// Writes one member at a time: a cluster may be larger than memory.
fn write_cluster(
    out: &mut dyn Write,
    format: Format,
    cluster: &Cluster<'_>,
) -> Result<(), DedupError> {
    if format == Format::Table {
        writeln!(out, "{} documents", HumanCount(cluster.len() as u64))?;
        for (member, match_kind) in cluster.members().zip(cluster.match_kinds()) {
            let (member, degree) = (member?, match_kind.map(Degree::of));
            match degree {
                Some(degree) => writeln!(out, "  {degree}  {}", printable(&member))?,
                None => writeln!(out, "  {}", printable(&member))?,
            }
        }
        return Ok(());
    }
    out.write_all(b"{\"members\":")?;
    write_array(out, cluster.members().map(|member| Ok(JsonId(member?))))?;
    if cluster.is_around_original() {
        let degrees = || cluster.match_kinds().map(Degree::of_member);
        out.write_all(b",\"distances\":")?;
        write_array(out, degrees().map(|degree| Ok(degree.distance)))?;
        out.write_all(b",\"resemblances\":")?;
        write_array(out, degrees().map(|degree| Ok(degree.resemblance)))?;
    }
    out.write_all(b"}\n")?;
    Ok(())
}

fn write_array<T: Serialize>(
    out: &mut dyn Write,
    values: impl Iterator<Item = Result<T, DedupError>>,
) -> Result<(), DedupError> {
    out.write_all(b"[")?;
    for (number, value) in values.enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, &value?).map_err(io::Error::from)?;
    }
    out.write_all(b"]")?;
    Ok(())
}
