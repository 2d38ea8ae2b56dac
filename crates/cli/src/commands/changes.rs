//! `crawler changes`: the new, changed, moved, gone and unchanged pages between two crawls.
//!
//! The rows of both crawls are compared by key, in memory. Texts are read from the archives, one
//! page at a time, and only for pages that changed. If a page is gone and a new page has its bytes
//! or its text, the page moved.

mod line;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use clap::ValueEnum;
use differences::RunKind;
use inspect::captures::{Side, State};
use inspect::moves::Moves;
use journal::{Fate, StoreFault, VisitRecord};
use messages::{CommandError, SlowProgress, say};
use web::{Media, UrlKey};

use self::line::{Change, ChangedText};
use crate::args::{ChangeKind, ChangesArgs};
use crate::output::{self, Format};
use crate::word_diff::WordDiff;

/// Two crawls, compared by key.
struct Changes<'a> {
    args: &'a ChangesArgs,
    format: Format,
    /// True if the output has colours.
    has_colours: bool,
    /// Which pages moved, and which are gone.
    moves: Moves,
    /// The later crawl's reasons why these pages are gone.
    gone_because: HashMap<UrlKey, String>,
    counts: BTreeMap<ChangeKind, u64>,
}

pub(crate) fn run(args: &ChangesArgs) -> Result<(), CommandError> {
    let mut changes = Changes {
        args,
        format: Format::or_fitting(args.format),
        has_colours: false,
        moves: Moves::between(&args.old, &args.new)?,
        gone_because: HashMap::new(),
        counts: BTreeMap::new(),
    };
    let mut written = Ok(());
    output::coloured_to_stdout(changes.format, |out, has_colours| {
        changes.has_colours = has_colours;
        written = changes.write(out)?;
        Ok(())
    })?;
    written?;
    say(&changes.summary());
    Ok(())
}

