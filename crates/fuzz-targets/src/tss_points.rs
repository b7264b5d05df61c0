//! Points of secp256k1 times secrets: every kernel that the CPU has gives what the portable code gives, for any
//! scalars, choices and encodings, right ones among them.

use tetralith_kernels::secp256k1::{Affine, Compressed, Kernel, Table, mul_table_all};

/// More than fill the lanes twice.
const MOST: usize = 17;

/// The generator.
const G: Affine = [
    [
        0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b,
        0x07, 0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8,
        0x17, 0x98,
    ],
    [
        0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3, 0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08,
        0xa8, 0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c, 0x47, 0xd0, 0x8f, 0xfb, 0x10,
        0xd4, 0xb8,
    ],
];

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some((scalar, rows)) = crate::read::<([u8; 32], Vec<([u8; 32], u8, bool)>)>(data) else {
        return;
    };
    let rows = &rows[..rows.len().min(MOST)];
    let scalars: Vec<[u8; 32]> = rows.iter().map(|row| row.0).collect();
    let choices: Vec<u8> = rows.iter().map(|row| row.1 & 1).collect();
    let fixed = |kernel| mul_table_all(&Table::with(kernel, &G), &scalars, &G, &choices);
    let expected = fixed(Kernel::Portable);
    // Points are what was computed, or the input's bytes with a tag.
    let points: Vec<Compressed> = rows
        .iter()
        .zip(&expected)
        .map(|((bytes, tag, given), point)| {
            let mut encoding = *point;
            if *given {
                encoding[0] = tag >> 1 & 3;
                encoding[1..].copy_from_slice(bytes);
            }
            encoding
        })
        .collect();
    let products = Kernel::Portable.mul_points_all(&points, &scalar, &G);
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_allowed()) {
        assert_eq!(fixed(kernel), expected, "{}", kernel.name());
        let found = kernel.mul_points_all(&points, &scalar, &G);
        assert_eq!(found, products, "{}", kernel.name());
    }
}
