//! Settings of a test run from environment variables.

/// Returns a number from an environment variable.
pub(crate) fn of_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}")),
    )
}
