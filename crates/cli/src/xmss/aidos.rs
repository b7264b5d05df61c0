//! Keys of AidosKuneen/xmss: its JSON, or the same sealed in a key file.

use super::sealed;
use crate::context::Context;
use crate::failure::Outcome;
use crate::interrupt::Interrupt;
use crate::passphrase::{NewPassphrase, NewPassphraseArgs};
use std::path::Path;
use tetralith_xmss::aidos::{Key, public_key_to_bytes, to_json};
use tetralith_xmss::{Error, Progress, SecretKey};
use zeroize::Zeroizing;

/// Reads a key in either form, and the passphrase for the key that is made of it.
pub(super) fn read(
    context: Context,
    path: &Path,
    arguments: &NewPassphraseArgs,
) -> Outcome<(Key, NewPassphrase)> {
    let (text, passphrase) = sealed::read(context, path, KIND, arguments)?;
    Ok((Key::from_json(text.trim_end())?, passphrase))
}

/// Writes a key at an index, sealed or plain.
pub(super) fn write(
    context: Context,
    secret: &mut SecretKey,
    cache: &Path,
    leaf: u64,
    passphrase: &NewPassphrase,
    plain: bool,
) -> Outcome<Zeroizing<String>> {
    sealed::check(passphrase, plain)?;
    let public = public_key_to_bytes(&secret.public_key())?;
    prepare(context, secret, Some(cache))?;
    let json = match to_json(secret, leaf) {
        Err(Error::Cache(_)) => {
            prepare(context, secret, None)?;
            to_json(secret, leaf)?
        }
        json => json?,
    };
    sealed::seal(json, (KIND, secret.params(), &public), passphrase, plain)
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

pub(super) const KIND: &str = "xmss-aidos";
