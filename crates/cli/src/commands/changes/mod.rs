//! `crawler changes`: which pages are new, changed, moved, gone or unchanged between two crawls.
//!
//! The rows of both are compared by key, in memory; texts are read from the archives, one page at a time, and only of pages
//! that changed. A page that is gone and a new one with its bytes or its text are one page that moved.

mod captures;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use neardup::{HashKey, NormalText, Shingles, Width};
use serde::Serialize;
use store::{Row, StoreFault, embedded};
use web::{Document, Media, UrlKey};

use self::captures::{Capture, Comparison, Journals, Side, State};
use self::words::ChangedWords;
use crate::args::{ChangeKind, ChangesArgs};
use crate::complaint::{Complaint, fault};
use crate::output::{self, Format};
use crate::progress::Patience;
use crate::terminal::{printable, say};

/// What became of a page: a line of the output.
#[derive(Debug, Serialize)]
struct Change<'a> {
    change: &'static str,
    url: &'a str,
    /// Where it was, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    /// Of its text then and now: shared word 5-shingles of all that there are, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    resemblance: Option<f64>,
    #[serde(flatten)]
    text: Option<ChangedText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What changed in a text.
#[derive(Debug, Default, Serialize)]
struct ChangedText {
    added: Vec<String>,
    removed: Vec<String>,
    /// As `diff -u` has it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Two pages, compared by what they say.
struct Compared {
    resemblance: Option<f64>,
    text: Option<ChangedText>,
    reason: Option<String>,
    is_same_text: bool,
}

/// Two crawls, compared by key.
struct Changes<'a> {
    args: &'a ChangesArgs,
    format: Format,
    journals: Journals,
    /// Of each page that moved, by its new URL: where it was.
    moved: HashMap<UrlKey, UrlKey>,
    /// The old URLs of these, as they are written.
    moved_from: HashMap<UrlKey, String>,
    /// Pages of the earlier crawl that the later one does not have.
    gone: HashSet<UrlKey>,
    /// What the later crawl says of them.
    gone_because: HashMap<UrlKey, String>,
    counts: BTreeMap<ChangeKind, u64>,
}

pub(crate) fn run(args: &ChangesArgs) -> Result<(), Complaint> {
    let mut changes = Changes {
        args,
        format: Format::or_fitting(args.format),
        journals: Journals::read(&args.old, &args.new)?,
        moved: HashMap::new(),
        moved_from: HashMap::new(),
        gone: HashSet::new(),
        gone_because: HashMap::new(),
        counts: BTreeMap::new(),
    };
    changes.match_moved();
    changes.name_moved().map_err(|error| fault(&error))?;
    let mut broken = None;
    output::to_stdout(|out| {
        broken = changes.write(out)?;
        Ok(())
    })?;
    if let Some(error) = broken {
        return Err(fault(&error));
    }
    say(&changes.summary());
    Ok(())
}

