// SPDX-License-Identifier: Apache-2.0
//! Runs [Rayon](rayon)'s thread pools on the workers of Weft.
//!
//! A process that has Rayon beside Weft, OpenMP or TBB has a thread per cpu of each of them. With
//! this crate the threads of a Rayon pool are Weft's *lightweight threads*: any number of them
//! share Weft's workers, one per cpu, with all else that runs on Weft. A thread of a pool that has
//! nothing to do takes no worker.
//!
//! ```
//! use rayon::prelude::*;
//!
//! fn main() -> Result<(), rayon::ThreadPoolBuildError> {
//!     let pool = weft_rayon::pool(4)?;
//!     let sum: u64 = pool.install(|| (0..1_000_000u64).into_par_iter().sum());
//!     assert_eq!(sum, 499_999_500_000);
//!     Ok(())
//! }
//! ```
//!
//! [`spawn`] is a handler for [`rayon::ThreadPoolBuilder::spawn_handler`], so everything else of
//! the builder works as ever, the global pool too:
//!
//! ```
//! rayon::ThreadPoolBuilder::new()
//!     .num_threads(weft_rayon::workers().max(1))
//!     .spawn_handler(weft_rayon::spawn)
//!     .build_global()
//!     .expect("the global pool is not built yet");
//! assert_eq!(rayon::join(|| 1, || 2), (1, 2));
//! ```
//!
//! # What a thread of such a pool is
//!
//! `thread_local!` values are the thread's own, and are dropped at its end. Locks, condition
//! variables, channels and [`std::thread::park`] of the standard library let other work run on the
//! worker while they wait, also with a time limit, as does [`std::thread::yield_now`]. What waits in
//! another way, such as reading a file, or [`std::thread::sleep`] beside Weft's own `nanosleep`,
//! holds its worker; another thread stands in for the worker after some milliseconds.
//!
//! The stack is as large as [`rayon::ThreadPoolBuilder::stack_size`] says, and 2 MiB without it.
//! The name of the thread is not given to the kernel, because several such threads share one of the
//! kernel's.
//!
//! # Limits
//!
//! Linux on x86-64 with the GNU C library, and a program that is linked dynamically. A thread that
//! calls [`rayon::ThreadPool::install`] from outside of the pool waits as Rayon has it: it blocks,
//! also where it is a task of Weft's, and another thread stands in for its worker. Rayon's wait
//! cannot suspend a task: it keeps what it waits for in a `thread_local!`, which the next task on
//! that worker would share. [`install`] waits in another way.
//! Settings are Weft's (`WEFT_WORKERS` and others).

use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::io;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

extern "C" {
    fn weft_rayon_start_thread(
        run: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        stack_bytes: usize,
        reason: *mut *const c_char,
    ) -> c_int;
    fn weft_rayon_workers() -> u32;
    fn weft_rayon_threads() -> usize;
    fn weft_rayon_is_task() -> c_int;
    fn weft_rayon_event_make(event: *mut c_void);
    fn weft_rayon_event_set(event: *mut c_void);
    fn weft_rayon_event_wait(event: *mut c_void);
}

/// Runs a thread of Rayon's to its end. A panic that leaves it ends the process.
extern "C" fn run(argument: *mut c_void) {
    // Safety: `spawn` made the pointer by Box::into_raw, and the thread is started once.
    let thread = unsafe { Box::from_raw(argument.cast::<ThreadBuilder>()) };
    thread.run();
}

