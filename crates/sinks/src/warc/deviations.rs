//! In what archives of others differ from the standard and can be read all the same, and how often
//! each was seen.

/// A way in which a record differs from what the standard asks for (WARC/1.1, section 4), and is
/// read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// A version before WARC/1.0: WARC/0.17, WARC/0.18.
    OldVersion,
    /// A version that nobody has specified yet.
    NewVersion,
    /// A line of the header that ends in LF alone.
    BareLineFeed,
    /// A field that continues on the next line, which WARC/1.0 allows and nobody writes.
    FoldedField,
    /// A line of the header that is no field.
    NoField,
    /// A mandatory field that is not there: WARC-Record-ID or WARC-Date.
    MissingField,
    /// A block that is not followed by two empty lines.
    MissingEnding,
    /// More than two empty lines behind a block, or zeros.
    Padding,
    /// A digest that does not agree with what it is the digest of.
    FalseDigest,
    /// A digest that could not be compared: MD5 and others.
    UnknownDigest,
    /// A record that is not a member of its own in a packed file, and so cannot be read by its
    /// offset.
    SharedMember,
}

/// How many there are.
const KINDS: usize = 11;

impl Deviation {
    /// All of them.
    pub const ALL: [Self; KINDS] = [
        Self::OldVersion,
        Self::NewVersion,
        Self::BareLineFeed,
        Self::FoldedField,
        Self::NoField,
        Self::MissingField,
        Self::MissingEnding,
        Self::Padding,
        Self::FalseDigest,
        Self::UnknownDigest,
        Self::SharedMember,
    ];

    /// What is said of the records that have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OldVersion => "of a version before 1.0",
            Self::NewVersion => "of a version that is not known",
            Self::BareLineFeed => "with lines that end in LF alone",
            Self::FoldedField => "with a field over several lines",
            Self::NoField => "with a line that is no field",
            Self::MissingField => "without an id or a date",
            Self::MissingEnding => "without two empty lines at the end",
            Self::Padding => "with padding behind",
            Self::FalseDigest => "with a false digest",
            Self::UnknownDigest => "with a digest that was not checked",
            Self::SharedMember => "that share a packed member with others",
        }
    }
}

/// How many records have which deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    counts: [u64; KINDS],
    /// Those of the record that is being read.
    current: [bool; KINDS],
}

impl Deviations {
    /// How many records have this one.
    #[must_use]
    pub fn count(&self, deviation: Deviation) -> u64 {
        self.counts[deviation as usize]
    }

    /// Those that were seen, and in how many records.
    pub fn seen(&self) -> impl Iterator<Item = (Deviation, u64)> {
        let all = Deviation::ALL
            .into_iter()
            .map(|deviation| (deviation, self.count(deviation)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Adds those of another file.
    pub fn add(&mut self, others: &Self) {
        for (count, more) in self.counts.iter_mut().zip(others.counts) {
            *count += more;
        }
    }

    /// The record that is being read has this one.
    pub(super) fn note(&mut self, deviation: Deviation) {
        self.current[deviation as usize] = true;
    }

    /// The record was read: what was noted of it counts; or it was not, and counts elsewhere.
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
    fn an_oddity_counts_once_a_record_and_only_where_the_record_was_read() {
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
    fn each_oddity_has_a_place_and_words_of_its_own() {
        for (place, deviation) in Deviation::ALL.into_iter().enumerate() {
            assert_eq!(deviation as usize, place);
            let same = Deviation::ALL
                .iter()
                .filter(|other| other.as_str() == deviation.as_str());
            assert_eq!(same.count(), 1);
        }
    }
}
