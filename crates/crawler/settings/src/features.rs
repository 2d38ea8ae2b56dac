//! Features of fingerprints: units, stop words, and document frequencies.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use corpus::{Documents, InputOptions, Reader, Skipped};
use messages::{CommandError, usage};
use neardup::frequencies::DocumentFrequencies;
use neardup::{Features, Fingerprinter, NormalText, StopWords, Ties};

/// Name of the file with learned document frequencies, in a crawl's state directory.
pub const LEARNED: &str = "frequencies.txt";

/// Features that fingerprints are computed from.
#[derive(Clone, Debug)]
pub struct FeatureSettings {
    features: Features,
    stop_words: Option<Arc<StopWords>>,
    /// The given document frequencies. If the weights need frequencies and the user gives no file,
    /// they are learned.
    frequencies: Option<Arc<DocumentFrequencies>>,
    ties: Ties,
}

impl FeatureSettings {
    /// Creates the features. `stop_words` is a language, `frequencies` a file.
    ///
    /// # Errors
    /// No list of stop words exists for the language, or the file cannot be read or does not fit
    /// the features.
    pub fn new(
        features: Features,
        stop_words: Option<&str>,
        frequencies: Option<&Path>,
    ) -> Result<Self, CommandError> {
        let stop_words = stop_words.map(StopWords::of_language).transpose();
        let stop_words = stop_words.map_err(|error| CommandError::of_usage(&error))?;
        let feature_settings = Self {
            features,
            stop_words: stop_words.map(Arc::new),
            frequencies: frequencies.map(read).transpose()?.map(Arc::new),
            ties: Ties::default(),
        };
        if feature_settings.frequencies.is_some() {
            feature_settings.fingerprinter()?;
        }
        Ok(feature_settings)
    }

    /// Returns the features with a rule for ties.
    pub fn ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// Returns true if the weights need document frequencies and none were given.
    pub fn has_to_learn(&self) -> bool {
        self.features.weights.needs_frequencies() && self.frequencies.is_none()
    }

    /// Learns document frequencies from these documents if the weights need them. In that case
    /// standard input is spooled, because it is read twice.
    pub fn learned_from(
        self,
        paths: &[PathBuf],
        input: &mut InputOptions,
        reader: &Reader,
    ) -> Result<Self, CommandError> {
        if !self.has_to_learn() {
            return Ok(self);
        }
        let spooled = input.spool(paths);
        spooled.map_err(|error| CommandError::of_usage(&error))?;
        // The second reading reports unreadable documents.
        let frequencies = self.count(paths, input, reader, |_skipped| ())?;
        Ok(Self {
            frequencies: Some(Arc::new(frequencies)),
            ..self
        })
    }

    /// Counts the documents that contain each feature. Unreadable documents do not count; they are
    /// passed to `skip`.
    pub fn count(
        &self,
        paths: &[PathBuf],
        input: &InputOptions,
        reader: &Reader,
        mut skip: impl FnMut(&Skipped),
    ) -> Result<DocumentFrequencies, CommandError> {
        let mut frequencies = DocumentFrequencies::new(self.features.unit);
        let documents =
            Documents::below(paths, input).map_err(|error| CommandError::of_usage(&error))?;
        for document in documents {
            match document {
                Ok(document) => {
                    frequencies.learn(&self.left_of(reader.normal_text(&document.content)));
                }
                Err(skipped) => skip(&skipped),
            }
        }
        Ok(frequencies)
    }

    fn left_of(&self, text: NormalText) -> NormalText {
        match &self.stop_words {
            Some(stop_words) => stop_words.taken_from(&text),
            None => text,
        }
    }

    /// Returns the fingerprinter for these features.
    pub fn fingerprinter(&self) -> Result<Fingerprinter, CommandError> {
        let (stop_words, frequencies) = (self.stop_words.clone(), self.frequencies.clone());
        Fingerprinter::new(self.features, stop_words, frequencies)
            .map(|fingerprinter| fingerprinter.ties(self.ties))
            .map_err(|error| CommandError::of_usage(&error))
    }

    /// Loads the document frequencies that a crawl has learned, if the weights need them.
    pub fn learned_by(self, state: &Path) -> Result<Self, CommandError> {
        if !self.has_to_learn() {
            return Ok(self);
        }
        let known = self.known_to(state)?;
        Ok(Self {
            frequencies: Some(Arc::new(known)),
            ..self
        })
    }

    /// Returns the stop words that are excluded.
    pub fn stop_words(&self) -> Option<Arc<StopWords>> {
        self.stop_words.clone()
    }

    /// Returns the features without their weighting by frequencies.
    pub fn features(&self) -> Features {
        self.features
    }

    /// Returns the document frequencies that a crawl has learned so far.
    pub fn known_to(&self, state: &Path) -> Result<DocumentFrequencies, CommandError> {
        let path = state.join(LEARNED);
        if path.exists() {
            read(&path)
        } else {
            Ok(DocumentFrequencies::new(self.features.unit))
        }
    }
}

/// Reads a file of frequencies.
///
/// # Errors
/// The file cannot be read, or has another format.
pub fn read(path: &Path) -> Result<DocumentFrequencies, CommandError> {
    let unreadable =
        |error: &dyn std::fmt::Display| usage(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    DocumentFrequencies::read(BufReader::new(file)).map_err(|error| unreadable(&error))
}
