//! A page that repeats another, and its original: the texts that the crawl has, and the blocks and
//! values that decided. `duplicates --diff` prints it.
//!
//! The journal contains the visits of both pages and the signature of the original. Texts are in
//! the archive, for unarchived pages only with `--duplicate-text on`. A page with the same bytes as
//! its original shares the original's text. If a page's text is missing, the values come from its
//! visit.

use std::path::Path;

use comparison::{ComparedPage, DifferingBlock, Frames, PageParts, PrintedBlock, differing_blocks};
use differences::{PageOfPair, PageTextState, Pair, PrintedDifference, VerdictValues};
use journal::{DuplicateRule, History, VisitRecord};
use messages::{CommandError, pasted, usage, word_of_shell};
use neardup::{HashKey, PageText, SignatureBuilder, TextSignature};
use serde::Serialize;
use settings::input::parse_url;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};
use web::PageUrl;

use crate::frames::learned_frames;
use crate::page_history::{OriginalPage, PageHistory};

/// A page that repeats another, its original, and the verdict.
pub struct JudgedPair {
    /// The two pages.
    pub pair: Pair,
    /// The visit of the page that repeats the other.
    pub visit: VisitRecord,
    /// Blocks that differ; `None` if a text is unknown.
    pub blocks: Option<Vec<DifferingBlock>>,
}

/// A pair as `--format json` prints it.
#[derive(Serialize)]
pub struct PairAnswer<'a> {
    /// The original.
    pub original: ShownPage<'a>,
    /// The page that repeats it.
    pub page: ShownPage<'a>,
    /// The verdict on the page.
    pub verdict: &'static str,
    /// The reason in words.
    pub reason: Option<String>,
    /// The values behind the verdict.
    pub figures: &'a VerdictValues,
    /// The words that differ. Absent if a text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<PrintedDifference>,
    /// Blocks that differ. Absent if a text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<PrintedBlock>>,
}

/// A page of a pair as `--format json` prints it.
#[derive(Serialize)]
pub struct ShownPage<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its first heading.
    pub heading: Option<&'a str>,
    /// The URL that it names as its canonical page.
    pub canonical: Option<&'a str>,
    /// The reason why its text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_text: Option<String>,
}

impl JudgedPair {
    /// Returns the pair for output.
    pub fn answer(&self) -> PairAnswer<'_> {
        let (original, member) = (&self.pair.original, &self.pair.member);
        let texts = original.text.known().zip(member.text.known());
        let difference = self.pair.difference.as_ref().zip(texts);
        PairAnswer {
            original: ShownPage::of(
                original,
                "it is not archived, or its crawl does not exist any more",
            ),
            page: ShownPage::of(
                member,
                "it was not archived, and its text was not kept: crawl with --duplicate-text on",
            ),
            verdict: self.visit.fate.as_str(),
            reason: self.visit.reason_text(),
            figures: &self.pair.figures,
            diff: difference.map(|(difference, (a, b))| difference.printed(a, b)),
            blocks: self
                .blocks
                .as_deref()
                .map(PrintedBlock::with_original_first),
        }
    }
}

impl<'a> ShownPage<'a> {
    fn of(page: &'a PageOfPair, not_kept: &str) -> Self {
        let no_text = match &page.text {
            PageTextState::Known(_) => None,
            PageTextState::NotKept => Some(not_kept.to_owned()),
            PageTextState::Unreadable(trouble) => Some(format!("it cannot be read: {trouble}")),
        };
        Self {
            url: &page.url,
            title: page.title.as_deref(),
            heading: page.heading.as_deref(),
            canonical: page.canonical.as_deref(),
            no_text,
        }
    }
}

/// A page of a pair, and its blocks if its text is known.
type ReadPage = (PageOfPair, Option<ComparedPage>);

/// Returns the pair of a page of a crawl and the original that it repeats.
///
/// # Errors
/// [`CommandError`] if the page was not visited or is not a duplicate, or if the crawl cannot be
/// read.
pub fn judged(directory: &Path, url: &str) -> Result<JudgedPair, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    let url = parse_url(url, &settings.canonical_form())?;
    let history = PageHistory::of(&state, &url)?;
    let shown = pasted(directory);
    let Some(visit) = &history.visit else {
        let message = format!("{url} was not visited in this crawl");
        let word = word_of_shell(url.as_str());
        return Err(
            usage(message).with_remedy(format!("`crawler why {shown} {word}` explains why"))
        );
    };
    let original = OriginalPage::of(visit, directory, &settings)?;
    match between(visit, &history, original.as_ref(), &settings)? {
        Some(pair) => Ok(pair),
        None => {
            let message = format!(
                "{url} is not a duplicate: its verdict is {}",
                visit.fate.as_str()
            );
            let remedy = format!("`crawler duplicates {shown}` lists the duplicates");
            Err(usage(message).with_remedy(remedy))
        }
    }
}

