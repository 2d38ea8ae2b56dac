//! `crawler frequencies`: counts the documents that have each word.

use corpus::is_standard_input;
use messages::CommandError;
use settings::features::FeatureSettings;
use settings::skip_report::SkipReport;
use setup::features;

use crate::args::FrequenciesArgs;
use crate::output::file_to_stdout;
use settings::input::document_reader;

pub(crate) fn run(args: &FrequenciesArgs) -> Result<(), CommandError> {
    let feature_settings = FeatureSettings::new(
        args.features.unwrap_or_default(),
        args.stop_words.as_deref(),
        None,
    )?;
    let input = args.input.options(None);
    let mut skipped = SkipReport::default();
    let reader = document_reader(true);
    let counted = feature_settings.count(&args.paths, &input, &reader, |one| skipped.add(one))?;
    let output = args.output.as_deref();
    match output.filter(|path| !is_standard_input(path)) {
        Some(path) => features::write(&counted, path)?,
        None => file_to_stdout(|out| counted.write(out))?,
    }
    skipped.check_complete()
}
