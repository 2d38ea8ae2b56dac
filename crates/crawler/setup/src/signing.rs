//! Keys of signed requests: their files, the signer of a crawl, and the commands for keys.
//!
//! No error or message repeats the content of a key file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use disk::OutputFile;
use fetch::{RequestSigner, SignatureAgent, SigningKey, directory_fields, key_directory, new_pem};
use messages::{CommandError, fault, printable, say, usage};
use settings::values::Span;
use settings::{Settings, machine};
use sinks::wacz::PackageKey;
use tempfile::NamedTempFile;
use web::Clock;

/// Maximum size of a key file, in bytes.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// Maximum number of keys in a directory.
const MAX_KEYS: usize = 100;

/// The path of a key directory (section 8.1 of draft-ietf-webbotauth-httpsig-protocol-01).
const WELL_KNOWN: &str = "/.well-known/http-message-signatures-directory";

/// The media type of a key directory (section 8.2 of the same draft).
const MEDIA_TYPE: &str = "application/http-message-signatures-directory+json";

/// The subcommands of `crawler keys`.
#[derive(Clone, Debug, Subcommand)]
pub enum KeysCommand {
    /// Write a new Ed25519 private key (PKCS #8 in PEM form), which only its owner can read; never
    /// overwrites a file
    New {
        /// Path of the new key
        file: PathBuf,
    },
    /// Print the public key of a private key as a JSON Web Key; "kid" is its thumbprint, which
    /// signed requests name
    Show {
        /// File of the private key
        file: PathBuf,
    },
    /// Print the key directory of private keys, ready to publish, and the header fields that its
    /// response needs
    Directory(DirectoryArgs),
}

/// The arguments of `crawler keys directory`.
#[derive(Clone, Debug, Args)]
pub struct DirectoryArgs {
    /// Files of private keys; only their public keys are printed
    #[arg(required = true, num_args = 1..=MAX_KEYS, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the directory to this file, and only the header fields to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also sign the directory for this origin, as the draft recommends: a static server can send
    /// the fields with the unchanged file until they expire
    #[arg(long, value_name = "URL")]
    signature_agent: Option<String>,
    /// Validity of the signatures of --signature-agent
    #[arg(
        long,
        value_name = "TIME",
        default_value = "90d",
        requires = "signature_agent"
    )]
    valid: Span,
}

impl KeysCommand {
    /// Runs the command, and returns the text for standard output.
    ///
    /// # Errors
    /// A file cannot be read or written, exists already, or does not contain a key.
    pub fn run(&self, clock: &Clock) -> Result<String, CommandError> {
        match self {
            Self::New { file } => new_key(file).map(|()| String::new()),
            Self::Show { file } => Ok(read_key(file, "keys show")?.public_jwk() + "\n"),
            Self::Directory(args) => directory(args, clock),
        }
    }
}

/// Returns the signer of a crawl's requests, if they are signed.
pub(crate) fn signer(settings: &Settings) -> Result<Option<Arc<RequestSigner>>, CommandError> {
    let (file, agent) = match (&settings.sign_requests, &settings.signature_agent) {
        (None, None) => return Ok(None),
        (Some(file), Some(agent)) => (file, parsed_agent(agent)?),
        (Some(_), None) => {
            let remedy = "--signature-agent https://bot.example.org names the origin that \
                          publishes the key (`crawler keys directory`)";
            return Err(usage("--sign-requests needs --signature-agent").with_remedy(remedy));
        }
        (None, Some(_)) => {
            let remedy = "--sign-requests FILE names the private key; `crawler keys new FILE` \
                          writes one";
            return Err(usage("--signature-agent needs --sign-requests").with_remedy(remedy));
        }
    };
    let key = read_key(file, "--sign-requests")?;
    let signer = RequestSigner::new(key, agent, machine::random()?);
    Ok(Some(Arc::new(signer)))
}

fn parsed_agent(text: &str) -> Result<SignatureAgent, CommandError> {
    SignatureAgent::parse(text).map_err(|error| usage(format!("--signature-agent {text}: {error}")))
}

