//! A short list of ids, nearly always of length one.

/// Ids in the order of insertion. A single id needs no allocation.
#[derive(Clone, Debug)]
pub(crate) enum Ids {
    One(u32),
    Several(Vec<u32>),
}

impl Ids {
    pub(crate) fn as_slice(&self) -> &[u32] {
        match self {
            Ids::One(id) => std::slice::from_ref(id),
            Ids::Several(ids) => ids,
        }
    }

    /// Adds `id`; returns false, and adds nothing, if the list holds `cap` ids already.
    pub(crate) fn push(&mut self, id: u32, cap: usize) -> bool {
        if self.as_slice().len() >= cap {
            return false;
        }
        match self {
            Ids::One(first) => *self = Ids::Several(vec![*first, id]),
            Ids::Several(ids) => ids.push(id),
        }
        true
    }

    /// Removes `id`; returns false if it was not present.
    pub(crate) fn remove(&mut self, id: u32) -> bool {
        let Some(at) = self.as_slice().iter().position(|&held| held == id) else {
            return false;
        };
        match self {
            Ids::One(_) => *self = Ids::Several(Vec::new()),
            Ids::Several(ids) => drop(ids.remove(at)),
        }
        true
    }

    /// Returns the number of bytes held in addition to the value itself.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Ids::One(_) => 0,
            Ids::Several(ids) => ids.capacity() * size_of::<u32>(),
        }
    }
}
