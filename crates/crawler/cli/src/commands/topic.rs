//! `crawler topic`: prints the relevance of documents to a topic, and the words that determine it.

use std::io::{self, Write};

use batch::DocumentId;
use corpus::json_id::JsonId;
use corpus::{Document, Documents, Reader};
use messages::{CommandError, counted_as, printable, usage};
use serde::Serialize;
use settings::skip_report::SkipReport;
use settings::topic_of::topic_of;
use topic::{Relevance, Topic};
use web::{CanonicalForm, PageUrl};

use crate::args::TopicArgs;
use crate::output::{self, Format};
use settings::input::document_reader;

/// Maximum number of words named per document.
const NAMED: usize = 8;

/// The judgement of a document.
#[derive(Serialize)]
struct JudgedDocument {
    #[serde(rename = "document")]
    id: JsonId<DocumentId>,
    relevance: f64,
    on_topic: bool,
    /// The topic's words that contribute most to the relevance.
    words: Vec<NamedWord>,
    #[serde(skip)]
    shown: Relevance,
}

/// A word and its contribution to the relevance.
#[derive(Serialize)]
struct NamedWord {
    word: String,
    part: f64,
}

pub(crate) fn run(args: &TopicArgs) -> Result<(), CommandError> {
    let topic = topic_of(
        args.topic.as_deref(),
        &args.topic_file,
        args.frequencies.as_deref(),
    )?;
    let topic = topic.with_threshold(args.topic_threshold);
    let format = args.format;
    let documents = Documents::below(&args.paths, &args.input.options(None))
        .map_err(|error| CommandError::of_usage(&error))?;
    let reader = document_reader(true);
    let mut skipped = SkipReport::default();
    let mut judged = 0_u64;
    let judge = {
        let topic = topic.clone();
        move |document: &_| judge(&topic, &reader, document)
    };
    output::to_stdout(|out| {
        if format == Format::Table {
            writeln!(out, "on topic from {}", topic.threshold())?;
        }
        for computed in corpus::computed(documents, judge) {
            match computed {
                Ok((id, document)) => {
                    let id = JsonId(id);
                    write(out, format, &JudgedDocument { id, ..document })?;
                    judged += 1;
                }
                Err(more) => skipped.add(&more),
            }
        }
        Ok(())
    })?;
    match (judged, skipped.count()) {
        (_, 0) => Ok(()),
        (0, _) => Err(skipped.no_document("to judge")),
        (_, count) => Err(usage(counted_as(
            count,
            "of the documents was unreadable",
            "of the documents were unreadable",
        ))),
    }
}

/// Judges a document. A document without text gets no relevance.
fn judge(topic: &Topic, reader: &Reader, document: &Document) -> JudgedDocument {
    let page = reader.read(&document.content);
    let text = reader.text(&page).unwrap_or_default();
    // The id of an archived page is its URL. The path of a file only says where the user put it.
    let url = PageUrl::parse(&document.id, &CanonicalForm::default()).ok();
    let relevance = topic.judge(&text, url.as_ref()).relevance;
    let words = topic
        .words_that_spoke(&text, url.as_ref(), NAMED)
        .into_iter();
    JudgedDocument {
        id: JsonId(DocumentId::default()),
        relevance: relevance.share(),
        on_topic: relevance >= topic.threshold(),
        words: words
            .map(|(word, part)| NamedWord {
                word,
                part: Relevance::from_share(part).share(),
            })
            .collect(),
        shown: relevance,
    }
}

fn write(out: &mut dyn Write, format: Format, judged: &JudgedDocument) -> io::Result<()> {
    if format == Format::Json {
        return output::json_line(out, judged);
    }
    let topic = if judged.on_topic {
        "on topic"
    } else {
        "off topic"
    };
    let words = judged.words.iter();
    let words: Vec<String> = words
        .map(|named| format!("{} {}", named.word, Relevance::from_share(named.part)))
        .collect();
    writeln!(
        out,
        "{}  {topic:<9}  {}  {}",
        judged.shown,
        printable(&judged.id.0),
        printable(&words.join(", "))
    )
}
