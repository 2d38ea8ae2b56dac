//! Deviations from the WARC standard that are tolerated in archives of others, and their counts.

/// A deviation of a record from the standard (WARC/1.1, section 4) that does not prevent reading
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// A version before WARC/1.0: WARC/0.17, WARC/0.18.
    OldVersion,
    /// A version that is not specified.
    NewVersion,
    /// A line of the header that ends in LF alone.
    BareLineFeed,
    /// A field that continues on the next line: allowed by WARC/1.0, and never written.
    FoldedField,
    /// A line of the header that is not a field.
    NoField,
    /// A missing mandatory field: WARC-Record-ID or WARC-Date.
    MissingField,
    /// A block that is not followed by two empty lines.
    MissingEnding,
    /// More than two empty lines behind a block, or zeros.
    Padding,
    /// A `Content-Length` that is a few bytes too small.
    ShortLength,
    /// A wrong digest.
    FalseDigest,
    /// A digest that could not be compared: MD5 and others.
    UnknownDigest,
    /// A record that is not a member of its own in a packed file, and so cannot be read by its
    /// offset.
    SharedMember,
}

/// The number of variants.
const KINDS: usize = 12;

impl Deviation {
    /// All variants.
    pub const ALL: [Self; KINDS] = [
        Self::OldVersion,
        Self::NewVersion,
        Self::BareLineFeed,
        Self::FoldedField,
        Self::NoField,
        Self::MissingField,
        Self::MissingEnding,
        Self::Padding,
        Self::ShortLength,
        Self::FalseDigest,
        Self::UnknownDigest,
        Self::SharedMember,
    ];

    /// Returns a description of the records that have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OldVersion => "of a version before 1.0",
            Self::NewVersion => "of an unknown version",
            Self::BareLineFeed => "with lines that end in LF alone",
            Self::FoldedField => "with a field over several lines",
            Self::NoField => "with a line that is not a field",
            Self::MissingField => "without an id or a date",
            Self::MissingEnding => "without two empty lines at the end",
            Self::Padding => "with padding behind",
            Self::ShortLength => "longer than Content-Length says",
            Self::FalseDigest => "with a false digest",
            Self::UnknownDigest => "with a digest that was not checked",
            Self::SharedMember => "that share a packed member with others",
        }
    }
}

/// The number of records with each deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    counts: [u64; KINDS],
    /// The deviations of the record being read.
    current: [bool; KINDS],
}

impl Deviations {
    /// Returns the number of records with this deviation.
    #[must_use]
    pub fn count(&self, deviation: Deviation) -> u64 {
        self.counts[deviation as usize]
    }

    /// Iterates over the deviations that occurred, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (Deviation, u64)> {
        let all = Deviation::ALL.into_iter();
        let all = all.map(|deviation| (deviation, self.count(deviation)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Adds the counts of another file.
    pub fn add(&mut self, others: &Self) {
        for (count, more) in self.counts.iter_mut().zip(others.counts) {
            *count += more;
        }
    }

    /// Notes a deviation of the record being read.
    pub(super) fn note(&mut self, deviation: Deviation) {
        self.current[deviation as usize] = true;
    }

    /// Ends a record: counts its deviations if it was read, drops them otherwise.
    pub(super) fn settle(&mut self, was_read: bool) {
        let noted = std::mem::take(&mut self.current);
        for (count, noted) in self.counts.iter_mut().zip(noted) {
            *count += u64::from(noted && was_read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_counts_once_a_record_and_only_if_the_record_was_read() {
        let mut deviations = Deviations::default();
        deviations.note(Deviation::Padding);
        deviations.note(Deviation::Padding);
        deviations.settle(true);
        deviations.note(Deviation::Padding);
        deviations.note(Deviation::OldVersion);
        deviations.settle(false);
        let mut sum = deviations;
        sum.add(&deviations);
        assert_eq!(sum.seen().collect::<Vec<_>>(), [(Deviation::Padding, 2)]);
    }

    #[test]
    fn each_deviation_has_its_own_position_and_description() {
        for (place, deviation) in Deviation::ALL.into_iter().enumerate() {
            assert_eq!(deviation as usize, place);
            let same = Deviation::ALL
                .iter()
                .filter(|other| other.as_str() == deviation.as_str());
            assert_eq!(same.count(), 1);
        }
    }
}
