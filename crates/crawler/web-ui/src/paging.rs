//! Pages of a long list, as links.

use std::ops::Range;

use crate::caps;

/// The place of a page in its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    path: &'static str,
    parameters: String,
    from: usize,
    each: usize,
    /// The number of entries of the whole list.
    pub(crate) total: usize,
}

impl Paging {
    /// Returns the page of `each` entries that begins at `from`; the last page if `from` is beyond
    /// the end. `parameters` are the other parameters of the question, [`encoded`]: `q=a%26b`.
    pub(crate) fn of(
        path: &'static str,
        parameters: &str,
        from: usize,
        each: usize,
        total: usize,
    ) -> Self {
        let each = each.max(1);
        let last = total.saturating_sub(1) / each * each;
        Self {
            path,
            parameters: parameters.to_owned(),
            from: from.min(last),
            each,
            total,
        }
    }

    /// Returns the places of its entries in the list.
    pub(crate) fn range(&self) -> Range<usize> {
        self.from..self.total.min(self.from + self.each)
    }

    /// Returns the number of its first entry, from 1.
    pub(crate) const fn first(&self) -> u64 {
        self.from as u64 + 1
    }

    /// Returns the number of its last entry.
    pub(crate) fn last(&self) -> u64 {
        self.range().end as u64
    }

    /// Returns the number of entries of the whole list.
    pub(crate) const fn all(&self) -> u64 {
        self.total as u64
    }

    /// Returns the address of the page before.
    pub(crate) fn before(&self) -> Option<String> {
        let from = self.from.saturating_sub(self.each);
        (self.from > 0).then(|| self.address(from))
    }

    /// Returns the address of the next page.
    pub(crate) fn after(&self) -> Option<String> {
        let from = self.from + self.each;
        (from < self.total).then(|| self.address(from))
    }

    fn address(&self, from: usize) -> String {
        let Self {
            path, parameters, ..
        } = self;
        match parameters.is_empty() {
            true => format!("{path}?from={from}"),
            false => format!("{path}?{parameters}&from={from}"),
        }
    }
}

/// Divides a list into the entries that are shown at once, and the folded ones.
pub(crate) fn folded<T>(list: &impl AsRef<[T]>) -> (&[T], &[T]) {
    let list = list.as_ref();
    list.split_at(list.len().min(caps::OPEN))
}

/// Returns the parameter `q` with this text; empty if the text is empty.
pub(crate) fn search_parameter(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("q={}", encoded(text)),
    }
}

/// Encodes a parameter of a URL (RFC 3986, section 2.1).
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_on_one_page() {
        for total in [0, 1, 9, 10, 11, 30] {
            let mut seen = 0;
            let mut page = Paging::of("/hosts", "", 0, 10, total);
            loop {
                assert_eq!(page.range().start, seen);
                seen = page.range().end;
                if page.after().is_none() {
                    break;
                }
                page = Paging::of("/hosts", "", seen, 10, total);
                assert!(page.before().is_some());
            }
            assert_eq!(seen, total);
        }
        let beyond = Paging::of("/hosts", &search_parameter("a&b"), 1_000, 10, 25);
        assert_eq!(beyond.range(), 20..25);
        assert_eq!(beyond.before().unwrap(), "/hosts?q=a%26b&from=10");
    }
}
