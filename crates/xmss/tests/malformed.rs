//! Malformed public keys, signatures and secret keys, each with the error that it must give.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use tetralith_xmss::{
    Derivation, Error, Params, Progress, PublicKey, Scheme, SecretKey, Signature,
};

fn public(oid: u32, len: usize) -> Vec<u8> {
    [&oid.to_be_bytes()[..], &vec![5; len - 4]].concat()
}

#[test]
fn public_keys() {
    use Scheme::{Xmss, XmssMt};
    let what = "public key";
    let length = |expected, actual| Error::Length { what, expected, actual };
    let unknown = |scheme, oid| Error::UnknownOid { scheme, oid };
    let short = Error::Malformed { what, why: "shorter than an identifier" };
    let cases = [
        ("empty", Xmss, vec![], short),
        (
            "half an identifier",
            Xmss,
            vec![0, 0],
            Error::Malformed { what, why: "shorter than an identifier" },
        ),
        ("identifier 0", Xmss, public(0, 68), unknown(Xmss, 0)),
        ("an XMSS^MT identifier as XMSS", Xmss, public(0x16, 68), unknown(Xmss, 0x16)),
        ("past the last XMSS^MT identifier", XmssMt, public(0x39, 68), unknown(XmssMt, 0x39)),
        ("little-endian identifier", Xmss, public(0x0100_0000, 68), unknown(Xmss, 0x0100_0000)),
        ("nothing but an identifier", Xmss, public(1, 4), length(68, 4)),
        ("one byte short", Xmss, public(1, 67), length(68, 67)),
        ("a trailing byte", Xmss, public(1, 69), length(68, 69)),
        ("n = 64 with the length of n = 32", Xmss, public(4, 68), length(132, 68)),
        ("n = 24 with the length of n = 32", Xmss, public(13, 68), length(52, 68)),
    ];
    for (name, scheme, bytes, expected) in cases {
        assert_eq!(PublicKey::from_bytes(scheme, &bytes), Err(expected), "{name}");
    }
    // One identifier, two schemes: only the caller can know which is meant.
    let bytes = public(1, 68);
    let [single, multi] =
        [Xmss, XmssMt].map(|s| PublicKey::from_bytes(s, &bytes).unwrap().params());
    assert_eq!(
        [single.to_string(), multi.to_string()],
        ["XMSS-SHA2_10_256", "XMSSMT-SHA2_20/2_256"]
    );
}

#[test]
fn signatures() {
    let single = Params::XMSS_SHA2_10_256;
    let multi = Params::from_name("XMSSMT-SHA2_20/2_256").unwrap();
    let with = |p: Params, index: &[u8]| {
        let mut bytes = vec![0; p.signature_bytes()];
        bytes[..index.len()].copy_from_slice(index);
        bytes
    };
    let length = |expected, actual| Error::Length { what: "signature", expected, actual };
    let range = |index, limit| Error::IndexOutOfRange { index, limit };
    let cases = [
        ("empty", single, vec![], length(2500, 0)),
        ("one byte short", single, vec![0; 2499], length(2500, 2499)),
        ("a trailing byte", single, vec![0; 2501], length(2500, 2501)),
        ("another set's length", single, vec![0; 4963], length(2500, 4963)),
        ("the first index past the last", single, with(single, &[0, 0, 4, 0]), range(1024, 1024)),
        ("the largest index", single, with(single, &[255; 4]), range(u32::MAX.into(), 1024)),
        ("a wrapped index", single, with(single, &[1, 0, 0, 0]), range(1 << 24, 1024)),
        ("XMSS^MT past the last", multi, with(multi, &[0x10, 0, 0]), range(1 << 20, 1 << 20)),
    ];
    for (name, params, bytes, expected) in cases {
        assert_eq!(Signature::from_bytes(params, &bytes), Err(expected), "{name}");
        let key = PublicKey::from_parts(params, &[0; 64]).unwrap();
        assert!(key.verify(b"", &bytes).is_err(), "{name}");
    }
    let last = with(single, &[0, 0, 3, 255]);
    assert_eq!(Signature::from_bytes(single, &last).unwrap().index(), 1023);
}

#[test]
fn secret_keys() {
    let p = Params::qrl(tetralith_xmss::HashFunction::Sha2, 4).unwrap();
    let key =
        SecretKey::from_seeds(p, Derivation::PrfCounter, &[9; 96], &Progress::silent()).unwrap();
    let good = key.to_bytes();
    assert_eq!(SecretKey::from_bytes(&good).unwrap().public_key(), key.public_key());
    let what = "secret key";
    let changed = |at: usize, value: u8| {
        let mut bytes = good.to_vec();
        bytes[at] = value;
        bytes
    };
    let malformed = |why| Error::Malformed { what, why };
    let cases = [
        ("empty", vec![], malformed("shorter than its header")),
        ("version 2", changed(0, 2), malformed("not version 1")),
        ("scheme 0", changed(1, 0), malformed("no such scheme")),
        ("scheme 4", changed(1, 4), malformed("no such scheme")),
        ("derivation 0", changed(2, 0), malformed("no such derivation")),
        ("hash 3", changed(3, 3), malformed("no such hash function")),
        ("odd height", changed(4, 5), Error::UnknownParams("QRL height 5".into())),
        ("QRL with an identifier", changed(8, 1), malformed("no such scheme")),
        (
            "height beside an identifier",
            {
                let mut b = changed(1, 1);
                b[8] = 1;
                b
            },
            malformed("hash and height beside an identifier"),
        ),
        ("cut", good[..130].to_vec(), Error::Length { what, expected: 137, actual: 130 }),
        (
            "trailing",
            [&good[..], &[0]].concat(),
            Error::Length { what, expected: 137, actual: 138 },
        ),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(SecretKey::from_bytes(&bytes).unwrap_err(), expected, "{name}");
    }
    let mut wrong_root = good.to_vec();
    wrong_root[136] ^= 1;
    let wrong_root = SecretKey::from_bytes(&wrong_root).unwrap();
    assert_eq!(
        wrong_root.check(&Progress::silent()),
        Err(malformed("the root is not that of the seeds"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), multi: bool) {
        let scheme = if multi { Scheme::XmssMt } else { Scheme::Xmss };
        if let Ok(key) = PublicKey::from_bytes(scheme, &bytes) {
            prop_assert_eq!(key.to_bytes(), &bytes[..]);
        }
        let _ = SecretKey::from_bytes(&bytes);
        let _ = tetralith_xmss::state::Record::from_bytes(&bytes);
        let _ = tetralith_xmss::qrl::Address::from_bytes(&bytes);
    }

    #[test]
    fn no_signature_of_random_bytes_verifies(
        seed: u64,
        which in 0usize..21,
    ) {
        let p = Params::all().nth(which).unwrap();
        let mut x = seed | 1;
        let mut bytes: Vec<u8> = (0..p.signature_bytes()).map(|_| {
            x ^= x << 13; x ^= x >> 7; x ^= x << 17;
            x as u8
        }).collect();
        bytes[..2].fill(0);
        bytes[2] &= 3;
        let key = PublicKey::from_parts(p, &vec![3; 2 * p.n()]).unwrap();
        prop_assert_eq!(key.verify(b"x", &bytes), Err(Error::Verification));
    }
}
