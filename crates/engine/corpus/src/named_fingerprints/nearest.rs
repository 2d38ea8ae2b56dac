//! The fingerprints of a file that are nearest to a fingerprint.

use batch::{DocumentId, Repository};
use messages::{CommandError, fault, usage};
use neardup::Fingerprint;
use neardup::tables::MAX_DISTANCE;

use super::NamedFingerprints;
use crate::nearest::Nearest;

/// A fingerprint near the fingerprint in question.
#[derive(Debug)]
pub struct NearFingerprint {
    /// The id of its document, or its position if names are missing.
    pub document: DocumentId,
    /// Number of differing bits.
    pub distance: u32,
}

impl NamedFingerprints {
    /// Returns the fingerprints within a distance of `own`, or all without a distance: the nearest
    /// `most`, nearest first; ties are in file order. The document named `except` is left out.
    ///
    /// # Errors
    /// The file cannot be read, or it is an index, which does not support the distance.
    pub fn nearest(
        &self,
        own: Fingerprint,
        except: &str,
        distance: Option<u32>,
        most: usize,
    ) -> Result<Vec<NearFingerprint>, CommandError> {
        // One more, because the document itself may be a hit.
        let more = most.saturating_add(1);
        let mut nearest = Nearest::new(more, |one: &(u32, u64), two| one.0.cmp(&two.0));
        self.each_near(own, distance, |position, distance| {
            nearest.push((distance, position));
        })?;
        let mut ids = self.ids()?;
        let mut hits = Vec::new();
        for (distance, position) in nearest.sorted() {
            hits.push(NearFingerprint {
                document: self.name(&mut ids, position)?,
                distance,
            });
        }
        let except = DocumentId::from(except);
        hits.retain(|hit| hit.document != except);
        hits.truncate(most);
        Ok(hits)
    }

    /// Calls `visit` with the position and distance of every fingerprint within a distance, or of
    /// every fingerprint if no distance is given. An index is probed; it supports distances up to
    /// [`MAX_DISTANCE`].
    fn each_near(
        &self,
        own: Fingerprint,
        distance: Option<u32>,
        mut visit: impl FnMut(u64, u32),
    ) -> Result<(), CommandError> {
        match (&self.fingerprints, distance) {
            (Repository::Index(index), Some(distance @ 0..=MAX_DISTANCE)) => {
                let found = index.read().within(own, distance);
                for near in found.map_err(|error| fault(&error))? {
                    visit(near.position, near.distance);
                }
            }
            (Repository::Index(index), _) => {
                let path = index.path().display();
                let message =
                    format!("{path} is an index, which supports at most {MAX_DISTANCE} bits");
                let remedy = format!(
                    "give --distance, 0 to {MAX_DISTANCE}, or the file of fingerprints itself"
                );
                return Err(usage(message).with_remedy(remedy));
            }
            (Repository::File(file), _) => {
                let most = distance.unwrap_or(u64::BITS);
                let mut blocks = file.read().map_err(|error| fault(&error))?;
                while let Some(block) = blocks.next_block().map_err(|error| fault(&error))? {
                    for (position, bits) in (block.position..).zip(block.bits) {
                        let distance = own.distance(Fingerprint::new(*bits));
                        if distance <= most {
                            visit(position, distance);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
