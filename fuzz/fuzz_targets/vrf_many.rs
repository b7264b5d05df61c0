//! Rows that differ, beside each other in all lanes: many say what one says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_vrf::{Row, Suite, verify, verify_many};

fuzz_target!(|data: (u8, Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>)| {
    let (suite, rows) = data;
    let suite = Suite::ALL[usize::from(suite) % Suite::ALL.len()];
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(|(public_key, alpha, proof)| Row { public_key, alpha, proof })
        .collect();
    for (row, verdict) in rows.iter().zip(verify_many(suite, &rows)) {
        assert_eq!(verdict, verify(suite, row.public_key, row.alpha, row.proof));
    }
});
