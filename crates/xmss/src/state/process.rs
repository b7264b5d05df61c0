//! Which process this is: a forked child must not sign with its parent's indices.

/// A process's identity.
///
/// A number alone tells parent from child only within one namespace of process ids: the first child in
/// a new one is number 1 there, as its parent may be where it is. So the namespace belongs to it, where the
/// system tells (Linux with `/proc` mounted).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Process {
    id: u32,
    namespace: Option<std::path::PathBuf>,
}

impl Process {
    /// This process.
    pub(super) fn current() -> Self {
        let namespace = if cfg!(target_os = "linux") {
            std::fs::read_link("/proc/self/ns/pid").ok()
        } else {
            None
        };
        // A browser has no processes, and does not fork.
        let id = if cfg!(target_family = "wasm") { 1 } else { std::process::id() };
        Self { id, namespace }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// As if this were another process: a fork copies the memory and changes only this.
    #[cfg(test)]
    pub(super) fn alter(&mut self, namespace: bool) {
        if namespace {
            self.namespace = Some("pid:[0]".into());
        } else {
            self.id ^= 1;
        }
    }
}
