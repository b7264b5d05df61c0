//! Headers of every era, in every wrapper, and chunks of blocks.

#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use minicbor::Encoder;
use minicbor::data::IanaTag;
use serde_json::Value;
use tetralith_vrf::cardano::{
    CardanoError, Chunk, Era, Form, Header, HeaderVrf, LeaderCheck, VrfUse, slot_input,
    tpraos_input, verify_headers,
};
use tetralith_vrf::{Error, SecretKey, Suite};

const ERAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vrf/cardano-eras");

/// A file's bytes; blocks are in hex.
fn read(file: &str) -> Vec<u8> {
    let bytes = std::fs::read(format!("{ERAS}/{file}")).unwrap();
    if file.ends_with(".block") { hex::decode(bytes.trim_ascii()).unwrap() } else { bytes }
}

fn rows(list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{ERAS}/eras.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    json[list].as_array().unwrap().clone()
}

fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap()
}

fn nonce(row: &Value) -> [u8; 32] {
    hex::decode(text(row, "nonce")).unwrap().try_into().unwrap()
}

fn flipped(mut nonce: [u8; 32]) -> [u8; 32] {
    nonce[0] ^= 1;
    nonce
}

/// Mainnet's headers of Shelley (two proofs) and Babbage (one), whose nonces are known.
#[test]
fn real_headers_of_both_families_verify() {
    let rows = rows("verified");
    let headers: Vec<Header> =
        rows.iter().map(|row| Header::from_cbor(&read(text(row, "file"))).unwrap()).collect();
    let mut pairs = Vec::new();
    for (row, header) in rows.iter().zip(&headers) {
        let file = text(row, "file");
        assert_eq!(header.slot, row["slot"].as_u64().unwrap(), "{file}");
        assert_eq!(header.block_number, row["block_number"].as_u64().unwrap(), "{file}");
        if let Some(hash) = row["hash"].as_str() {
            assert_eq!(hex::encode(header.hash), hash);
        }
        assert_eq!(header.verify_vrf(&nonce(row)), Ok(()), "{file}");
        let usage = match header.vrf {
            HeaderVrf::Praos(_) => VrfUse::Both,
            HeaderVrf::TPraos { .. } => VrfUse::Nonce,
        };
        let invalid = Err(CardanoError::InvalidProof(usage).into());
        assert_eq!(header.verify_vrf(&flipped(nonce(row))), invalid, "{file}");
        pairs.extend([(header, nonce(row)), (header, flipped(nonce(row)))]);
        if let Some(stake) = row["stake"].as_str() {
            let check =
                LeaderCheck::new(&stake.parse().unwrap(), &"1/20".parse().unwrap()).unwrap();
            assert!(check.is_leader(&header.leader_value()), "{file}");
        }
    }
    for (i, verdict) in verify_headers(&pairs).iter().enumerate() {
        assert_eq!(*verdict, pairs[i].0.verify_vrf(&pairs[i].1), "{i}");
        assert_eq!(verdict.is_ok(), i % 2 == 0);
    }
}

