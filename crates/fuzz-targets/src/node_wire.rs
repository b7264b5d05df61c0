//! Any bytes as what a peer sends, and as its body behind a right signature: no panic.

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    let _ = tetralith_node::decodes(bytes);
}
