//! The target of an export.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use export::Form;

use crate::args::ExportArgs;
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
    /// Returns the target of the arguments, if they fit together.
    pub(super) fn of(args: &ExportArgs) -> Result<Self, CliError> {
        let form = args.form();
        if args.sketches && args.links {
            return Err(usage("--sketches is about pages, --links about links")
                .with_remedy("export them one after the other"));
        }
        if args.rows_per_file.is_some() && form != Form::Parquet {
            return Err(usage("--rows-per-file is for --format parquet")
                .with_remedy("text can be cut anywhere: `split -l`"));
        }
        if args.raw && form != Form::RawCsv {
            return Err(usage("--raw is for --format csv")
                .with_remedy("JSON lines and Parquet have every text to the letter"));
        }
        let target = Self::named(args, form);
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
            Self::Stdout if form == Form::Parquet && io::stdout().is_terminal() => {
                Err(usage("a Parquet file is nothing for a terminal")
                    .with_remedy("--output FILE, or a pipe"))
            }
            Self::File(_) if form == Form::Parquet && args.resume => Err(usage(
                "a Parquet file cannot be continued: its contents are listed at its end",
            )
            .with_remedy("--output DIR/ writes a directory of files, and --resume adds to it")),
            _ => Ok(target),
        }
    }

    fn named(args: &ExportArgs, form: Form) -> Self {
        let path = match &args.output {
            Some(path) if path != Path::new("-") => path,
            _ => return Self::Stdout,
        };
        // The file behind a symbolic link is replaced, not the link.
        let target = path
            .is_symlink()
            .then(|| path.canonicalize().ok())
            .flatten();
        let path = target.unwrap_or_else(|| path.clone());
        let is_directory = path.is_dir() || args.rows_per_file.is_some() || ends_in_a_slash(&path);
        if form == Form::Parquet && is_directory {
            return Self::Parts(path);
        }
        if path.exists() && !path.is_file() && !path.is_dir() {
            return Self::Device(path);
        }
        Self::File(path)
    }
}

fn ends_in_a_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
