//! Signatures: what tasks and objects have in common that were created at the same place.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;

/// The place of a task's creation, and those of the tasks above it. Two tasks may have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskSignature {
    place: u64,
    all: u64,
    parent: u64,
}

/// Returns a hash that is the same in every process.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl TaskSignature {
    /// Returns the signature of a task that was created at this place by the task with this signature.
    pub(crate) fn new(place: &str, parent: u64, ordinal: u32) -> TaskSignature {
        TaskSignature {
            place: hash(place),
            all: hash((place, parent, ordinal)),
            parent,
        }
    }

    /// Returns a hash of the place of its creation.
    pub fn static_create_location_hash(&self) -> u64 {
        self.place
    }

    /// Returns a hash of that place, of those of the tasks above it, and of the number of its creator's earlier tasks.
    pub fn signature_hash(&self) -> u64 {
        self.all
    }

    /// Returns the hash of its creator.
    pub fn parent_signature_hash(&self) -> u64 {
        self.parent
    }
}

/// A kind of object.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum ResourceType {
    /// An atomic.
    Atomic,
    /// A semaphore.
    BatchSemaphore,
    /// A barrier.
    Barrier,
    /// A condition variable.
    Condvar,
    /// A mutex.
    Mutex,
    /// A readers-writer lock.
    RwLock,
    /// A one-time initialisation.
    Once,
    /// A channel.
    MpscChannel,
}

/// The kind of an object, and the place of its creation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResourceSignature {
    kind: ResourceType,
    place: &'static Location<'static>,
    parent: u64,
    ordinal: u32,
}

impl ResourceSignature {
    /// Returns the signature of an object of this kind that is created at the place of the call.
    #[track_caller]
    pub const fn new_const(resource_type: ResourceType) -> ResourceSignature {
        ResourceSignature::new(resource_type, Location::caller(), 0, 1)
    }

    /// Returns the signature of an object.
    pub const fn new(
        resource_type: ResourceType,
        static_create_location: &'static Location<'static>,
        parent_task_signature: u64,
        create_location_counter: u32,
    ) -> ResourceSignature {
        ResourceSignature {
            kind: resource_type,
            place: static_create_location,
            parent: parent_task_signature,
            ordinal: create_location_counter,
        }
    }

    /// Returns a hash of the place of its creation.
    pub fn static_create_location_hash(&self) -> u64 {
        hash(self.place)
    }

    /// Returns a hash of that place, of the task that created it, and of its number among those created there.
    pub fn signature_hash(&self) -> u64 {
        hash((self.place, self.parent, self.ordinal))
    }
}

impl fmt::Debug for ResourceSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceSignature")
            .field("type", &self.kind)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ResourceSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.kind, self.place)
    }
}
