//! Deterministic jitter: the same seed, host and number of failures give the same figure.
//!
//! Hosts that failed together (a name server was down) must not be asked together again, wave after
//! wave. So back-off waits grow by a figure that differs between hosts, failures and, by the seed,
//! crawls.

use web::Host;

/// Returns a figure from 0 up to, not including, 1.
pub(crate) fn chance(seed: u64, host: &Host, failures: u32) -> f64 {
    // FNV-1a over the name, then the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014):
    // strong enough for jitter.
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = host.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    let mixed = mix(mix(hash ^ seed).wrapping_add(u64::from(failures)));
    // The 53 bits of a float's mantissa.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_deterministic_and_spread_evenly_over_hosts_failures_and_seeds() {
        let host = |number: u32| Host::new(&format!("h{number}.test"));
        assert_eq!(
            chance(7, &host(1), 3).to_bits(),
            chance(7, &host(1), 3).to_bits()
        );
        let figures: Vec<Vec<f64>> = vec![
            (0..1000)
                .map(|number| chance(7, &host(number), 1))
                .collect(),
            (0..1000)
                .map(|failures| chance(7, &host(1), failures))
                .collect(),
            (0..1000).map(|seed| chance(seed, &host(1), 1)).collect(),
        ];
        for figures in figures {
            assert!(figures.iter().all(|figure| (0.0..1.0).contains(figure)));
            for tenth in 0..10 {
                let low = f64::from(tenth) / 10.0;
                let within = figures
                    .iter()
                    .filter(|figure| (low..low + 0.1).contains(*figure));
                // 100 are expected; the inputs are fixed, so is the result.
                assert!((60..=140).contains(&within.count()), "tenth {tenth}");
            }
        }
    }
}
