//! Who leads a slot: p < 1 - (1 - f)^σ, decided exactly as the ledger decides it.
//!
//! With p the leader value over 2^256, it compares 1/(1 - p) with exp(-σ ln(1 - f)).
//!
//! cardano-ledger, `Cardano.Protocol.TPraos.BHeader.checkLeaderNatValue`

use super::fixed::{Comparison, Fixed};
use super::{CardanoError, leader_value, slot_input};
use crate::{Error, SecretKey, output_many};
use core::ops::Range;
use core::str::FromStr;
use num_bigint::{BigInt, BigUint, Sign};

/// A number from 0 to 1, as a fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: BigUint,
    denominator: BigUint,
}

/// The longest text of a ratio, and the largest exponent.
const MAX_DIGITS: usize = 10_000;

impl Ratio {
    /// A fraction; none when it is more than one or its denominator is zero.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Ratio> {
        Ratio::of(numerator.into(), denominator.into())
    }

    fn of(numerator: BigUint, denominator: BigUint) -> Option<Ratio> {
        let fits = denominator.bits() > 0 && numerator <= denominator;
        fits.then_some(Ratio { numerator, denominator })
    }

    fn fixed(&self) -> Fixed {
        let [n, d] = [&self.numerator, &self.denominator].map(|n| BigInt::from(n.clone()));
        Fixed::ratio(&n, &d)
    }
}

impl FromStr for Ratio {
    type Err = CardanoError;

    /// Reads `1/20`, or a decimal number such as `0.05` or `5e-2`, exactly.
    fn from_str(text: &str) -> Result<Ratio, CardanoError> {
        let parsed = match text.split_once('/') {
            _ if text.len() > MAX_DIGITS => None,
            Some((n, d)) => digits(n).zip(digits(d)),
            None => decimal(text),
        };
        parsed.and_then(|(n, d)| Ratio::of(n, d)).ok_or_else(|| {
            let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
            CardanoError::Ratio(text[..end].to_owned())
        })
    }
}

