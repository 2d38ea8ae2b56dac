//! `crawler frequencies`: counts the documents that have each word.

use crate::args::FrequenciesArgs;
use crate::cli_error::CliError;
use crate::documents::Reader;
use crate::features::{self, FeatureSettings};

pub(crate) fn run(args: &FrequenciesArgs) -> Result<(), CliError> {
    let feature_settings = FeatureSettings::new(
        args.features.unwrap_or_default(),
        args.stop_words.as_deref(),
        None,
    )?;
    let counted = feature_settings.count(&args.paths, &Reader::new(true)?)?;
    features::write(&counted, args.output.as_deref())
}
