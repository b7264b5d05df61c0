//! Keys in the forms of other software: sealed in a key file of a kind of their own, or plain.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use crate::passphrase::{NewPassphrase, NewPassphraseArgs};
use std::path::Path;
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_xmss::Params;
use zeroize::Zeroizing;

/// Reads a key's text in either form, and the passphrase for the key that is made of it: an encrypted
/// one's own.
pub(super) fn read(
    context: Context,
    path: &Path,
    kind: &str,
    arguments: &NewPassphraseArgs,
) -> Outcome<(Zeroizing<String>, NewPassphrase)> {
    let text = Zeroizing::new(io::read_text(path, 1 << 20)?);
    io::check_private(context, path)?;
    let Ok(file) = KeyFile::from_text(&text) else {
        return Ok((text, arguments.for_new(context)?));
    };
    if file.kind != kind {
        let message = format!("{} holds a key of kind {}, not {kind}", path.display(), file.kind);
        return Err(Failure::usage("key.kind", message));
    }
    let passphrase = arguments.passphrase.existing(context, file.is_encrypted())?;
    let passphrase = NewPassphrase::from(passphrase);
    let secret = file.open(passphrase.bytes())?;
    let text = core::str::from_utf8(&secret)
        .map_err(|_| Failure::usage("key.malformed", "the sealed key is not text"))?;
    Ok((Zeroizing::new(text.to_owned()), passphrase))
}

/// Refuses to seal a key that has no passphrase.
pub(super) fn check(passphrase: &NewPassphrase, plain: bool) -> Outcome {
    if plain || passphrase.bytes().is_some() {
        return Ok(());
    }
    let failure = Failure::usage("key.not_encrypted", "the key has no passphrase to seal with");
    Err(failure.hint("give --plain to write the secret unencrypted"))
}

/// Seals a key's text under the key's own passphrase, or, where that was asked for, leaves it so that
/// other software can read it.
pub(super) fn seal(
    text: Zeroizing<String>,
    (kind, params, public): (&str, Params, &[u8]),
    passphrase: &NewPassphrase,
    plain: bool,
) -> Outcome<Zeroizing<String>> {
    if plain {
        return Ok(text);
    }
    let file = KeyFile::public(kind, &params.to_string(), public);
    let mut rng = crate::random::system();
    let file = file.seal(text.as_bytes(), passphrase.protection(), Cost::STANDARD, &mut rng)?;
    Ok(file.to_text())
}
