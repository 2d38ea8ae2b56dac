//! Findings, written as they are found.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use batch::BatchError;
use batch::dedup::{Cluster, Finding};
use indicatif::HumanCount;
use neardup::Likeness;
use serde::Serialize;

use crate::args::DedupArgs;
use crate::cli_error::{CliError, fault};
use crate::commands::unwritable;
use crate::output::{self, Format};
use crate::terminal::{Escaping, printable};

/// An error that ends a comparison early.
pub(super) enum DedupError {
    Batch(BatchError),
    Cli(CliError),
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

/// The target of findings, and their form.
pub(super) struct Findings<'a> {
    args: &'a DedupArgs,
    format: Format,
}

impl<'a> Findings<'a> {
    pub(super) fn of(args: &'a DedupArgs) -> Self {
        let format = Format::or_fitting(args.format);
        Self { args, format }
    }

    /// Runs `compare`, which writes findings; returns none if their reader went away.
    pub(super) fn write_all<S>(
        &self,
        compare: impl FnOnce(&mut dyn Write, Format) -> Result<S, DedupError>,
    ) -> Result<Option<S>, DedupError> {
        let target: Box<dyn Write> = match &self.args.output {
            Some(path) => Box::new(File::create(path).map_err(|error| self.unwritable(error))?),
            None if self.args.keeps_silently() => Box::new(io::sink()),
            None => Box::new(io::stdout().lock()),
        };
        let mut out = BufWriter::new(Escaping::new(target));
        let compared = compare(&mut out, self.format);
        match compared.and_then(|summary| Ok(out.flush().map(|()| summary)?)) {
            Ok(summary) => Ok(Some(summary)),
            Err(DedupError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
            Err(DedupError::Output(error)) => Err(self.unwritable(error)),
            Err(other) => Err(other),
        }
    }

    fn unwritable(&self, error: io::Error) -> DedupError {
        DedupError::Cli(match &self.args.output {
            Some(path) => unwritable(path)(error),
            None => fault(&error),
        })
    }
}

#[derive(Serialize)]
struct DuplicateLine<'a> {
    document: &'a str,
    duplicate_of: &'a str,
    #[serde(flatten)]
    degree: Degree,
}

#[derive(Serialize)]
struct PairLine<'a> {
    a: &'a str,
    b: &'a str,
    #[serde(flatten)]
    degree: Degree,
}

/// The degree of the likeness of two documents.
#[derive(Clone, Copy, Serialize)]
struct Degree {
    distance: u32,
    resemblance: f64,
}

/// Writes a finding.
pub(super) fn write(
    out: &mut dyn Write,
    format: Format,
    finding: &Finding<'_>,
) -> Result<(), DedupError> {
    match finding {
        Finding::Duplicate(found) => {
            let (document, duplicate_of) = (found.document, found.duplicate_of);
            let degree = Degree::of(found.likeness);
            let line = DuplicateLine {
                document,
                duplicate_of,
                degree,
            };
            match format {
                Format::Json => output::json_line(out, &line)?,
                Format::Table => degree.write(out, document, "repeats", duplicate_of)?,
            }
        }
        Finding::Pair(found) => {
            let (a, b, degree) = (found.a, found.b, Degree::of(found.likeness));
            match format {
                Format::Json => output::json_line(out, &PairLine { a, b, degree })?,
                Format::Table => degree.write(out, a, "and", b)?,
            }
        }
        Finding::Cluster(cluster) => write_cluster(out, format, cluster)?,
        Finding::Original(_) => {}
    }
    Ok(())
}

impl Degree {
    fn of(likeness: Likeness) -> Self {
        Self {
            distance: likeness.distance(),
            resemblance: likeness.resemblance(),
        }
    }

    /// Returns the degree of a member of a cluster; an original is as itself.
    fn of_member(likeness: Option<Likeness>) -> Self {
        Self::of(likeness.unwrap_or(Likeness::SamePayload))
    }

    /// Writes a line for people.
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
        for (member, likeness) in cluster.members().zip(cluster.likenesses()) {
            let (member, degree) = (member?, likeness.map(Degree::of));
            match degree {
                Some(degree) => writeln!(out, "  {degree}  {}", printable(&member))?,
                None => writeln!(out, "  {}", printable(&member))?,
            }
        }
        return Ok(());
    }
    out.write_all(b"{\"members\":")?;
    write_array(out, cluster.members().map(|member| Ok(member?)))?;
    if cluster.is_around_original() {
        let degrees = || cluster.likenesses().map(Degree::of_member);
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
