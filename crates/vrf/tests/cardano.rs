//! Real headers, and the leader check against exact arithmetic.

#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use num_bigint::{BigInt, BigUint};
use serde_json::Value;
use tetralith_vrf::cardano::{
    CardanoError, Header, HeaderVrf, LeaderCheck, Ratio, VrfUse, leader_slots, leader_value,
    signing_key_from_cbor, slot_input,
};
use tetralith_vrf::{Error, SecretKey, Suite};

const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vrf/cardano-headers");

fn header(file: &str) -> Vec<u8> {
    std::fs::read(format!("{HEADERS}/{file}")).unwrap()
}

fn nonces() -> Vec<(String, u64, [u8; 32])> {
    let text = std::fs::read_to_string(format!("{HEADERS}/nonces.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let row = |row: &Value| {
        let nonce = hex::decode(row["nonce"].as_str().unwrap()).unwrap();
        let file = row["file"].as_str().unwrap().to_owned();
        (file, row["slot"].as_u64().unwrap(), nonce.try_into().unwrap())
    };
    json["headers"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn real_headers_verify_and_lead() {
    let rows = nonces();
    assert_eq!(rows.len(), 4);
    let everything = LeaderCheck::new(&"1".parse().unwrap(), &"0.05".parse().unwrap()).unwrap();
    for (file, slot, nonce) in &rows {
        let header = Header::from_cbor(&header(file)).unwrap();
        assert_eq!(header.slot, *slot);
        assert!(matches!(header.protocol, (9 | 10, _)));
        header.verify_vrf(nonce).unwrap();
        assert!(everything.is_leader(&header.leader_value()));
        let invalid = Err(CardanoError::InvalidProof(VrfUse::Both).into());
        let mut other = *nonce;
        other[0] ^= 1;
        assert_eq!(header.verify_vrf(&other), invalid);
        let mut other = header.clone();
        other.slot += 1;
        assert_eq!(other.verify_vrf(nonce), invalid);
        let HeaderVrf::Praos(mut certified) = header.vrf.clone() else { panic!("one proof") };
        certified.output[63] ^= 1;
        let mut other = header.clone();
        other.vrf = HeaderVrf::Praos(certified);
        let mismatch = CardanoError::OutputMismatch(VrfUse::Both);
        assert_eq!(other.verify_vrf(nonce), Err(mismatch.into()));
    }
    let mainnet = Header::from_cbor(&header("mainnet_blockheader_10817298.cbor")).unwrap();
    assert_eq!((mainnet.slot, mainnet.block_number), (134402628, 10817298));
}

#[test]
fn malformed_headers_say_what_is_wrong() {
    let good = header("preprod_70070331.cbor");
    for length in 0..good.len() {
        let error = Header::from_cbor(&good[..length]).unwrap_err();
        let cut = matches!(error, CardanoError::Cbor { .. } | CardanoError::Item { .. });
        assert!(cut, "{length}: {error}");
    }
    let mut trailing = good.clone();
    trailing.extend([0; 3]);
    assert_eq!(Header::from_cbor(&trailing), Err(CardanoError::TrailingBytes(3)));
    let with = |at: usize, byte: u8| {
        let mut bad = good.clone();
        bad[at] = byte;
        Header::from_cbor(&bad).unwrap_err().to_string()
    };
    assert_eq!(with(0, 0x83), "header field header has 3 elements, expected 2");
    assert_eq!(with(1, 0x8f), "header field header body has 15 elements, expected 10");
    assert_eq!(with(1, 0x89), "header field header body has 9 elements, expected 10");
    assert!(with(0, 0x9f).starts_with("header field header:")); // no break at its end
    assert!(with(2, 0x58).starts_with("header field block number"));
    assert_eq!(with(13, 0x1f), "header field previous hash is 31 bytes long, expected 32");
}

#[test]
fn signing_keys_are_read_strictly() {
    let suite = Suite::Draft03Cardano;
    let key = SecretKey::from_bytes(suite, &[9; 32]).unwrap();
    let cbor = [&[0x58, 0x40], &[9; 32][..], key.public_key().as_bytes()].concat();
    let read = signing_key_from_cbor(suite, &cbor).unwrap();
    assert_eq!(read.expose_bytes(), key.expose_bytes());
    let mut other = cbor.clone();
    other[65] ^= 1;
    assert_eq!(signing_key_from_cbor(suite, &other).unwrap_err(), Error::KeyPairMismatch);
    for bad in [&cbor[..65], &cbor[1..], &[]] {
        let error = signing_key_from_cbor(suite, bad).unwrap_err();
        assert!(matches!(error, Error::Cardano(CardanoError::SigningKey(_))));
    }
    assert!(signing_key_from_cbor(Suite::P256Tai, &cbor).is_err());
}

/// 2^256 (1 - (1 - 1/20)^(power/root)) rounded down, by an integer root: nothing in common with the
/// ledger's logarithm and exponential.
fn threshold(power: u32, root: u32) -> BigUint {
    let one = BigUint::from(1u8) << 256u32;
    // (19/20)^(power/root)·2^256 = ((19/20)^power·2^(256·root))^(1/root)
    let shifted = BigUint::from(19u8).pow(power) << (256 * root);
    one - ((shifted / BigUint::from(20u8).pow(power)).nth_root(root) + 1u8)
}

#[test]
fn the_leader_check_is_exact_to_twenty_digits() {
    for (power, root) in
        [(1, 1), (1, 2), (1, 3), (2, 5), (6, 7), (1, 12), (1, 100), (37, 100), (3, 400)]
    {
        let stake = Ratio::new(power.into(), root.into()).unwrap();
        let check = LeaderCheck::new(&stake, &"0.05".parse().unwrap()).unwrap();
        let exact = BigInt::from(threshold(power, root));
        let step = BigInt::from(1) << (256 - 70); // 2^-70 is below 10^-21
        for (offset, leads) in [(-1, true), (1, false), (-1000, true), (1000, false)] {
            let value: BigInt = &exact + &step * offset;
            let (_, bytes) = value.to_bytes_be();
            let mut padded = [0; 32];
            padded[32 - bytes.len()..].copy_from_slice(&bytes);
            assert_eq!(check.is_leader(&padded), leads, "{power}/{root} {offset}");
        }
    }
}

#[test]
fn schedules_are_slot_by_slot() {
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, &[1; 32]).unwrap();
    let nonce = [2; 32];
    let check = LeaderCheck::new(&"0.5".parse().unwrap(), &"0.5".parse().unwrap()).unwrap();
    let led = leader_slots(&key, &nonce, &check, 100..300).unwrap();
    assert!((30..90).contains(&led.len()), "{}", led.len()); // 200 slots at 0.29
    for slot in 100..300 {
        let output = key.prove(&slot_input(slot, &nonce)).unwrap().to_hash();
        assert_eq!(led.contains(&slot), check.is_leader(&leader_value(&output)));
    }
}

/// A schedule against the exact threshold, slot by slot.
#[test]
fn schedules_are_those_of_exact_arithmetic() {
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, &[3; 32]).unwrap();
    for (power, root, first) in [(1, 1, 0), (2, 7, 70_070_400), (17, 40, u64::MAX - 300)] {
        let stake = Ratio::new(power.into(), root.into()).unwrap();
        let check = LeaderCheck::new(&stake, &"1/20".parse().unwrap()).unwrap();
        let exact = threshold(power, root);
        let leads = |slot: &u64| {
            let output = key.output(&slot_input(*slot, &[7; 32])).unwrap();
            BigUint::from_bytes_be(&leader_value(&output)) <= exact
        };
        let expected: Vec<u64> = (first..first + 300).filter(leads).collect();
        assert!(!expected.is_empty());
        assert_eq!(leader_slots(&key, &[7; 32], &check, first..first + 300).unwrap(), expected);
    }
}

/// A schedule that is known from elsewhere, of the eras before Babbage. Its nonce is the neutral one, so
/// the slot alone is hashed for the input.
#[test]
fn a_known_schedule_is_found() {
    use blake2::digest::consts::U32;
    use blake2::{Blake2b, Digest};
    let path = "/../../vectors/vrf/cardano-leader/tpraos_slots.json";
    let text = std::fs::read_to_string([env!("CARGO_MANIFEST_DIR"), path].concat()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let number = |name: &str| json[name].as_u64().unwrap();
    let ratio = |name: &str| json[name].as_str().unwrap().parse::<Ratio>().unwrap();
    let seed = json["seed_ascii"].as_str().unwrap();
    let key = SecretKey::from_bytes(Suite::Draft03Cardano, seed.as_bytes()).unwrap();
    let check = LeaderCheck::new(&ratio("stake"), &ratio("active_slot_coefficient")).unwrap();
    let hash = |number: u64| -> [u8; 32] { Blake2b::<U32>::digest(number.to_be_bytes()).into() };
    let leads = |slot: &u64| {
        let (slot, constant) = (hash(*slot), hash(1));
        let input: [u8; 32] = core::array::from_fn(|i| slot[i] ^ constant[i]);
        let output = key.output(&input).unwrap();
        check.is_leader(output.as_bytes())
    };
    let slots = number("first_slot")..number("first_slot") + number("slots");
    let expected: Vec<u64> =
        json["leads"].as_array().unwrap().iter().map(|slot| slot.as_u64().unwrap()).collect();
    assert_eq!(slots.filter(leads).collect::<Vec<u64>>(), expected);
}
