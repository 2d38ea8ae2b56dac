//! Property tests of any store.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

use crate::backend::Backend;

/// Runs `test` with `usual` random values, or as many as the backend can afford. Values of earlier
/// failures go first: they are stored next to `source`, the caller's file, in
/// `proptest-regressions/`.
pub(crate) fn holds<S: Strategy>(
    backend: &dyn Backend,
    usual: u32,
    source: &'static str,
    values: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) {
    let config = Config {
        cases: backend.cases(usual),
        source_file: Some(source),
        ..Config::default()
    };
    let result = TestRunner::new(config).run(values, test);
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
