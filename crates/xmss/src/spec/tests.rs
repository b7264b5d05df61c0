//! The fast route against the standard's algorithms.

use super::*;
use crate::state::{Holder, Volatile, create};
use crate::{HashFunction, Progress, Signer};

const HASHES: [HashFunction; 3] =
    [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256];

/// Signs with the fast route at an index.
fn fast_sign(key: SecretKey, index: u64, m: &[u8]) -> Vec<u8> {
    let mut store = Volatile::new();
    create(&mut store, &key.public_key(), index, [0; 16], 0).unwrap();
    let mut signer = Signer::open(key, store, Holder::new("test")).unwrap();
    if index.is_multiple_of(2) {
        signer.prepare_ahead(1).unwrap();
    }
    signer.sign(m, 0).unwrap()
}

#[test]
fn small_trees_agree_in_both_derivations() {
    for (i, hash) in HASHES.into_iter().enumerate() {
        for derivation in [Derivation::PrfKeygen, Derivation::PrfCounter] {
            let p = Params::qrl(hash, 4).unwrap();
            let seeds: Vec<u8> =
                (0..96u8).map(|byte| byte.wrapping_mul(7).wrapping_add(i as u8)).collect();
            let make = || SecretKey::from_seeds(p, derivation, &seeds, &Progress::silent());
            let key = make().unwrap();
            assert_eq!(root(&key)[..32], *key.root());
            let index = 7 * i as u64 % 16;
            let expected = sign(&key, index, b"tree");
            assert_eq!(fast_sign(make().unwrap(), index, b"tree"), expected, "{p} {derivation:?}");
            let (root, seed) = (key.root(), key.seed());
            assert_eq!(root_from_sig(p, root, seed, b"tree", &expected)[..32], *root);
            assert_eq!(key.public_key().verify(b"tree", &expected), Ok(()));
        }
    }
}

/// For every set: where a signature of random bytes leads, whatever the index.
#[test]
fn every_set_computes_the_same_root() {
    // QRL's too, up to the heights that only verify.
    let qrl = [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256]
        .into_iter()
        .flat_map(|hash| (4..=30).step_by(2).map(move |h| Params::qrl(hash, h).unwrap()));
    for p in Params::all().chain(qrl) {
        let bytes = |salt: u64, len: usize| -> Vec<u8> {
            (0..len as u64)
                .map(|i| ((i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
                .collect()
        };
        let mut signature = bytes(1, p.signature_bytes());
        let index = p.signatures() - 2;
        let width = p.index_bytes();
        signature[..width].copy_from_slice(&index.to_be_bytes()[8 - width..]);
        let seed = bytes(2, p.n());
        // H_msg takes the root in, so that no root leads to itself: two different ones are compared.
        let claimed = bytes(3, p.n());
        let expected = root_from_sig(p, &claimed, &seed, b"m", &signature);
        let found = crate::verify::root_of(p, &[claimed, seed].concat(), b"m", &signature);
        assert_eq!(found[..p.n()], expected[..p.n()], "{p}");
    }
}

#[test]
fn one_chain_and_one_pair_agree() {
    use crate::address::{TreePlace, Type};
    use crate::lanes::{Engine, Prefix, chains::Chain, trees::Pair, value};
    for p in Params::all() {
        let n = p.n();
        let seed = vec![7; n];
        let place = TreePlace { layer: 3, tree: 0x0102_0304_0506 };
        let prefixes =
            [Type::Ots, Type::HashTree].map(|kind| Prefix::prf(p, &seed, &place.head(kind)));
        let mut engine = Engine::new(p);
        let x: Vec<u8> = (0..n as u8).collect();
        let mut values = x.clone();
        let part = Chain { prefix: 0, ots: 11, chain: 5, start: 2, end: 9, slot: 0 };
        engine.run_chains(&prefixes, [part].into_iter(), &mut values);
        let adrs = Adrs::new(3, 0x0102_0304_0506, 0).with(4, 11).with(5, 5);
        let expected = chain(p, value(&x), 2, 7, &seed, adrs);
        assert_eq!(values, expected[..n], "chain {p}");
        let mut values = [x.clone(), vec![9; n], vec![0; n]].concat();
        let pair = Pair { prefix: 1, tail: [0, 4, 6], left: 0, right: 1, out: 2 };
        engine.hash_pairs(&prefixes, &[pair], &mut values);
        let adrs = Adrs::new(3, 0x0102_0304_0506, 2).with(5, 4).with(6, 6);
        let expected = rand_hash(p, &value(&x), &value(&[9; 64][..n]), &seed, adrs);
        assert_eq!(values[2 * n..], expected[..n], "pair {p}");
    }
}

#[test]
fn many_chains_and_l_trees_agree() {
    use crate::address::{TreePlace, Type};
    use crate::lanes::{Engine, Prefix, chains::Chain, chains::longest_first, value};
    for name in ["XMSS-SHA2_10_192", "XMSS-SHA2_10_256", "XMSS-SHAKE_10_512"] {
        let p = Params::from_name(name).unwrap();
        let (n, len) = (p.n(), p.len() as u32);
        let seed = vec![7; n];
        let place = TreePlace { layer: 0, tree: 0 };
        let prefixes =
            [Type::Ots, Type::LTree].map(|kind| Prefix::prf(p, &seed, &place.head(kind)));
        let mut engine = Engine::new(p);
        let x: Vec<u8> = (0..len as usize * n).map(|i| (i * i) as u8).collect();
        let part =
            |chain| Chain { prefix: 0, ots: 3, chain, start: chain * 5 % 16, end: 15, slot: chain };
        let mut values = x.clone();
        let chains = longest_first((0..len).map(part).collect());
        engine.run_chains(&prefixes, chains.into_iter(), &mut values);
        let mut pk = Vec::new();
        for (i, x) in (0..).zip(x.chunks(n)) {
            let start = i * 5 % 16;
            let adrs = Adrs::new(0, 0, 0).with(4, 3).with(5, i);
            let expected = chain(p, value(x), start, 15 - start, &seed, adrs);
            assert_eq!(values[i as usize * n..][..n], expected[..n], "chain {i} {p}");
            pk.push(expected);
        }
        engine.l_trees(&prefixes, &[(1, 3)], &mut values);
        let expected = l_tree(p, pk, &seed, Adrs::new(0, 0, 1).with(4, 3));
        assert_eq!(values[..n], expected[..n], "L-tree {p}");
    }
}
