//! Trees kept in files: rebuildable, checksummed, read a block at a time.
//!
//! Opening reads one block whatever the height; a signature reads the blocks of its path, most of
//! which the signature before left in memory. Each block has a tag keyed by the secret key, so that a
//! damaged or exchanged cache is found before it is used: in a hypertree a wrong root would be signed
//! by a one-time key that signed the right one before. What is in the file is public.
//!
//! Format (`docs/xmss-state.md`): magic, then blocks of 4096 bytes of nodes (the last one padded with
//! zeros), each followed by its tag of 16 bytes.

use crate::Error;
use crate::address::TreePlace;
use crate::keys::SecretKey;
use crate::tree::{Shape, Tree};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;
use tetralith_durable::{Access, Aside};
use zeroize::Zeroizing;

/// The nodes of one tree in a file.
pub(crate) struct NodeFile {
    file: File,
    tagger: Tagger,
    /// The blocks read last, the latest first.
    held: Vec<(u64, Vec<u8>)>,
}

/// Makes the tags of one tree's blocks.
struct Tagger {
    key: Zeroizing<[u8; 32]>,
    place: TreePlace,
    shape: Shape,
}

impl Tagger {
    /// The tags are keyed by all of the key: nodes of the same seeds with another derivation, or computed
    /// while a seed in memory was damaged, are those of another key.
    fn new(key: &SecretKey, place: TreePlace) -> Self {
        Self { key: key.binding(MAGIC), place, shape: Shape::of(key.params()) }
    }

    fn tag(&self, block: u64, nodes: &[u8]) -> [u8; TAG] {
        let mut hash = Sha256::new_with_prefix(&self.key[..]);
        hash.update(self.place.layer.to_be_bytes());
        hash.update(self.place.tree.to_be_bytes());
        hash.update(self.shape.height.to_be_bytes());
        hash.update((self.shape.n as u32).to_be_bytes());
        hash.update(block.to_be_bytes());
        hash.update(nodes);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&hash.finalize()[..TAG]);
        tag
    }
}

impl NodeFile {
    /// Reads nodes from byte `at` on; they lie in one block or two.
    pub(crate) fn read(&mut self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < out.len() {
            let (block, from) = (((at + done) / BLOCK) as u64, (at + done) % BLOCK);
            let count = (BLOCK - from).min(out.len() - done);
            out[done..done + count].copy_from_slice(&self.block(block)?[from..from + count]);
            done += count;
        }
        Ok(())
    }

    fn block(&mut self, block: u64) -> Result<&[u8], Error> {
        if let Some(found) = self.held.iter().position(|(held, _)| *held == block) {
            self.held[..=found].rotate_right(1);
        } else {
            let bytes = self.load(block)?;
            self.held.truncate(HELD - 1);
            self.held.insert(0, (block, bytes));
        }
        Ok(&self.held[0].1)
    }

    fn load(&mut self, block: u64) -> Result<Vec<u8>, Error> {
        let at = MAGIC.len() as u64 + block * (BLOCK + TAG) as u64;
        let mut bytes = vec![0; BLOCK + TAG];
        let read =
            self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| Error::Cache(error.to_string()))?;
        let tag = bytes.split_off(BLOCK);
        if !bool::from(self.tagger.tag(block, &bytes).ct_eq(&tag[..])) {
            return Err(Error::Cache(format!("block {block} is damaged")));
        }
        Ok(bytes)
    }
}

/// The file of a layer's tree.
fn path(base: &Path, place: TreePlace) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(format!(".layer{}", place.layer));
    PathBuf::from(path)
}

/// Opens a stored tree.
///
/// # Errors
/// [`Error::Cache`] where there is none, or one of another tree or key.
pub(crate) fn open(key: &SecretKey, place: TreePlace, base: &Path) -> Result<Tree, Error> {
    let fail = |error: std::io::Error| Error::Cache(error.to_string());
    let shape = Shape::of(key.params());
    let path = path(base, place);
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(&path).map_err(fail)?.is_file() {
        return Err(Error::Cache(format!("{} is no file", path.display())));
    }
    let mut file = File::open(path).map_err(fail)?;
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic).map_err(fail)?;
    let blocks = shape.bytes().div_ceil(BLOCK) as u64;
    let expected = MAGIC.len() as u64 + blocks * (BLOCK + TAG) as u64;
    if magic != *MAGIC || file.metadata().map_err(fail)?.len() != expected {
        return Err(Error::Cache("not this tree's cache".into()));
    }
    let tagger = Tagger::new(key, place);
    Tree::from_file(place, shape, NodeFile { file, tagger, held: Vec::new() })
}

/// Stores a tree that is in memory, a block at a time.
pub(crate) fn save(key: &SecretKey, tree: &Tree, base: &Path) -> Result<(), Error> {
    let Some(nodes) = tree.in_memory() else { return Ok(()) };
    let tagger = Tagger::new(key, tree.place);
    let path = path(base, tree.place);
    let written = Aside::create(&path, Access::Public).and_then(|mut aside| {
        let mut file = BufWriter::with_capacity(1 << 18, &mut aside);
        file.write_all(MAGIC)?;
        let mut last = [0; BLOCK];
        for (block, nodes) in (0..).zip(nodes.chunks(BLOCK)) {
            last[..nodes.len()].copy_from_slice(nodes);
            last[nodes.len()..].fill(0);
            file.write_all(&last)?;
            file.write_all(&tagger.tag(block, &last))?;
        }
        file.flush()?;
        drop(file);
        aside.replace().map(drop)
    });
    written.map_err(|error| Error::Cache(format!("{}: {error}", path.display())))
}

const MAGIC: &[u8; 23] = b"tetralith xmss nodes 1\n";
/// Bytes of nodes in a block.
const BLOCK: usize = 4096;
/// Bytes of a block's tag.
const TAG: usize = 16;
/// Blocks held in memory: a path of the highest tree (30 levels) lies in at most 31.
const HELD: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Params, Scheme};
    use std::time::Instant;

    /// A key of height 20 (or 16, where the test must be quick) opens and shows a path at once.
    #[test]
    fn a_tall_tree_opens_at_once() {
        let slow = std::env::var_os("TETRALITH_SLOW").is_some();
        if !slow {
            println!("height 16; height 20 with TETRALITH_SLOW=1");
        }
        let params = Params::from_oid(Scheme::Xmss, if slow { 3 } else { 2 }).unwrap();
        let mut bytes = vec![1, 1, 1, 0, 0];
        bytes.extend_from_slice(&params.oid().unwrap().to_be_bytes());
        bytes.resize(9 + 4 * params.n(), 7);
        let key = SecretKey::from_bytes(&bytes).unwrap();
        let shape = Shape::of(params);
        let nodes: Vec<u8> = (0..shape.bytes()).map(|i| (i / 32 * 7) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("key");
        let mut whole = Tree::of_nodes(key.top(), shape, nodes);
        save(&key, &whole, &base).unwrap();
        let start = Instant::now();
        let mut stored = open(&key, key.top(), &base).unwrap();
        let mut found = Vec::new();
        stored.auth_path(12_345, &mut found).unwrap();
        let took = start.elapsed();
        let mut expected = Vec::new();
        whole.auth_path(12_345, &mut expected).unwrap();
        assert_eq!(found, expected);
        assert_eq!(stored.root(), whole.root());
        // Generous, for busy machines; what it must not do is read 64 megabytes.
        assert!(took.as_millis() < 50, "{took:?}");
        println!("opened with a path in {took:?}");
    }
}
