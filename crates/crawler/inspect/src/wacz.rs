//! Packs crawls and WARC files into one file that replay tools open directly, for `crawler wacz`.
//!
//! An archive is packed up to the end of the last settled visit. If the crawl was killed, its open
//! file is packed under its final name. The crawl is locked meanwhile. The crawl's own index is
//! used; if it is missing or does not cover the settled visits, it is made first. Indexes of
//! several inputs are merged, and other crawlers' files are indexed by reading them.

mod file_pages;
mod pages;

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use corpus::CorpusError;
use disk::OutputFile;
use facts::journal::damaged;
use journal::StoreFault;
use messages::{CommandError, SlowProgress, fault, say, usage};
use settings::input::unwritable;
use setup::signing::read_package_key;
use sinks::wacz::{PackageInfo, PackageKey, PackedFile, Packer, Page, WaczFault};

use super::archives::inputs::{self, Input, Purpose};
use super::archives::merged::{self, InputIndex, scratch, unusable};

/// Bytes that are read and written at a time.
const BUFFER: usize = 256 << 10;

/// What a package is made of.
pub struct Options<'a> {
    /// Crawls and WARC files.
    pub inputs: &'a [PathBuf],
    /// The file to write, or `-` for standard output.
    pub output: &'a Path,
    /// Title of the package.
    pub title: Option<&'a str>,
    /// Description of the package.
    pub description: Option<&'a str>,
    /// True if the list of pages has their texts.
    pub text: bool,
    /// File of the private key that signs the package.
    pub sign: Option<&'a Path>,
}

/// The inputs of a package, open.
pub struct PackageInputs<'a> {
    options: Options<'a>,
    inputs: Vec<Input>,
    key: Option<PackageKey>,
}

/// The inputs of a package, and their merged index.
pub struct Packing<'a> {
    args: Options<'a>,
    inputs: Vec<Input>,
    key: Option<PackageKey>,
    index: InputIndex,
    /// Number of pages in its list.
    pages: u64,
}

impl<'a> PackageInputs<'a> {
    /// Opens the inputs.
    pub fn open(options: Options<'a>) -> Result<Self, CommandError> {
        let key = options.sign.map(|file| read_package_key(file, "--sign"));
        let key = key.transpose()?;
        let inputs = inputs::open(options.inputs, Purpose::Pack { text: options.text })?;
        Ok(Self {
            options,
            inputs,
            key,
        })
    }

    /// Merges the indexes of the inputs.
    pub fn index(self) -> Result<Packing<'a>, CommandError> {
        let Self {
            options: args,
            inputs,
            key,
        } = self;
        if args.output.is_dir() {
            return Err(usage(format!("{} is a directory", args.output.display()))
                .with_remedy("--output names a file"));
        }
        inputs::keep_apart(&inputs, args.output)?;
        let is_merged = !matches!(inputs.as_slice(), [Input::Crawl(_)]);
        let index = InputIndex::of(&inputs, &scratch(args.output), is_merged)?;
        index.warn();
        let packing = Packing {
            args,
            inputs,
            key,
            index,
            pages: 0,
        };
        packing.warn();
        Ok(packing)
    }
}

