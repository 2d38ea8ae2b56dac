//! Signature records: the data of each document that verification needs, read only for candidates.
//!
//! | key in tree `cards` | value |
//! |---|---|
//! | number of the block u32, big-endian (document / 16) | a sealed block (database/seal.rs) |
//! | `count` | sealed: how many records there are |
//!
//! ```text
//! block   version u8 = 2 · sixteen slots
//! slot    flags u8: 0 empty, else 1 held + 2 with text + 4 with words of its own + 8 with sketch
//!         + 16 with bag + 32 with title terms, and if it is held:
//!         position u64 · page u64 · group u64 · payload u128                     (little-endian)
//!         with text: digest u128 · words u32 · fingerprint u64, and each if there is one:
//!         own u128 · sketch 160 bytes · bag 68 bytes · title terms: required u8 · all u8
//!         · `all` words u16
//! ```
//!
//! A record without text takes 41 bytes, and a record with text at most 347, so a block is below 6
//! KiB. Invariants: a document's slot depends only on its last change, so changes may be repeated;
//! the count changes in the same batch.

use journal::{Position, StoreFault};
use neardup::{
    BAG_BYTES, BagSketch, Fingerprint, PageSignature, SKETCH_BYTES, Sketch, TextSignature,
    TitleTerms,
};
use web::UrlKey;

use crate::embedded::database::{Batch, Database, Tree, seal, take};

const TREE: &str = "cards";
const COUNT: &[u8] = b"count";
const VERSION: u8 = 2;
const SLOTS: usize = 16;
/// Maximum number of blocks in a batch.
const BATCH_BLOCKS: usize = 31;

const HELD: u8 = 1;
const TEXT: u8 = 2;
const OWN: u8 = 4;
const SKETCH: u8 = 8;
const BAG: u8 = 16;
const TITLE_TERMS: u8 = 32;

/// The signature record of an admitted document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureRecord {
    /// The position of its admission in the journal.
    pub position: Position,
    /// Its URL.
    pub page: UrlKey,
    /// Its comparison group.
    pub group: u64,
    /// Its signature.
    pub signature: PageSignature,
}

type Block = [Option<SignatureRecord>; SLOTS];

/// The records of one crawl. See the module's documentation. Only one thread at a time may change
/// them; all may read.
#[derive(Clone)]
pub struct SignatureRecords {
    tree: Tree,
}

impl SignatureRecords {
    /// Opens the records in this database.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if it is damaged; the same applies to all other functions.
    pub fn open(database: &Database) -> Result<Self, StoreFault> {
        Ok(Self {
            tree: database.tree(TREE)?,
        })
    }

    /// Returns the record of a document; `None` if it was never written or was removed.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the records are damaged.
    pub fn get(&self, document: u32) -> Result<Option<SignatureRecord>, StoreFault> {
        let (block, slot) = place_of(document);
        Ok(self.block(block)?[slot].take())
    }

    /// Writes these records and removes the records of the `forgotten` documents; no document may
    /// be in both lists. Both are in ascending order of document.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the records are damaged.
    pub fn update(
        &self,
        records: &[(u32, SignatureRecord)],
        forgotten: &[u32],
    ) -> Result<(), StoreFault> {
        debug_assert!(
            records.is_sorted_by_key(|(document, _)| document) && forgotten.is_sorted(),
            "documents ascend"
        );
        let mut count = self.count()?;
        let mut batch = Batch::default();
        let (mut records, mut forgotten) = (records, forgotten);
        let block_of = |document: u32| place_of(document).0;
        loop {
            let heads = records.first().map(|(document, _)| *document).into_iter();
            let Some(number) = heads.chain(forgotten.first().copied()).map(block_of).min() else {
                break;
            };
            let (here, later) =
                records.split_at(records.partition_point(|(of, _)| block_of(*of) == number));
            let (gone, later_gone) =
                forgotten.split_at(forgotten.partition_point(|of| block_of(*of) == number));
            (records, forgotten) = (later, later_gone);

            let old = self.block(number)?;
            let mut new = old.clone();
            for (document, record) in here {
                new[place_of(*document).1] = Some(record.clone());
            }
            for document in gone {
                new[place_of(*document).1] = None;
            }
            if new == old {
                continue;
            }
            let held = |block: &Block| block.iter().flatten().count() as u64;
            count = (count + held(&new))
                .checked_sub(held(&old))
                .ok_or_else(|| self.broken("there are more records than were counted"))?;
            let key = number.to_be_bytes();
            match held(&new) {
                0 => batch.remove(&key),
                _ => batch.insert(&key, &seal::sealed(&key, &encode(&new))),
            }
            if batch.len() == BATCH_BLOCKS {
                self.apply(std::mem::take(&mut batch), count)?;
            }
        }
        self.apply(batch, count)
    }

    /// Returns the number of records.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the records are damaged.
    pub fn count(&self) -> Result<u64, StoreFault> {
        Ok(self.tree.get_sealed(COUNT)?.unwrap_or(0))
    }

    /// Visits all records in the order of their documents. Fails at the end if a record is missing.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the records are damaged.
    pub fn each(&self, mut visit: impl FnMut(u32, &SignatureRecord)) -> Result<(), StoreFault> {
        let mut found = 0;
        for entry in self.tree.under(&[]) {
            let (key, value) = entry?;
            if &*key == COUNT {
                continue;
            }
            let key = key
                .as_array()
                .ok_or_else(|| self.broken("the key of a block of records is malformed"))?;
            let first = u32::from_be_bytes(*key)
                .checked_mul(SLOTS as u32)
                .ok_or_else(|| self.broken("a block of records lies beyond the last document"))?;
            let block = self.read(key, &value)?;
            for (document, record) in (first..=u32::MAX).zip(&block) {
                if let Some(record) = record {
                    found += 1;
                    visit(document, record);
                }
            }
        }
        if found != self.count()? {
            return Err(self.broken("there are other records than were counted"));
        }
        Ok(())
    }

