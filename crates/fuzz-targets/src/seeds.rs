//! Inputs that get through the doors, for each target: from `vectors/`, and what the libraries write.

use rand_core::SeedableRng;
use serde_json::Value;
use std::path::PathBuf;
use tetralith_keyfile::{Cost, KeyFile, Protection};
use tetralith_vrf::{SecretKey, Suite};
use tetralith_xmss::{Derivation, HashFunction, Params, Progress};

fn rng() -> chacha20::ChaCha20Rng {
    chacha20::ChaCha20Rng::from_seed([9; 32])
}

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors"))
}

fn vector(name: &str) -> Vec<u8> {
    std::fs::read(vectors().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&vector(name)).unwrap()
}

fn folder(name: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let found = std::fs::read_dir(vectors().join(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = found.collect();
    paths.retain(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end)));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).filter(|seed| seed.len() < 8192).collect()
}

/// `first` before each seed.
fn after(first: u8, seeds: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.into_iter().map(|seed| [&[first][..], &seed].concat()).collect()
}

/// The seeds of a target.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "columns_arrow" => numbered(4, &[&[][..], &[1, 0, 9, 1, 3], &[1, 1, 200, 0, 255]]),
        "columns_parquet" => numbered(9, &[&[0; 8][..], &[3; 24], &[200; 40]]),
        "columns_text" => columns_text(),
        "edwards25519_lanes" => {
            numbered(2, &[&[][..], &[0xff; 323], &[0x5a; 323], &[0; 323], &[0xed; 200]])
        }
        "keyfile_text" => keyfile_text(),
        #[cfg(feature = "node")]
        "node_config" => node_config(),
        #[cfg(feature = "node")]
        "node_wire" => node_wire(),
        "tss_encodings" => tss_encodings(),
        "tss_messages" => {
            numbered(2, &[&[][..], &[0, 1, 0, 40, 0, 7], &[2, 1, 0, 80, 1, 3], &[1, 1, 0, 6, 4, 0]])
        }
        "vdf_checkpoint" => vdf_checkpoint(),
        "vdf_kept" => numbered(3, &[&[0; 12][..], &[1; 30], &[0xfe; 21]]),
        "vdf_modulus" => vdf_modulus(),
        "vdf_proof" => vdf_proof(),
        #[cfg(feature = "node")]
        "vdf_request" => crate::vdf_request::GOOD.map(|text| text.as_bytes().to_vec()).to_vec(),
        "vdf_sealed" => vdf_sealed(),
        "vrf_header" => vrf_header(),
        "tss_points" => tss_points(),
        "vrf_many" => {
            numbered(6, &[&[5; 40][..], &[77; 90], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 128, 64, 32]])
        }
        "vrf_prove" => numbered(6, &[&[7; 40][..], &[7; 120]]),
        "vrf_verify" => vrf_verify(),
        "xmss_aidos" => xmss_aidos(),
        "xmss_partial" => numbered(2, &[&[][..], &[1, 0, 60, 1, 3], &[1, 0, 200, 4, 0]]),
        "xmss_public_key" => xmss_public_key(),
        "xmss_state" => xmss_state(),
        "xmss_verify" => xmss_verify(),
        _ => panic!("{target} has no seeds"),
    }
}

/// Each of these behind each number below `count`.
fn numbered(count: u8, seeds: &[&[u8]]) -> Vec<Vec<u8>> {
    let with = |first: u8| seeds.iter().map(move |seed| [&[first][..], seed].concat());
    (0..count).flat_map(with).collect()
}

fn columns_text() -> Vec<Vec<u8>> {
    let csv = "00ff,0x0102,rfc9381-p256\n\"00\",,\nzz,00,\n";
    let lines = "{\"key\":\"00ff\",\"alpha\":\"0x01\",\"suite\":null}\n\n{\"alpha\":\"\",\"other\":[{}]}\r\n";
    [
        after(1, [csv.into()]),
        after(0, [lines.into()]),
        after(0, folder("vrf/cardano-eras", &["headers.jsonl"])),
    ]
    .concat()
}

fn keyfile_text() -> Vec<Vec<u8>> {
    let public = KeyFile::public("vrf", "draft03-cardano", &[1, 2, 3]);
    let plain = public.clone().seal(b"secret", Protection::None, Cost::LEAST, &mut rng()).unwrap();
    let keyed = Protection::Key(&[4; 32]);
    let keyed = public.clone().seal(b"secret", keyed, Cost::LEAST, &mut rng()).unwrap();
    let texts = [public, plain, keyed].map(|file| file.to_text().as_bytes().to_vec());
    [texts.to_vec(), vec![vector("keyfile/sealed.json")]].concat()
}

