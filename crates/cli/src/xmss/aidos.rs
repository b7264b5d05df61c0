//! Keys of AidosKuneen/xmss: its JSON, or the same sealed in a key file.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::io;
use crate::passphrase::{NewPassphrase, NewPassphraseArgs};
use std::path::Path;
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_xmss::aidos::{Key, public_key_to_bytes, to_json};
use tetralith_xmss::{Error, Progress, SecretKey};
use zeroize::Zeroizing;

/// Reads a key in either form, and the passphrase for the key that is made of it: an encrypted one's
/// own.
pub(super) fn read(
    context: Context,
    path: &Path,
    arguments: &NewPassphraseArgs,
) -> Outcome<(Key, NewPassphrase)> {
    let text = Zeroizing::new(io::read_text(path, 1 << 20)?);
    io::check_private(context, path)?;
    let Ok(file) = KeyFile::from_text(&text) else {
        let key = Key::from_json(text.trim_end())?;
        return Ok((key, arguments.for_new(context)?));
    };
    if file.kind != KIND {
        let message = format!("{} holds a key of kind {}", path.display(), file.kind);
        return Err(Failure::usage("key.kind", message));
    }
    let passphrase = arguments.passphrase.existing(context, file.is_encrypted())?;
    let passphrase = NewPassphrase::from(passphrase);
    let json = file.open(passphrase.bytes())?;
    let json = core::str::from_utf8(&json)
        .map_err(|_| Failure::usage("key.malformed", "the sealed key is not text"))?;
    Ok((Key::from_json(json)?, passphrase))
}

/// Writes a key at an index: sealed under the key's own passphrase, or, where that was asked for, so
/// that other software can read it.
pub(super) fn write(
    context: Context,
    secret: &mut SecretKey,
    cache: &Path,
    leaf: u64,
    passphrase: &NewPassphrase,
    plain: bool,
) -> Outcome<Zeroizing<String>> {
    if !plain && passphrase.bytes().is_none() {
        let failure = Failure::usage("key.not_encrypted", "the key has no passphrase to seal with");
        return Err(failure.hint("give --plain to write the secret unencrypted"));
    }
    let public = secret.public_key();
    let public_bytes = public_key_to_bytes(&public)?;
    prepare(context, secret, Some(cache))?;
    let json = match to_json(secret, leaf) {
        Err(Error::Cache(_)) => {
            prepare(context, secret, None)?;
            to_json(secret, leaf)?
        }
        json => json?,
    };
    if plain {
        return Ok(json);
    }
    let file = KeyFile::public(KIND, &public.params().to_string(), &public_bytes);
    let mut rng = crate::random::system();
    let file = file.seal(json.as_bytes(), passphrase.protection(), Cost::STANDARD, &mut rng)?;
    Ok(file.to_text())
}

/// Makes the key's tree ready, from the cache or anew.
fn prepare(context: Context, secret: &mut SecretKey, cache: Option<&Path>) -> Outcome {
    let interrupt = Interrupt::catch()?;
    let leaves = 1 << secret.params().tree_height();
    let report = context.progress("computing the tree", leaves, "leaves");
    let prepared = secret.prepare(
        cache,
        &Progress::new(&|done, _| {
            report.set(done);
            !interrupt.came()
        }),
    );
    report.finish();
    Ok(prepared?)
}

const KIND: &str = "xmss-aidos";
