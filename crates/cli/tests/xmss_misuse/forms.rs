//! The forms in which keys, certificates, words and parameter sets are read.

use super::{Place, Told};
use std::fs;
use tetralith_xmss::{PublicKey, Scheme};

/// Decodes the body of a PEM file.
fn der(pem: &str) -> Vec<u8> {
    let digits = |c: char| match c {
        'A'..='Z' => Some(c as u32 - 65),
        'a'..='z' => Some(c as u32 - 71),
        '0'..='9' => Some(c as u32 + 4),
        '+' => Some(62),
        '/' => Some(63),
        _ => None,
    };
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let values: Vec<u32> = body.chars().filter_map(digits).collect();
    let bytes = values.chunks(4).flat_map(|four| {
        let bits = (0..4).fold(0, |bits, i| bits << 6 | four.get(i).copied().unwrap_or(0));
        bits.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

#[test]
fn public_keys_are_read_in_every_form() {
    let place = Place::new();
    place.done("keygen -o k --no-passphrase");
    place.done("sign -k k m");
    place.done("pub k -o raw");
    place.done("pub k --format pem -o pem");
    let raw = fs::read(place.at("raw")).unwrap();
    let pem = fs::read_to_string(place.at("pem")).unwrap();
    fs::write(place.at("hex"), hex::encode(&raw) + "\n").unwrap();
    fs::write(place.at("der"), der(&pem)).unwrap();
    for form in ["k", "raw", "pem", "hex", "der"] {
        place.done(&format!("verify -p {form} -s m.sig m"));
    }
    fs::write(place.at("two"), pem.repeat(2)).unwrap();
    place.refused("verify -p two -s m.sig m", 2, "input.malformed").says("more than one block");
    // The identifier of an XMSS^MT key is that of another set of XMSS.
    let params = tetralith_xmss::Params::from_oid(Scheme::XmssMt, 1).unwrap();
    let multi = PublicKey::from_parts(params, &[7; 64]).unwrap();
    fs::write(place.at("mt"), multi.to_bytes()).unwrap();
    fs::write(place.at("mt.sig"), vec![0; params.signature_bytes()]).unwrap();
    let told = place.refused("verify -p mt -s mt.sig m", 2, "input.length");
    told.says("--params XMSSMT-SHA2_20/2_256");
    place.refused("address -p k", 2, "key.not_qrl").says("only QRL's keys have an address");
    place
        .refused("export k --format aidos --plain -o x", 2, "key.not_aidos")
        .says("--derivation prf-counter");
}

#[test]
fn certificates_verify_at_the_command() {
    let place = Place::new();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/xmss/botan");
    let roots = ["xmss_isara_root.pem", "xmss_bouncycastle_sha256_10_root.pem"];
    for root in roots {
        let told = place.done(&format!("verify-certificate {vectors}/{root}"));
        assert_eq!(told.object["self_signed"], true);
        place.done(&format!("verify-certificate -p {vectors}/{root} {vectors}/{root}"));
    }
    let pem = fs::read_to_string(format!("{vectors}/{}", roots[0])).unwrap();
    let mut der = der(&pem);
    fs::write(place.at("root.der"), &der).unwrap();
    place.done("verify-certificate -p root.der root.der");
    let other = format!("verify-certificate -p {vectors}/{} root.der", roots[1]);
    place.refused(&other, 1, "verification.failed");
    let last = der.len() - 1;
    der[last] ^= 1;
    fs::write(place.at("root.der"), &der).unwrap();
    place.refused("verify-certificate root.der", 1, "verification.failed");
}

#[test]
fn imports_tell_what_is_left_and_which_word_is_wrong() {
    let place = Place::with_key();
    place.done("export k --copy -o words");
    let words = fs::read_to_string(place.at("words")).unwrap();
    fs::write(place.at("upper"), words.to_uppercase()).unwrap();
    let import = |from: &str, at: u64| {
        let to = format!("-o {from}.key --no-passphrase --resume-at {at}");
        format!("import --qrl-mnemonic {from} {to}")
    };
    assert_eq!(place.done(&import("upper", 5)).object["left"], 11);
    place.refused(&import("words", 16), 2, "input.index");
    let mut list: Vec<_> = words.split_whitespace().collect();
    list[6] = "tetralith";
    fs::write(place.at("typo"), list.join(" ")).unwrap();
    let told = place.refused(&import("typo", 0), 2, "input.word");
    told.says("word 7 ");
    assert!(!told.object.to_string().contains("tetralith"));
}

#[test]
fn an_export_says_what_moves() {
    let place = Place::with_key();
    place.done("restore k --resume-at 15");
    let moved = |told: &Told| (told.object["moved"].clone(), told.object["left"].clone());
    let told = place.done("export k -o first");
    assert_eq!(moved(&told), (true.into(), 1.into()));
    // Now nothing is left that could move, and nobody knows whether it was signed with.
    let told = place.done("export k -o second");
    assert_eq!(moved(&told), (false.into(), 0.into()));
    told.says("key.exhausted");
    told.says("spent, or exported before");
}

#[test]
fn parameter_sets_are_listed() {
    let place = Place::new();
    let sets = place.done("params").object["sets"].clone();
    assert_eq!(sets.as_array().unwrap().len(), 77 + 42);
    assert_eq!(sets[0]["params"], "XMSS-SHA2_10_256");
    let told = place.run("keygen -o k --params xmss-sha2_16_256");
    assert_eq!(told.exit, 2);
    told.says("XMSS-SHA2_16_256");
}

#[test]
fn addresses_are_checked_and_described() {
    let place = Place::with_key();
    let own = place.done("address -p k").object;
    assert_eq!((&own["params"], &own["height"]), (&"QRL-SHA2_4_256".into(), &4.into()));
    let own = own["address"].as_str().unwrap().to_owned();
    place.done(&format!("address --check {own}"));
    place.done(&format!("address -p k --check {own}"));
    // One of the ledger, of height 10.
    let other = "Q010500b5ed7673fe166d7118cd4d9ea19f216adf4e973209e99b49c6ecf157ba14a0e8454195d4";
    let told = place.done(&format!("address --check {other}")).object;
    for (name, value) in [("hash", "SHAKE128"), ("signature", "XMSS"), ("format", "SHA256_2X")] {
        assert_eq!(told[name], value, "{told}");
    }
    assert_eq!((&told["height"], &told["signatures"]), (&10.into(), &1024.into()));
    place.refused(&format!("address -p k --check {other}"), 1, "verification.failed");
    place.refused(&format!("address --check {}", other.replace('b', "c")), 2, "input.malformed");
    place.refused(&format!("address --check {}", &other[..70]), 2, "input.length");
    place.refused("address --check x", 2, "input.malformed").says("begin with Q");
    place.refused("address", 2, "usage.arguments");
}

#[test]
fn pkcs8_moves_a_key_with_its_index() {
    let place = Place::new();
    place.done("keygen -o k");
    place.sign("k", "0");
    let told = place.done("export k --format pkcs8 -o sealed");
    assert_eq!((&told.object["next"], &told.object["plain"]), (&1.into(), &false.into()));
    assert!(fs::read_to_string(place.at("sealed")).unwrap().contains("xmss-pkcs8"));
    place.refused("sign -k k m -o x", 4, "state.exhausted");
    place.refused("import --pkcs8 sealed -o low --resume-at 0", 4, "state.backward");
    place.done("import --pkcs8 sealed -o back");
    assert_eq!(place.sign("back", "1"), 1);
    place.done("verify -p k -s 1 m");
    // In the clear: PEM that other software reads, and the same in DER.
    place.done("export back --format pkcs8 --plain -o pem");
    let pem = fs::read_to_string(place.at("pem")).unwrap();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"), "{pem}");
    fs::write(place.at("der"), der(&pem)).unwrap();
    for (i, form) in ["pem", "der"].into_iter().enumerate() {
        place.done(&format!("import --pkcs8 {form} -o from-{form} --resume-at {}", 2 + i));
        assert_eq!(place.sign(&format!("from-{form}"), &format!("s-{form}")), 2 + i as u64);
        place.done(&format!("verify -p k -s s-{form} m"));
    }
    // A root that is not the seeds' is found, whatever the file says twice.
    let mut wrong = der(&pem);
    let len = wrong.len();
    for at in [len - 64, len - 64 - 4 - 3 - 64] {
        wrong[at] ^= 1;
    }
    fs::write(place.at("wrong"), wrong).unwrap();
    let refused = place.run("import --pkcs8 wrong -o x");
    assert_eq!(refused.exit, 2, "{}", refused.object);
    assert!(!place.at("x").exists());
    fs::write(place.at("pbes2"), pem.replace("PRIVATE", "ENCRYPTED PRIVATE")).unwrap();
    place.refused("import --pkcs8 pbes2 -o x", 2, "key.pkcs8_encrypted");
    place.done("keygen -o older --derivation prf-counter");
    place.refused("export older --format pkcs8 -o x", 2, "key.not_pkcs8");
    place.done("keygen -o qrl --params QRL-SHA2_4_256");
    assert_eq!(place.run("export qrl --format pkcs8 -o x").exit, 2);
    assert!(!place.at("x").exists());
}

/// The trees of a key are of no use to another one, though it has the same seeds.
#[test]
fn seeds_that_are_used_another_way_find_no_old_tree() {
    let place = Place::new();
    fs::write(place.at("seeds"), "07".repeat(96)).unwrap();
    let keygen = "keygen -o k --params XMSSMT-SHA2_20/4_256 --seed-file seeds --no-passphrase";
    place.done(keygen);
    for index in 0..2 {
        let told = place.done("sign -k k --force m");
        assert_eq!(told.object["index"], index);
    }
    place.done(&format!("{keygen} --force --derivation prf-counter"));
    for index in 0..2 {
        let told = place.done("sign -k k --force m");
        assert_eq!(told.object["index"], index);
    }
}

#[test]
fn a_wrong_digit_in_a_plain_key_costs_no_index() {
    let place = Place::with_key();
    let text = fs::read_to_string(place.at("k")).unwrap();
    let at = text.find("\"plain\": \"").unwrap() + 40;
    let digit = if &text[at..=at] == "1" { "2" } else { "1" };
    fs::write(place.at("k"), format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
    place.refused("sign -k k m", 2, "key.malformed").says("checksum");
    fs::write(place.at("k"), text).unwrap();
    assert_eq!(place.done("sign -k k m").object["index"], 0);
}
