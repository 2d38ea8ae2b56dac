//! The form of comments and lines: a comment opens with a verb or a noun, and lines are narrow.

use std::path::{Path, PathBuf};

use super::{folders, read, sources};
use crate::support::root;

/// Columns of a line, at most.
const WIDTH: usize = 100;
/// Doc comments that open with one of [`WH_WORDS`], in percent: fewer than this.
const WH_PERCENT: usize = 5;
const WH_WORDS: [&str; 15] = [
    "What", "Whatever", "Whether", "How", "Who", "Whoever", "Whom", "Whose", "Where", "Wherever",
    "When", "Whenever", "Which", "Why", "That",
];
/// Directories that hold no text of ours.
const FOREIGN: [&str; 2] = ["target", "node_modules"];

fn at(file: &Path, line: usize) -> String {
    let file = file.strip_prefix(root()).unwrap();
    format!("{}:{}", file.display(), line + 1)
}

#[test]
fn doc_comments_open_with_verbs_and_nouns() {
    let (mut comments, mut found) = (0, Vec::new());
    for file in folders().iter().flat_map(|folder| sources(folder)) {
        let text = read(&file);
        let mut mark_before = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let mark = ["///", "//!"]
                .into_iter()
                .find(|mark| line.starts_with(mark));
            if let Some(mark) = mark.filter(|_| mark != mark_before) {
                comments += 1;
                let opener = line[mark.len()..]
                    .split_whitespace()
                    .next()
                    .unwrap_or_default();
                let opener = opener.trim_end_matches([',', ':', ';', '.']);
                if WH_WORDS.contains(&opener) {
                    found.push(format!("{}: {line}", at(&file, number)));
                }
            }
            mark_before = mark;
        }
    }
    assert!(
        found.len() * 100 < comments * WH_PERCENT,
        "{} of {comments} doc comments open with a wh-word:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Returns the Rust and Markdown files of the repository.
fn texts(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                found.extend(texts(&path));
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn lines_end_at_100_columns() {
    let mut found = Vec::new();
    for file in texts(&root()) {
        let is_markdown = file.extension().is_some_and(|extension| extension == "md");
        for (number, line) in read(&file).lines().enumerate() {
            let longest_word = line.split_whitespace().map(str::len).max();
            let cannot_be_broken = line.trim_start().starts_with('|')
                || line.contains("://")
                || longest_word > Some(WIDTH - 10);
            let width = line.chars().count();
            if width > WIDTH && !(is_markdown && cannot_be_broken) {
                found.push(format!("{}: {width} columns", at(&file, number)));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} lines:\n{}",
        found.len(),
        found.join("\n")
    );
}
