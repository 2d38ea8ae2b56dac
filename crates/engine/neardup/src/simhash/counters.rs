//! A positional population count: for each bit, the number of values that have it set.
//!
//! Counters are bit-sliced: plane *p* holds bit *p* of every counter, and a carry-save adder adds
//! eight numbers with seven additions (Harley and Seal; Warren, *Hacker's Delight*, 2nd ed.,
//! section 5-1; Klarqvist, Muła and Lemire, "Efficient computation of positional population counts
//! using SIMD instructions", 2021). Eight numbers are side by side, so that one register of 512
//! bits, or two or four smaller registers, process eight numbers at once.

/// Numbers side by side: one register of AVX-512.
type Lanes = [u64; LANES];
const LANES: usize = 8;
/// Number of planes: a lane counts an eighth of fewer than 2³² numbers.
const PLANES: usize = 30;

/// Returns, for each bit, the number of `numbers` that have it set. There are fewer than 2³²
/// numbers.
#[inline(always)]
pub(crate) fn ones_in(numbers: &[u64]) -> [u64; 64] {
    let mut planes = [[0; LANES]; PLANES];
    // Above these, all planes are empty.
    let mut used = 3;
    let (rows, rest) = numbers.as_chunks::<LANES>();
    let (eights, rows) = rows.as_chunks::<8>();
    let [mut ones, mut twos, mut fours] = [[0; LANES]; 3];
    for [a, b, c, d, e, f, g, h] in eights {
        let (sum, twos_1) = full_add(&ones, a, b);
        let (sum, twos_2) = full_add(&sum, c, d);
        let (sum, twos_3) = full_add(&sum, e, f);
        let (sum, twos_4) = full_add(&sum, g, h);
        ones = sum;
        let (sum, fours_1) = full_add(&twos, &twos_1, &twos_2);
        let (sum, fours_2) = full_add(&sum, &twos_3, &twos_4);
        twos = sum;
        let (sum, eight) = full_add(&fours, &fours_1, &fours_2);
        fours = sum;
        used = used.max(add_to(&mut planes, 3, eight));
    }
    (planes[0], planes[1], planes[2]) = (ones, twos, fours);
    for row in rows {
        used = used.max(add_to(&mut planes, 0, *row));
    }
    let mut last = [0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    used = used.max(add_to(&mut planes, 0, last));

    let mut ones = [0; 64];
    for (power, plane) in across(&planes, used).iter().enumerate().take(used + 3) {
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += (plane >> bit & 1) << power;
        }
    }
    ones
}

/// Adds three bits at each position; returns their sum and the carry.
#[inline(always)]
fn full_add(a: &Lanes, b: &Lanes, c: &Lanes) -> (Lanes, Lanes) {
    let (mut sum, mut carry) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let half = a[lane] ^ b[lane];
        sum[lane] = half ^ c[lane];
        carry[lane] = a[lane] & b[lane] | half & c[lane];
    }
    (sum, carry)
}

/// Adds a bit to each counter, from the plane `first`; returns the number of planes that may now be
/// in use.
#[inline(always)]
fn add_to(planes: &mut [Lanes; PLANES], first: usize, bits: Lanes) -> usize {
    let mut carry = bits;
    for (number, plane) in planes.iter_mut().enumerate().skip(first) {
        if carry == [0; LANES] {
            return number;
        }
        for lane in 0..LANES {
            (plane[lane], carry[lane]) = (plane[lane] ^ carry[lane], plane[lane] & carry[lane]);
        }
    }
    PLANES
}

/// Returns the sums of the counters over all lanes: three planes more than the `used` planes of
/// each.
#[inline(always)]
fn across(planes: &[Lanes; PLANES], used: usize) -> [u64; PLANES + 3] {
    let mut total = [0_u64; PLANES + 3];
    for lane in 0..LANES {
        let mut carry = 0;
        for (power, total) in total.iter_mut().enumerate().take(used + 3) {
            let plane = planes.get(power).map_or(0, |plane| plane[lane]);
            let half = *total ^ plane;
            (*total, carry) = (half ^ carry, *total & plane | half & carry);
        }
    }
    total
}
