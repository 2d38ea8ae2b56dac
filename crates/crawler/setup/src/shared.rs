//! The crawl that a command reads: a directory, or a replica of a shared crawl.
//!
//! A replica is a directory below the system's directory for temporary files (`TMPDIR`). It
//! contains the settings and the journal of the shared crawl, but not its archive, which is on the
//! nodes. It is removed when this value is dropped, and when a signal ends the command.
//!
//! Invariant: no message shows the password of a store's URL.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, pending};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use disk::{Disk, DraftPath, SystemDisk};
use journal::NodeFile;
use messages::{CommandError, SlowProgress, fault, pasted, say, usage};
use settings::{SETTINGS_FILE, Settings, crawl_directory};
use shared_store::{
    ConnectError, ImportError, JoinError, ReadError, Replica, ReplicaPart, SharedCrawl,
};
use tokio::runtime::{Builder, Runtime};

/// Environment variable with the store's URL. It keeps the password out of process lists.
const VARIABLE: &str = "CRAWLER_STORE";
/// Refresh interval of a followed replica.
const REFRESH: Duration = Duration::from_secs(2);

/// The URL of a database. It may contain a password, so it is never shown.
#[derive(Clone)]
pub struct StoreUrl(pub String);

impl FromStr for StoreUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl(..)")
    }
}

/// A crawl, open for reading.
pub struct OpenCrawl {
    directory: PathBuf,
    replica: Option<ReplicatedCrawl>,
}

/// A replica of a shared crawl, and the runtime of its connections.
struct ReplicatedCrawl {
    runtime: Runtime,
    replica: Replica,
    /// Removes the directory on drop.
    _draft: DraftPath,
}

impl OpenCrawl {
    /// Opens the crawl in `directory`, or else copies the crawl in a store. Without both, opens the
    /// crawl in the directory where a crawl goes by default.
    ///
    /// # Errors
    /// No crawl is named, or the named one cannot be read.
    pub fn open(directory: Option<&Path>, store: Option<&StoreUrl>) -> Result<Self, CommandError> {
        let opened = Self::open_until(directory, store, pending())?;
        Ok(opened.expect("a future that never ends does not end"))
    }

    /// Opens a crawl as [`OpenCrawl::open`] does. Returns `None` if `end` completes first.
    pub fn open_until(
        directory: Option<&Path>,
        store: Option<&StoreUrl>,
        end: impl Future<Output = ()>,
    ) -> Result<Option<Self>, CommandError> {
        if let Some(directory) = directory {
            return Ok(Some(Self {
                directory: directory.to_owned(),
                replica: None,
            }));
        }
        let Some(url) = url(store) else {
            return Ok(Some(Self {
                directory: crawl_directory::default_crawl()?,
                replica: None,
            }));
        };
        let runtime = runtime()?;
        let made = runtime.block_on(async {
            tokio::select! {
                made = replica(&url) => made.map(Some),
                () = end => Ok(None),
            }
        })?;
        Ok(made.map(|(directory, replica, draft)| Self {
            directory,
            replica: Some(ReplicatedCrawl {
                runtime,
                replica,
                _draft: draft,
            }),
        }))
    }

    /// Returns the directory to read.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns true if this is a replica of a shared crawl.
    pub const fn is_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// Returns the name of this crawl for messages.
    pub fn shown(&self) -> String {
        match self.is_replica() {
            true => "--store URL".to_owned(),
            false => pasted(&self.directory),
        }
    }

    /// Refuses an option for a replica: `what` is the option, `why` the reason.
    pub fn refuse_for_replica(&self, what: &str, why: Refused) -> Result<(), CommandError> {
        if !self.is_replica() {
            return Ok(());
        }
        Err(match why {
            Refused::ReadsArchive => usage(format!(
                "{what} reads the archive, which is on the nodes and not in the store"
            ))
            .with_remedy(
                "put the archives of all nodes into NEW/archive, and run `crawler rebuild NEW \
                 --from-archive`",
            ),
            Refused::Writes => usage(format!(
                "{what} changes the crawl, but --store only reads it"
            ))
            .with_remedy("use it on a crawl in a directory"),
        })
    }

