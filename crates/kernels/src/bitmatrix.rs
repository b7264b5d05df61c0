//! Bit matrices and binary polynomials: what oblivious-transfer extension computes in bulk.
//!
//! Portable only. All functions run in constant time: no branch and no address depends on data.

/// Transposes a 128 × 128 bit matrix in place; bit c of `rows[r]` is the entry in row r, column c.
///
/// Seven passes exchange ever smaller off-diagonal blocks: of 64 × 64, 32 × 32, … 1 × 1 bits
/// (Warren, "Hacker's Delight", §7-3, there for 32 × 32).
pub fn transpose_128(rows: &mut [u128; 128]) {
    let mut width = 64;
    // The low half of each block of 2·width columns.
    let mut mask = u128::MAX >> 64;
    while width > 0 {
        for block in (0..128).step_by(2 * width) {
            for r in block..block + width {
                let swap = ((rows[r] >> width) ^ rows[r + width]) & mask;
                rows[r] ^= swap << width;
                rows[r + width] ^= swap;
            }
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// Adds the product of two binary polynomials of degree below 128 to `sum`, a low and a high half.
///
/// Karatsuba on 64-bit halves.
#[inline]
pub fn multiply_add(sum: &mut [u128; 2], a: u128, b: u128) {
    let (a0, a1) = (a as u64, (a >> 64) as u64);
    let (b0, b1) = (b as u64, (b >> 64) as u64);
    let low = multiply_64(a0, b0);
    let high = multiply_64(a1, b1);
    let middle = multiply_64(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    sum[0] ^= low ^ middle << 64;
    sum[1] ^= high ^ middle >> 64;
}

/// Reduces a polynomial of degree below 255 modulo x¹²⁸ + x⁷ + x² + x + 1, which is irreducible.
#[inline]
#[must_use]
pub fn reduce(product: [u128; 2]) -> u128 {
    // x¹²⁸ = x⁷ + x² + x + 1; the first fold leaves a rest of degree below 7 above x¹²⁸.
    let [low, high] = product;
    let rest = high >> 127 ^ high >> 126 ^ high >> 121;
    low ^ fold(high) ^ fold(rest)
}

fn fold(high: u128) -> u128 {
    high ^ high << 1 ^ high << 2 ^ high << 7
}

/// The product of two binary polynomials of degree below 64.
///
/// The processor's integer product has carries. With the factors split into four, each of which has
/// only every fourth bit, a column of an integer product sums at most 16 ones, whose carries stay
/// within three bits of holes but for the top column's; these are masked away. The low 64 bits
/// of the product are got so, and the high ones from the factors reversed, as a carry runs upwards
/// only (T. Pornin, "Constant-Time Crypto: GHASH", `ctmul64` of BearSSL, is the source of the idea).
#[inline]
fn multiply_64(a: u64, b: u64) -> u128 {
    let low = multiply_low(a, b);
    let high = multiply_low(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(low)
}

/// The low 64 bits of the product of two binary polynomials.
///
/// # Correctness
/// A column c of x·y sums at most ⌈(c + 1) / 4⌉ ≤ 16 ones. Sixteen, whose carry would reach the next
/// used column, c + 4, needs c ≥ 60, and c + 4 is then cut off at 64.
#[inline]
fn multiply_low(a: u64, b: u64) -> u64 {
    const HOLES: u64 = 0x1111_1111_1111_1111;
    let x: [u64; 4] = core::array::from_fn(|i| a & HOLES << i);
    let y: [u64; 4] = core::array::from_fn(|i| b & HOLES << i);
    let mut product = 0;
    for c in 0..4 {
        let mut column = 0;
        for i in 0..4 {
            column ^= x[i].wrapping_mul(y[(4 + c - i) % 4]);
        }
        product |= column & HOLES << c;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Vec<u128> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        let step = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645_u128;
        let next = |_| {
            state = state.wrapping_mul(step).wrapping_add(0x1234_5678_9abc_def1);
            state ^ state >> 61
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn transposition_moves_each_bit() {
        let rows: [u128; 128] = numbers(128).try_into().unwrap();
        let mut turned = rows;
        transpose_128(&mut turned);
        for r in 0..128 {
            for c in 0..128 {
                assert_eq!(turned[c] >> r & 1, rows[r] >> c & 1, "row {r}, column {c}");
            }
        }
        transpose_128(&mut turned);
        assert_eq!(turned, rows);
    }

    /// The field product bit by bit.
    fn slow(mut a: u128, b: u128) -> u128 {
        let mut product = 0;
        for i in 0..128 {
            if b >> i & 1 == 1 {
                product ^= a;
            }
            a = a << 1 ^ if a >> 127 == 1 { 0x87 } else { 0 };
        }
        product
    }

    #[test]
    fn products_are_those_of_the_field() {
        let mut cases = numbers(64);
        cases.extend([0, 1, 2, u128::MAX, 1 << 127, u128::MAX >> 64, u128::MAX << 64]);
        for &a in &cases {
            for &b in &cases {
                let mut sum = [0; 2];
                multiply_add(&mut sum, a, b);
                assert_eq!(reduce(sum), slow(a, b), "{a:x} times {b:x}");
            }
        }
    }
}