impl Changes<'_> {
    /// Writes a line per page: first the pages of the later crawl in the order of its visits, then
    /// the pages that are gone. The inner error comes from reading a journal.
    fn write(&mut self, out: &mut dyn Write) -> io::Result<Result<(), StoreFault>> {
        let mut progress = SlowProgress::new("pages compared");
        for side in [Side::New, Side::Old] {
            let state = self.moves.journals.state_directory(side);
            let rows = match journal::rows(&state) {
                Ok(rows) => rows,
                Err(error) => return Ok(Err(error)),
            };
            for row in rows {
                match row {
                    Ok(row) if side == Side::New => self.write_new(&row, out)?,
                    Ok(row) => self.write_old(&row, out)?,
                    Err(error) => return Ok(Err(error)),
                }
                progress.step();
            }
        }
        Ok(Ok(()))
    }

    /// Writes the change of a page of the later crawl.
    fn write_new(&mut self, row: &VisitRecord, out: &mut dyn Write) -> io::Result<()> {
        let url = row.url.key();
        if !row.fate.is_page() {
            if self.moves.gone.contains(&url) {
                let fate = || row.fate.as_str().to_owned();
                let reason = row.reason_text().unwrap_or_else(fate);
                self.gone_because.insert(url, reason);
            }
            return Ok(());
        }
        let known = self.moves.journals.state(Side::Old, url);
        if !known.is_some_and(State::is_page) {
            let from = self.moves.moved.get(&url);
            let from = from
                .and_then(|from| self.moves.moved_from.get(from))
                .cloned();
            let kind = from.as_ref().map_or(ChangeKind::New, |_| ChangeKind::Moved);
            let change = Change {
                from: from.as_deref(),
                ..Change::of(kind, row)
            };
            return self.write_change(kind, &change, out);
        }
        match self.moves.journals.is_unchanged(url) {
            Some(true) => {
                let change = Change::of(ChangeKind::Unchanged, row);
                self.write_change(ChangeKind::Unchanged, &change, out)
            }
            Some(false) => {
                let change = self.compare_texts(row);
                self.write_change(ChangeKind::Changed, &change, out)
            }
            None => {
                let reason = "a journal does not record its bytes";
                self.write_with(ChangeKind::Unknown, row, reason.to_owned(), out)
            }
        }
    }

    /// Writes the change of a page of the earlier crawl that the later one does not have.
    fn write_old(&mut self, row: &VisitRecord, out: &mut dyn Write) -> io::Result<()> {
        let url = row.url.key();
        if !row.fate.is_page() || !self.moves.gone.contains(&url) {
            return Ok(());
        }
        let (kind, reason) = match self.moves.journals.state(Side::New, url) {
            Some(State::Waiting) => {
                let reason = "still queued in the later crawl";
                (ChangeKind::Unknown, reason.to_owned())
            }
            Some(State::Reached) => {
                let reason = "the later crawl reached it by a redirect, and lists it under the \
                    redirecting URL";
                (ChangeKind::Unknown, reason.to_owned())
            }
            _ => {
                let nothing = || "not found by the later crawl".to_owned();
                let because = self.gone_because.remove(&url);
                (ChangeKind::Gone, because.unwrap_or_else(nothing))
            }
        };
        self.write_with(kind, row, reason, out)
    }

    /// Writes a change with its reason.
    fn write_with(
        &mut self,
        kind: ChangeKind,
        row: &VisitRecord,
        reason: String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let change = Change {
            reason: Some(reason),
            ..Change::of(kind, row)
        };
        self.write_change(kind, &change, out)
    }

    fn write_change(
        &mut self,
        kind: ChangeKind,
        change: &Change<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        *self.counts.entry(kind).or_insert(0) += 1;
        let is_wanted = match self.args.only.as_slice() {
            [] => self.format == Format::Json || kind != ChangeKind::Unchanged,
            only => only.contains(&kind),
        };
        match self.format {
            _ if !is_wanted => Ok(()),
            Format::Json => output::json_line(out, change),
            Format::Table => change.write(out),
        }
    }

    /// Compares the texts of a page in both crawls: the main text, or the whole text if only the
    /// rest changed.
    fn compare_texts<'r>(&self, row: &'r VisitRecord) -> Change<'r> {
        let without_text = |reason: String| Change {
            // The crawl's own estimate for a new version of a page.
            resemblance: row.resemblance.filter(|_| row.fate == Fate::Changed),
            reason: Some(reason),
            ..Change::of(ChangeKind::Changed, row)
        };
        let capture = |side| self.moves.journals.capture(side, row.url.key());
        let Some((old, new)) = capture(Side::Old).zip(capture(Side::New)) else {
            let reason = "other bytes; a near-duplicate in one of the crawls, so its text is not \
                archived";
            return without_text(reason.to_owned());
        };
        let old = self.moves.journals.document(&old);
        let documents = old.and_then(|old| Ok((old, self.moves.journals.document(&new)?)));
        let (old, new) = match documents {
            Ok(documents) => documents,
            Err(trouble) => return without_text(format!("its text cannot be read: {trouble}")),
        };
        if old.media == Media::Other || new.media == Media::Other {
            return without_text("other bytes; not a text".to_owned());
        }
        let (mut before, mut now) = (old.text.as_str(), new.text.as_str());
        if before == now {
            (before, now) = (old.full_text(), new.full_text());
        }
        let diff = WordDiff::of(before, now);
        let reason = match (diff.difference().is_empty(), old.title == new.title) {
            (false, _) => None,
            (true, true) if before.split_whitespace().eq(now.split_whitespace()) => {
                Some("the same text in other bytes".to_owned())
            }
            (true, true) => Some("the same words; capitals or punctuation differ".to_owned()),
            (true, false) => Some(format!(
                "the same words under another title: {:?}, now {:?}",
                old.title.as_deref().unwrap_or_default(),
                new.title.as_deref().unwrap_or_default()
            )),
        };
        let wanted = |format| self.args.diff && self.format == format;
        let resemblance = diff.difference().statistics().resemblance;
        Change {
            resemblance: Some((resemblance * 10_000.0).round() / 10_000.0),
            text: Some(ChangedText {
                added: diff.words_of(RunKind::OnlyB),
                removed: diff.words_of(RunKind::OnlyA),
                diff: wanted(Format::Json).then(|| diff.printed()),
                shown: wanted(Format::Table).then(|| diff.shown(self.has_colours)),
            }),
            reason,
            ..Change::of(ChangeKind::Changed, row)
        }
    }

    /// Returns the counts as one line.
    fn summary(&self) -> String {
        let counts = ChangeKind::value_variants().iter().map(|kind| {
            let count = self.counts.get(kind).copied().unwrap_or(0);
            format!("{count} {}", kind.as_str())
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}
