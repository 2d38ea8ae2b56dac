//! Work that blocks, off the reactor.

use crate::fault::SinkFault;

/// Runs `work` in a blocking thread; a panic in it is resumed in the caller.
pub(crate) async fn off_the_reactor<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SinkFault> + Send + 'static,
) -> Result<T, SinkFault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => Err(SinkFault::Stopped),
    }
}
