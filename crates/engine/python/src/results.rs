//! Results as Python's named tuples (`neardup._results`): they unpack, pickle, and become rows of
//! pandas and Polars.

use neardup::MatchKind;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};

use crate::id::Id;

/// The module of the named tuples.
const MODULE: &str = "neardup._results";

/// The result of `__reduce__` for pickle: a function, and its arguments to recreate the object.
pub(crate) type Reduced<'py, A> = (Bound<'py, PyAny>, A);

/// A match kind as the fields of a result: distance in bits, resemblance, and the measure that
/// decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Degree {
    pub(crate) distance: u32,
    pub(crate) resemblance: f64,
    pub(crate) measure: &'static str,
}

impl Degree {
    /// Returns the degree of a match; `verified` is false if the distance alone decided.
    pub(crate) fn of(match_kind: MatchKind, verified: bool) -> Self {
        Self {
            distance: match_kind.distance(),
            resemblance: match_kind.resemblance(),
            measure: match_kind.measure(verified),
        }
    }
}

/// Returns a `Duplicate`.
///
/// # Errors
/// The exceptions of its import.
pub(crate) fn duplicate<'py>(
    py: Python<'py>,
    id: &Id,
    of: &Id,
    degree: Degree,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    two(py, CLASS.import(py, MODULE, "Duplicate")?, id, of, degree)
}

/// Returns a `Pair`.
///
/// # Errors
/// The exceptions of its import.
pub(crate) fn pair<'py>(
    py: Python<'py>,
    a: &Id,
    b: &Id,
    degree: Degree,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    two(py, CLASS.import(py, MODULE, "Pair")?, a, b, degree)
}

fn two<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyType>,
    one: &Id,
    two: &Id,
    degree: Degree,
) -> PyResult<Bound<'py, PyAny>> {
    let (distance, resemblance) = (degree.distance, degree.resemblance);
    let ids = (one.to_python(py), two.to_python(py));
    class.call1((ids.0, ids.1, distance, resemblance, degree.measure))
}

/// Returns a `Cluster`.
///
/// # Errors
/// The exceptions of its import.
pub(crate) fn cluster<'py>(py: Python<'py>, members: &[Id]) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let members = members.iter().map(|member| member.to_python(py));
    let members = PyList::new(py, members.collect::<Vec<_>>())?;
    CLASS.import(py, MODULE, "Cluster")?.call1((members,))
}

/// Returns a `Match`.
///
/// # Errors
/// The exceptions of its import.
pub(crate) fn found<'py>(
    py: Python<'py>,
    id: &Id,
    match_kind: MatchKind,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let degree = Degree::of(match_kind, true);
    let class = CLASS.import(py, MODULE, "Match")?;
    class.call1((
        id.to_python(py),
        degree.distance,
        degree.resemblance,
        degree.measure,
    ))
}
