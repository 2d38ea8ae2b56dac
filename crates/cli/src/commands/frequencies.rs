//! `crawler frequencies`: counts the documents that have each word.

use corpus::Reader;
use messages::CommandError;

use crate::args::FrequenciesArgs;
use crate::features::{self, FeatureSettings};
use crate::skip_report::SkipReport;

pub(crate) fn run(args: &FrequenciesArgs) -> Result<(), CommandError> {
    let feature_settings = FeatureSettings::new(
        args.features.unwrap_or_default(),
        args.stop_words.as_deref(),
        None,
    )?;
    let input = args.input.options(None);
    let mut skipped = SkipReport::default();
    let reader = Reader::new(true);
    let counted = feature_settings.count(&args.paths, &input, &reader, |one| skipped.add(one))?;
    features::write(&counted, args.output.as_deref())?;
    skipped.check_complete()
}
