//! The report: Markdown.

use std::fmt::{Display, Write};

/// The columns of a line of text.
const COLUMNS: usize = 100;

/// A document that grows line by line.
#[derive(Debug, Default)]
pub(crate) struct Report(String);

impl Report {
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        self.paragraph(&format!("{} {text}", "#".repeat(level)));
    }

    /// Writes a paragraph in lines of at most [`COLUMNS`], but for longer words.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.wrapped(text, "");
        self.0.push('\n');
    }

    /// Writes a text in lines; all but the first begin with `indent`.
    fn wrapped(&mut self, text: &str, indent: &str) {
        let mut column = 0;
        for word in text.split(' ') {
            let width = word.chars().count();
            if column > 0 && column + 1 + width > COLUMNS {
                self.0.push('\n');
                self.0.push_str(indent);
                column = indent.len();
            } else if column > 0 {
                self.0.push(' ');
                column += 1;
            }
            self.0.push_str(word);
            column += width;
        }
        self.0.push('\n');
    }

    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        for item in items {
            self.wrapped(&format!("- {item}"), "  ");
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
    fn text_is_written_in_lines_of_100_columns() {
        let mut report = Report::default();
        report.paragraph(&"word ".repeat(41).trim_end().replace("word", "ninechars"));
        report.list(["ninechars ".repeat(10).trim_end().to_owned()]);
        let text = report.into_text();
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(text.contains("\n  ninechars\n"), "{text}");
        assert_eq!(text.split_whitespace().count(), 41 + 1 + 10);
    }

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
