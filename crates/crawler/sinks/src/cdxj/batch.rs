//! The lines in memory that will become a run.

/// Lines in the order of the archive, sorted once there are enough for a run.
#[derive(Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    /// The end of each line, without its line break.
    ends: Vec<usize>,
}

impl Batch {
    /// Appends a line, with its line break.
    pub(super) fn push(&mut self, line: &str) {
        debug_assert!(line.ends_with('\n'), "a line ends as one");
        self.text.extend_from_slice(line.as_bytes());
        self.ends.push(self.text.len() - 1);
    }

    /// Returns the memory of the batch in bytes, sorting included.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.ends.len() * (size_of::<usize>() + size_of::<&[u8]>())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the lines, without their line breaks, in the order of `LC_ALL=C sort`.
    pub(super) fn sorted(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let mut lines: Vec<&[u8]> = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            lines.push(&self.text[start..end]);
            start = end + 1;
        }
        lines.sort_unstable();
        lines
    }
}
