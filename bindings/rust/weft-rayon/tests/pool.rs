// SPDX-License-Identifier: Apache-2.0
//! Rayon's pools on Weft's threads: results are those of Rayon's own, and threads come and go.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Barrier, Condvar, Mutex, OnceLock};

use rayon::prelude::*;

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

/// Waits until no thread of any pool is left: they end after the pool is dropped.
fn wait_until_all_have_ended() {
    while weft_rayon::threads() != 0 {
        std::thread::yield_now();
    }
}

/// Returns how many threads of the kernel the process has.
fn kernel_threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn sums_are_those_of_one_thread() {
    for threads in [1, 2, 3, 8] {
        let pool = weft_rayon::pool(threads).unwrap();
        assert_eq!(pool.current_num_threads(), threads);
        let data: Vec<u64> = (0..100_000)
            .map(|x| x * 2_654_435_761 % 1_000_003)
            .collect();
        let sum: u64 = pool.install(|| data.par_iter().sum());
        assert_eq!(sum, data.iter().sum::<u64>());
        let mut sorted = data.clone();
        sorted.sort_unstable();
        let mut by_pool = data;
        pool.install(|| by_pool.par_sort());
        assert_eq!(by_pool, sorted);
    }
}

#[test]
fn joins_recurse() {
    assert_eq!(
        weft_rayon::pool(4).unwrap().install(|| fibonacci(22)),
        17_711
    );
}

#[test]
fn scopes_wait_for_all_that_they_spawn() {
    let pool = weft_rayon::pool(4).unwrap();
    let ran = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|scope| {
                scope.spawn(|_| {
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(ran.into_inner(), 200);
}

#[test]
fn panics_reach_the_caller_and_leave_the_pool_whole() {
    let pool = weft_rayon::pool(3).unwrap();
    for _ in 0..20 {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                (0..1000)
                    .into_par_iter()
                    .for_each(|x| assert_ne!(x, 617, "found it"))
            });
        }));
        let text = *caught.unwrap_err().downcast::<String>().unwrap();
        assert!(text.contains("found it"), "{text}");
        assert_eq!(pool.install(|| fibonacci(12)), 144);
    }
}

#[test]
fn pools_work_inside_of_pools() {
    let outer = weft_rayon::pool(3).unwrap();
    let inner = weft_rayon::pool(2).unwrap();
    let sum: u64 = outer.install(|| {
        (0..50u64)
            .into_par_iter()
            .map(|x| inner.install(|| (0..x).into_par_iter().sum::<u64>()))
            .sum()
    });
    assert_eq!(sum, (0..50u64).map(|x| (0..x).sum::<u64>()).sum());
}

#[test]
fn two_pools_work_side_by_side() {
    let pools = [weft_rayon::pool(4).unwrap(), weft_rayon::pool(4).unwrap()];
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(pool.install(|| fibonacci(15)), 610);
                }
            });
        }
    });
}

#[test]
fn many_pools_come_and_go() {
    for round in 0..100 {
        let pool = weft_rayon::pool(1 + round % 6).unwrap();
        assert_eq!(pool.install(|| fibonacci(10)), 55);
    }
}

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(0) };
    static DROPPED: Counted = const { Counted };
}

static DROPS: AtomicUsize = AtomicUsize::new(0);

