use super::*;
use crate::eval::eval;
use rand_core::SeedableRng;
use std::ops::ControlFlow;

fn rng(seed: u64) -> chacha20::ChaCha20Rng {
    chacha20::ChaCha20Rng::seed_from_u64(seed)
}

fn sealed(file: &[u8], iterations: u64, bits: u32, seed: u64) -> (Header, Vec<u8>) {
    let mut out = Vec::new();
    let header = seal(&mut &*file, &mut out, iterations, bits, &mut rng(seed)).unwrap();
    (header, out)
}

fn run(header: &Header) -> Residue {
    let watch = &mut |_| ControlFlow::Continue(());
    eval(&header.modulus, &header.base, header.iterations, watch).unwrap()
}

/// Opens a sealed file of no squarings, whose y is a; gives what was written and the outcome.
fn open(bytes: &[u8]) -> (Vec<u8>, Result<u64, Error>) {
    let mut source = bytes;
    let mut file = Vec::new();
    let opened = Header::read(&mut source)
        .and_then(|header| header.open(&header.base, &mut source, &mut file));
    (file, opened)
}

/// Bytes of which no two chunks are the same.
fn long(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

const FULL: usize = CHUNK + TAG;

#[test]
fn the_shortcut_equals_the_long_way() {
    for bits in [256, 384, 512] {
        for iterations in [0, 1, 2, 255, 1000] {
            let (made, bytes) = sealed(b"secret", iterations, bits, 3);
            assert_eq!(made.modulus.bits(), u64::from(bits));
            let mut source = &bytes[..];
            let header = Header::read(&mut source).unwrap();
            assert_eq!(header, made);
            let mut file = Vec::new();
            assert_eq!(header.open(&run(&header), &mut source, &mut file).unwrap(), 6);
            assert_eq!(file, b"secret", "{bits} {iterations}");
        }
    }
}

#[test]
fn altered_files_do_not_open() {
    let (header, bytes) = sealed(b"secret", 20, 256, 4);
    let y = run(&header);
    for i in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[i] ^= 1;
        let mut source = &altered[..];
        let Ok(read) = Header::read(&mut source) else { continue };
        let mut file = Vec::new();
        let opened = read.open(&y, &mut source, &mut file);
        assert!(matches!(opened, Err(Error::Sealed)) && file.is_empty(), "byte {i}");
    }
    let behind = &mut &bytes[header.len()..];
    assert!(matches!(header.open(&header.base, behind, &mut Vec::new()), Err(Error::Sealed)));
    for len in 0..bytes.len() {
        let (file, opened) = open(&bytes[..len]);
        assert!(opened.is_err() && file.is_empty());
        if len >= header.len() {
            assert_eq!(header.file_len(len as u64).is_ok(), len >= header.len() + TAG);
        }
    }
}

#[test]
fn every_length_at_a_border_comes_back() {
    for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1] {
        let (header, bytes) = sealed(&long(len), 0, 256, 7);
        let chunks = len.div_ceil(CHUNK).max(1);
        assert_eq!(bytes.len(), header.len() + len + chunks * TAG);
        assert_eq!(header.file_len(bytes.len() as u64).unwrap(), len as u64);
        let (file, opened) = open(&bytes);
        assert_eq!(opened.unwrap(), len as u64);
        assert!(file == long(len), "{len}");
    }
}

/// What a file of three chunks says when it is cut off: only chunks before the cut are written.
#[test]
fn a_file_that_is_cut_off_does_not_open() {
    let (header, bytes) = sealed(&long(2 * CHUNK + 100), 0, 256, 8);
    let head = header.len();
    for (keep, written, chunk) in [
        (head + 1, 0, None),
        (head + TAG, 0, None),
        (head + FULL - 1, 0, None),
        (head + FULL + 1, CHUNK, Some(1)),
        (head + FULL + TAG, CHUNK, Some(1)),
        (head + 2 * FULL - 1, CHUNK, Some(1)),
        (head + 2 * FULL + 1, 2 * CHUNK, Some(2)),
        (bytes.len() - 1, 2 * CHUNK, Some(2)),
    ] {
        let (file, opened) = open(&bytes[..keep]);
        assert!(file == long(2 * CHUNK + 100)[..written], "{keep}");
        match (opened.unwrap_err(), chunk) {
            (Error::Sealed, None) => {}
            (Error::SealedChunk { number, at }, Some(chunk)) => {
                assert_eq!((number, at), (chunk, (head + chunk as usize * FULL) as u64));
            }
            (other, _) => panic!("{keep}: {other:?}"),
        }
    }
    // Between two chunks the length looks right, and only the last chunk's mark is missing.
    for chunks in [1, 2] {
        let keep = head + chunks * FULL;
        assert!(header.file_len(keep as u64).is_ok());
        let (file, opened) = open(&bytes[..keep]);
        assert!(file == long(2 * CHUNK)[..(chunks - 1) * CHUNK]);
        let at = keep as u64;
        assert!(matches!(opened, Err(Error::SealedEnds { at: found }) if found == at));
        // A needless empty chunk behind full ones is no end either.
        assert!(header.file_len((keep + TAG) as u64).is_err());
    }
}