/// Each of the two proofs is verified for its own use, and each output compared.
#[test]
fn both_proofs_of_a_header_count() {
    let row = &rows("verified")[3];
    let header = Header::from_cbor(&read(text(row, "file"))).unwrap();
    let changed = |change: &dyn Fn(&mut HeaderVrf)| {
        let mut header = header.clone();
        change(&mut header.vrf);
        let one = header.verify_vrf(&nonce(row));
        assert_eq!(verify_headers(&[(&header, nonce(row))])[0], one);
        one
    };
    let on = |change: fn(&mut HeaderVrf)| changed(&change);
    let parts = |vrf: &HeaderVrf| match vrf {
        HeaderVrf::TPraos { nonce, leader } => (nonce.clone(), leader.clone()),
        HeaderVrf::Praos(_) => panic!("a header of Shelley"),
    };
    let (first, second) = parts(&header.vrf);
    let swapped = HeaderVrf::TPraos { nonce: second.clone(), leader: first.clone() };
    let both_first = HeaderVrf::TPraos { nonce: first.clone(), leader: first };
    let invalid = |usage| Err(Error::from(CardanoError::InvalidProof(usage)));
    let mismatch = |usage| Err(Error::from(CardanoError::OutputMismatch(usage)));
    assert_eq!(changed(&|vrf| vrf.clone_from(&swapped)), invalid(VrfUse::Nonce));
    assert_eq!(changed(&|vrf| vrf.clone_from(&both_first)), invalid(VrfUse::Leader));
    let flip = |vrf: &mut HeaderVrf, leader_part: bool| match vrf {
        HeaderVrf::TPraos { nonce, leader } => {
            let part = if leader_part { leader } else { nonce };
            part.output[63] ^= 1;
        }
        HeaderVrf::Praos(_) => panic!("a header of Shelley"),
    };
    assert_eq!(changed(&|vrf| flip(vrf, false)), mismatch(VrfUse::Nonce));
    assert_eq!(changed(&|vrf| flip(vrf, true)), mismatch(VrfUse::Leader));
    assert_eq!(on(|_| ()), Ok(()));
}

#[test]
fn real_blocks_of_every_era_are_decoded() {
    for row in rows("decoded") {
        let header = Header::from_cbor(&read(text(&row, "file"))).unwrap();
        assert_eq!(header.form, Form::EraBlock);
        assert_eq!(header.era.unwrap().name(), text(&row, "era"));
        assert_eq!(header.slot, row["slot"].as_u64().unwrap());
        assert_eq!(header.block_number, row["block_number"].as_u64().unwrap());
        let proofs = if matches!(header.vrf, HeaderVrf::Praos(_)) { 1 } else { 2 };
        assert_eq!(row["proofs"], proofs);
    }
    assert_eq!(Header::from_cbor(&read("byron.block")), Err(CardanoError::Byron));
}

/// What a header is made of in these tests; `indefinite` says which arrays have no length.
#[derive(Clone, Copy, Default)]
struct Shape {
    praos: bool,
    header: bool,
    body: bool,
    result: bool,
    certificate: bool,
    version: bool,
}

const NONCE: [u8; 32] = [5; 32];

/// A header by a key of ours for a slot; all but its VRF parts is arbitrary.
fn made(slot: u64, shape: Shape) -> Vec<u8> {
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, &[3; 32]).unwrap();
    let mut e = Encoder::new(Vec::new());
    let array = |e: &mut Encoder<Vec<u8>>, indefinite: bool, n: u64| {
        if indefinite {
            e.begin_array().unwrap()
        } else {
            e.array(n).unwrap()
        };
    };
    let end = |e: &mut Encoder<Vec<u8>>, indefinite: bool| {
        if indefinite {
            e.end().unwrap();
        }
    };
    array(&mut e, shape.header, 2);
    array(&mut e, shape.body, if shape.praos { 10 } else { 15 });
    e.u64(7).unwrap().u64(slot).unwrap().null().unwrap().bytes(&[1; 32]).unwrap();
    e.bytes(key.public_key().as_bytes()).unwrap();
    let inputs = if shape.praos {
        vec![slot_input(slot, &NONCE)]
    } else {
        [false, true].map(|leader| tpraos_input(leader, slot, &NONCE)).to_vec()
    };
    for input in inputs {
        let (output, proof) = key.evaluate(&input).unwrap();
        array(&mut e, shape.result, 2);
        e.bytes(output.as_bytes()).unwrap().bytes(proof.as_bytes()).unwrap();
        end(&mut e, shape.result);
    }
    e.u32(1000).unwrap().bytes(&[2; 32]).unwrap();
    if shape.praos {
        array(&mut e, shape.certificate, 4);
    }
    e.bytes(&[3; 32]).unwrap().u64(1).unwrap().u64(2).unwrap().bytes(&[4; 64]).unwrap();
    if shape.praos {
        end(&mut e, shape.certificate);
        array(&mut e, shape.version, 2);
    }
    e.u64(8).unwrap().u64(0).unwrap();
    if shape.praos {
        end(&mut e, shape.version);
    }
    end(&mut e, shape.body);
    e.bytes(&[5; 448]).unwrap();
    end(&mut e, shape.header);
    e.into_writer()
}

