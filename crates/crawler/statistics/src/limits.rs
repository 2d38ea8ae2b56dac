//! The caps of all statistics, in one place.

/// Points of the timeline: beyond this number, two become one.
pub const MAX_POINTS: usize = 1_024;

/// Hosts with statistics of their own, about 300 bytes each. Further hosts are counted together.
pub const MAX_HOSTS: usize = 1 << 20;

/// Characters of a host's last failure.
pub const MAX_FAILURE_CHARACTERS: usize = 200;

/// Names in each table of counts. Further names are counted together.
pub const MAX_NAMES: usize = 1_000;

/// Characters of a name in a table of counts; longer ones are cut.
pub const MAX_NAME_CHARACTERS: usize = 100;

/// Visits of each kind that are shown: the newest.
pub const MAX_NEWEST: usize = 500;

/// Visits of each kind that are remembered, so that shown ones that are revoked have successors.
pub const MAX_REMEMBERED: usize = 2 * MAX_NEWEST;

/// Characters of each text of a newest visit; longer ones are cut.
pub const MAX_TEXT_CHARACTERS: usize = 500;

/// Clusters that are named: the largest.
pub const MAX_CLUSTERS: usize = 100;

/// Clusters whose names are remembered, so that shrinking clusters have successors.
pub const MAX_NAMED_CLUSTERS: usize = 2 * MAX_CLUSTERS;

/// Duplicates of a named cluster that are remembered as examples: the newest.
pub const MAX_EXAMPLES: usize = 3;

/// Originals whose duplicates are counted: the capacity of a hash table of 2^20 places, in 18 MB.
pub const MAX_ORIGINALS: usize = (1 << 20) / 8 * 7;

/// Unsettled queue entries that were active when a session died.
pub const MAX_DIED: usize = 65_536;

/// Visits in flight: the largest concurrency and its stalled visits, with a margin.
pub const MAX_UNDER_WAY: usize = 65_536;

/// Positions of records that queued URLs: 1 MiB.
pub const MAX_QUEUE_MARKS: usize = 65_536;

/// Visits in the index: 192 MiB; and the same number of its entries for duplicates.
pub const MAX_INDEXED: usize = 16 << 20;
