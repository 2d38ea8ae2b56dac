//! Pages to crawl, each with a unique text.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use testkit::{Reply, Request, Server, Site};

/// Enough words to be judged by similarity.
const WORDS: usize = 150;

/// Returns meaningless words, determined by the number.
pub(crate) fn prose(number: u64, words: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "we",
    ];
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::new();
    for _ in 0..words {
        // Marsaglia's xorshift: the pages must differ, and be the same in every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        for place in [20, 28, 36, 44] {
            text.push_str(SYLLABLES[usize::try_from(state >> place & 15).unwrap()]);
        }
        text.push(' ');
    }
    text
}

/// A page in HTML, with this in its `head` and in its main content.
pub(crate) fn html(head: &str, main: &str) -> String {
    format!("<!DOCTYPE html>\n<html><head>{head}</head><body><main>{main}</main></body></html>\n")
}

/// The HTML of a page with a text of its own and these links.
pub(crate) fn article(number: u64, links: &[impl AsRef<str>]) -> String {
    let links: Vec<String> = links.iter().map(|link| anchor(link.as_ref())).collect();
    let title = format!("<title>Page {number}</title>");
    html(
        &title,
        &format!("<p>{}</p><p>{}</p>", prose(number, WORDS), links.join(" ")),
    )
}

/// A link whose text is its path: a server's port would make another text of it in every run.
pub(crate) fn anchor(link: &str) -> String {
    let after_scheme = link.split_once("://").map_or(link, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("", |at| &after_scheme[at..]);
    format!("<a href=\"{link}\">{path}</a>")
}

/// A page with a text of its own and these links.
pub(crate) fn page(number: u64, links: &[impl AsRef<str>]) -> Reply {
    Reply::html(article(number, links))
}

/// No links.
pub(crate) const NONE: &[&str] = &[];

/// Pages 0 to `count`: each links to two more, so that all are found from the first, `/0`.
pub(crate) fn tree(number: u64, count: u64) -> Reply {
    if number >= count {
        return Reply::status(404);
    }
    let below = [2 * number + 1, 2 * number + 2];
    let links: Vec<String> = below
        .iter()
        .filter(|child| **child < count)
        .map(|child| format!("/{child}"))
        .collect();
    page(number, &links)
}

/// A site that is such a tree.
pub(crate) fn tree_site(count: u64) -> Site {
    Site::new(move |request| tree(number_of(&request.target), count))
}

/// Returns the number of the page at a target; one that does not exist for other targets.
pub(crate) fn number_of(target: &str) -> u64 {
    target[1..].parse().unwrap_or(u64::MAX)
}

/// The months of the calendar that only copies lead to.
pub(crate) const BEHIND_COPIES: &str = "month=2024-0[37]|mirror[.]test[^/]*/log/";

/// Returns a long text, followed by `words` words of another.
pub(crate) fn with_tail(words: usize) -> String {
    html("", &format!("<p>{} {}</p>", prose(1, 400), prose(2, words)))
}

/// Returns the reply to a client that has the page.
pub(crate) fn not_modified() -> Reply {
    Reply::document("", "")
        .without_header("Content-Type")
        .with_status(304)
}

/// Returns a page of this version, or 304 for a client that has it.
pub(crate) fn versioned(request: &Request, etag: &str, page: Reply) -> Reply {
    match request.header("if-none-match") == Some(etag) {
        true => not_modified().header("ETag", etag),
        false => page.header("ETag", etag),
    }
}

/// Serves a site that depends on the day, and returns its current day.
pub(crate) fn serve_by_day(
    site: impl Fn(u64, &Request) -> Reply + Send + Sync + 'static,
) -> (Server, Arc<AtomicU64>) {
    let day = Arc::new(AtomicU64::new(0));
    let today = Arc::clone(&day);
    let server = Server::spawn_thread(Site::new(move |request| {
        site(today.load(Ordering::SeqCst), request)
    }));
    (server, day)
}
