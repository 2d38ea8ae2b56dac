//! The frames of hosts, learned during a crawl.
//!
//! A session saves them when it ends, and the next session loads them. After a kill the crawl
//! learns them again.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use comparison::HostFrame;
use disk::Disk;
use serde::{Deserialize, Serialize};
use web::Host;

/// Hosts whose frames are remembered. Beyond, the host with the fewest pages is forgotten.
const MAX_HOSTS: usize = 256;
/// The file in the state directory.
const FILE: &str = "frames";
/// The version of the file. Other versions are not read.
const VERSION: u16 = 4;

/// The frame of a host, which its pages share.
pub(crate) type SharedFrame = Arc<RwLock<HostFrame>>;

/// The frames of hosts.
#[derive(Debug)]
pub(crate) struct HostFrames {
    file: PathBuf,
    hosts: Mutex<HashMap<Host, SharedFrame>>,
    /// Numbers that change by themselves on several hosts.
    pub(crate) common: SharedFrame,
}

/// The learned frames in their stored form (postcard).
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LearnedFrames {
    version: u16,
    /// Hosts with their frames, in arbitrary order.
    pub hosts: Vec<(Host, HostFrame)>,
    /// Numbers that change by themselves on several hosts.
    pub common: HostFrame,
}

impl HostFrames {
    /// Opens the frames that the last session wrote in this state directory. A file that cannot be
    /// read is skipped with a warning.
    pub(crate) fn open(state: &Path) -> Self {
        let file = state.join(FILE);
        let learned = LearnedFrames::read(state).unwrap_or_else(|error| {
            let file = file.display();
            tracing::warn!(%file, error, "the boilerplate of hosts is learned again");
            LearnedFrames::default()
        });
        let shared = |frame| Arc::new(RwLock::new(frame));
        let hosts = learned.hosts.into_iter();
        let hosts = hosts.map(|(host, frame)| (host, shared(frame))).collect();
        Self {
            file,
            hosts: Mutex::new(hosts),
            common: shared(learned.common),
        }
    }

    /// Writes them for the next session.
    pub(crate) fn save(&self, disk: &dyn Disk) -> io::Result<()> {
        let hosts = self.hosts();
        let hosts = hosts.iter();
        let learned = LearnedFrames {
            version: VERSION,
            hosts: hosts
                .map(|(host, frame)| (host.clone(), read(frame).clone()))
                .collect(),
            common: read(&self.common).clone(),
        };
        let bytes = postcard::to_allocvec(&learned).map_err(io::Error::other)?;
        disk.replace(&self.file, &bytes)
    }

    /// Returns the frame of a host.
    pub(crate) fn of(&self, host: &Host) -> SharedFrame {
        let mut hosts = self.hosts();
        if let Some(frame) = hosts.get(host) {
            return Arc::clone(frame);
        }
        if hosts.len() >= MAX_HOSTS {
            let pages = |frame: &SharedFrame| read(frame).pages();
            let fewest = hosts.iter().min_by_key(|(_, frame)| pages(frame));
            if let Some(host) = fewest.map(|(host, _)| host.clone()) {
                hosts.remove(&host);
            }
        }
        let frame = SharedFrame::default();
        hosts.insert(host.clone(), Arc::clone(&frame));
        frame
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<Host, SharedFrame>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LearnedFrames {
    /// Reads the frames that a session wrote in this state directory at its end.
    ///
    /// # Errors
    /// The reason why they cannot be read. A missing file counts as empty.
    pub fn read(state: &Path) -> Result<Self, String> {
        let bytes = match std::fs::read(state.join(FILE)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.to_string()),
        };
        let learned: Self = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
        if learned.version != VERSION {
            return Err(format!("version {} is unknown", learned.version));
        }
        Ok(learned)
    }

    /// Returns the frame of a host, if one was learned.
    #[must_use]
    pub fn of(&self, host: &Host) -> Option<&HostFrame> {
        let known = self.hosts.iter().find(|(known, _)| known == host);
        known.map(|(_, frame)| frame)
    }
}

/// Locks a frame for a change.
pub(crate) fn write(frame: &SharedFrame) -> RwLockWriteGuard<'_, HostFrame> {
    frame.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a frame for reading.
pub(crate) fn read(frame: &SharedFrame) -> RwLockReadGuard<'_, HostFrame> {
    frame.read().unwrap_or_else(PoisonError::into_inner)
}
