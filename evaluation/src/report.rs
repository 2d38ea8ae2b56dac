//! The report: Markdown.

use std::fmt::{Display, Write};

/// A document that grows line by line.
#[derive(Debug, Default)]
pub(crate) struct Report(String);

impl Report {
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        self.paragraph(&format!("{} {text}", "#".repeat(level)));
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push_str("\n\n");
    }

    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        for item in items {
            self.0.push_str("- ");
            self.0.push_str(&item);
            self.0.push('\n');
        }
        self.0.push('\n');
    }

    /// Writes a table; every row has as many cells as `head`.
    pub(crate) fn table(&mut self, head: &[String], rows: &[Vec<String>]) {
        self.row(head);
        self.row(&vec!["---"; head.len()]);
        for row in rows {
            self.row(row);
        }
        self.0.push('\n');
    }

    fn row<T: Display>(&mut self, cells: &[T]) {
        for cell in cells {
            write!(self.0, "| {cell} ").expect("a string takes whatever is written");
        }
        self.0.push_str("|\n");
    }

    pub(crate) fn into_text(self) -> String {
        let mut text = self.0;
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_markdown() {
        let mut report = Report::default();
        report.heading(2, "Set");
        report.table(
            &["a".to_owned(), "b".to_owned()],
            &[vec!["1".to_owned(), "2".to_owned()]],
        );
        report.list(["item".to_owned()]);
        assert_eq!(
            report.into_text(),
            "## Set\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- item\n"
        );
    }
}