#[test]
fn chunks_that_are_moved_or_changed_do_not_open() {
    let (header, bytes) = sealed(&long(3 * CHUNK), 0, 256, 9);
    let (_, other) = sealed(&long(3 * CHUNK), 0, 256, 10);
    let (head, chunks) = bytes.split_at(header.len());
    let part = |i: usize| &chunks[i * FULL..(i + 1) * FULL];
    let foreign = &other[header.len() + FULL..][..FULL];
    let empty = &[0; TAG][..];
    let cases: [(&str, Vec<&[u8]>, usize); 9] = [
        ("swapped", vec![part(1), part(0), part(2)], 0),
        ("the last two swapped", vec![part(0), part(2), part(1)], 1),
        ("repeated", vec![part(0), part(0), part(1), part(2)], 1),
        ("the middle left out", vec![part(0), part(2)], 1),
        ("the first left out", vec![part(1), part(2)], 0),
        ("the last repeated", vec![part(0), part(1), part(2), part(2)], 2),
        ("one of another file", vec![part(0), foreign, part(2)], 1),
        ("bytes behind", vec![chunks, &[0]], 2),
        ("an empty chunk behind", vec![chunks, empty], 2),
    ];
    for (name, parts, bad) in cases {
        let (file, opened) = open(&[head, &parts.concat()].concat());
        assert!(file == long(bad * CHUNK), "{name}");
        match opened.unwrap_err() {
            Error::Sealed if bad == 0 => {}
            Error::SealedChunk { number, .. } if number == bad as u64 => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    for border in 0..=3 {
        for at in [border * FULL, border * FULL + CHUNK] {
            for at in [at.wrapping_sub(1), at] {
                let Some(&old) = chunks.get(at) else { continue };
                let mut altered = bytes.clone();
                altered[header.len() + at] = old ^ 0x80;
                let (file, opened) = open(&altered);
                assert!(opened.is_err() && file == long(at / FULL * CHUNK), "{at}");
            }
        }
    }
}

/// A sealer that ends with an empty chunk, though the one before it could have been the last.
#[test]
fn a_needless_empty_chunk_is_refused() {
    let (header, bytes) = sealed(&long(CHUNK), 0, 256, 11);
    let cipher = header.cipher(&header.base.to_bytes());
    let encrypt = |number: u8, is_last: u8, file: &[u8]| {
        let mut nonce = [0; 12];
        (nonce[10], nonce[11]) = (number, is_last);
        let mut chunk = file.to_vec();
        cipher.encrypt_in_place(&nonce.into(), &[], &mut chunk).unwrap();
        chunk
    };
    assert!([header.to_bytes(), encrypt(0, 1, &long(CHUNK))].concat() == bytes);
    let odd = [header.to_bytes(), encrypt(0, 0, &long(CHUNK)), encrypt(1, 1, b"")].concat();
    let (file, opened) = open(&odd);
    assert!(file == long(CHUNK));
    assert!(matches!(opened, Err(Error::SealedChunk { number: 1, .. })), "{opened:?}");
}

/// A header that states a wide modulus is refused before the modulus is read.
#[test]
fn a_hostile_header_is_bounded() {
    for width in [MAX_WIDTH as u16 + 1, u16::MAX] {
        let head = [&b"TVDS\x02"[..], &width.to_be_bytes()].concat();
        let mut source = head.chain(std::io::repeat(0xff));
        let error = Header::read(&mut source).unwrap_err();
        assert!(matches!(error, Error::ModulusSize { .. }), "{error:?}");
        assert_eq!(source.get_ref().0.len(), 0);
    }
}

/// The source may give few bytes at a time and be interrupted.
#[test]
fn a_slow_source_is_read_whole() {
    struct Slow<'a>(&'a [u8], usize);
    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let len = out.len().min(1 + self.1 % 4000);
            self.0.read(&mut out[..len])
        }
    }
    let file = long(CHUNK + 77);
    let mut bytes = Vec::new();
    seal(&mut Slow(&file, 0), &mut bytes, 0, 256, &mut rng(12)).unwrap();
    let mut source = Slow(&bytes, 0);
    let header = Header::read(&mut source).unwrap();
    let mut opened = Vec::new();
    header.open(&header.base, &mut source, &mut opened).unwrap();
    assert!(opened == file);
}

#[test]
fn sizes_that_are_not_offered() {
    let refused = |bits, iterations| {
        seal(&mut &b""[..], &mut Vec::new(), iterations, bits, &mut rng(5)).unwrap_err()
    };
    for bits in [0, 64, 128, 300, 8320] {
        assert!(matches!(refused(bits, 1), Error::ModulusSize { .. }));
    }
    assert!(matches!(refused(256, u64::MAX), Error::TooManySquarings(_)));
}
