//! Output of the register of limits ([`journal::Limit`]) for commands.

use std::collections::BTreeMap;

use bytesize::ByteSize;
use journal::{CutSum, Limit, UnreadFormat};
use messages::{counted, counted_as, grouped};
use policy::Policy;

/// Describes the limits on one line; `None` if no visit was cut.
pub fn in_words(limits: &BTreeMap<&'static str, CutSum>) -> Option<String> {
    let limits = limits.iter().map(|(limit, sum)| match sum.lost {
        0 => format!("{} by {limit}", sum.visits),
        lost => format!("{} by {limit} ({})", sum.visits, counted(lost, "link")),
    });
    let limits: Vec<String> = limits.collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// Describes the documents that are not read on one line; `None` without such documents.
pub fn unread_in_words(formats: &BTreeMap<&'static str, u64>) -> Option<String> {
    let formats = formats.iter().map(|(format, count)| {
        let noun = UnreadFormat::of_word(format).map_or(*format, |format| format.noun(*count));
        format!("{count} {noun}")
    });
    let formats: Vec<String> = formats.collect();
    (!formats.is_empty()).then(|| formats.join(", "))
}

/// Returns a limit with its value, as `max-links-per-page 50000`.
pub(crate) fn with_value(limit: Limit, policy: &Policy) -> String {
    match (limit, policy.limit(limit)) {
        (_, None) => limit.to_string(),
        (Limit::PageBytes | Limit::Text | Limit::UrlBytes | Limit::SitemapBytes, Some(bytes)) => {
            format!("{limit} {}", ByteSize(bytes).display().iec())
        }
        (_, Some(value)) => format!("{limit} {value}"),
    }
}

/// Returns the outcomes for the summary: one per limit that cut visits, and one per format that is
/// not read.
pub fn outcomes(
    limits: &BTreeMap<&'static str, CutSum>,
    unread: &BTreeMap<&'static str, u64>,
    policy: &Policy,
) -> Vec<(&'static str, u64, String)> {
    let cut = limits.iter().filter_map(|(limit, sum)| {
        let limit = Limit::of_word(limit)?;
        let (name, loss) = (with_value(limit, policy), limit.loss());
        let text = match sum.lost {
            0 => format!("by {name}: {loss}"),
            lost => format!("by {name}: {loss} ({})", grouped(lost)),
        };
        Some(("truncated", sum.visits, text))
    });
    let unread = unread.iter().map(|(format, count)| {
        let noun = UnreadFormat::of_word(format).map_or(*format, |format| format.noun(*count));
        let text = format!("{noun}: archived, text not read");
        ("not read", *count, text)
    });
    cut.chain(unread).collect()
}

/// Returns the caveat for a crawl that visited all known URLs, if limits hid further links.
pub fn reservation(limits: &BTreeMap<&'static str, CutSum>) -> Option<String> {
    let (mut links, mut parts) = (0, 0);
    for (limit, sum) in limits {
        if Limit::of_word(limit).is_some_and(Limit::costs_links) {
            links += sum.lost;
            parts += if sum.lost == 0 { sum.visits } else { 0 };
        }
    }
    match (links, parts) {
        (0, 0) => None,
        (0, parts) => Some(counted_as(parts, "page was", "pages were") + " not read completely"),
        (links, _) => Some(counted_as(links, "link was", "links were") + " not read"),
    }
}
