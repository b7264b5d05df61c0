//! QRL keys against the values that theQRL publishes with its libraries (see PROVENANCE.md).

#![allow(clippy::unwrap_used)]

use tetralith_kernels::keccak::{RATE_256, shake};
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
        assert_eq!(found.to_string().parse(), Ok(found));
        assert_eq!(format!("Q{}", address.to_uppercase()).parse(), Ok(found));
        assert_eq!(found.params(), public.params());
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

/// Of each hash function, with seeds of zeros and of none, also read back from words and hex.
#[test]
fn addresses_of_each_hash_function_are_the_published_ones() {
    let zero = "00".repeat(48);
    let seed = "6963291e58d6e776fe25932964748e774fb22cff112fbf5ece45b17965704697550064a60f40ba7c742694346761d5cc";
    let cases = [
        (
            "000200",
            zero.as_str(),
            "00020096e5c065cf961565169e795803c1e60f521af7a3ea0326b42aa40c0e75390e5d8f4336de",
        ),
        (
            "000200",
            seed,
            "000200baea487e62a96f32a2c427def90f020880d2fb0bff756ff6450186904dcc0c88e9018879",
        ),
        (
            "010200",
            &zero,
            "01020095f03f084bcb29b96b0529c17ce92c54c1e8290193a93803812ead95e8e6902506b67897",
        ),
        (
            "020200",
            &zero,
            "0202000f9ec8efa448051a110686084a47b3ff2c497067edd68b91f36f18c1d7a78498e49b0750",
        ),
    ];
    for (descriptor, seed, address) in cases {
        let bytes = hex::decode(format!("{descriptor}{seed}")).unwrap();
        let seed = ExtendedSeed::from_bytes(&bytes).unwrap();
        let again = ExtendedSeed::from_mnemonic(&seed.to_mnemonic()).unwrap();
        let public = again.secret_key(&Progress::silent()).unwrap().public_key();
        assert_eq!(Address::of(&public).unwrap().to_string(), format!("Q{address}"));
    }
    let words = "aback bunny heroic crazy brown miss torch inhere cater crazy hammer ethic kidnap wire \
        clutch vat cope walnut sodden gather lame free enable juicy aboard exert awhile artful leg \
        during neatly employ gritty gill";
    let found = ExtendedSeed::from_mnemonic(words).unwrap();
    assert_eq!(hex::encode(&found.to_bytes()[..]), format!("000200{seed}"));
    assert_eq!(*found.to_mnemonic(), words);
    // A public key and address of the ledger, of height 10.
    let key = "01050043559486d0bb65088477848ad81224dca1545fa31ae33d0f49a6a0721e88f972dd9228b48b1ccf4f83adc265e00dc887b791641f7da0c577899d339b126f3d04";
    let address = "010500b5ed7673fe166d7118cd4d9ea19f216adf4e973209e99b49c6ecf157ba14a0e8454195d4";
    let public = public_key_from_bytes(&hex::decode(key).unwrap()).unwrap();
    assert_eq!(Address::of(&public).unwrap().to_string(), format!("Q{address}"));
    for valid in [
        address,
        "01060060d974fd1faf2c2b0c91d9e33cae9f1b42208c62169f946373ae64198b97b6479f6c8ce5",
        "0105000c10421ed6eebb1fb8f066ac50678961f60b516d98ab83bee92278f6fd238306e1424918",
    ] {
        Address::from_bytes(&hex::decode(valid).unwrap()).unwrap();
    }
}

#[test]
fn addresses_are_read_strictly() {
    let valid = "Q010500b5ed7673fe166d7118cd4d9ea19f216adf4e973209e99b49c6ecf157ba14a0e8454195d4";
    let address: Address = valid.parse().unwrap();
    assert_eq!(address.to_string(), valid);
    assert_eq!(address.params().to_string(), "QRL-SHAKE_10_256");
    // Any wrong digit shows, and any digit too few or too many.
    for at in 1..valid.len() {
        let mut wrong = valid.as_bytes().to_vec();
        wrong[at] = if wrong[at] == b'7' { b'8' } else { b'7' };
        assert!(core::str::from_utf8(&wrong).unwrap().parse::<Address>().is_err(), "{at}");
        assert!(valid[..at].parse::<Address>().is_err(), "{at}");
    }
    for wrong in [
        &valid[1..],
        &format!("{valid}0"),
        &valid.replace('Q', "q"),
        &valid.replace('b', "g"),
        &format!(" {valid}"),
        &valid.replace("ed", "é"),
        "",
        "Q",
    ] {
        assert!(wrong.parse::<Address>().is_err(), "{wrong}");
    }
}

