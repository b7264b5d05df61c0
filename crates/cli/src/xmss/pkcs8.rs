//! Keys as PKCS#8, in PEM or DER, or the PEM sealed in a key file.

use super::sealed;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use crate::passphrase::{NewPassphrase, NewPassphraseArgs};
use std::path::Path;
use tetralith_xmss::SecretKey;
use tetralith_xmss::pkcs8::{Key, to_pem};
use zeroize::Zeroizing;

/// Reads a key in any of its forms, and the passphrase for the key that is made of it.
pub(super) fn read(
    context: Context,
    path: &Path,
    arguments: &NewPassphraseArgs,
) -> Outcome<(Key, NewPassphrase)> {
    let bytes = Zeroizing::new(io::read(path, 1 << 20)?);
    if bytes.first() == Some(&DER) {
        io::check_private(context, path)?;
        return Ok((Key::from_der(&bytes)?, arguments.for_new(context)?));
    }
    if bytes.windows(LABEL.len()).any(|part| part == LABEL) {
        return Err(Failure::usage("key.pkcs8_encrypted", "PKCS#8 encrypted by PBES2 is not read")
            .hint("decrypt the file with the software that wrote it, and import the result"));
    }
    let (text, passphrase) = sealed::read(context, path, KIND, arguments)?;
    Ok((Key::from_pem(&text)?, passphrase))
}

/// Writes a key at an index, sealed or plain.
pub(super) fn write(
    secret: &SecretKey,
    next: u64,
    passphrase: &NewPassphrase,
    plain: bool,
) -> Outcome<Zeroizing<String>> {
    sealed::check(passphrase, plain)?;
    let pem = to_pem(secret, next)?;
    let public = secret.public_key().to_bytes();
    sealed::seal(pem, (KIND, secret.params(), &public), passphrase, plain)
}

const KIND: &str = "xmss-pkcs8";
/// How DER's SEQUENCE begins.
const DER: u8 = 0x30;
const LABEL: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
