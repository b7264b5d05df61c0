//! Any bytes as a sealed file, and good ones of both versions with bytes changed. The header that parses
//! encodes to the same bytes; only the sealed bytes open, and what is written is the beginning of the file.

use crate::changes;
use rand_core::SeedableRng;
use std::sync::LazyLock;
use tetralith_vdf::Error;
use tetralith_vdf::timelock::{CHUNK, Header, Version, seal};

/// Two full chunks and a short one, sealed for no squarings, so that y is a.
static SEALED: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let file: Vec<u8> = (0..2 * CHUNK + 9).map(|i| (i % 251) as u8).collect();
    let mut bytes = Vec::new();
    let mut rng = chacha20::ChaCha20Rng::from_seed([5; 32]);
    seal(&mut &file[..], &mut bytes, 0, 256, &mut rng).unwrap();
    (file, bytes)
});

/// Runs one input: how, and the file, or the changes of a good one.
pub(crate) fn run(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    if how % 4 != 0 {
        opens(rest, None);
        return;
    }
    let (file, sealed) = &*SEALED;
    let mut bytes = sealed.clone();
    // Chunks in another order, or fewer of them, and then single bytes.
    if let Some((&order, _)) = rest.split_first()
        && order >= 128
    {
        let head = bytes.len() - (2 * (CHUNK + 16) + 25);
        let chunks: Vec<&[u8]> = sealed[head..].chunks(CHUNK + 16).collect();
        bytes.truncate(head);
        for i in 0..3 {
            if let Some(chunk) = chunks.get(usize::from(order >> (2 * i) & 3)) {
                bytes.extend_from_slice(chunk);
            }
        }
    }
    changes::apply(rest, &mut bytes);
    let same = bytes == *sealed;
    assert_eq!(opens(&bytes, Some(file)), same);
}

fn opens(bytes: &[u8], expected: Option<&[u8]>) -> bool {
    let mut source = bytes;
    let Ok(header) = Header::read(&mut source) else { return false };
    assert_eq!(header.to_bytes(), bytes[..bytes.len() - source.len()]);
    let len = header.file_len(bytes.len() as u64);
    let mut file = Vec::new();
    let opened = header.open(header.base(), &mut source, &mut file);
    if let Some(expected) = expected {
        assert!(expected.starts_with(&file));
    }
    match opened {
        Ok(found) => assert_eq!((found, Some(found)), (file.len() as u64, len.ok())),
        Err(Error::Sealed) => assert!(file.is_empty()),
        Err(Error::SealedChunk { .. } | Error::SealedEnds { .. }) => {
            assert!(header.version() == Version::Chunked && file.len() % CHUNK == 0);
        }
        Err(error) => panic!("{error}"),
    }
    opened.is_ok()
}
