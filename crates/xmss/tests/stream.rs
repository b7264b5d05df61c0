//! Messages that come in parts: the same signatures and verdicts as of the whole.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use std::io::{self, Read};
use tetralith_xmss::state::{Holder, Volatile, create};
use tetralith_xmss::{
    Derivation, Error, Params, Progress, PublicKey, SecretKey, Signer, StreamVerifier,
};

/// A signer of fixed seeds: two of them make the same signatures.
fn signer(params: Params) -> (PublicKey, Signer<Volatile>) {
    let seeds = vec![7; 3 * params.n()];
    let silent = Progress::silent();
    let key = SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, &silent).unwrap();
    let (public, mut store) = (key.public_key(), Volatile::new());
    create(&mut store, &public, 0, [1; 16], 0).unwrap();
    (public, Signer::open(key, store, Holder::new("test")).unwrap())
}

/// A set of each hash function and each n, in its smallest tree.
fn sets() -> impl Iterator<Item = Params> {
    let names = [
        "QRL-SHA2_4_256",
        "QRL-SHAKE_4_256",
        "QRL-SHAKE256_4_256",
        "XMSS-SHA2_10_192",
        "XMSS-SHAKE256_10_192",
        "XMSS-SHA2_10_512",
        "XMSS-SHAKE_10_512",
        "XMSSMT-SHA2_20/4_256",
    ];
    names.into_iter().map(|name| Params::from_name(name).unwrap())
}

#[test]
fn parts_are_signed_and_verified_as_the_whole() {
    let message: Vec<u8> = (0..1000u32).map(|i| (i * i / 8) as u8).collect();
    for params in sets() {
        let (public, mut whole) = signer(params);
        let (_, mut parts) = signer(params);
        for size in [1, 7, 64, 135, 136, 168, 999, 1000] {
            let expected = whole.sign(&message, 0).unwrap();
            let mut stream = parts.sign_stream(0).unwrap();
            message.chunks(size).for_each(|part| stream.update(part));
            assert_eq!(stream.finish().unwrap(), expected, "{params}, parts of {size}");
            let mut stream = public.verify_stream(&expected).unwrap();
            message.chunks(size).for_each(|part| stream.update(part));
            stream.finish().unwrap();
            let mut shorter = public.verify_stream(&expected).unwrap();
            shorter.update(&message[1..]);
            assert_eq!(shorter.finish(), Err(Error::Verification), "{params}");
        }
    }
}

/// An index that is begun is spent.
#[test]
fn a_stream_that_is_given_up_spends_its_index() {
    let (public, mut signer) = signer(Params::from_name("QRL-SHA2_4_256").unwrap());
    drop(signer.sign_stream(0).unwrap());
    let mut stream = signer.sign_stream(0).unwrap();
    assert_eq!(stream.index(), 1);
    let long = || io::repeat(7).take(5 << 20);
    io::copy(&mut long(), &mut stream).unwrap();
    let signature = stream.finish().unwrap();
    let mut stream = public.verify_stream(&signature).unwrap();
    assert_eq!(stream.index(), 1);
    io::copy(&mut long(), &mut stream).unwrap();
    stream.finish().unwrap();
    assert_eq!(signer.status().next, 2);
}

#[test]
fn many_streams_have_the_verdicts_that_each_has_alone() {
    let (public, mut first) = signer(Params::XMSS_SHA2_10_256);
    let (other, mut second) = signer(Params::from_name("QRL-SHAKE_4_256").unwrap());
    let messages: Vec<[u8; 2]> = (0..70).map(|i| [i, i]).collect();
    let mut signed = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        let (key, signer) = if i % 5 == 0 { (&other, &mut second) } else { (&public, &mut first) };
        let mut signature = signer.sign(message, 0).unwrap();
        if i % 7 == 3 {
            signature[40] ^= 1;
        }
        signed.push((key, message, signature));
    }
    let streams = signed.iter().map(|(key, message, signature)| {
        let mut stream = key.verify_stream(signature).unwrap();
        stream.update(&message[..1]);
        stream.update(&message[1..]);
        stream
    });
    let verdicts = StreamVerifier::finish_many(streams.collect());
    assert_eq!(verdicts.len(), messages.len());
    for (i, (verdict, (key, message, signature))) in verdicts.iter().zip(&signed).enumerate() {
        assert_eq!(*verdict, key.verify(*message, signature));
        assert_eq!(verdict.is_err(), i % 7 == 3);
    }
}
