// SPDX-License-Identifier: Apache-2.0
//! Measures tasks of Weft that call a pool: by `ThreadPool::install`, which holds their workers, and
//! by `weft_rayon::install`, which suspends the tasks.

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::time::Instant;

use rayon::prelude::*;

#[link(name = "weft")]
extern "C" {
    fn weft_spawn(
        body: extern "C" fn(*mut c_void) -> c_int,
        argument: *const c_void,
        argument_bytes: usize,
        accesses: *const c_void,
        count: usize,
        options: *const c_void,
        handle: *mut *mut c_void,
    ) -> c_int;
    fn weft_taskwait(code: *mut c_int) -> c_int;
}

static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
static DONE: AtomicUsize = AtomicUsize::new(0);
static MOST_THREADS: AtomicUsize = AtomicUsize::new(0);

fn job() {
    (0..4u64).into_par_iter().for_each(|x| {
        black_box((0..10_000).fold(x, |sum, i| black_box(sum ^ i)));
    });
}

fn end() -> c_int {
    if DONE.fetch_add(1, Ordering::Relaxed) % 100 == 0 {
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        MOST_THREADS.fetch_max(threads, Ordering::Relaxed);
    }
    0
}

extern "C" fn by_rayon(_: *mut c_void) -> c_int {
    POOL.get().expect("the pool is built").install(job);
    end()
}

extern "C" fn by_weft(_: *mut c_void) -> c_int {
    weft_rayon::install(POOL.get().expect("the pool is built"), job);
    end()
}

fn main() -> Result<(), rayon::ThreadPoolBuildError> {
    const TASKS: usize = 2000;
    let pool = weft_rayon::pool(2)?;
    POOL.get_or_init(|| pool);
    for round in 0..5 {
        for (name, body) in [
            ("ThreadPool::install", by_rayon as extern "C" fn(_) -> _),
            ("weft_rayon::install", by_weft),
        ] {
            DONE.store(0, Ordering::Relaxed);
            MOST_THREADS.store(0, Ordering::Relaxed);
            let begin = Instant::now();
            let null = std::ptr::null();
            for _ in 0..TASKS {
                // Safety: the body has no argument, and no optional part is given.
                unsafe { weft_spawn(body, null, 0, null, 0, null, std::ptr::null_mut()) };
            }
            // Safety: no code is asked for.
            unsafe { weft_taskwait(std::ptr::null_mut()) };
            assert_eq!(DONE.load(Ordering::Relaxed), TASKS);
            println!(
                "round {round}: {name}: {:.1} us a call, {} threads of the kernel",
                begin.elapsed().as_secs_f64() * 1e6 / TASKS as f64,
                MOST_THREADS.load(Ordering::Relaxed)
            );
        }
    }
    Ok(())
}
