//! The weight of a feature that occurs tf times.

use crate::features::Weights;

/// Returns the weight of a feature that occurs `count` times, at least once.
pub(crate) fn weight_of(weights: Weights, count: u32) -> u32 {
    match weights {
        Weights::None => 1,
        // Also without documents.
        Weights::Tf | Weights::PlainTfIdf => count,
        // Without documents, tf-idf is log-tf.
        Weights::LogTf | Weights::TfIdf => {
            u32::from(LOG_WEIGHTS[(count as usize).min(LOG_WEIGHTS.len() - 1)])
        }
    }
}

/// 1024 × (1 + ln tf), rounded, for tf from 1 to 255; computed in integers because a machine's
/// logarithm may err.
const LOG_WEIGHTS: [u16; 256] = {
    const ONE: u64 = 1 << 48;
    let mut weights = [0; 256];
    let mut ln = 0;
    let mut tf = 1;
    while tf < 256 {
        // ln n - ln (n-1) = 2 artanh 1/(2n-1) = 2 (1/m + 1/3m³ + 1/5m⁵ + …) where m = 2n-1; 0 for n
        // = 1.
        let m = 2 * tf - 1;
        let mut power = if tf == 1 { 0 } else { ONE / m };
        let mut divisor = 1;
        while power > 0 {
            ln += 2 * power / divisor;
            power /= m * m;
            divisor += 2;
        }
        weights[tf as usize] = ((((ONE + ln) >> 37) + 1) >> 1) as u16;
        tf += 1;
    }
    weights
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_weights_are_1_plus_ln_tf_in_steps_of_1_in_1024() {
        assert_eq!(LOG_WEIGHTS[..3], [0, 1024, 1734]);
        for (tf, &weight) in LOG_WEIGHTS.iter().enumerate().skip(1) {
            let exact = 1024.0 * (1.0 + (tf as f64).ln());
            assert!(
                (f64::from(weight) - exact).abs() <= 0.5 + 1e-6,
                "tf {tf}: {weight} for {exact}"
            );
        }
        assert_eq!(
            weight_of(Weights::LogTf, 255),
            weight_of(Weights::LogTf, u32::MAX)
        );
    }
}
