//! The target of an export.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use export::{Compression, Form};

use crate::args::{ExportArgs, OutputForm};
use crate::cli_error::{CliError, usage};

/// The target of an export.
pub(super) enum ExportTarget {
    /// Standard output.
    Stdout,
    /// A pipe or a device.
    Device(PathBuf),
    /// A file.
    File(PathBuf),
    /// A directory of Parquet files.
    Parts(PathBuf),
}

impl ExportTarget {
    /// Returns the target, if the arguments fit together.
    pub(super) fn of(args: &ExportArgs) -> Result<Self, CliError> {
        check_options(args)?;
        let is_parquet = args.form() == OutputForm::Table(Form::Parquet);
        let target = Self::named(args, is_parquet);
        if let Self::File(path) = &target
            && (path.is_dir() || ends_in_a_slash(path))
        {
            return Err(usage(format!("{} is a directory", path.display()))
                .with_remedy("--output names a file; Parquet alone fills a directory"));
        }
        match &target {
            Self::Stdout | Self::Device(_) if args.resume || args.rows_per_file.is_some() => Err(
                usage("--resume and --rows-per-file want a file to write to")
                    .with_remedy("--output FILE"),
            ),
            Self::Stdout if is_parquet && io::stdout().is_terminal() => {
                Err(usage("a Parquet file is nothing for a terminal")
                    .with_remedy("--output FILE, or a pipe"))
            }
            Self::File(_) if is_parquet && args.resume => Err(usage(
                "a Parquet file cannot be continued: its contents are listed at its end",
            )
            .with_remedy("--output DIR/ writes a directory of files, and --resume adds to it")),
            Self::File(path) if is_parquet && Compression::by_name(path).is_some() => {
                let path = path.display();
                Err(
                    usage(format!("{path}: a Parquet file is compressed inside"))
                        .with_remedy("name it without .gz or .zst"),
                )
            }
            Self::File(path) if args.resume && !args.form().can_continue(path) => {
                let path = path.display();
                Err(usage(format!(
                    "{path} cannot be continued: it is compressed, or WET"
                ))
                .with_remedy(
                    "without --resume it is written anew; Parquet in a directory (DIR/) \
                             and uncompressed JSON lines can be continued",
                ))
            }
            _ => Ok(target),
        }
    }

    fn named(args: &ExportArgs, is_parquet: bool) -> Self {
        let path = match &args.output {
            Some(path) if path != Path::new("-") => path,
            _ => return Self::Stdout,
        };
        // The target of a symbolic link is replaced, not the link itself.
        let target = path
            .is_symlink()
            .then(|| path.canonicalize().ok())
            .flatten();
        let path = target.unwrap_or_else(|| path.clone());
        let is_directory = path.is_dir() || args.rows_per_file.is_some() || ends_in_a_slash(&path);
        if is_parquet && is_directory {
            return Self::Parts(path);
        }
        if path.exists() && !path.is_file() && !path.is_dir() {
            return Self::Device(path);
        }
        Self::File(path)
    }
}

/// Returns an error if options contradict each other.
fn check_options(args: &ExportArgs) -> Result<(), CliError> {
    let form = args.form();
    let one_by_one = "export them one after the other";
    if args.sketches && args.links {
        return Err(usage("--sketches is about pages, --links about links").with_remedy(one_by_one));
    }
    if args.text && (args.sketches || args.links) {
        let other = if args.links { "--links" } else { "--sketches" };
        let error = format!("--text and {other} are different tables");
        return Err(usage(error).with_remedy(one_by_one));
    }
    let others = [
        (args.links, "--links"),
        (args.text, "--text"),
        (args.sketches, "--sketches"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| args.signatures && *given) {
        let error = format!("--signatures and {other} are different tables");
        return Err(usage(error).with_remedy(one_by_one));
    }
    for (is_given, option) in [
        (args.markdown, "--markdown"),
        (args.duplicates, "--duplicates"),
        (form == OutputForm::Wet, "--format wet"),
    ] {
        if is_given && !args.text {
            return Err(usage(format!("{option} is for the texts of pages"))
                .with_remedy("add --text; a table of visits or links has another form"));
        }
    }
    if args.rows_per_file.is_some() && form != OutputForm::Table(Form::Parquet) {
        return Err(usage("--rows-per-file is for --format parquet")
            .with_remedy("text can be cut anywhere: `split -l`"));
    }
    if args.raw && form != OutputForm::Table(Form::RawCsv) {
        return Err(usage("--raw is for --format csv")
            .with_remedy("JSON lines and Parquet have every text to the letter"));
    }
    Ok(())
}

fn ends_in_a_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