#[cfg(feature = "node")]
fn node_config() -> Vec<Vec<u8>> {
    let short = "name = \"a\"\nlisten = \"/ip4/127.0.0.1/tcp/7400\"\napi = \"127.0.0.1:7401\"\n";
    let peer = tetralith_node::Identity::from_seed(&[2; 32]).id();
    let long = format!(
        "{short}api_hosts = [\"node.example\"]\n\n[limits]\nqueue = 5\n\n[[peers]]\nname = \"b\"\n\
         id = \"{peer}\"\naddress = \"/ip6/::1/tcp/7400\"\n"
    );
    vec![short.into(), long.into()]
}

/// A body of each kind: the target takes them without the signature that no random bytes have.
#[cfg(feature = "node")]
fn node_wire() -> Vec<Vec<u8>> {
    let hash = format!("5820{}", "04".repeat(32));
    let bodies = [
        format!("820181838201810282410141025820{}", "09".repeat(32)),
        format!("8201818382028250{}{hash}8241014102{hash}", "05".repeat(16)),
        format!("820281820183{hash}{hash}814101"),
        "82028182028164".to_owned() + "62757379",
        "82038181814201ff".to_owned(),
        format!("82048182{hash}4107"),
        format!("820581{hash}"),
        "820681826178820180".to_owned(),
        "8207814101".to_owned(),
        "820880".to_owned(),
    ];
    bodies.iter().map(|digits| hex::decode(digits).unwrap()).collect()
}

fn tss_encodings() -> Vec<Vec<u8>> {
    let share = &crate::tss_messages::shares()[0];
    vec![share.to_bytes().to_vec(), share.public().to_bytes()]
}

/// Without the checksum, which the target appends.
fn vdf_checkpoint() -> Vec<Vec<u8>> {
    let modulus = tetralith_vdf::Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
    let (x, _) = modulus.reduce(&[7]);
    let at = |squarings: u64| {
        let mut evaluation = tetralith_vdf::Evaluation::new(&modulus, &x, 5000).unwrap();
        evaluation.advance(squarings).unwrap();
        let mut bytes = evaluation.checkpoint().unwrap().0.to_bytes();
        bytes.truncate(bytes.len() - 32);
        bytes
    };
    [0, 7, 5000].map(at).to_vec()
}

fn vdf_modulus() -> Vec<Vec<u8>> {
    let hex = |digits: &str| hex::decode(digits).unwrap();
    vec![
        hex("cfa92a1c6559dd55bb75027437309ad3"),
        hex("7fffffffffffffffffffffffffffffff"),
        tetralith_vdf::Modulus::rsa2048().to_bytes(),
    ]
}

/// The known proofs, and short ones, which are quick to verify.
fn vdf_proof() -> Vec<Vec<u8>> {
    use tetralith_vdf::{Modulus, Options, Prover, System};
    let known = json("vdf/proofs.json");
    let known = known.as_object().unwrap().values().filter_map(Value::as_str);
    let mut seeds: Vec<Vec<u8>> = known.filter_map(|digits| hex::decode(digits).ok()).collect();
    let modulus = Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
    let (x, _) = modulus.reduce(&[7]);
    for system in [System::Wesolowski, System::Segmented, System::Pietrzak] {
        let mut prover = Prover::new(system, &modulus, &x, 300, Options::default()).unwrap();
        let (_, proof) = prover.run(&mut |_| core::ops::ControlFlow::Continue(())).unwrap();
        seeds.push(proof.to_bytes());
    }
    seeds
}

fn vdf_sealed() -> Vec<Vec<u8>> {
    let known = json("vdf/sealed.json");
    let cases = known["cases"].as_array().unwrap().iter();
    let known = cases.filter_map(|case| hex::decode(case["sealed"].as_str()?).ok());
    let orders = [0b10_01_00, 0b00_01_10, 0b11_01_00].map(|order| vec![0, 128 | order]);
    [after(1, known), orders.to_vec(), vec![vec![0, 1, 0, 90, 1, 2]]].concat()
}

