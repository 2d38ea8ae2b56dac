//! The target of an export.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use export::{Compression, Form};
use messages::{CommandError, usage};

use crate::args::{ExportArgs, OutputForm};

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
    pub(super) fn of(args: &ExportArgs) -> Result<Self, CommandError> {
        check_options(args)?;
        let is_parquet = args.form() == OutputForm::Table(Form::Parquet);
        let is_binary = is_parquet || args.form() == OutputForm::Table(Form::Xlsx);
        let (name, file) = match is_parquet {
            true => ("Parquet", "a Parquet file"),
            false => ("a workbook", "a workbook"),
        };
        let target = Self::named(args);
        if let Self::File(path) = &target
            && is_directory(path)
        {
            return Err(
                usage(format!("{} is a directory", path.display())).with_remedy(
                    "--output must be a file; only Parquet and --text --markdown can be written to \
                     a directory",
                ),
            );
        }
        match &target {
            Self::Stdout | Self::Device(_) if args.resume || args.rows_per_file.is_some() => {
                Err(usage("--resume and --rows-per-file require an output file")
                    .with_remedy("--output FILE"))
            }
            Self::Stdout if is_binary && io::stdout().is_terminal() => {
                Err(usage(format!("cannot write {file} to a terminal"))
                    .with_remedy("use --output FILE, or a pipe"))
            }
            Self::File(_) if is_parquet && args.resume => Err(usage(
                "cannot append to a Parquet file",
            )
            .with_remedy("write a directory of files with --output DIR/, to which --resume adds")),
            Self::File(path) if is_binary && Compression::by_name(path).is_some() => {
                let path = path.display();
                Err(usage(format!("{path}: {name} is already compressed"))
                    .with_remedy("omit .gz or .zst"))
            }
            Self::File(path) if args.resume && !args.form().can_continue(path) => {
                let path = path.display();
                Err(usage(format!(
                    "cannot append to {path}: it is compressed, a workbook, or WET"
                ))
                .with_remedy(
                    "omit --resume to overwrite it; --resume works with Parquet in a directory \
                     (DIR/) and uncompressed JSON lines and CSV",
                ))
            }
            _ => Ok(target),
        }
    }

    fn named(args: &ExportArgs) -> Self {
        let Some(path) = output_path(args) else {
            return Self::Stdout;
        };
        let is_directory = args.rows_per_file.is_some() || is_directory(&path);
        if is_directory && args.form() == OutputForm::Table(Form::Parquet) {
            return Self::Parts(path);
        }
        if path.exists() && !path.is_file() && !path.is_dir() {
            return Self::Device(path);
        }
        Self::File(path)
    }
}

/// Returns the directory of Markdown files, if they are the output.
pub(super) fn markdown_directory(args: &ExportArgs) -> Result<Option<PathBuf>, CommandError> {
    check_options(args)?;
    let has_files = args.markdown && !args.chunks && args.form() == OutputForm::Table(Form::Jsonl);
    let path = output_path(args).filter(|path| has_files && is_directory(path));
    match path {
        Some(path) if args.resume => {
            let error = format!("cannot add to the Markdown files in {}", path.display());
            Err(usage(error).with_remedy("omit --resume, and choose another directory"))
        }
        other => Ok(other),
    }
}

/// Returns the path of the output; `None` for standard output. The target of a symbolic link is
/// replaced, not the link itself.
fn output_path(args: &ExportArgs) -> Option<PathBuf> {
    let path = args.output.as_ref();
    let path = path.filter(|path| *path != Path::new("-"))?;
    let target = path.is_symlink().then(|| path.canonicalize().ok());
    Some(target.flatten().unwrap_or_else(|| path.clone()))
}

fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Returns an error if options contradict each other.
pub(super) fn check_options(args: &ExportArgs) -> Result<(), CommandError> {
    let form = args.form();
    let one_by_one = "export them separately";
    if args.sketches && args.links {
        return Err(
            usage("--sketches applies to pages, and --links exports links").with_remedy(one_by_one),
        );
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
        (args.chunks, "--chunks"),
        (args.duplicates, "--duplicates"),
        (args.keep_boilerplate, "--keep-boilerplate"),
        (form == OutputForm::Wet, "--format wet"),
    ] {
        if is_given && !args.text {
            return Err(usage(format!("{option} requires --text"))
                .with_remedy("add --text, or choose another format for visits and links"));
        }
    }
    if args.chunks && form == OutputForm::Wet {
        return Err(
            usage("--format wet has no place for the headings of chunks")
                .with_remedy("choose jsonl, csv or parquet, or omit --chunks"),
        );
    }
    if args.rows_per_file.is_some() && form != OutputForm::Table(Form::Parquet) {
        return Err(usage("--rows-per-file requires --format parquet")
            .with_remedy("split text formats with `split -l`"));
    }
    let is_csv = matches!(form, OutputForm::Table(Form::Csv | Form::RawCsv));
    if args.raw && !is_csv {
        return Err(usage("--raw requires --format csv")
            .with_remedy("JSON lines, workbooks and Parquet never escape texts"));
    }
    if args.bom && !is_csv {
        return Err(usage("--bom requires --format csv").with_remedy(
            "programs that read JSON lines, workbooks and Parquet know their encoding",
        ));
    }
    Ok(())
}
