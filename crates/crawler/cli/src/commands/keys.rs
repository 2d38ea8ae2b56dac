//! `crawler keys`: keys of signed requests, and the directory that publishes them.

use messages::CommandError;
use settings::machine;
use setup::signing::KeysCommand;

use crate::output;

pub(crate) fn run(command: &KeysCommand) -> Result<(), CommandError> {
    let text = command.run(&machine::clock())?;
    output::file_to_stdout(|out| out.write_all(text.as_bytes()))
}