struct Counted;
impl Drop for Counted {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn thread_locals_are_of_each_thread_and_dropped_at_its_end() {
    const THREADS: usize = 6;
    let before = DROPS.load(Ordering::Relaxed);
    let pool = weft_rayon::pool(THREADS).unwrap();
    let addresses = pool.broadcast(|context| {
        DROPPED.with(|_| ());
        OWN.set(context.index() + 1);
        OWN.with(|own| std::ptr::from_ref(own) as usize)
    });
    assert_eq!(addresses.iter().collect::<HashSet<_>>().len(), THREADS);
    for _ in 0..20 {
        for (index, own) in pool.broadcast(|_| OWN.get()).into_iter().enumerate() {
            assert_eq!(own, index + 1);
        }
    }
    let ids: HashSet<_> = pool
        .broadcast(|_| std::thread::current().id())
        .into_iter()
        .collect();
    assert_eq!(ids.len(), THREADS);
    drop(pool);
    while DROPS.load(Ordering::Relaxed) != before + THREADS {
        std::thread::yield_now();
    }
}

/// All threads of a pool wait for each other, although there are more of them than workers.
#[test]
fn threads_that_wait_for_each_other_all_run() {
    const THREADS: usize = 16;
    let pool = weft_rayon::pool(THREADS).unwrap();
    let barrier = Barrier::new(THREADS);
    for _ in 0..20 {
        pool.broadcast(|_| barrier.wait());
    }
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    pool.broadcast(|context| {
        let mut now = changed
            .wait_while(turn.lock().unwrap(), |now| *now != context.index())
            .unwrap();
        *now += 1;
        changed.notify_all();
    });
    assert_eq!(turn.into_inner().unwrap(), THREADS);
}

#[test]
fn channels_pass_between_pools_and_the_program() {
    let pool = weft_rayon::pool(2).unwrap();
    let (to_pool, from_main) = mpsc::channel();
    let (to_main, from_pool) = mpsc::channel();
    pool.spawn(move || {
        for number in from_main {
            to_main.send(number * 2).unwrap();
        }
    });
    for number in 0..500 {
        to_pool.send(number).unwrap();
        assert_eq!(from_pool.recv().unwrap(), number * 2);
    }
}

#[test]
fn a_large_pool_has_no_kernel_threads_of_its_own() {
    assert!(weft_rayon::workers() > 0);
    let before = kernel_threads();
    let pool = weft_rayon::pool(200).unwrap();
    assert_eq!(pool.install(|| fibonacci(15)), 610);
    let more = kernel_threads().saturating_sub(before);
    assert!(more < 100, "{more} kernel threads more"); // tests beside this one have some
    assert!(weft_rayon::threads() >= 200);
}

#[test]
fn the_size_of_stacks_is_the_builders() {
    fn deep(levels: usize) -> usize {
        let room = std::hint::black_box([1u8; 16 * 1024]);
        if levels == 0 {
            0
        } else {
            deep(levels - 1) + usize::from(room[levels % room.len()])
        }
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .stack_size(32 << 20)
        .spawn_handler(weft_rayon::spawn)
        .build()
        .unwrap();
    assert_eq!(pool.install(|| deep(1000)), 1000); // 16 MiB
}

// Weft's C interface, as far as a task that calls a pool needs it.
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

/// Spawns that many tasks of Weft, which run `body`, and waits for them.
fn run_tasks(count: usize, body: extern "C" fn(*mut c_void) -> c_int) {
    for _ in 0..count {
        let null = std::ptr::null();
        // Safety: the body has no argument, and no optional part is given.
        let code = unsafe { weft_spawn(body, null, 0, null, 0, null, std::ptr::null_mut()) };
        assert_eq!(code, 0);
    }
    // Safety: no code is asked for.
    assert_eq!(unsafe { weft_taskwait(std::ptr::null_mut()) }, 0);
}

#[test]
fn tasks_of_weft_use_a_pool() {
    static SUM: AtomicUsize = AtomicUsize::new(0);
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    extern "C" fn body(_: *mut c_void) -> c_int {
        let pool = POOL.get().unwrap();
        SUM.fetch_add(
            pool.install(|| (0..1000usize).into_par_iter().sum()),
            Ordering::Relaxed,
        );
        0
    }
    POOL.get_or_init(|| weft_rayon::pool(2).unwrap());
    run_tasks(10, body);
    assert_eq!(SUM.load(Ordering::Relaxed), 10 * 499_500);
}

/// Tasks that wait for a pool are suspended: all of them wait before the pool goes on, although there
/// are more of them than workers and spares.
#[test]
fn tasks_of_weft_are_suspended_by_install() {
    const TASKS: usize = 600;
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    static WRONG: AtomicUsize = AtomicUsize::new(0);
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    extern "C" fn body(_: *mut c_void) -> c_int {
        let before = [WAITING.fetch_add(1, Ordering::SeqCst)]; // the call has the address
        let text = weft_rayon::install(POOL.get().unwrap(), || {
            while WAITING.load(Ordering::SeqCst) != TASKS {
                std::thread::yield_now();
            }
            format!("{}", before[0])
        });
        WRONG.fetch_add(
            usize::from(text != before[0].to_string()),
            Ordering::Relaxed,
        );
        0
    }
    POOL.get_or_init(|| weft_rayon::pool(2).unwrap());
    let before = kernel_threads();
    run_tasks(TASKS, body);
    assert_eq!(WAITING.load(Ordering::SeqCst), TASKS);
    assert_eq!(WRONG.load(Ordering::Relaxed), 0);
    let more = kernel_threads().saturating_sub(before);
    assert!(more < 100, "{more} kernel threads more"); // tests beside this one have some
}

#[test]
fn a_panic_in_install_reaches_the_task() {
    static CAUGHT: AtomicUsize = AtomicUsize::new(0);
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    extern "C" fn body(_: *mut c_void) -> c_int {
        let caught = catch_unwind(|| {
            weft_rayon::install(POOL.get().unwrap(), || -> usize { panic!("in the pool") })
        });
        let text = *caught.unwrap_err().downcast::<&str>().unwrap();
        CAUGHT.fetch_add(usize::from(text == "in the pool"), Ordering::Relaxed);
        0
    }
    POOL.get_or_init(|| weft_rayon::pool(2).unwrap());
    run_tasks(5, body);
    assert_eq!(CAUGHT.load(Ordering::Relaxed), 5);
}

#[test]
fn install_is_rayons_outside_of_tasks() {
    let (outer, inner) = (weft_rayon::pool(2).unwrap(), weft_rayon::pool(2).unwrap());
    let name = |pool: &rayon::ThreadPool| pool.current_thread_index();
    assert_eq!(weft_rayon::install(&outer, || name(&inner)), None);
    let nested = weft_rayon::install(&outer, || {
        assert!(name(&outer).is_some());
        weft_rayon::install(&outer, || name(&outer)) == name(&outer)
            && weft_rayon::install(&inner, || name(&inner).is_some())
    });
    assert!(nested);
}

#[test]
fn waits_with_a_time_limit_end_by_it_or_are_woken() {
    const THREADS: usize = 8;
    let pool = weft_rayon::pool(THREADS).unwrap();
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    let limit = std::time::Duration::from_secs(1000);
    pool.broadcast(|context| {
        let (mut now, wait) = changed
            .wait_timeout_while(turn.lock().unwrap(), limit, |now| *now != context.index())
            .unwrap();
        assert!(!wait.timed_out());
        *now += 1;
        changed.notify_all();
    });
    assert_eq!(turn.into_inner().unwrap(), THREADS);
    let (to_pool, from_main) = mpsc::channel::<u32>();
    let short = std::time::Duration::from_millis(1);
    assert_eq!(
        pool.install(move || from_main.recv_timeout(short)),
        Err(mpsc::RecvTimeoutError::Timeout)
    );
    drop(to_pool);
}

#[test]
fn a_pool_that_is_dropped_ends_its_threads() {
    // The other tests have pools of their own, so this one looks at a process of its own.
    let program = std::env::current_exe().unwrap();
    let status = std::process::Command::new(program)
        .args(["--exact", "alone", "--ignored", "--test-threads=1"])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "runs in a process of its own"]
fn alone() {
    for _ in 0..10 {
        drop(weft_rayon::pool(9).unwrap());
        wait_until_all_have_ended();
    }
}