    /// Refreshes a replica every two seconds, in a thread that ends with the process.
    pub fn follow(self) -> Result<FollowedCrawl, CommandError> {
        let Some(replicated) = self.replica else {
            return Ok(FollowedCrawl { _draft: None });
        };
        let ReplicatedCrawl {
            runtime,
            mut replica,
            _draft: draft,
        } = replicated;
        let refresh = async move {
            let mut was_away = false;
            loop {
                tokio::time::sleep(REFRESH).await;
                let refreshed = replica.refresh(|| {}).await;
                if let (Err(error), false) = (&refreshed, was_away) {
                    say(&format!("warning: the values are not updated: {error}"));
                }
                was_away = refreshed.is_err();
            }
        };
        let thread = std::thread::Builder::new().name("replica".to_owned());
        thread
            .spawn(move || runtime.block_on(refresh))
            .map_err(|error| fault(&error))?;
        Ok(FollowedCrawl {
            _draft: Some(draft),
        })
    }
}

/// The reason why an option is refused for a replica.
#[derive(Clone, Copy, Debug)]
pub enum Refused {
    /// It reads the archive.
    ReadsArchive,
    /// It changes the crawl.
    Writes,
}

/// A followed crawl. Its replica is removed when this value is dropped.
pub struct FollowedCrawl {
    _draft: Option<DraftPath>,
}

/// A replica of the decisions of one node.
pub struct NodeReplica {
    /// The name of the node.
    pub node: String,
    /// The directory of the replica.
    pub directory: PathBuf,
    _draft: DraftPath,
}

impl NodeReplica {
    /// Copies the decisions of the node whose directory has this node file. Returns `None` for a
    /// node of another crawl.
    pub fn of_node_file(url: &str, node_file: NodeFile) -> Result<Option<Self>, CommandError> {
        runtime()?.block_on(async {
            let crawl = open_shared(url).await?;
            match crawl.has(&node_file).await.map_err(read_error)? {
                true => Self::new(crawl, node_file.node).await.map(Some),
                false => Ok(None),
            }
        })
    }

    /// Copies the decisions of the node that wrote these archive files. Returns `None` if no node
    /// of the crawl wrote them.
    pub fn of_archive(url: &str, files: &[String]) -> Result<Option<Self>, CommandError> {
        runtime()?.block_on(async {
            let crawl = open_shared(url).await?;
            match crawl.node_of_archive(files).await.map_err(read_error)? {
                Some(node) => Self::new(crawl, node).await.map(Some),
                None => Ok(None),
            }
        })
    }

    async fn new(crawl: SharedCrawl, node: String) -> Result<Self, CommandError> {
        let part = ReplicaPart::Node(node.clone());
        let (directory, _, draft) = copy(crawl, part).await?;
        Ok(Self {
            node,
            directory,
            _draft: draft,
        })
    }
}

/// Returns the URL of the store from the option, or else from the environment variable.
pub fn url(option: Option<&StoreUrl>) -> Option<String> {
    let named = option.map(|url| url.0.clone());
    named
        .or_else(|| std::env::var(VARIABLE).ok())
        .filter(|url| !url.is_empty())
}

/// Returns the URL of the store, for a command that requires one.
pub fn required_url(option: Option<&StoreUrl>) -> Result<String, CommandError> {
    url(option).ok_or_else(|| {
        usage("no store given").with_remedy(format!(
            "--store postgres://USER@HOST/DATABASE, or the variable {VARIABLE}"
        ))
    })
}

/// Returns a runtime for connections.
pub fn runtime() -> Result<Runtime, CommandError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| fault(&error))
}

/// Opens a shared crawl for reading.
pub async fn open_shared(url: &str) -> Result<SharedCrawl, CommandError> {
    SharedCrawl::open(url).await.map_err(read_error)
}

/// Returns the settings of a shared crawl.
pub fn settings_of(crawl: &SharedCrawl) -> Result<Settings, CommandError> {
    let directory = tempfile::tempdir().map_err(|error| fault(&error))?;
    write_settings(crawl, directory.path())?;
    Settings::of_crawl(directory.path())
}

fn write_settings(crawl: &SharedCrawl, directory: &Path) -> Result<(), CommandError> {
    let text = crawl.settings().text.as_bytes();
    let written = SystemDisk.replace(&directory.join(SETTINGS_FILE), text);
    written.map_err(|error| fault(&error))
}

/// Makes a replica of the crawl in the store at `url`.
async fn replica(url: &str) -> Result<(PathBuf, Replica, DraftPath), CommandError> {
    let crawl = open_shared(url).await?;
    copy(crawl, ReplicaPart::Whole).await
}

