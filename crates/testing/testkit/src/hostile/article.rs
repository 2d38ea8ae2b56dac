//! An honest page, the same for a name for ever and unlike all others: so that no mode is taken for
//! a copy of another.

use super::mode::Asked;
use super::script::Script;
use crate::prose::Prose;

impl Asked<'_> {
    /// A page in HTML about nothing, with this in its main content behind a paragraph.
    pub(super) fn article(&self, more: &str) -> String {
        article(&self.mode.name, more)
    }

    /// The paragraph of that page.
    pub(super) fn paragraph(&self) -> String {
        writer(&self.mode.name).paragraph(90)
    }

    /// The page, answered as it should be.
    pub(super) fn page(&self) -> Script {
        self.page_with("")
    }

    /// The same with more header fields, each with its CRLF.
    pub(super) fn page_with(&self, fields: impl AsRef<[u8]>) -> Script {
        Script::page(fields, self.article(""))
    }

    /// Returns true if the request is for the front page.
    pub(super) fn is_front(&self) -> bool {
        self.request.target == "/"
    }

    /// `http://HOST:PORT` of this mode.
    pub(super) fn origin(&self) -> String {
        format!(
            "{}://{}:{}",
            self.mode.scheme(),
            self.request.host,
            self.port
        )
    }

    /// The number that the target ends with; 0 where there is none.
    pub(super) fn number(&self) -> u64 {
        let digits = self
            .request
            .target
            .rsplit(|letter: char| !letter.is_ascii_digit());
        digits
            .into_iter()
            .next()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0)
    }
}

/// The page of this name.
pub(super) fn article(name: &str, more: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html><head><title>{name}</title></head>\
         <body><main><p>{}</p>{more}</main></body></html>\n",
        writer(name).paragraph(90)
    )
}

fn writer(name: &str) -> Prose {
    // FNV-1a: any number that goes with the name.
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Prose::new(5, number)
}