    /// Removes all records.
    pub(in crate::embedded) fn clear(&self) -> Result<(), StoreFault> {
        self.tree.clear()
    }

    fn apply(&self, mut batch: Batch, count: u64) -> Result<(), StoreFault> {
        if batch.len() == 0 {
            return Ok(());
        }
        batch.insert(COUNT, &seal::written(COUNT, &count));
        self.tree.apply(batch)
    }

    fn block(&self, number: u32) -> Result<Block, StoreFault> {
        let key = number.to_be_bytes();
        match self.tree.get(&key)? {
            Some(value) => self.read(&key, &value),
            None => Ok(Block::default()),
        }
    }

    fn read(&self, key: &[u8], value: &[u8]) -> Result<Block, StoreFault> {
        let content =
            seal::opened(key, value).map_err(|broken| self.broken(&broken.to_string()))?;
        decode(content).ok_or_else(|| self.broken("a block of records is malformed"))
    }

    fn broken(&self, what: &str) -> StoreFault {
        self.tree.broken(what.to_owned())
    }
}

/// Returns the block of a document, and its slot in the block.
fn place_of(document: u32) -> (u32, usize) {
    (document / SLOTS as u32, document as usize % SLOTS)
}

fn encode(block: &Block) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    for slot in block {
        let Some(record) = slot else {
            bytes.push(0);
            continue;
        };
        let text = record.signature.text.as_deref();
        let own = text.and_then(|text| text.main_content);
        let sketch = text.and_then(|text| text.sketch.as_ref());
        let bag = text.and_then(|text| text.bag.as_ref());
        let title_terms = text.and_then(|text| text.title_terms.as_ref());
        let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
        bytes.push(
            HELD | flag(text.is_some(), TEXT)
                | flag(own.is_some(), OWN)
                | flag(sketch.is_some(), SKETCH)
                | flag(bag.is_some(), BAG)
                | flag(title_terms.is_some(), TITLE_TERMS),
        );
        for part in [record.position, record.page.as_u64(), record.group] {
            bytes.extend_from_slice(&part.to_le_bytes());
        }
        bytes.extend_from_slice(&record.signature.payload.to_le_bytes());
        if let Some(text) = text {
            bytes.extend_from_slice(&text.digest.to_le_bytes());
            bytes.extend_from_slice(&text.words.to_le_bytes());
            bytes.extend_from_slice(&text.fingerprint.as_u64().to_le_bytes());
        }
        bytes.extend(own.into_iter().flat_map(u128::to_le_bytes));
        bytes.extend(sketch.into_iter().flat_map(Sketch::to_bytes));
        bytes.extend(bag.into_iter().flat_map(BagSketch::to_bytes));
        bytes.extend(title_terms.into_iter().flat_map(TitleTerms::to_bytes));
    }
    bytes
}

/// Decodes a block; `None` if the bytes are malformed.
fn decode(mut bytes: &[u8]) -> Option<Block> {
    let bytes = &mut bytes;
    if take(bytes)? != [VERSION] {
        return None;
    }
    let mut block = Block::default();
    for slot in &mut block {
        *slot = record_of(bytes)?;
    }
    bytes.is_empty().then_some(block)
}

/// Decodes the next slot; `None` if the bytes are malformed.
fn record_of(bytes: &mut &[u8]) -> Option<Option<SignatureRecord>> {
    let [flags] = take(bytes)?;
    let has = |flag: u8| flags & flag != 0;
    if flags == 0 {
        return Some(None);
    }
    let is_known = flags < 2 * TITLE_TERMS && has(HELD);
    if !is_known || !has(TEXT) && flags != HELD {
        return None;
    }
    let position = u64::from_le_bytes(take(bytes)?);
    let page = UrlKey::from_u64(u64::from_le_bytes(take(bytes)?));
    let group = u64::from_le_bytes(take(bytes)?);
    let payload = u128::from_le_bytes(take(bytes)?);
    let text = part(has(TEXT), || {
        Some(Box::new(TextSignature {
            digest: u128::from_le_bytes(take(bytes)?),
            words: u32::from_le_bytes(take(bytes)?),
            fingerprint: Fingerprint::new(u64::from_le_bytes(take(bytes)?)),
            main_content: part(has(OWN), || take(bytes).map(u128::from_le_bytes))?,
            sketch: part(has(SKETCH), || {
                take::<SKETCH_BYTES>(bytes).map(|sketch| Sketch::from_bytes(&sketch))
            })?,
            bag: part(has(BAG), || {
                take::<BAG_BYTES>(bytes).map(|bag| BagSketch::from_bytes(&bag))
            })?,
            title_terms: part(has(TITLE_TERMS), || title_terms_of(bytes))?,
        }))
    })?;
    Some(Some(SignatureRecord {
        position,
        page,
        group,
        signature: PageSignature { payload, text },
    }))
}

/// Decodes a part of a slot if it is present; `None` if the bytes are malformed.
fn part<T>(is_there: bool, decode: impl FnOnce() -> Option<T>) -> Option<Option<T>> {
    match is_there {
        true => decode().map(Some),
        false => Some(None),
    }
}

/// Decodes the title terms at the start; `None` if the bytes are malformed.
fn title_terms_of(bytes: &mut &[u8]) -> Option<TitleTerms> {
    let all = usize::from(*bytes.get(1)?);
    let (title_terms, rest) = bytes.split_at_checked(2 + 2 * all)?;
    *bytes = rest;
    TitleTerms::from_bytes(title_terms)
}

#[cfg(test)]
mod tests;
