use neardup::{Fingerprint, QuarterTables};
use peers::{Random, best_of};
fn main() {
    let held: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let k: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mode = std::env::args().nth(3).unwrap();
    let mut random = Random::new(3);
    let fps: Vec<u64> = (0..held).map(|_| random.draw()).collect();
    let t = std::time::Instant::now();
    let ours = QuarterTables::build(fps.iter().map(|&b| Fingerprint::new(b)).zip(0..).collect());
    println!(
        "build {:?} bytes {:.2}",
        t.elapsed(),
        ours.memory() as f64 / held as f64
    );
    let n = if k > 3 { 5_000 } else { 50_000 };
    let probes: Vec<Fingerprint> = (0..n)
        .map(|n| {
            let mut b = random.draw();
            if n % 2 == 0 {
                let c = fps[random.below(held as u64) as usize];
                let e = random.below(k as u64 + 1) as u32;
                let mut f = 0u64;
                while f.count_ones() < e {
                    f |= 1 << random.below(64);
                }
                b = c ^ f;
            }
            Fingerprint::new(b)
        })
        .collect();
    for m in ["b", "s"] {
        if mode.contains(m) {
            let mut found = 0u64;
            let t = best_of(200, || {
                if m == "b" {
                    ours.each_within_batch(&probes, k, |q, f| found += q as u64 ^ f.id as u64)
                } else {
                    for p in &probes {
                        ours.each_within(*p, k, |f| found += f.id as u64)
                    }
                }
            });
            println!(
                "{m} {:.1} ns  {:.2} M/s {found}",
                t.as_nanos() as f64 / n as f64,
                n as f64 / t.as_secs_f64() / 1e6
            );
        }
    }
}