fn raw(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn encoded(bytes: &[u8]) -> Vec<u8> {
    let mut e = Encoder::new(Vec::new());
    e.tag(IanaTag::Cbor).unwrap().bytes(bytes).unwrap();
    e.into_writer()
}

/// A block with a body of little.
fn block(header: &[u8], indefinite: bool) -> Vec<u8> {
    if indefinite {
        raw(&[&[0x9f], header, &[0x80, 0x80, 0xa0, 0x80, 0xff]])
    } else {
        raw(&[&[0x85], header, &[0x80, 0x80, 0xa0, 0x80]])
    }
}

/// Indefinite lengths are read exactly where the ledger's decoder reads them: not in the pairs of output
/// and proof, but for Dijkstra's.
#[test]
fn indefinite_arrays_are_read_where_the_ledger_reads_them() {
    for bits in 0..64u8 {
        let bit = |i: u8| bits >> i & 1 == 1;
        let shape = Shape {
            praos: bit(0),
            header: bit(1),
            body: bit(2),
            result: bit(3),
            certificate: bit(4) && bit(0),
            version: bit(5) && bit(0),
        };
        let bytes = made(11, shape);
        let read = Header::from_cbor(&bytes);
        if shape.result {
            assert_eq!(read, Err(CardanoError::IndefiniteLength("VRF result")), "{bits:b}");
        } else {
            assert_eq!(read.unwrap().verify_vrf(&NONCE), Ok(()), "{bits:b}");
        }
        if shape.praos {
            let dijkstra = raw(&[&[0x82, 7], &encoded(&bytes)]);
            let header = Header::from_cbor(&dijkstra).unwrap();
            assert_eq!((header.era, header.verify_vrf(&NONCE)), (Some(Era::Dijkstra), Ok(())));
        }
        // An element too many or too few.
        let last = bytes.len() - 1;
        let bad = if shape.header {
            raw(&[&bytes[..last], &[0, 0xff]])
        } else {
            raw(&[&[0x83], &bytes[1..], &[0]])
        };
        assert!(Header::from_cbor(&bad).is_err(), "{bits:b}");
        if shape.header {
            assert!(Header::from_cbor(&bytes[..last]).is_err());
        }
    }
    let long_body = Shape { praos: true, body: true, ..Shape::default() };
    let mut bytes = made(11, long_body);
    let at = bytes.len() - 448 - 3 - 1; // the body's break
    assert_eq!(bytes[at], 0xff);
    bytes.insert(at, 0);
    let more = CardanoError::MoreElements { field: "header body", expected: 10 };
    assert_eq!(Header::from_cbor(&bytes), Err(more));
}

#[test]
fn every_wrapper_is_recognized() {
    for praos in [false, true] {
        let header = made(9, Shape { praos, ..Shape::default() });
        let eras: &[(Era, u8)] = if praos {
            &[(Era::Babbage, 5), (Era::Conway, 6), (Era::Dijkstra, 7)]
        } else {
            &[(Era::Shelley, 1), (Era::Allegra, 2), (Era::Mary, 3), (Era::Alonzo, 4)]
        };
        let mut forms = vec![
            (Form::Header, None, header.clone()),
            (Form::Block, None, block(&header, false)),
            (Form::Block, None, block(&header, true)),
        ];
        for &(era, number) in eras {
            let era_block = raw(&[&[0x82, number + 1], &block(&header, number % 2 == 0)]);
            forms.push((Form::EncodedBlock, Some(era), encoded(&era_block)));
            forms.push((Form::EraBlock, Some(era), era_block));
            let wrapped = raw(&[&[0x82, number], &encoded(&header)]);
            forms.push((Form::WrappedHeader, Some(era), wrapped));
        }
        for (form, era, bytes) in forms {
            let read = Header::from_cbor(&bytes).unwrap();
            assert_eq!((read.form, read.era), (form, era));
            assert_eq!(read.verify_vrf(&NONCE), Ok(()));
            let trailing = raw(&[&bytes, &[0]]);
            assert_eq!(Header::from_cbor(&trailing), Err(CardanoError::TrailingBytes(1)));
            for cut in [1, 2, 5, 30, bytes.len() / 2, bytes.len() - 1] {
                assert!(Header::from_cbor(&bytes[..cut]).is_err(), "{form:?} cut to {cut}");
            }
        }
        // A wrapper of the other family.
        let wrong = raw(&[&[0x82, if praos { 4 } else { 5 }], &encoded(&header)]);
        let error = Header::from_cbor(&wrong).unwrap_err();
        assert!(matches!(error, CardanoError::EraMismatch { .. }), "{error}");
    }
    let header = made(9, Shape { praos: true, ..Shape::default() });
    let unknown = raw(&[&[0x82, 8], &encoded(&header)]);
    assert_eq!(Header::from_cbor(&unknown), Err(CardanoError::UnknownEra(8)));
    let unknown = raw(&[&[0x82, 9], &block(&header, false)]);
    assert_eq!(Header::from_cbor(&unknown), Err(CardanoError::UnknownEra(9)));
    // Byron in the wrapper of the node-to-node protocol: a boundary block, and another.
    for kind in [0, 1] {
        let byron = raw(&[&[0x82, 0, 0x82, 0x82, kind, 0x18, 0x5e], &encoded(&[0x80])]);
        assert_eq!(Header::from_cbor(&byron), Err(CardanoError::Byron));
    }
    let mut leios = header.clone();
    leios[1] = 0x8c;
    assert_eq!(Header::from_cbor(&leios), Err(CardanoError::Leios));
    for strange in ["00", "a0", "60", "81f6", "8201f6", "c100", "d81800", "d8184100", "820182"] {
        assert!(Header::from_cbor(&hex::decode(strange).unwrap()).is_err(), "{strange}");
    }
}

#[test]
fn chunks_are_walked_block_by_block() {
    let real = read("preview_02019.chunk");
    let blocks: Vec<_> = Chunk::new(&real).map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 5);
    let slots: Vec<u64> = blocks.iter().map(|block| block.header.as_ref().unwrap().slot).collect();
    assert_eq!((slots[0], slots[4]), (43_610_414, 43_610_483));
    for (i, block) in blocks.iter().enumerate() {
        let header = block.header.as_ref().unwrap();
        assert_eq!((header.era, header.form), (Some(Era::Babbage), Form::EraBlock));
        if i > 0 {
            let before = blocks[i - 1].header.as_ref().unwrap();
            assert_eq!(header.previous_hash, Some(before.hash));
        }
    }
    let mut mixed = read("byron.block");
    let second = mixed.len();
    let header = made(9, Shape { praos: true, ..Shape::default() });
    mixed.extend(raw(&[&[0x82, 6], &block(&header, false)]));
    let third = mixed.len();
    mixed.extend(&header); // no block
    let fourth = mixed.len();
    mixed.extend([0x82, 6]); // cut off
    let mut chunk = Chunk::new(&mixed);
    let first = chunk.next().unwrap().unwrap();
    assert_eq!((first.offset, first.header), (0, Err(CardanoError::Byron)));
    let block = chunk.next().unwrap().unwrap();
    assert_eq!((block.offset, block.header.unwrap().verify_vrf(&NONCE)), (second, Ok(())));
    let block = chunk.next().unwrap().unwrap();
    assert!(block.offset == third && matches!(block.header, Err(CardanoError::Form(_))));
    let error = chunk.next().unwrap().unwrap_err();
    assert!(matches!(error, CardanoError::Item { at, .. } if at >= fourth), "{error}");
    assert!(chunk.next().is_none());
}
