//! The limits that cut a visit: what was found when its response was read.
//!
//! [`journal::Limit`] is the register; this module fills it. [`Policy::limit`] knows the values in
//! force.
//!
//! [`Policy::limit`]: policy::Policy::limit

use journal::{Cut, Limit, UnreadFormat};
use web::{DecodeError, Decoded, Document, Exchange, Media, ParseWarning, ParserStop, Truncation};

/// Returns the limits that cut a response while it was received, decoded and read. The entries of a
/// listing are read elsewhere, and have limits of their own.
pub(crate) fn cuts(
    exchange: &Exchange,
    decoded: &Decoded,
    document: &Document,
    is_listing: bool,
) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = cut_of_body(exchange).into_iter().collect();
    let is_read = document.media != Media::Other && !is_listing;
    if is_read && decoded.error == Some(DecodeError::Bomb) {
        cuts.push(Cut::by(Limit::Growth));
    } else if is_read && decoded.truncated {
        cuts.push(Cut::by(Limit::PageBytes));
    }
    let warnings = document.warnings.iter();
    for limit in warnings.filter_map(|warning| limit_of(*warning)) {
        Cut::by(limit).add_to(&mut cuts);
    }
    let lost = document.lost_links;
    for (limit, lost) in [
        (Limit::Links, lost.too_many),
        (Limit::UrlBytes, lost.too_long),
    ] {
        if lost > 0 {
            Cut { limit, lost }.add_to(&mut cuts);
        }
    }
    cuts
}

/// Returns the limit that cut a body while it was received.
pub(crate) fn cut_of_body(exchange: &Exchange) -> Option<Cut> {
    match exchange.truncated? {
        Truncation::Length => Some(Cut::by(Limit::Body)),
        Truncation::Time => Some(Cut::by(Limit::Time)),
        Truncation::Disconnect => None,
    }
}

/// Returns the limit behind a warning of the reader; `None` if the warning has another cause, or if
/// the limit has a count of its own.
const fn limit_of(warning: ParseWarning) -> Option<Limit> {
    match warning {
        ParseWarning::Parsing(
            ParserStop::Depth | ParserStop::Attributes | ParserStop::Nodes | ParserStop::Effort,
        ) => Some(Limit::Tree),
        ParseWarning::Unread => Some(Limit::Steps),
        ParseWarning::TooMuchText => Some(Limit::Text),
        ParseWarning::Parsing(ParserStop::Disagreement)
        | ParseWarning::Pdf(_)
        | ParseWarning::TooManyLinks
        | ParseWarning::Undecodable => None,
    }
}

/// Returns the kind of a document whose text is not read.
pub(crate) fn unread_format(
    exchange: &Exchange,
    decoded: &Decoded,
    document: &Document,
    is_listing: bool,
) -> Option<UnreadFormat> {
    if is_listing || document.media != Media::Other {
        return None;
    }
    let of_pdf = |warning: &ParseWarning| match warning {
        ParseWarning::Pdf(failure) => Some(UnreadFormat::of_pdf(*failure)),
        _ => None,
    };
    if let Some(pdf) = document.warnings.iter().find_map(of_pdf) {
        return Some(pdf);
    }
    let media_type = exchange.content_type().map(|field| web::essence(&field));
    UnreadFormat::of(media_type.as_deref(), &decoded.bytes)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use web::{CanonicalForm, PageUrl, Protocol, ReadLimits, ResponseMetadata, Timestamp};

    use super::*;

    fn exchange(media_type: &'static str, truncated: Option<Truncation>) -> Exchange {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", media_type.parse().unwrap());
        Exchange {
            url: PageUrl::parse("http://a.test/", &CanonicalForm::default()).unwrap(),
            request_head: Vec::new(),
            status: 200,
            headers,
            body: Vec::new().into(),
            truncated,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: Timestamp::default(),
            elapsed: std::time::Duration::ZERO,
        }
    }

    fn found(exchange: &Exchange, body: &str, truncated: bool) -> (Vec<Limit>, Vec<u64>) {
        let decoded = Decoded {
            bytes: Bytes::copy_from_slice(body.as_bytes()),
            truncated,
            error: None,
        };
        let metadata = ResponseMetadata {
            content_type: exchange.header("content-type"),
            ..ResponseMetadata::of(&exchange.url)
        };
        let limits = ReadLimits {
            links: 2,
            text: 20,
            ..ReadLimits::default()
        };
        let form = CanonicalForm::default();
        let document = web::read(body.as_bytes(), &metadata, &form, &limits);
        let cuts = cuts(exchange, &decoded, &document, false);
        cuts.iter().map(|cut| (cut.limit, cut.lost)).unzip()
    }

    #[test]
    fn each_limit_that_cut_a_page_is_named_once_with_what_it_cost() {
        let page = exchange("text/html", None);
        assert_eq!(found(&page, "<a href=1>x</a>", false), (vec![], vec![]));
        let links = "<a href=1>x</a><a href=1#a>x</a><a href=2>x</a><a href=3>x</a>\
                     <a href=3#a>x</a><a href=4>x</a>";
        assert_eq!(found(&page, links, false), (vec![Limit::Links], vec![2]));
        let cut = exchange("text/html", Some(Truncation::Length));
        let long = format!(
            "<p>{}<a href=/{}>x</a>",
            "words ".repeat(9),
            "x".repeat(9_000)
        );
        let limits = vec![Limit::Body, Limit::PageBytes, Limit::Text, Limit::UrlBytes];
        assert_eq!(found(&cut, &long, true), (limits, vec![0, 0, 0, 1]));
    }

    #[test]
    fn the_rest_of_a_film_is_only_cut_where_it_was_received() {
        let film = exchange("video/mp4", None);
        assert_eq!(found(&film, "film", true).0, []);
        let film = exchange("video/mp4", Some(Truncation::Time));
        assert_eq!(found(&film, "film", true).0, [Limit::Time]);
        let lost = exchange("video/mp4", Some(Truncation::Disconnect));
        assert_eq!(found(&lost, "film", false).0, []);
    }

    #[test]
    fn every_warning_about_a_limit_has_a_counter() {
        let tree = ParseWarning::Parsing;
        assert_eq!(limit_of(tree(ParserStop::Depth)), Some(Limit::Tree));
        assert_eq!(limit_of(tree(ParserStop::Disagreement)), None);
        assert_eq!(limit_of(ParseWarning::Unread), Some(Limit::Steps));
        assert_eq!(limit_of(ParseWarning::Undecodable), None);
    }
}
