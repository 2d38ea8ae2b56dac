//! The names of a group, to detect two groups merged by mistake.
//!
//! A group consists of all `User-agent` lines up to a rule, and the following rules (RFC 9309
//! section 2.2.1). So a `Crawl-delay` or an empty line between two of these lines does not end it.
//! Owners often mean two groups, and exclude everybody. The rules are obeyed, and a verdict names
//! the group, so that the user can ask the owner.

/// Maximum number of names kept per group; more names are a list, not a mistake.
const MOST: usize = 4;

/// The `User-agent` lines of a group.
#[derive(Debug, Default)]
pub(super) struct GroupNames<'b> {
    names: Vec<&'b [u8]>,
    last_line: u32,
    /// True if there is anything between two of these lines.
    pub(super) is_merged: bool,
}

impl<'b> GroupNames<'b> {
    /// Adds the name on a line.
    pub(super) fn add(&mut self, name: &'b [u8], line: u32) {
        self.is_merged |= !self.names.is_empty() && line > self.last_line + 1;
        self.last_line = line;
        if self.names.len() < MOST {
            self.names.push(name);
        }
    }

    /// Returns the names except our own.
    pub(super) fn others(&self, ours: Option<&[u8]>) -> Box<str> {
        let is_other = |name: &&&[u8]| !ours.is_some_and(|ours| name.eq_ignore_ascii_case(ours));
        let others = self.names.iter().filter(is_other);
        let names: Vec<_> = others.map(|name| String::from_utf8_lossy(name)).collect();
        names.join(", ").into()
    }
}
