//! QRL keys against the values that theQRL publishes with its libraries (see PROVENANCE.md).

#![allow(clippy::unwrap_used)]

use tetralith_xmss::qrl::{
    Address, Descriptor, ExtendedSeed, public_key_from_bytes, public_key_to_bytes,
};
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Error, HashFunction, Progress, Signer};

fn zero_seed(height: u8) -> ExtendedSeed {
    ExtendedSeed::new(Descriptor::new(HashFunction::Shake128, height).unwrap(), &[0; 48])
}

#[test]
fn zero_seeds_have_the_published_keys_and_addresses() {
    let seed = "3191da3442686282b3d5160f25cf162a517fd2131f83fbf2698a58f9c46afc5d";
    let cases = [
        (
            4,
            "010200c25188b585f731c128e2b457069eafd1e3fa3961605af8c58a1aec4d82ac316d",
            "01020095f03f084bcb29b96b0529c17ce92c54c1e8290193a93803812ead95e8e6902506b67897",
        ),
        (
            6,
            "010300859060f15adc3825adeec85c7483d868e898bc5117d0cff04ab1343916d407af",
            "0103008b0e18dd0bac2c3fdc9a48e10fc466eef899ef074449d12ddf050317b2083527aee74bc3",
        ),
    ];
    for (height, key, address) in cases {
        let secret = zero_seed(height).secret_key(&Progress::silent()).unwrap();
        let public = secret.public_key();
        let bytes = public_key_to_bytes(&public).unwrap();
        assert_eq!(hex::encode(bytes), format!("{key}{seed}"));
        assert_eq!(public_key_from_bytes(&bytes), Ok(public.clone()));
        let found = Address::of(&public).unwrap();
        assert_eq!(found.to_string(), format!("Q{address}"));
        assert_eq!(Address::from_bytes(&hex::decode(address).unwrap()), Ok(found));
        // The key signs, and its signature verifies under the key decoded from QRL's bytes.
        let mut store = Volatile::new();
        create(&mut store, &public, 0, [0; 16], 0).unwrap();
        let mut signer = Signer::open(secret, store, Holder::new("test")).unwrap();
        let signature = signer.sign(b"QRL", 0).unwrap();
        assert_eq!(signature.len(), 2180 + 32 * usize::from(height));
        assert_eq!(public_key_from_bytes(&bytes).unwrap().verify(b"QRL", &signature), Ok(()));
    }
}

#[test]
fn mnemonics_are_the_published_ones() {
    let words = format!("absorb bunny{}", " aback".repeat(32));
    assert_eq!(*zero_seed(4).to_mnemonic(), words);
    let bytes = zero_seed(4).to_bytes();
    assert_eq!(hex::encode(&bytes[..]), format!("010200{}", "00".repeat(48)));
    assert_eq!(*ExtendedSeed::from_mnemonic(&words).unwrap().to_bytes(), *bytes);
    let mut seed = [0; 48];
    for (i, byte) in seed.iter_mut().enumerate() {
        *byte = (i * 37 + 11) as u8;
    }
    for hash in [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256] {
        for height in (4..=30).step_by(2) {
            let seed = ExtendedSeed::new(Descriptor::new(hash, height).unwrap(), &seed);
            let again = ExtendedSeed::from_mnemonic(&seed.to_mnemonic()).unwrap();
            assert_eq!(*again.to_bytes(), *seed.to_bytes());
        }
    }
}

#[test]
fn trees_above_twenty_only_verify() {
    let refused = zero_seed(22).secret_key(&Progress::silent()).unwrap_err();
    assert!(matches!(refused, Error::UnknownParams(_)), "{refused}");
    assert_eq!(zero_seed(30).descriptor().params().signatures(), 1 << 30);
}

#[test]
fn malformed_values_are_refused() {
    let why = |result: Result<Descriptor, Error>| match result {
        Err(Error::Malformed { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(Descriptor::from_bytes([0x10, 2, 0])), "not an XMSS key");
    assert_eq!(why(Descriptor::from_bytes([0x03, 2, 0])), "no such hash function");
    assert_eq!(why(Descriptor::from_bytes([0x00, 0x12, 0])), "no such address format");
    assert_eq!(why(Descriptor::from_bytes([0x00, 2, 1])), "the third byte is not zero");
    assert_eq!(why(Descriptor::from_bytes([0x00, 1, 0])), "no such height");
    let length = |actual| Error::Length { what: "QRL extended seed", expected: 51, actual };
    assert_eq!(ExtendedSeed::from_bytes(&[0; 50]).unwrap_err(), length(50));
    assert_eq!(ExtendedSeed::from_bytes(&[0; 52]).unwrap_err(), length(52));
    assert!(ExtendedSeed::from_mnemonic("absorb bunny").is_err());
    let unknown = format!("absorb bunny{} xyzzy", " aback".repeat(31));
    assert!(ExtendedSeed::from_mnemonic(&unknown).is_err());
    let mut address = hex::decode(
        "01020095f03f084bcb29b96b0529c17ce92c54c1e8290193a93803812ead95e8e6902506b67897",
    )
    .unwrap();
    address[20] ^= 1;
    assert_eq!(
        Address::from_bytes(&address),
        Err(Error::Malformed { what: "QRL address", why: "the checksum is wrong" })
    );
    assert!(Address::from_bytes(&address[..38]).is_err());
    assert!(public_key_from_bytes(&[0; 66]).is_err());
}
