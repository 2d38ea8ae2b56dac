//! A logistic regression over the hashed words of links (as in Vowpal Wabbit and ACHE).

/// The words of a link, hashed; each once.
pub(crate) type Features = Vec<u32>;

/// The number of weights.
pub(crate) const WEIGHTS: usize = 1 << 18;

/// The links that a batch is trained with: the last ones.
const REMEMBERED: usize = 100_000;

/// The passes over the links of a batch.
const PASSES: usize = 5;

/// A model of which links lead to on-topic pages.
#[derive(Clone, Debug)]
pub(crate) struct LinkModel {
    weights: Vec<f32>,
    /// The sums of squared gradients (AdaGrad: Duchi, Hazan and Singer 2011).
    squares: Vec<f32>,
    remembered: Vec<(Features, bool)>,
}

impl Default for LinkModel {
    fn default() -> Self {
        Self {
            weights: vec![0.0; WEIGHTS],
            squares: vec![0.0; WEIGHTS],
            remembered: Vec::new(),
        }
    }
}

impl LinkModel {
    /// Returns the probability that a link with these words leads to an on-topic page.
    pub(crate) fn chance(&self, features: &Features) -> f64 {
        let sum: f32 = features
            .iter()
            .map(|word| self.weights[*word as usize])
            .sum();
        1.0 / (1.0 + f64::from(-sum).exp())
    }

    /// Trains the model by one visit.
    pub(crate) fn train(&mut self, features: &Features, is_on_topic: bool) {
        let target = f64::from(u8::from(is_on_topic));
        let gradient = (self.chance(features) - target) as f32;
        for word in features {
            let word = *word as usize;
            self.squares[word] += gradient * gradient;
            let rate = 0.3 / (1e-3 + self.squares[word]).sqrt();
            self.weights[word] -= rate * gradient;
        }
    }

    /// Keeps the outcome of a visit for the next batch.
    pub(crate) fn remember(&mut self, features: Features, is_on_topic: bool) {
        if self.remembered.len() == REMEMBERED {
            self.remembered.remove(0);
        }
        self.remembered.push((features, is_on_topic));
    }

    /// Trains the model anew by the visits that it remembers.
    pub(crate) fn train_in_batch(&mut self) {
        let remembered = std::mem::take(&mut self.remembered);
        self.weights.fill(0.0);
        self.squares.fill(0.0);
        for _ in 0..PASSES {
            for (features, is_on_topic) in &remembered {
                self.train(features, *is_on_topic);
            }
        }
        self.remembered = remembered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_links_to_on_topic_pages_raise_the_chance_of_others() {
        for in_batch in [false, true] {
            let mut model = LinkModel::default();
            for number in 0..50 {
                for (features, is_on_topic) in [(vec![1, 10 + number], true), (vec![2], false)] {
                    if in_batch {
                        model.remember(features, is_on_topic);
                    } else {
                        model.train(&features, is_on_topic);
                    }
                }
            }
            if in_batch {
                model.train_in_batch();
            }
            assert!(model.chance(&vec![1]) > 0.9 && model.chance(&vec![2]) < 0.1);
            assert!((model.chance(&vec![99]) - 0.5).abs() < 1e-9);
        }
    }
}