/// Reads a private key of signed requests.
fn read_key(path: &Path, option: &str) -> Result<SigningKey, CommandError> {
    let (text, shown) = (key_text(path, option)?, path.display());
    SigningKey::from_pem(&text).map_err(|error| {
        let remedy = "`crawler keys new FILE` or `openssl genpkey -algorithm ed25519` writes one";
        usage(format!("{option}: {shown}: {error}")).with_remedy(remedy)
    })
}

/// Reads a private key that signs packages.
pub fn read_package_key(path: &Path, option: &str) -> Result<PackageKey, CommandError> {
    let (text, shown) = (key_text(path, option)?, path.display());
    PackageKey::from_pem(&text).map_err(|error| {
        let remedy = "`openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384` writes one";
        usage(format!("{option}: {shown}: {error}")).with_remedy(remedy)
    })
}

/// Reads the text of a key file that only its owner can read.
fn key_text(path: &Path, option: &str) -> Result<Vec<u8>, CommandError> {
    let shown = path.display();
    let unreadable = |error: io::Error| usage(format!("{option}: cannot read {shown}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        let error = usage(format!(
            "{option}: other users of this machine can access {shown} (mode {mode:04o})"
        ));
        return Err(error.with_remedy(format!("run `chmod 600 {shown}`")));
    }
    let mut text = Vec::new();
    let read = file.take(MAX_KEY_BYTES + 1).read_to_end(&mut text);
    read.map_err(unreadable)?;
    if text.len() as u64 > MAX_KEY_BYTES {
        return Err(usage(format!(
            "{option}: {shown} exceeds {MAX_KEY_BYTES} bytes"
        )));
    }
    Ok(text)
}

fn new_key(path: &Path) -> Result<(), CommandError> {
    let mut seed = [0; 32];
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&machine::random()?.to_ne_bytes());
    }
    let pem = new_pem(&seed);
    let key = SigningKey::from_pem(pem.as_bytes()).map_err(|error| fault(&error))?;
    let shown = printable(&path.display().to_string());
    let unwritable = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => usage(format!("keys new: {shown} exists"))
            .with_remedy("choose another name, or move the old key away"),
        _ => usage(format!("keys new: cannot write {shown}: {error}")),
    };
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    // A temporary file has mode 0600, and gets its name only if the name is free.
    let draft = NamedTempFile::new_in(parent.unwrap_or(Path::new(".")));
    let mut draft = draft.map_err(unwritable)?;
    draft.write_all(pem.as_bytes()).map_err(unwritable)?;
    draft.as_file().sync_all().map_err(unwritable)?;
    let named = draft.persist_noclobber(path);
    named.map_err(|error| unwritable(error.error))?;
    let id = key.key_id();
    say(&format!(
        "wrote {shown}: a private key, thumbprint {id}; keep it secret, and publish its public key \
         with `crawler keys directory {shown}`"
    ));
    Ok(())
}

fn directory(args: &DirectoryArgs, clock: &Clock) -> Result<String, CommandError> {
    let keys = args.files.iter();
    let keys: Vec<SigningKey> = keys
        .map(|file| read_key(file, "keys directory"))
        .collect::<Result<_, _>>()?;
    let body = key_directory(&keys) + "\n";
    let mut fields = format!("Content-Type: {MEDIA_TYPE}\n");
    if let Some(agent) = &args.signature_agent {
        let agent = parsed_agent(agent)?;
        for (name, value) in directory_fields(&keys, &body, &agent, clock.now(), args.valid.0) {
            fields.push_str(&format!("{name}: {value}\n"));
        }
    }
    let place = format!("serve the key directory at https://HOST{WELL_KNOWN}");
    let Some(path) = &args.output else {
        say(&format!("{place} with these header fields:"));
        fields.lines().for_each(say);
        return Ok(body);
    };
    let unwritable = |error: io::Error| {
        usage(format!(
            "--output: cannot write {}: {error}",
            path.display()
        ))
    };
    let mut file = OutputFile::replacing(path).map_err(unwritable)?;
    file.write_all(body.as_bytes()).map_err(unwritable)?;
    file.complete().map_err(unwritable)?;
    say(&format!(
        "{place} with the header fields on standard output"
    ));
    Ok(fields)
}