impl Changes<'_> {
    /// Finds the pages that are gone, and the new ones that have their bytes or their text.
    fn match_moved(&mut self) {
        let journals = &self.journals;
        let is_page = |side, url| journals.state(side, url).is_some_and(State::is_page);
        let mut patience = Patience::new("pages looked for under another URL");
        let (mut by_payload, mut by_text) = (HashMap::new(), HashMap::new());
        let gone = journals.pages(Side::Old).into_iter();
        for url in gone.filter(|url| !is_page(Side::New, *url)) {
            self.gone.insert(url);
            patience.step();
            let content = journals.content(Side::Old, url);
            // What cannot be read any more is gone.
            if let Some(look) = content.and_then(|content| journals.identity(&content).ok()) {
                by_payload.entry(look.payload).or_insert(url);
                if let Some(text) = look.text {
                    by_text.entry(text).or_insert(url);
                }
            }
        }
        if self.gone.is_empty() {
            return;
        }
        let mut taken = HashSet::new();
        let new = journals.pages(Side::New).into_iter();
        for url in new.filter(|url| !is_page(Side::Old, *url)) {
            patience.step();
            let content = journals.content(Side::New, url);
            let Some(look) = content.and_then(|content| journals.identity(&content).ok()) else {
                continue;
            };
            let same_text = || look.text.and_then(|text| by_text.get(&text));
            let from = by_payload.get(&look.payload).or_else(same_text);
            if let Some(from) = from.filter(|from| taken.insert(**from)) {
                self.moved.insert(url, *from);
            }
        }
        self.gone.retain(|url| !taken.contains(url));
    }

    /// Looks up the URLs that pages moved from: the key of a URL does not tell it.
    fn name_moved(&mut self) -> Result<(), StoreFault> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let wanted: HashSet<UrlKey> = self.moved.values().copied().collect();
        for row in embedded::rows(&self.journals.state_directory(Side::Old))? {
            let url = row?.url;
            if wanted.contains(&url.key()) {
                self.moved_from.insert(url.key(), url.to_string());
            }
        }
        Ok(())
    }

    /// Writes a line a page: those of the later crawl in the order of its visits, then those that are gone. Returns what is wrong
    /// with a journal, if something is.
    fn write(&mut self, out: &mut dyn Write) -> io::Result<Option<StoreFault>> {
        let mut patience = Patience::new("pages compared");
        for side in [Side::New, Side::Old] {
            let state = self.journals.state_directory(side);
            let rows = match embedded::rows(&state) {
                Ok(rows) => rows,
                Err(error) => return Ok(Some(error)),
            };
            for row in rows {
                match row {
                    Ok(row) if side == Side::New => self.write_new(&row, out)?,
                    Ok(row) => self.write_old(&row, out)?,
                    Err(error) => return Ok(Some(error)),
                }
                patience.step();
            }
        }
        Ok(None)
    }

    /// Tells a row of the later crawl.
    fn write_new(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let url = row.url.key();
        if !row.fate.is_page() {
            if self.gone.contains(&url) {
                let reason = row.reason.clone().unwrap_or_else(|| row.fate.as_str().to_owned());
                self.gone_because.insert(url, reason);
            }
            return Ok(());
        }
        let known = self.journals.state(Side::Old, url);
        if !known.is_some_and(State::is_page) {
            let from = self.moved.get(&url).and_then(|from| self.moved_from.get(from));
            let kind = from.map_or(ChangeKind::New, |_| ChangeKind::Moved);
            let from = from.cloned();
            let change = Change {
                from: from.as_deref(),
                ..Change::of(kind, row)
            };
            return self.tell(kind, &change, out);
        }
        let contents = self
            .journals
            .content(Side::Old, url)
            .zip(self.journals.content(Side::New, url));
        let Some((old, new)) = contents else {
            let reason = "one of the crawls left it out as a near-duplicate: there is nothing to compare";
            return self.tell_unknown(row, reason, out);
        };
        match self.journals.compare(&old, &new) {
            Ok(Comparison::Same) => {
                let change = Change::of(ChangeKind::Unchanged, row);
                self.tell(ChangeKind::Unchanged, &change, out)
            }
            Ok(by) => {
                let compared = self.compare_texts(&old.capture, &new.capture);
                if by == Comparison::ByText && compared.is_same_text {
                    let change = Change::of(ChangeKind::Unchanged, row);
                    return self.tell(ChangeKind::Unchanged, &change, out);
                }
                let change = Change {
                    // Where a text cannot be read any more, what the crawl said of it.
                    resemblance: compared.resemblance.or(row.resemblance),
                    text: compared.text,
                    reason: compared.reason.as_deref(),
                    ..Change::of(ChangeKind::Changed, row)
                };
                self.tell(ChangeKind::Changed, &change, out)
            }
            Err(trouble) => {
                let reason = format!("it cannot be read from the archive: {trouble}");
                self.tell_unknown(row, &reason, out)
            }
        }
    }

    /// Tells a row of the earlier crawl whose page the later one does not have.
    fn write_old(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        let url = row.url.key();
        if !row.fate.is_page() || !self.gone.contains(&url) {
            return Ok(());
        }
        match self.journals.state(Side::New, url) {
            Some(State::Waiting) => self.tell_unknown(row, "it waits to be visited in the later crawl", out),
            Some(State::Reached) => {
                let reason =
                    "the later crawl reached it by the redirect of another URL, and tells it under that";
                self.tell_unknown(row, reason, out)
            }
            _ => {
                let because = self.gone_because.remove(&url);
                let reason = because.unwrap_or_else(|| "nothing in the later crawl led to it".to_owned());
                let change = Change {
                    reason: Some(&reason),
                    ..Change::of(ChangeKind::Gone, row)
                };
                self.tell(ChangeKind::Gone, &change, out)
            }
        }
    }

    fn tell_unknown(&mut self, row: &Row, reason: &str, out: &mut dyn Write) -> io::Result<()> {
        let change = Change {
            reason: Some(reason),
            ..Change::of(ChangeKind::Unknown, row)
        };
        self.tell(ChangeKind::Unknown, &change, out)
    }

    fn tell(&mut self, kind: ChangeKind, change: &Change<'_>, out: &mut dyn Write) -> io::Result<()> {
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

    /// Reads two captures again, and compares what they say: the main text, or all of it where only the rest changed.
    fn compare_texts(&self, old: &Capture, new: &Capture) -> Compared {
        let documents = self
            .journals
            .document(old)
            .and_then(|old| Ok((old, self.journals.document(new)?)));
        let (old, new) = match documents {
            Ok(documents) => documents,
            Err(trouble) => return Compared::without_text(format!("its text cannot be read: {trouble}")),
        };
        if is_no_text(&old) || is_no_text(&new) {
            return Compared::without_text("other bytes; it is no text".to_owned());
        }
        let (mut before, mut now) = (old.text.as_str(), new.text.as_str());
        if before == now {
            (before, now) = (old.full_text(), new.full_text());
        }
        let changed = ChangedWords::between(before, now);
        let is_same_text = changed == ChangedWords::default();
        let reason = match (is_same_text, old.title == new.title) {
            (false, _) => None,
            (true, true) => Some("the same text in other bytes".to_owned()),
            (true, false) => Some(format!(
                "the same text under another title: {:?}, now {:?}",
                old.title.as_deref().unwrap_or_default(),
                new.title.as_deref().unwrap_or_default()
            )),
        };
        Compared {
            resemblance: Some(resemblance(before, now)),
            text: Some(ChangedText {
                diff: self.args.diff.then(|| words::unified(before, now)),
                added: changed.added,
                removed: changed.removed,
            }),
            reason,
            is_same_text,
        }
    }

    /// The counts in a line.
    fn summary(&self) -> String {
        let counts = ChangeKind::ALL.iter().map(|kind| {
            let count = self.counts.get(kind).copied().unwrap_or(0);
            format!("{count} {}", kind.as_str())
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

fn is_no_text(document: &Document) -> bool {
    document.media == Media::Other
}

/// The exact resemblance of two texts, to four places.
fn resemblance(one: &str, two: &str) -> f64 {
    let shingles = |text| Shingles::of(&NormalText::of(text), Width::VERIFICATION, HashKey::ZERO);
    (shingles(one).resemblance(&shingles(two)) * 10_000.0).round() / 10_000.0
}

impl Compared {
    fn without_text(reason: String) -> Self {
        Self {
            resemblance: None,
            text: None,
            reason: Some(reason),
            is_same_text: false,
        }
    }
}

/// Runs of words that a table shows of a page; JSON has all.
const RUNS_SHOWN: usize = 5;
/// Words that it shows of a run.
const WORDS_SHOWN: usize = 24;

impl<'a> Change<'a> {
    fn of(kind: ChangeKind, row: &'a Row) -> Self {
        Self {
            change: kind.as_str(),
            url: row.url.as_str(),
            from: None,
            resemblance: None,
            text: None,
            reason: None,
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let resemblance = self.resemblance.map(|share| format!("{share:.2}"));
        let resemblance = resemblance.unwrap_or_default();
        let mut line = format!("{:<9}  {resemblance:<4}  {}", self.change, printable(self.url));
        if let Some(from) = self.from {
            line.push_str(&format!("  from {}", printable(from)));
        }
        if let Some(reason) = self.reason {
            line.push_str(&format!("  ({})", printable(reason)));
        }
        writeln!(out, "{line}")?;
        let Some(text) = &self.text else {
            return Ok(());
        };
        if let Some(diff) = &text.diff {
            for line in diff.lines() {
                writeln!(out, "{}", printable(line))?;
            }
            return Ok(());
        }
        for (sign, runs) in [('+', &text.added), ('-', &text.removed)] {
            for run in runs.iter().take(RUNS_SHOWN) {
                writeln!(out, "           {sign} {}", printable(&beginning(run)))?;
            }
            if runs.len() > RUNS_SHOWN {
                writeln!(
                    out,
                    "           {sign} … and {} more (--diff)",
                    runs.len() - RUNS_SHOWN
                )?;
            }
        }
        Ok(())
    }
}

/// The first words of a run.
fn beginning(run: &str) -> String {
    let mut words = run.split(' ');
    let mut shown: Vec<&str> = words.by_ref().take(WORDS_SHOWN).collect();
    if words.next().is_some() {
        shown.push("…");
    }
    shown.join(" ")
}
