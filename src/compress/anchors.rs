//! Identifiers that later turns rely on, and which of them a compression would leave dangling.

/// An identifier (path, id, number, name, URL, hash, quoted value) that kept assistant turns use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The identifier, as written.
    pub text: String,
    /// How many times kept assistant turns use it.
    pub uses: usize,
}
