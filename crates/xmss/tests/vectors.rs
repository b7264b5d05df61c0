//! Published vectors: liboqs signatures, xmss-reference keys and signatures, Botan keys.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{Derivation, Error, Params, Progress, PublicKey, Scheme, SecretKey, Signer};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/xmss")).join(name)
}

fn files(name: &str) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// `name = value` lines, in order.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(" = "))
}

fn scheme(name: &str) -> Scheme {
    if name.starts_with("XMSSMT") { Scheme::XmssMt } else { Scheme::Xmss }
}

/// File names have `20-4` where parameter sets have `20/4`.
fn params(name: &str) -> Params {
    Params::from_name(&name.replace('-', "/").replacen('/', "-", 1)).unwrap()
}

fn slow() -> bool {
    std::env::var_os("TETRALITH_SLOW").is_some()
}

#[test]
fn liboqs_signatures_verify() {
    let files = files("liboqs");
    assert_eq!(files.len(), 37);
    for (name, text) in files {
        let fields: HashMap<_, _> = fields(&text).collect();
        let [pk, msg, sm] = ["pk", "msg", "sm"].map(|field| hex::decode(fields[field]).unwrap());
        let key = PublicKey::from_bytes(scheme(&name), &pk).unwrap();
        assert_eq!(key.params(), params(&name));
        assert_eq!(key.to_bytes(), pk);
        assert_eq!(key.verify(&msg, &sm), Ok(()), "{name}");
        // A change anywhere is found: in the index, r, a chain, and the last node of the path.
        for at in [key.params().index_bytes() - 1, 10, sm.len() / 2, sm.len() - 1] {
            let mut bad = sm.clone();
            bad[at] ^= 1;
            assert_eq!(key.verify(&msg, &bad), Err(Error::Verification), "{name} byte {at}");
        }
        let mut other = msg.clone();
        other[0] ^= 1;
        assert_eq!(key.verify(&other, &sm), Err(Error::Verification), "{name}");
    }
}

#[test]
fn reference_keys_and_signatures_are_made_byte_for_byte() {
    let files = files("reference");
    assert_eq!(files.len(), 11);
    for (name, text) in files {
        let params = params(&name);
        let mut fields = fields(&text);
        let mut field = |name| {
            let (found, value) = fields.next()?;
            assert_eq!(found, name);
            Some(value)
        };
        let seeds = hex::decode(field("seed").unwrap()).unwrap();
        let seeds = &seeds[..3 * params.n()];
        let root_seed = hex::decode(field("pk").unwrap()).unwrap();
        let public = PublicKey::from_parts(params, &root_seed).unwrap();
        let key = SecretKey::from_seeds(params, Derivation::PrfKeygen, seeds, &Progress::silent());
        let key = key.unwrap();
        assert_eq!(key.public_key(), public, "{name}");
        let mut store = Volatile::new();
        create(&mut store, &public, 0, [0; 16], 0).unwrap();
        let mut signer = Signer::open(key, store, Holder::new("test")).unwrap();
        while let Some(index) = field("index") {
            signer.resume_at(index.parse().unwrap(), 0).unwrap();
            let message = hex::decode(field("msg").unwrap()).unwrap();
            let expected = hex::decode(field("sig").unwrap()).unwrap();
            let signature = signer.sign(&message, 0).unwrap();
            assert!(signature == expected, "{name} index {index}");
            assert_eq!(public.verify(&message, &signature), Ok(()));
        }
    }
}

#[test]
fn botan_keys_are_made() {
    let text = fs::read_to_string(folder("botan/xmss_keygen_reference.vec")).unwrap();
    let mut left_out = Vec::new();
    let mut count = 0;
    for block in text.split("\n\n") {
        let fields: HashMap<_, _> = fields(block).collect();
        let Some(name) = fields.get("Params") else { continue };
        count += 1;
        let params = Params::from_name(name).unwrap();
        let public = hex::decode(fields["PublicKey"]).unwrap();
        let decoded = PublicKey::from_bytes(Scheme::Xmss, &public).unwrap();
        assert_eq!(decoded.params(), params);
        if params.height() > 10 && !slow() {
            left_out.push(*name);
            continue;
        }
        let seeds = ["SecretSeed", "SecretPrf", "PublicSeed"]
            .map(|name| hex::decode(fields[name]).unwrap());
        let seeds = seeds.concat();
        let key = SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &Progress::silent());
        assert_eq!(key.unwrap().public_key(), decoded, "{name}");
    }
    assert!(count >= 7, "{count} keys");
    if !left_out.is_empty() {
        println!("left out without TETRALITH_SLOW=1: {}", left_out.join(", "));
    }
}

#[test]
fn botan_certificates_verify() {
    use tetralith_xmss::pkix::Certificate;
    for name in ["xmss_bouncycastle_sha256_10_root.pem", "xmss_isara_root.pem"] {
        let text = fs::read_to_string(folder("botan").join(name)).unwrap();
        let certificate = Certificate::from_pem(&text).unwrap();
        assert_eq!(certificate.verify(&certificate.public_key), Ok(()), "{name}");
        let other = PublicKey::from_parts(certificate.public_key.params(), &[0; 64]).unwrap();
        assert_eq!(certificate.verify(&other), Err(Error::Verification));
    }
}
