//! Who leads a slot: p < 1 - (1 - f)^σ, decided exactly as the ledger decides it.
//!
//! With p the leader value over 2^256, it compares 1/(1 - p) with exp(-σ ln(1 - f)).
//!
//! cardano-ledger, `Cardano.Protocol.TPraos.BHeader.checkLeaderNatValue`

use super::fixed::{Comparison, Fixed};
use super::{CardanoError, leader_value, slot_input};
use crate::{Error, SecretKey};
use core::ops::Range;
use core::str::FromStr;
use num_bigint::{BigInt, Sign};

/// A number from 0 to 1, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// A fraction; none when it is more than one or its denominator is zero.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Ratio> {
        (denominator != 0 && numerator <= denominator).then_some(Ratio { numerator, denominator })
    }

    fn fixed(self) -> Fixed {
        Fixed::ratio(&self.numerator.into(), &self.denominator.into())
    }
}

impl FromStr for Ratio {
    type Err = CardanoError;

    /// Reads `1/20`, or a decimal number of at most 18 digits after the point, exactly.
    fn from_str(text: &str) -> Result<Ratio, CardanoError> {
        let parsed = match text.split_once('/') {
            Some((n, d)) => digits(n).zip(digits(d)),
            None => decimal(text),
        };
        parsed
            .and_then(|(n, d)| Ratio::new(n, d))
            .ok_or_else(|| CardanoError::Ratio(text.to_owned()))
    }
}

fn digits(text: &str) -> Option<u64> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

fn decimal(text: &str) -> Option<(u64, u64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.len() > 18 {
        return None;
    }
    let denominator = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let numerator = digits(whole)?.checked_mul(denominator)?.checked_add(digits(fraction)?)?;
    Some((numerator, denominator))
}

/// Decides slots for one pool: its share of the stake and the active slot coefficient.
#[derive(Clone, Debug)]
pub struct LeaderCheck {
    /// -σ ln(1 - f); none where f is 1 and everybody leads.
    exponent: Option<Fixed>,
}

impl LeaderCheck {
    /// Prepares the check for a stake share σ and an active slot coefficient f.
    ///
    /// # Errors
    /// f is zero.
    pub fn new(stake: Ratio, coefficient: Ratio) -> Result<LeaderCheck, CardanoError> {
        if coefficient.numerator == 0 {
            return Err(CardanoError::ZeroCoefficient);
        }
        if coefficient.numerator == coefficient.denominator {
            return Ok(LeaderCheck { exponent: None });
        }
        let c = (&Fixed::integer(1) - &coefficient.fixed()).ln();
        Ok(LeaderCheck { exponent: Some(-stake.fixed().mul(&c)) })
    }

    /// Says whether a leader value leads: a big-endian number of 32 bytes from Babbage on, of 64
    /// before, as [`crate::cardano::Header::leader_value`] gives it.
    #[must_use]
    pub fn is_leader(&self, leader_value: &[u8]) -> bool {
        let Some(exponent) = &self.exponent else {
            return true;
        };
        let bound = BigInt::from(1) << (8 * leader_value.len());
        let rest = &bound - BigInt::from_bytes_be(Sign::Plus, leader_value);
        Fixed::ratio(&bound, &rest).compare_with_exp(exponent) == Comparison::Below
    }
}

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
    for slot in slots {
        let output = key.output(&slot_input(slot, nonce))?;
        if check.is_leader(&leader_value(&output)) {
            led.push(slot);
        }
    }
    Ok(led)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_parse_exactly() {
        let ratio = |text: &str| text.parse::<Ratio>();
        assert_eq!(ratio("1/20"), Ok(Ratio { numerator: 1, denominator: 20 }));
        assert_eq!(ratio("0.05"), Ok(Ratio { numerator: 5, denominator: 100 }));
        assert_eq!(ratio("1"), Ok(Ratio { numerator: 10, denominator: 10 }));
        assert_eq!(ratio("0.000000000000000001").unwrap().denominator, 1_000_000_000_000_000_000);
        for bad in ["", "1.1", "2/1", "1/0", "-0.1", "+0.1", ".5", "0.", "0x1", "1e-2", "nan"] {
            assert_eq!(ratio(bad), Err(CardanoError::Ratio(bad.to_owned())), "{bad}");
        }
        assert!(ratio("0.0000000000000000001").is_err());
    }

    /// The probability by floating point: far from the threshold the answers must agree.
    #[test]
    fn the_check_is_the_formula() {
        for (stake, f) in [("0.001", "0.05"), ("0.3", "0.05"), ("1", "0.05"), ("1/3", "1/2")] {
            let (stake, f): (Ratio, Ratio) = (stake.parse().unwrap(), f.parse().unwrap());
            let check = LeaderCheck::new(stake, f).unwrap();
            let float = |r: Ratio| r.numerator as f64 / r.denominator as f64;
            let threshold = 1.0 - (1.0 - float(f)).powf(float(stake));
            for step in 0..=255u8 {
                let mut value = [0; 32];
                (value[0], value[1]) = (step / 16, step % 16 * 16);
                let p = f64::from(u16::from_be_bytes([value[0], value[1]])) / 65536.0;
                if (p - threshold).abs() > 1e-9 {
                    assert_eq!(check.is_leader(&value), p < threshold, "{p} {threshold}");
                }
            }
        }
        let none = LeaderCheck::new(Ratio::new(0, 1).unwrap(), Ratio::new(1, 20).unwrap());
        assert!(!none.unwrap().is_leader(&[0; 32]));
        let all = LeaderCheck::new(Ratio::new(0, 1).unwrap(), Ratio::new(1, 1).unwrap());
        assert!(all.unwrap().is_leader(&[0xff; 32]));
        let zero = LeaderCheck::new(Ratio::new(1, 1).unwrap(), Ratio::new(0, 1).unwrap());
        assert_eq!(zero.unwrap_err(), CardanoError::ZeroCoefficient);
    }
}
