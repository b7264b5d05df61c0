//! Which process this is: a forked child must not sign with its parent's indices.

/// A process's identity.
///
/// A number alone tells parent from child only within one namespace of process ids: the first child in
/// a new one is number 1 there, as its parent may be where it is. So the namespace belongs to it, where the
/// system tells (Linux with `/proc` mounted).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Process {
    id: u32,
    parent: u32,
    namespace: Option<std::path::PathBuf>,
}

impl Process {
    /// This process.
    pub(super) fn current() -> Self {
        Self { id: id(), parent: parent(), namespace: namespace() }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Whether this process is that one.
    ///
    /// To look at the namespace takes ten times as long as the rest, and is left out where number and
    /// parent's number are the same: a child in a new namespace has parent 0, or 1 when it lost it.
    pub(super) fn is_current(&self) -> bool {
        if id() != self.id {
            return false;
        }
        (self.parent > 1 && parent() == self.parent) || namespace() == self.namespace
    }

    /// As if this were another process: a fork copies the memory and changes only this.
    #[cfg(test)]
    pub(super) fn alter(&mut self, namespace: bool) {
        if namespace {
            (self.parent, self.namespace) = (0, Some("pid:[0]".into()));
        } else {
            self.id ^= 1;
        }
    }
}

fn id() -> u32 {
    // A browser has no processes, and does not fork.
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn parent() -> u32 {
    0
}

fn namespace() -> Option<std::path::PathBuf> {
    if cfg!(target_os = "linux") { std::fs::read_link("/proc/self/ns/pid").ok() } else { None }
}
