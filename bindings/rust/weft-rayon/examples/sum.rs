// SPDX-License-Identifier: Apache-2.0
//! Sums numbers on a pool whose threads are Weft's, and checks the result.

use rayon::prelude::*;

fn main() -> Result<(), rayon::ThreadPoolBuildError> {
    let pool = weft_rayon::pool(8)?;
    let sum: u64 = pool.install(|| (0..10_000_000u64).into_par_iter().map(|x| x * x % 7).sum());
    let right: u64 = (0..10_000_000u64).map(|x| x * x % 7).sum();
    println!(
        "{sum} on {} threads over {} workers",
        pool.current_num_threads(),
        weft_rayon::workers()
    );
    assert_eq!(sum, right);
    Ok(())
}