fn digits(text: &str) -> Option<BigUint> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// `digits`, with `.digits` and `e` and a signed exponent where they are.
fn decimal(text: &str) -> Option<(BigUint, BigUint)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (negative, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => (true, exponent),
        None => (false, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    let exponent = u32::try_from(digits(exponent)?).ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if exponent as usize > MAX_DIGITS || whole.is_empty() || mantissa.ends_with('.') {
        return None;
    }
    let number = digits(&[whole, fraction].concat())?;
    let power = |n: u32| BigUint::from(10u8).pow(n);
    let places = power(u32::try_from(fraction.len()).ok()?);
    let scale = power(exponent);
    Some(if negative { (number, places * scale) } else { (number * scale, places) })
}

/// Decides slots for one pool: its share of the stake and the active slot coefficient.
#[derive(Clone, Debug)]
pub struct LeaderCheck {
    /// -σ ln(1 - f); none where f is 1 and everybody leads.
    exponent: Option<Fixed>,
    /// The largest number of 64 bits that leads as the upper bits of a leader value, all others zero;
    /// none where not even 0 leads.
    threshold: Option<u64>,
}

impl LeaderCheck {
    /// Prepares the check for a stake share σ and an active slot coefficient f.
    ///
    /// # Errors
    /// f is zero.
    pub fn new(stake: &Ratio, coefficient: &Ratio) -> Result<LeaderCheck, CardanoError> {
        if coefficient.numerator.bits() == 0 {
            return Err(CardanoError::ZeroCoefficient);
        }
        if coefficient.numerator == coefficient.denominator {
            return Ok(LeaderCheck { exponent: None, threshold: None });
        }
        let c = (&Fixed::integer(1) - &coefficient.fixed()).ln();
        let exponent = -stake.fixed().mul(&c);
        let leads = |upper: u64| decide(&exponent, &upper.to_be_bytes());
        let threshold = leads(0).then(|| {
            let (mut low, mut high) = (0, u64::MAX);
            while low < high {
                let middle = high - (high - low) / 2;
                if leads(middle) { low = middle } else { high = middle - 1 }
            }
            low
        });
        Ok(LeaderCheck { exponent: Some(exponent), threshold })
    }

    /// Says whether a leader value leads: a big-endian number of 32 bytes from Babbage on, of 64
    /// before, as [`crate::cardano::Header::leader_value`] gives it.
    ///
    /// The ledger's arithmetic is right to about 24 digits, so the upper 64 bits, which are 19 digits,
    /// decide but for values next to the threshold.
    #[must_use]
    pub fn is_leader(&self, leader_value: &[u8]) -> bool {
        let Some(exponent) = &self.exponent else {
            return true;
        };
        match (leader_value.first_chunk().map(|upper| u64::from_be_bytes(*upper)), self.threshold) {
            (Some(upper), Some(threshold)) if upper.abs_diff(threshold) > 1 => upper < threshold,
            (Some(upper), None) if upper > 1 => false,
            _ => decide(exponent, leader_value),
        }
    }
}

/// The ledger's own comparison: 1/(1 - p) with exp(-σ ln(1 - f)).
fn decide(exponent: &Fixed, leader_value: &[u8]) -> bool {
    let bound = BigInt::from(1) << (8 * leader_value.len());
    let rest = &bound - BigInt::from_bytes_be(Sign::Plus, leader_value);
    Fixed::ratio(&bound, &rest).compare_with_exp(exponent) == Comparison::Below
}

/// How many slots are decided at a time.
const SLOTS: usize = 64;

/// The slots of a range that a key leads, in order.
///
/// # Errors
/// As [`SecretKey::output`].
///
/// # Security
/// The key is handled in constant time; which slots it leads is the result.
pub fn leader_slots(
    key: &SecretKey,
    nonce: &[u8; 32],
    check: &LeaderCheck,
    slots: Range<u64>,
) -> Result<Vec<u64>, Error> {
    let mut led = Vec::new();
    let mut first = slots.start;
    while first < slots.end {
        let end = slots.end.min(first.saturating_add(SLOTS as u64));
        let inputs: Vec<[u8; 32]> = (first..end).map(|slot| slot_input(slot, nonce)).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(|input| &input[..]).collect();
        for (slot, output) in (first..end).zip(output_many(key, &inputs)) {
            if check.is_leader(&leader_value(&output?)) {
                led.push(slot);
            }
        }
        first = end;
    }
    Ok(led)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_parse_exactly() {
        let ratio = |text: &str| text.parse::<Ratio>();
        let of = |n, d| Ok(Ratio::new(n, d).unwrap());
        assert_eq!(ratio("1/20"), of(1, 20));
        assert_eq!(ratio("0.05"), of(5, 100));
        assert_eq!(ratio("1"), of(1, 1));
        assert_eq!(ratio("5e-2"), of(5, 100));
        assert_eq!(ratio("1.25E-3"), of(125, 100_000));
        assert_eq!(ratio("0.0005e+2"), of(500, 10_000));
        assert_eq!(ratio("1e0"), of(1, 1));
        assert_eq!(ratio("0.000000000000000001"), of(1, 1_000_000_000_000_000_000));
        let long = format!("0.{}1", "0".repeat(4000));
        assert_eq!(ratio(&long).unwrap().denominator, BigUint::from(10u8).pow(4001));
        assert_eq!(ratio("1e-4001"), ratio(&long));
        let share = "75284250207839000000000/10177811974823000000000000000";
        assert!(ratio(share).is_ok());
        for bad in [
            "",
            "1.1",
            "2/1",
            "1/0",
            "-0.1",
            "+0.1",
            ".5",
            "0.",
            "0x1",
            "1e1",
            "nan",
            "e-1",
            "1e",
            "1e-",
            "1e--1",
            "1e-1.5",
            "1.e-1",
            "1e-10001",
            "1e-4294967297",
            "1/2/3",
            "1 ",
            "0.0_1",
        ] {
            assert_eq!(ratio(bad), Err(CardanoError::Ratio(bad.to_owned())), "{bad}");
        }
        let Err(CardanoError::Ratio(told)) = ratio(&"9".repeat(20_000)) else { panic!("too long") };
        assert_eq!(told.len(), 60);
    }

    /// The upper bits decide as all bits do, at every distance from the threshold.
    #[test]
    fn the_upper_bits_decide_as_all_do() {
        for (stake, f) in
            [("0.001", "0.05"), ("1", "0.05"), ("1/3", "1/2"), ("1e-30", "0.05"), ("0", "0.05")]
        {
            let check = LeaderCheck::new(&stake.parse().unwrap(), &f.parse().unwrap()).unwrap();
            let exponent = check.exponent.clone().unwrap();
            let near = check.threshold.unwrap_or(0);
            for offset in [0, 1, 2, 3, 4, 1 << 20, 1 << 40, 1 << 60] {
                for upper in [near.saturating_sub(offset), near.saturating_add(offset)] {
                    for lower in [0, 1, 0xff] {
                        for length in [32, 64] {
                            let mut value = vec![lower; length];
                            value[..8].copy_from_slice(&upper.to_be_bytes());
                            let all = decide(&exponent, &value);
                            assert_eq!(check.is_leader(&value), all, "{stake} {upper} {lower}");
                        }
                    }
                }
            }
        }
    }

    /// The probability by floating point: far from the threshold the answers must agree.
    #[test]
    fn the_check_is_the_formula() {
        for (stake, f) in [("0.001", "0.05"), ("0.3", "0.05"), ("1", "0.05"), ("1/3", "1/2")] {
            let (stake, f): (Ratio, Ratio) = (stake.parse().unwrap(), f.parse().unwrap());
            let check = LeaderCheck::new(&stake, &f).unwrap();
            let float = |n: &BigUint| u64::try_from(n).unwrap() as f64;
            let float = |r: &Ratio| float(&r.numerator) / float(&r.denominator);
            let threshold = 1.0 - (1.0 - float(&f)).powf(float(&stake));
            for step in 0..=255u8 {
                let mut value = [0; 32];
                (value[0], value[1]) = (step / 16, step % 16 * 16);
                let p = f64::from(u16::from_be_bytes([value[0], value[1]])) / 65536.0;
                if (p - threshold).abs() > 1e-9 {
                    assert_eq!(check.is_leader(&value), p < threshold, "{p} {threshold}");
                }
            }
        }
        let check = |stake: [u64; 2], f: [u64; 2]| {
            let [stake, f] = [stake, f].map(|[n, d]| Ratio::new(n, d).unwrap());
            LeaderCheck::new(&stake, &f)
        };
        assert!(!check([0, 1], [1, 20]).unwrap().is_leader(&[0; 32]));
        assert!(check([0, 1], [1, 1]).unwrap().is_leader(&[0xff; 32]));
        assert_eq!(check([1, 1], [0, 1]).unwrap_err(), CardanoError::ZeroCoefficient);
    }
}
