//! Natural logarithms in integers: a machine's floating-point logarithm may err in the last bit,
//! and fingerprints must not depend on it.

/// The logarithm of e, in steps of 1/2³².
pub(crate) const ONE: u64 = 1 << 32;

/// ln 2.
const LN_2: u64 = 2_977_044_472;

/// Returns ln `number` in steps of 1/2³², exact to about 64 steps; 0 for 0.
///
/// log₂ is computed bit by bit: squaring doubles a logarithm, and halving a value of 2 or more
/// subtracts 1 (Knuth, TAOCP 1, section 1.2.2, exercise 25).
pub(crate) fn ln(number: u64) -> u64 {
    let Some(whole) = number.checked_ilog2() else {
        return 0;
    };
    // From 1 to 2, in steps of 1/2⁶³.
    let mut rest = number << (63 - whole);
    let mut log = u64::from(whole);
    for _ in 0..32 {
        let square = u128::from(rest) * u128::from(rest);
        let reaches_two = square >> 127 == 1;
        rest = (square >> if reaches_two { 64 } else { 63 }) as u64;
        log = log << 1 | u64::from(reaches_two);
    }
    ((u128::from(log) * u128::from(LN_2)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(number: u64) {
        let float = (number as f64).ln();
        let ours = ln(number) as f64 / ONE as f64;
        assert!((ours - float).abs() < 2e-8, "{number}: {ours} {float}");
    }

    #[test]
    fn small_and_extreme_numbers_have_their_logarithms() {
        assert_eq!((ln(0), ln(1)), (0, 0));
        (1..5_000).for_each(check);
        [u64::from(u32::MAX), 1 << 63, u64::MAX]
            .into_iter()
            .for_each(check);
    }

    proptest! {
        #[test]
        fn logarithms_are_those_of_floating_point(number in 1_u64..) {
            check(number);
        }
    }
}