fn vrf_header() -> Vec<Vec<u8>> {
    let mut seeds = folder("vrf/cardano-headers", &[".cbor"]);
    seeds.extend(folder("vrf/cardano-eras", &[".block", ".header"]));
    let mut chunk = vector("vrf/cardano-eras/preview_02019.chunk");
    chunk.truncate(4096);
    seeds.extend([chunk, b"3/20".to_vec(), b"0.05e-3".to_vec(), b"draft03-cardano".to_vec()]);
    seeds
}

fn vrf_verify() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, suite) in (0..).zip(Suite::ALL) {
        let key = SecretKey::from_bytes(suite, &[7; 32]).unwrap();
        for (rows, alpha) in [(1, &b""[..]), (9, b"a longer input")] {
            let proof = key.prove(alpha).unwrap();
            let public = key.public_key();
            let parts = [&[number, rows], public.as_bytes(), proof.as_bytes(), alpha];
            seeds.push(parts.concat());
        }
    }
    seeds
}

fn xmss_aidos() -> Vec<Vec<u8>> {
    let hex = |name: &str| hex::decode(String::from_utf8(vector(name)).unwrap().trim()).unwrap();
    let mut seeds = folder("xmss/aidos", &[".json"]);
    seeds.push(hex("xmss/aidos/public.hex"));
    seeds
}

fn xmss_public_key() -> Vec<Vec<u8>> {
    let params = Params::qrl(HashFunction::Shake128, 4).unwrap();
    let seeds = [7; 96];
    let key = tetralith_xmss::SecretKey::from_seeds(
        params,
        Derivation::PrfCounter,
        &seeds,
        &Progress::silent(),
    );
    let public = key.unwrap().public_key();
    let mut seeds = folder("xmss/botan", &[".pem"]);
    seeds.push(tetralith_xmss::qrl::public_key_to_bytes(&public).unwrap().to_vec());
    let address = tetralith_xmss::qrl::Address::of(&public).unwrap();
    seeds.push(address.to_string().into_bytes());
    for params in Params::all().step_by(9) {
        let key = tetralith_xmss::PublicKey::from_parts(params, &vec![3; 2 * params.n()]).unwrap();
        seeds.push(key.to_bytes());
        seeds.extend(tetralith_xmss::pkix::to_der(&key).ok());
        seeds.extend(tetralith_xmss::pkix::to_pem(&key).ok().map(String::into_bytes));
    }
    seeds
}

fn xmss_state() -> Vec<Vec<u8>> {
    use tetralith_xmss::state::{Holder, StateStore, Volatile, create};
    let params = Params::qrl(HashFunction::Sha2, 4).unwrap();
    let seeds = [7; 96];
    let key = tetralith_xmss::SecretKey::from_seeds(
        params,
        Derivation::PrfCounter,
        &seeds,
        &Progress::silent(),
    );
    let key = key.unwrap();
    let mut store = Volatile::new();
    create(&mut store, &key.public_key(), 3, [1; 16], 0).unwrap();
    let record = store.load().unwrap().unwrap();
    let bytes = key.to_bytes().to_vec();
    let mut signer = tetralith_xmss::Signer::open(key, store, Holder::new("fuzz")).unwrap();
    signer.sign(b"message", 0).unwrap();
    vec![record.to_bytes(), bytes]
}

/// Real signatures that are unchanged or changed in one place, and any bytes under each set.
fn xmss_verify() -> Vec<Vec<u8>> {
    let changes: [&[u8]; 5] =
        [&[], &[1, 0, 2, 1, 3], &[1, 0, 20, 1, 3], &[1, 4, 0, 1, 3], &[1, 8, 100, 4, 0]];
    let real = (128..131)
        .flat_map(|which| changes.iter().map(move |change| [&[which][..], change].concat()));
    real.chain((0..128).step_by(7).map(|which| vec![which, 0, 0, 0, 1, 0x5a])).collect()
}

/// A scalar, and rows of a scalar, a tag and whether the row's bytes are an encoding.
fn tss_points() -> Vec<Vec<u8>> {
    let bytes = |seed: u8, n: usize| -> Vec<u8> {
        (0..n).map(|i| (i as u8).wrapping_mul(37).wrapping_add(seed).rotate_left(3)).collect()
    };
    vec![bytes(1, 32 + 34 * 12), vec![0; 32 + 34 * 3], vec![0xff; 32 + 34 * 9], bytes(9, 70)]
}