/// The keys of qrllib's pool: seed `i` is SHAKE256 of 48 zeros and the byte `i`.
#[test]
fn a_pools_keys_are_the_published_ones() {
    let keys = [
        "0103002cdddec48985cc9acd9d970781782a1c5f1000ee464370b79a8639dc669defb803eb90b52a39a2be669053476fa1bb3eb8d9514c432eb9bd1e4a78b36d271d7e",
        "010300e76e8a65bd7df657e91b95a9895baebbca7f003e3ab8ae6e7bcf6edc0d48f212551a7d78a5df848aa9808f39e669817362e0870178c1a70c1e835b6daa0b3d91",
        "01030087eb6f611bd88cf08f7948995216661e01fce87f9dcff14d58858e8770422c69691d6ce737e816c44bc21e8e7e422e8068af1d8bfb89a05db98e822178352d63",
        "010300e3d66e891f02bff7dcb2d87fe7126e549e0e993b6a459992fc5fcc4b752eeb4ab2428e3e0280b7da7c82db6c135ab615cddd08412246580eee32e9c692eaa318",
        "010300eceed296a8f2b3a25af19cfc90d3c2725a0c6b9aa263523eb9a6bd5155e80326384349175d2c5aeeeb5032b67d19150a9bb68ee43f0a58000aa7e6b2dc88d2cd",
    ];
    for (i, expected) in (1..).zip(keys) {
        let mut seed = [0; 48];
        shake(RATE_256, &[&[0; 48], &[i]], &mut seed);
        let descriptor = Descriptor::new(HashFunction::Shake128, 6).unwrap();
        let key = ExtendedSeed::new(descriptor, &seed).secret_key(&Progress::silent()).unwrap();
        let public = public_key_to_bytes(&key.public_key()).unwrap();
        assert_eq!(hex::encode(public), expected);
    }
}

/// Every even height of which keys are made: the first index and the last sign.
#[test]
fn every_height_signs_with_each_hash_function() {
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    let most = if slow { 20 } else { 10 };
    if !slow {
        println!("up to height 10; up to 20 with TETRALITH_SLOW=1");
    }
    for hash in [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256] {
        for height in (4..=most).step_by(2) {
            let descriptor = Descriptor::new(hash, height).unwrap();
            let seed = ExtendedSeed::new(descriptor, &[height; 48]);
            let key = seed.secret_key(&Progress::silent()).unwrap();
            let public = key.public_key();
            let mut store = Volatile::new();
            create(&mut store, &public, 0, [0; 16], 0).unwrap();
            let mut signer = Signer::open(key, store, Holder::new("test")).unwrap();
            let last = public.params().signatures() - 1;
            for index in [0, last] {
                signer.resume_at(index, 0).unwrap();
                let signature = signer.sign(b"QRL", 0).unwrap();
                assert_eq!(signature.len(), 2180 + 32 * usize::from(height));
                assert_eq!(signature[..4], (index as u32).to_be_bytes());
                assert_eq!(public.verify(b"QRL", &signature), Ok(()));
            }
            assert!(signer.sign(b"QRL", 0).is_err(), "exhausted");
        }
    }
}

/// A signature that qrllib published, of the zero seed's first index at height 6.
#[test]
fn a_signature_is_the_published_one() {
    // Part of the program, for WebAssembly has no files.
    let expected = include_str!("../../../vectors/xmss/qrl/zero-seed-6-0.hex");
    let expected = hex::decode(expected.trim()).unwrap();
    let message = hex::decode("56454c9621c549cd05c112de496ba32f").unwrap();
    let key = zero_seed(6).secret_key(&Progress::silent()).unwrap();
    let public = key.public_key();
    let mut store = Volatile::new();
    create(&mut store, &public, 0, [0; 16], 0).unwrap();
    let mut signer = Signer::open(key, store, Holder::new("test")).unwrap();
    assert_eq!(signer.sign(&message, 0).unwrap(), expected);
    assert_eq!(public.verify(&message, &expected), Ok(()));
}

#[test]
fn trees_above_twenty_only_verify() {
    let refused = zero_seed(22).secret_key(&Progress::silent()).unwrap_err();
    assert!(matches!(refused, Error::TooTall(_)), "{refused}");
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
