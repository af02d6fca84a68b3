//! One task without a person: the exec face.