impl Packing<'_> {
    /// Returns true if the index has every record of the inputs.
    pub fn is_whole(&self) -> bool {
        self.index.is_whole()
    }

    /// Refuses pages that were packed without their text, because it cannot be read.
    pub fn check_pages(&self) -> Result<(), CommandError> {
        for crawl in self.inputs.iter().filter_map(Input::crawl) {
            if let Some(pages) = &crawl.pages {
                pages.check_unread(
                    "they are packed without their text; everything else is complete",
                )?;
            }
        }
        Ok(())
    }

    /// Warns about contents that not all readers support.
    fn warn(&self) {
        if self.files().any(|file| file.name.ends_with(".zst")) {
            say(
                "warning: the archive is compressed with Zstandard, which the WACZ format does not \
                 include: pywb and other tools cannot replay it; use --compression gzip for \
                 archives that every tool can replay",
            );
        }
    }

    fn files(&self) -> impl Iterator<Item = &PackedFile> {
        self.inputs.iter().flat_map(Input::files)
    }

    /// Packs into a stream, such as standard output.
    pub fn pack_to_stream(&mut self, out: impl Write) -> Result<(), CommandError> {
        let out = BufWriter::with_capacity(BUFFER, out);
        match self.pack(Packer::stream(out, self.index.latest)) {
            // A reader that went away (`| head`) is not an error.
            Err(PackError::Wacz(WaczFault::Write(error)))
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                Ok(())
            }
            Err(error) => Err(error.into_cli_error()),
            Ok(stream) => stream
                .into_inner()
                .into_inner()
                .flush()
                .map_err(|error| fault(&error)),
        }
    }

    /// Packs into a file, which gets its name once it is complete. Returns the number of its pages.
    pub fn pack_to_file(&mut self, path: &Path) -> Result<u64, CommandError> {
        let unwritable = unwritable(path);
        let draft = OutputFile::replacing(path).map_err(unwritable)?;
        let out = BufWriter::with_capacity(BUFFER, draft);
        match self.pack(Packer::new(out, self.index.latest)) {
            Err(PackError::Wacz(WaczFault::Write(error))) => Err(unwritable(error)),
            Err(error) => Err(error.into_cli_error()),
            Ok(out) => {
                let mut draft = out
                    .into_inner()
                    .into_inner()
                    .map_err(|error| unwritable(error.into_error()))?;
                draft.complete().map_err(unwritable)?;
                Ok(self.pages)
            }
        }
    }

    fn pack<W: Write + Seek>(&mut self, mut packer: Packer<W>) -> Result<W, PackError> {
        if let Some(key) = self.key.take() {
            packer.sign_with(key);
        }
        let mut progress = SlowProgress::new("blocks packed");
        for PackedFile { path, name, length } in self.files() {
            let file = File::open(path).map_err(|source| reading(path, source))?;
            packer.archive(name, path, file.take(*length), &mut || progress.step())?;
        }
        match (self.index.lines.take(), self.inputs.as_slice()) {
            (Some(lines), _) => _ = packer.index(Path::new("the merged index"), lines)?,
            (None, inputs) => {
                for crawl in inputs.iter().filter_map(Input::crawl) {
                    let (path, lines) = merged::open(crawl).map_err(PackError::Cli)?;
                    let packed = packer.index(&path, lines);
                    packed.map_err(|error| match error {
                        WaczFault::Index { .. } => PackError::Cli(unusable(crawl, &error)),
                        error => PackError::Wacz(error),
                    })?;
                }
            }
        }
        let crawls = self.inputs.iter().filter_map(Input::crawl);
        let mut seeds = crawls.map(|crawl| crawl.extent.main_page.clone());
        let mut main_page = seeds.find_map(|seed| seed);
        let mut count = 0;
        packer.pages(|add| {
            let mut add = |page: &Page<'_>| {
                count += 1;
                main_page.get_or_insert_with(|| (page.url.to_owned(), page.at));
                add(page)
            };
            for input in &self.inputs {
                match input {
                    Input::Crawl(crawl) => pages::list(crawl, &mut progress, &mut add)?,
                    Input::File(file) => {
                        file_pages::list(&file.path, self.args.text, &mut progress, &mut add)?;
                    }
                }
            }
            Ok::<(), PackError>(())
        })?;
        self.pages = count;
        let about = PackageInfo {
            software: concat!("crawler ", env!("CARGO_PKG_VERSION")).to_owned(),
            title: self.args.title.map(str::to_owned),
            description: self.args.description.map(str::to_owned),
            main_page,
        };
        Ok(packer.finish(&about)?)
    }
}

/// An error that ends packing early.
enum PackError {
    Wacz(WaczFault),
    /// The journal of the crawl in this directory cannot be read.
    Store(PathBuf, StoreFault),
    /// An error of an input, in words.
    Cli(CommandError),
    Corpus(CorpusError),
}

impl From<WaczFault> for PackError {
    fn from(fault: WaczFault) -> Self {
        Self::Wacz(fault)
    }
}

impl PackError {
    fn into_cli_error(self) -> CommandError {
        match self {
            Self::Store(directory, error) => damaged(&directory)(error),
            Self::Cli(error) => error,
            Self::Corpus(error) => CommandError::of_usage(&error),
            Self::Wacz(error) => fault(&error),
        }
    }
}

fn reading(path: &Path, source: io::Error) -> WaczFault {
    WaczFault::Read {
        path: path.to_owned(),
        source,
    }
}
