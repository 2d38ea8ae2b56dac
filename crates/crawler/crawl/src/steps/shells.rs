//! Shells: pages that need their scripts, and have the same bytes under every path.
//!
//! The server of an application answers each of its routes with the same bytes, and scripts fetch
//! the text. So equal bytes do not show that two routes repeat each other (`docs/adr/0033`). Under
//! one path they do: such URLs differ in a session identifier or a tracking parameter far more
//! often than in their content.
//!
//! Invariant: of the pages with the same bytes and the same path, one at most is unique. The index
//! knows it by a name made of both.

use journal::{Page, StoreFault};
use neardup::{MatchKind, PageSignature};
use sinks::PayloadDigest;
use store::{Original, Verdict};

use crate::context::CrawlContext;
use crate::steps::reading::Reading;

/// Maximum number of words of a notice that a page needs its scripts. Usual frameworks use 9 to 15
/// words. A shell whose bytes differ by a nonce has such a notice; a short page has more text.
const NOTICE: u32 = 17;

/// The verdict on a page, given that the bytes of a shell say nothing about other paths.
pub(crate) struct ShellVerdict {
    pub(crate) verdict: Verdict,
    /// The page with the same bytes, if the page is unique although they are equal.
    pub(crate) shell: Option<Original>,
}

/// Corrects the verdict of the index on a page that may be a shell.
pub(crate) async fn judge(
    context: &CrawlContext,
    page: &Page,
    reading: &Reading,
    verdict: Verdict,
) -> Result<ShellVerdict, StoreFault> {
    let Some(original) = of_other_path(page, reading, &verdict).cloned() else {
        return Ok(ShellVerdict {
            verdict,
            shell: None,
        });
    };
    let content = match (original.match_kind, &reading.signature.text) {
        (MatchKind::SameText, Some(text)) => text.digest,
        _ => reading.signature.payload,
    };
    let signature = PageSignature {
        payload: name(page, content),
        text: None,
    };
    let by_path = context.index.admit(page, &signature, None).await?;
    Ok(match by_path {
        Verdict::Duplicate(of_path) => ShellVerdict {
            verdict: Verdict::Duplicate(Box::new(Original {
                // The archive has the bytes at the first path.
                bytes: original.bytes,
                ..*of_path
            })),
            shell: None,
        },
        _ => ShellVerdict {
            verdict: Verdict::Unique,
            shell: Some(original),
        },
    })
}

/// Returns the page with the same bytes or text under another path, if the page needs its scripts.
fn of_other_path<'v>(page: &Page, reading: &Reading, verdict: &'v Verdict) -> Option<&'v Original> {
    let document = reading.document.as_ref()?;
    // A page with the same bytes is never retained.
    let Verdict::Duplicate(original) = verdict else {
        return None;
    };
    let words = reading.signature.text.as_ref().map(|text| text.words);
    let is_same = match original.match_kind {
        MatchKind::SamePayload => true,
        MatchKind::SameText => words.unwrap_or_default() <= NOTICE,
        MatchKind::Near { .. } => false,
    };
    let is_shell = document.needs_scripts && is_same;
    (is_shell && path(page) != path(&original.page)).then_some(original)
}

/// Returns the name of a shell under its path, in place of the name of its bytes or text.
fn name(page: &Page, content: u128) -> u128 {
    PayloadDigest::of(format!("{content:032x} {}", path(page)).as_bytes()).name()
}

/// Returns the path of a page, the same with and without a slash or an index file at its end.
fn path(page: &Page) -> &str {
    const INDEXES: [&str; 3] = ["/index.html", "/index.htm", "/index.php"];
    let path = page.final_url.as_url().path();
    let mut indexes = INDEXES.iter();
    let folder = indexes.find_map(|index| path.strip_suffix(index));
    folder.unwrap_or(path).trim_end_matches('/')
}