/// Returns the pair of the page with this visit and its original; `None` if the page is not a
/// duplicate. `settings` are the settings of the page's crawl.
pub(crate) fn between(
    visit: &VisitRecord,
    history: &PageHistory,
    original: Option<&OriginalPage>,
    settings: &Settings,
) -> Result<Option<JudgedPair>, CommandError> {
    let (Some(original_url), Some(rule)) = (&visit.duplicate_of, visit.duplicate_rule()) else {
        return Ok(None);
    };
    let state = crawl_directory::state(&settings.out);
    let (of_original, original_blocks) = original_page(original_url, original)?;
    let (mut of_member, mut member_blocks) = page(&visit.url, history, settings);
    if of_member.text == PageTextState::NotKept && rule == DuplicateRule::SameBytes {
        of_member.text = of_original.text.clone();
        of_member.heading.clone_from(&of_original.heading);
        member_blocks.clone_from(&original_blocks);
    }
    let fingerprints = of_original.fingerprint.zip(of_member.fingerprint);
    let distance = fingerprints.map(|(one, two)| one.distance(two));
    if distance != visit.distance {
        // A rebuilt crawl may have a new key, but the fingerprints in its archive have the old key.
        of_member.fingerprint = None;
    }
    if of_member.signature.is_none() {
        of_member.signature = signature(&of_member, &state, settings)?;
    }
    let thresholds = settings.comparison()?.thresholds;
    let frames = learned_frames(&state);
    let frames = Frames {
        page: frames.of(&visit.url.host()),
        original: frames.of(&original_url.host()),
        common: Some(&frames.common),
    };
    let blocks = member_blocks.zip(original_blocks);
    let by_canonical = rule == DuplicateRule::ByCanonical;
    Ok(Some(JudgedPair {
        pair: Pair::of(of_original, of_member, &thresholds, by_canonical),
        visit: visit.clone(),
        blocks: blocks.map(|(page, original)| differing_blocks(&page, &original, frames)),
    }))
}

/// Returns the original, by the settings of the crawl that kept it.
fn original_page(url: &PageUrl, original: Option<&OriginalPage>) -> Result<ReadPage, CommandError> {
    let Some(OriginalPage { directory, history }) = original else {
        let unknown = PageOfPair {
            url: url.to_string(),
            ..PageOfPair::default()
        };
        return Ok((unknown, None));
    };
    Ok(page(url, history, &Settings::of_crawl(directory)?))
}

/// Returns a page of the crawl with these settings, with its text if the archive has it.
fn page(url: &PageUrl, history: &PageHistory, settings: &Settings) -> ReadPage {
    let visit = history.visit.as_ref();
    let canonical = visit.and_then(|visit| visit.canonical.as_ref());
    let mut page = PageOfPair {
        url: url.to_string(),
        title: visit.and_then(|visit| visit.title.clone()),
        heading: None,
        canonical: canonical.map(PageUrl::to_string),
        fingerprint: visit.and_then(|visit| visit.fingerprint),
        signature: history.text_signature(),
        text: PageTextState::NotKept,
    };
    let Some(visit) = visit else {
        return (page, None);
    };
    // A crawl compares a page under its final URL, after redirects.
    let final_url = visit.final_url.as_ref().unwrap_or(&visit.url).as_str();
    let pages = ArchivedPages::of(settings);
    let main_content = pages.archive.rules.main_content;
    let read = match visit.has_page() {
        true => pages.read(visit).map(|archived| {
            let document = &archived.document;
            let judged = reading::page_text(document, main_content);
            page.heading = judged.heading.map(str::to_owned);
            let text = judged.text.to_owned();
            Some((
                text,
                reading::compared_page(final_url, document, main_content),
            ))
        }),
        false => pages.duplicate_text(visit).map(|kept| {
            let kept = kept?;
            page.heading = kept.heading;
            let blocks = ComparedPage::of(&PageParts {
                url: final_url,
                title: page.title.as_deref(),
                heading: page.heading.as_deref(),
                main: &kept.text,
                judged: &kept.text,
                ..PageParts::default()
            });
            Some((kept.text, blocks))
        }),
    };
    let (text, blocks) = match read {
        Ok(Some((text, blocks))) => (PageTextState::Known(text), Some(blocks)),
        Ok(None) => (PageTextState::NotKept, None),
        Err(trouble) => (PageTextState::Unreadable(trouble), None),
    };
    page.text = text;
    (page, blocks)
}

/// Returns the signature that the crawl would compute for a page's text; `None` without the text.
fn signature(
    page: &PageOfPair,
    state: &Path,
    settings: &Settings,
) -> Result<Option<TextSignature>, CommandError> {
    let Some(text) = page.text.known() else {
        return Ok(None);
    };
    let features = settings.feature_settings()?.learned_by(state)?;
    let key = History::open(state)?.key().unwrap_or(HashKey::ZERO);
    let builder = SignatureBuilder::new(features.fingerprinter()?, key);
    let text = PageText {
        title: page.title.as_deref(),
        heading: page.heading.as_deref(),
        ..PageText::of(text)
    };
    let signature = builder.signature(0, Some(text)).text;
    Ok(signature.map(|text| TextSignature {
        // Learned word frequencies may have changed since.
        fingerprint: page.fingerprint.unwrap_or(text.fingerprint),
        ..*text
    }))
}
