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
use policy::LearnedFrames;
use web::Host;

/// Hosts whose frames are remembered. Beyond, the host with the fewest pages is forgotten.
const MAX_HOSTS: usize = 256;

/// The frame of a host, which its pages share.
pub(crate) type SharedFrame = Arc<RwLock<HostFrame>>;

/// The frames of hosts.
#[derive(Debug)]
pub(crate) struct HostFrames {
    state: PathBuf,
    hosts: Mutex<HashMap<Host, SharedFrame>>,
    /// Numbers that change by themselves on several hosts.
    pub(crate) common: SharedFrame,
}

impl HostFrames {
    /// Opens the frames that the last session wrote in this state directory. A file that cannot be
    /// read is skipped with a warning.
    pub(crate) fn open(state: &Path) -> Self {
        let learned = LearnedFrames::read(state).unwrap_or_else(|error| {
            let file = LearnedFrames::path(state);
            let file = file.display();
            tracing::warn!(%file, error, "the boilerplate of hosts is learned again");
            LearnedFrames::default()
        });
        let shared = |frame| Arc::new(RwLock::new(frame));
        let hosts = learned.hosts.into_iter();
        let hosts = hosts.map(|(host, frame)| (host, shared(frame))).collect();
        Self {
            state: state.to_owned(),
            hosts: Mutex::new(hosts),
            common: shared(learned.common),
        }
    }

    /// Writes them for the next session.
    pub(crate) fn save(&self, disk: &dyn Disk) -> io::Result<()> {
        let hosts = self.hosts();
        let hosts = hosts.iter();
        let hosts = hosts.map(|(host, frame)| (host.clone(), read(frame).clone()));
        let learned = LearnedFrames::new(hosts.collect(), read(&self.common).clone());
        learned.write(&self.state, disk)
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

/// Locks a frame for a change.
pub(crate) fn write(frame: &SharedFrame) -> RwLockWriteGuard<'_, HostFrame> {
    frame.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a frame for reading.
pub(crate) fn read(frame: &SharedFrame) -> RwLockReadGuard<'_, HostFrame> {
    frame.read().unwrap_or_else(PoisonError::into_inner)
}
