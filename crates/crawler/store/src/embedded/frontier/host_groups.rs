//! The stored groups of hosts: which are stale, and which values no watermark needs any more.
//!
//! Hosts are written in groups of neighbouring numbers; the state that does not belong to a host is
//! a group of its own. A flush writes the groups that changed, each under the flush's position.
//! Once it has its watermark, the values under earlier positions are *retired*: the next flush
//! removes them.
//!
//! Invariant: the value of a group at the watermark is neither overwritten nor removed.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use journal::Position;

/// Number of hosts that are written together.
const GROUP: u32 = 64;
/// Group number of the state that does not belong to a host.
pub(super) const STATE: u32 = u32::MAX;

/// The groups of hosts in the database.
#[derive(Debug, Default)]
pub(super) struct HostGroups {
    /// Groups that changed since the last flush.
    dirty: BTreeSet<u32>,
    /// The position and the number of parts of each group's value.
    current: HashMap<u32, (Position, u16)>,
    retired: Retired,
}

/// Values that are not needed by any watermark any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Retired {
    /// Values of groups: their keys without the number of the part, and their numbers of parts.
    pub(super) groups: Vec<(Vec<u8>, u16)>,
    /// Keys of the runs of seen URLs.
    pub(super) seen: Vec<Vec<u8>>,
}

impl HostGroups {
    /// Marks a host that changed in a way that outlasts the process.
    pub(super) fn touch(&mut self, host: u32) {
        self.dirty.insert(host / GROUP);
    }

    /// Takes the groups to write, [`STATE`] included, and the values to remove.
    pub(super) fn begin_flush(&mut self) -> (BTreeSet<u32>, Retired) {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.insert(STATE);
        (dirty, std::mem::take(&mut self.retired))
    }

    /// Takes back the groups and the values of a failed flush.
    pub(super) fn abort_flush(&mut self, dirty: BTreeSet<u32>, retired: Retired) {
        self.dirty.extend(dirty);
        self.retired = retired;
    }

    /// Notes the value of a group, and retires the one before it.
    pub(super) fn written(&mut self, group: u32, position: Position, parts: u16) {
        let old = self.current.insert(group, (position, parts));
        if let Some((old_position, old_parts)) = old.filter(|(old, _)| *old != position) {
            self.retire(key(group, old_position), old_parts);
        }
    }

    /// Retires the value of a group, by its key.
    pub(super) fn retire(&mut self, key: Vec<u8>, parts: u16) {
        self.retired.groups.push((key, parts));
    }

    /// Retires a run of seen URLs.
    pub(super) fn retire_seen(&mut self, key: Vec<u8>) {
        self.retired.seen.push(key);
    }
}

/// Returns the numbers of the hosts of a group, among this number of hosts.
pub(super) fn hosts_of(group: u32, hosts: u32) -> Range<u32> {
    if group == STATE {
        return 0..0;
    }
    let end = group.saturating_add(1).saturating_mul(GROUP);
    first_of(group).min(hosts)..end.min(hosts)
}

/// Returns the number of the first host of a group.
pub(super) fn first_of(group: u32) -> u32 {
    group.saturating_mul(GROUP)
}

/// Returns the key of a group's value in the database.
pub(super) fn key(group: u32, position: Position) -> Vec<u8> {
    [group.to_be_bytes().as_slice(), &position.to_be_bytes()].concat()
}