/// Copies a part of a crawl into a directory for temporary files.
async fn copy(
    crawl: SharedCrawl,
    part: ReplicaPart,
) -> Result<(PathBuf, Replica, DraftPath), CommandError> {
    let made = tempfile::Builder::new()
        .prefix("crawler-replica-")
        .tempdir();
    let directory = made.map_err(|error| fault(&error))?.keep();
    let begun: Result<_, CommandError> = DraftPath::begin(&directory, |_there| Ok(()));
    let ((), draft) = begun?;
    write_settings(&crawl, &directory)?;
    let features = Settings::of_crawl(&directory)?.feature_settings_name();
    let state = crawl_directory::state(&directory);
    let replica = Replica::begin(crawl, part, &state, features).await;
    let mut replica = replica.map_err(read_error)?;
    let mut progress = SlowProgress::new("rows copied from the store");
    let copied = replica.refresh(|| progress.step()).await;
    copied.map_err(read_error)?;
    Ok((directory, replica, draft))
}

/// Returns the error of a database that cannot be opened.
pub fn connect_error(error: &ConnectError) -> CommandError {
    let remedy = match error {
        ConnectError::Url { .. } => {
            "a store is postgres://USER@HOST:PORT/DATABASE; use the variables PGPASSWORD or \
             CRAWLER_STORE to keep a password out of the process list"
        }
        ConnectError::Refused { .. } => {
            "check the user, the password (postgres://USER:PASSWORD@HOST/DATABASE, PGPASSWORD or \
             ~/.pgpass) and the server's pg_hba.conf"
        }
        ConnectError::Tls { .. } => {
            "give its certificate with ?sslrootcert=FILE, or relax the check with ?sslmode=prefer"
        }
        ConnectError::Unreachable { .. } => {
            "check that the server is running, and check host, port and database in the URL"
        }
        ConnectError::Old { .. } => "use a newer version of PostgreSQL",
        ConnectError::Newer { .. } => "use the version of crawler that wrote it",
        ConnectError::Foreign { .. } => "use a separate database for this crawl",
        ConnectError::ReadOnly { .. } => {
            "give the primary server, and a user with write access; only commands that read work \
             on a replica"
        }
    };
    CommandError::of_usage(error).with_remedy(remedy)
}

/// Returns the error of a crawl that cannot be joined or read.
pub(crate) fn join_error(error: &JoinError) -> CommandError {
    match error {
        JoinError::NameInUse { .. } => {
            CommandError::of_usage(error).with_remedy("give each node its own name")
        }
        JoinError::Importing => CommandError::of_usage(error).with_remedy(
            "wait for it, or continue an interrupted import with `crawler import DIR --store URL`",
        ),
        JoinError::Format { .. } => CommandError::of_usage(error)
            .with_remedy("use the version of crawler that began the crawl"),
        JoinError::Failed { .. } => fault(error),
    }
}

/// Returns the error of a crawl that cannot be read.
pub fn read_error(error: ReadError) -> CommandError {
    match error {
        ReadError::Connect(error) => connect_error(&error),
        ReadError::Join(error) => join_error(&error),
        ReadError::Local(error) => error.into(),
        ReadError::NoCrawl { .. } => CommandError::of_usage(&error).with_remedy(
            "check the database in the URL, or move a crawl there with `crawler import DIR --store \
             URL`",
        ),
        ReadError::Failed { .. } | ReadError::Row { .. } => fault(&error),
    }
}

/// Returns the error of a crawl that cannot be imported.
pub fn import_error(error: ImportError, directory: &Path) -> CommandError {
    let directory = pasted(directory);
    match error {
        ImportError::Connect(error) => connect_error(&error),
        ImportError::Join(error) => join_error(&error),
        ImportError::Occupied { .. } => CommandError::of_usage(&error)
            .with_remedy("create an empty database for this crawl, and give its URL"),
        ImportError::OtherImport { .. } => CommandError::of_usage(&error)
            .with_remedy("continue that import, or create an empty database for this crawl"),
        ImportError::ClockSetBack => CommandError::of_usage(&error).with_remedy(format!(
            "rebuild the state from the archive, without them, by `crawler rebuild {directory} \
             --from-archive`"
        )),
        ImportError::Failed { .. } => {
            fault(&error).with_remedy("the same command continues the import")
        }
    }
}
