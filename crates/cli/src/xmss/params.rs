//! `params`: the list of parameter sets, and the nearest to a name that none has.

use crate::context::Context;
use crate::failure::Outcome;
use serde_json::json;
use tetralith_xmss::{HashFunction, Params};

/// Prints a line for each set.
pub(crate) fn list(context: Context) -> Outcome {
    if context.json {
        let sets = all().map(|params| {
            json!({ "params": params.to_string(), "oid": params.oid(), "height": params.height(),
                    "layers": params.layers(), "signatures": params.signatures(),
                    "signature_bytes": params.signature_bytes() })
        });
        return context.answer("", json!({ "sets": sets.collect::<Vec<_>>() }));
    }
    for params in all() {
        let (size, height) = (params.signature_bytes(), params.height());
        context.line(&format!("{params}: 2^{height} signatures of {size} bytes"))?;
    }
    Ok(())
}

/// The parameter set of that name.
pub(crate) fn parse(name: &str) -> Result<Params, String> {
    Params::from_name(name).map_err(|error| {
        let near = all().min_by_key(|params| distance(name, &params.to_string()));
        let near = near.map_or(String::new(), |params| format!("; perhaps {params}"));
        format!("{error}{near}; tetralith xmss params lists all")
    })
}

/// Every set that has a name.
fn all() -> impl Iterator<Item = Params> {
    let hashes = [HashFunction::Sha2, HashFunction::Shake128, HashFunction::Shake256];
    let qrl = hashes
        .into_iter()
        .flat_map(|hash| (4..=30).filter_map(move |height| Params::qrl(hash, height).ok()));
    Params::all().chain(qrl)
}

/// How many letters must be changed, added or taken away, whatever their case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_uppercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // Names are short; what is longer than any of them is far from all.
    for (i, a) in a.chars().take(64).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let changed = corner + usize::from(a.to_ascii_uppercase() != *b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered() {
        for (wrong, near) in [
            ("xmss-sha2_10_256", "XMSS-SHA2_10_256"),
            ("XMSSMT-SHA2_40/3_256", "XMSSMT-SHA2_40/2_256"),
            ("QRL-SHA2_11_256", "QRL-SHA2_10_256"),
            ("XMSS_SHAKE256_16_192", "XMSS-SHAKE256_16_192"),
        ] {
            let told = parse(wrong).unwrap_err();
            assert!(told.contains(&format!("perhaps {near};")), "{told}");
        }
        assert_eq!(distance("kitten", "SITTING"), 3);
        assert_eq!(all().count(), 77 + 3 * 14);
    }
}