/// Starts a thread of a pool as a lightweight thread of Weft's. It is a handler for
/// [`rayon::ThreadPoolBuilder::spawn_handler`]. Starts Weft if it has not started.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] (of `EAGAIN`) where there is no memory for another thread or Weft
/// cannot start; the text names the cause. Rayon gives up the pool then.
pub fn spawn(thread: ThreadBuilder) -> io::Result<()> {
    let stack_bytes = thread.stack_size().unwrap_or(0);
    let argument = Box::into_raw(Box::new(thread));
    let mut reason: *const c_char = std::ptr::null();
    // Safety: `run` takes the box over, unless the call fails.
    let failure =
        unsafe { weft_rayon_start_thread(run, argument.cast(), stack_bytes, &mut reason) };
    if failure == 0 {
        return Ok(());
    }
    // Safety: the thread has not started, so the box is still the caller's.
    drop(unsafe { Box::from_raw(argument) });
    let cause = if reason.is_null() {
        "no cause is known".into()
    } else {
        // Safety: the library's text ends with a zero, and lasts until the next call.
        unsafe { CStr::from_ptr(reason) }.to_string_lossy()
    };
    Err(io::Error::new(
        io::Error::from_raw_os_error(failure).kind(),
        format!("Weft cannot start a thread for Rayon: {cause}"),
    ))
}

/// Builds a pool of `threads` lightweight threads; 0 stands for as many as Rayon chooses.
///
/// # Errors
///
/// Those of [`spawn`], as Rayon reports them.
pub fn pool(threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .spawn_handler(spawn)
        .build()
}

/// What the caller and the pool's thread share, on the caller's stack.
struct Call<F, R> {
    op: Option<F>,
    result: Option<Result<R, Box<dyn Any + Send>>>,
    over: UnsafeCell<[u64; 2]>, // an event of Weft's
}

impl<F, R> Call<F, R> {
    fn event(&self) -> *mut c_void {
        self.over.get().cast()
    }
}

/// Runs `op`, and ends the caller's wait.
///
/// # Safety
///
/// `call` is a `Call<F, R>` whose event is made, and which lasts until the event is set.
unsafe fn run_call<F: FnOnce() -> R, R>(call: *mut c_void) {
    let call: *mut Call<F, R> = call.cast();
    if let Some(op) = (*call).op.take() {
        (*call).result = Some(catch_unwind(AssertUnwindSafe(op)));
    }
    weft_rayon_event_set((*call).event());
}

/// Runs `op` in the pool and returns its result, as [`ThreadPool::install`]. A task of Weft's is
/// suspended meanwhile: its worker runs other work, threads of the pool among it. Afterwards the
/// task may be on another thread of the kernel, so it keeps no reference to a `thread_local!` over
/// the call. Any other caller waits as Rayon has it.
///
/// # Panics
///
/// With what `op` panics with.
pub fn install<F, R>(pool: &ThreadPool, op: F) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    // Safety: the function has no requirements.
    if unsafe { weft_rayon_is_task() } == 0 {
        return pool.install(op);
    }
    struct Shared(*mut c_void, unsafe fn(*mut c_void));
    // Safety: `op` and its result are Send, and one thread at a time uses the call.
    unsafe impl Send for Shared {}
    let mut call = Call {
        op: Some(op),
        result: None,
        over: UnsafeCell::new([0; 2]),
    };
    let at: *mut Call<F, R> = std::ptr::addr_of_mut!(call);
    let shared = Shared(at.cast(), run_call::<F, R>);
    // Safety: the call outlives the wait, which ends when run_call() has used it for the last time.
    unsafe {
        let event = (*at).event();
        weft_rayon_event_make(event);
        pool.spawn(move || {
            let whole = shared; // not its fields, which are not Send
            (whole.1)(whole.0);
        });
        weft_rayon_event_wait(event);
        match (*at).result.take() {
            Some(Ok(result)) => result,
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("the pool has run the call"),
        }
    }
}

/// Returns how many workers Weft has: as many lightweight threads compute at once. Starts Weft if
/// it has not started; 0 if it cannot start.
#[must_use]
pub fn workers() -> usize {
    // Safety: the function has no requirements.
    unsafe { weft_rayon_workers() as usize }
}

/// Returns how many threads of pools have started and not ended.
#[must_use]
pub fn threads() -> usize {
    // Safety: the function has no requirements.
    unsafe { weft_rayon_threads() }
}
