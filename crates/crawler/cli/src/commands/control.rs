//! `crawler control`: changes a shared crawl while it runs.

use std::path::Path;

use messages::{CommandError, say, usage};
use policy::control_file::{self, MAX_BYTES};
use settings::input;
use setup::shared;
use shared_store::Connection;

use crate::args::ControlArgs;

pub(crate) fn run(args: &ControlArgs) -> Result<(), CommandError> {
    let url = shared::required_url(args.store.as_ref())?;
    let text = read(&args.file)?;
    let overrides = control_file::read(&text).map_err(|error| {
        usage(format!("{}: {error}", args.file.display()))
            .with_remedy("config/control.toml documents the keys")
    })?;
    let is_written = shared::runtime()?.block_on(async {
        let connection = Connection::open(&url).await?;
        connection.set_control(&url, &text).await
    });
    if !is_written.map_err(|error| shared::connect_error(&error))? {
        return Err(usage("this store does not contain a crawl")
            .with_remedy("check the database in the URL, or begin a crawl with `crawler node`"));
    }
    let described = control_file::describe(&overrides);
    say(&format!(
        "override written; nodes apply it within seconds: {described}"
    ));
    Ok(())
}

fn read(file: &Path) -> Result<String, CommandError> {
    let shown = file.display();
    let bytes = input::read(file, MAX_BYTES)
        .map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    String::from_utf8(bytes).map_err(|_not_text| usage(format!("{shown} is not UTF-8")))
}
