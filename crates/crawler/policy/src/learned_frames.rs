//! The frames of hosts that a crawl has learned, in its state directory.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use comparison::HostFrame;
use disk::Disk;
use serde::{Deserialize, Serialize};
use web::{Host, PageUrl, SharedLines};

/// The file in the state directory.
const FILE: &str = "frames";
/// The version of the file. Other versions are not read.
const VERSION: u16 = 4;

/// The learned frames in their stored form (postcard). `F` is a frame, or a reference to one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LearnedFrames<F = HostFrame> {
    version: u16,
    /// Hosts with their frames, in arbitrary order.
    pub hosts: Vec<(Host, F)>,
    /// Numbers that change by themselves on several hosts.
    pub common: F,
}

impl<F: Serialize> LearnedFrames<F> {
    /// Creates the stored form of these frames.
    #[must_use]
    pub fn new(hosts: Vec<(Host, F)>, common: F) -> Self {
        Self {
            version: VERSION,
            hosts,
            common,
        }
    }

    /// Writes them into a state directory for the next session.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, state: &Path, disk: &dyn Disk) -> io::Result<()> {
        let bytes = postcard::to_allocvec(self).map_err(io::Error::other)?;
        disk.replace(&LearnedFrames::path(state), &bytes)
    }
}

impl LearnedFrames {
    /// Returns the path of the file in a state directory.
    #[must_use]
    pub fn path(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    /// Reads the frames that a session wrote in this state directory at its end.
    ///
    /// # Errors
    /// The reason why they cannot be read. A missing file counts as empty.
    pub fn read(state: &Path) -> Result<Self, String> {
        let bytes = match std::fs::read(Self::path(state)) {
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

/// The frames of a crawl's hosts, for texts without the lines that pages share.
#[derive(Debug)]
pub struct FramesByHost(HashMap<Host, HostFrame>);

impl From<LearnedFrames> for FramesByHost {
    fn from(learned: LearnedFrames) -> Self {
        Self(learned.hosts.into_iter().collect())
    }
}

impl SharedLines for FramesByHost {
    fn has(&self, url: &PageUrl, line: &str) -> bool {
        let frame = self.0.get(&url.host());
        frame.is_some_and(|frame| frame.has_line(line))
    }
}
