// SPDX-License-Identifier: Apache-2.0
//! The workloads that Rayon has; the protocol is that of ../sample.hpp.
use rayon::prelude::*;
use std::time::{Duration, Instant};

fn work(ns: u64) {
    if ns > 0 {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_nanos(ns) {}
    }
}

fn independent(n: u64, body_ns: u64) {
    rayon::scope(|scope| {
        for _ in 0..n {
            scope.spawn(move |_| work(body_ns));
        }
    });
}

fn fib_join(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (x, y) = rayon::join(|| fib_join(n - 1), || fib_join(n - 2));
    x + y
}

fn fib(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

fn time_ns(f: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    f();
    begin.elapsed().as_nanos() as f64
}

/// The median time of a call: many of short ones, three of long ones; the first two are not counted.
fn median_ns<T>(mut data: T, mut prepare: impl FnMut(&mut T), mut call: impl FnMut(&mut T)) -> f64 {
    let (mut times, mut spent) = (Vec::new(), 0.0);
    for i in 0..1001 {
        prepare(&mut data);
        let ns = time_ns(|| call(&mut data));
        if i < 2 {
            continue;
        }
        times.push(ns);
        spent += ns;
        if times.len() >= 3 && spent > 100e6 {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn for_each_ns(n: usize) -> f64 {
    median_ns(vec![1.0; n], |_| {}, |x| x.par_iter_mut().for_each(|d| *d = *d * 0.5 + 1.0))
}

fn reduce_ns(n: usize) -> f64 {
    median_ns(vec![1.0; n], |_| {}, |x| assert_eq!(x.par_iter().sum::<f64>(), n as f64))
}

fn find_ns(n: usize) -> f64 {
    let mut x = vec![1.0; n];
    x[n - 1] = 2.0;
    median_ns(x, |_| {}, |x| assert_eq!(x.par_iter().position_first(|d| *d == 2.0), Some(n - 1)))
}

/// The generator of std::mt19937, so that all libraries sort the same numbers.
struct Mt19937 {
    state: [u32; 624],
    at: usize,
}

impl Mt19937 {
    fn new() -> Self {
        let mut state = [5489; 624];
        for i in 1..624 {
            let before: u32 = state[i - 1];
            state[i] = (before ^ before >> 30).wrapping_mul(1812433253).wrapping_add(i as u32);
        }
        Mt19937 { state, at: 624 }
    }

    fn next(&mut self) -> u32 {
        if self.at == 624 {
            for i in 0..624 {
                let y = self.state[i] & 0x8000_0000 | self.state[(i + 1) % 624] & 0x7fff_ffff;
                self.state[i] = self.state[(i + 397) % 624] ^ y >> 1 ^ (y & 1) * 0x9908_b0df;
            }
            self.at = 0;
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }
}

/// As ../../../algorithms/main.cpp: each call gets other elements, out of at least a million.
fn sort_ns(n: usize) -> f64 {
    let mut numbers = Mt19937::new();
    let random: Vec<u32> = (0..n.max(1_000_000)).map(|_| numbers.next()).collect();
    assert_eq!(random[9999], 4123659995); // what the C++ standard says of the 10000th
    let mut at = 0;
    let mut next = |v: &mut Vec<u32>| {
        v.clear();
        v.extend_from_slice(&random[at..at + n]);
        at = if at + 2 * n <= random.len() { at + n } else { 0 };
    };
    let ns = median_ns(Vec::new(), &mut next, |v: &mut Vec<u32>| v.par_sort_unstable());
    let mut last = Vec::new();
    next(&mut last);
    last.par_sort_unstable();
    assert!(last.windows(2).all(|two| two[0] <= two[1]));
    ns
}

fn measure(workload: &str, count: u64, body_ns: u64) -> Option<f64> {
    independent(1000, 0);
    match workload {
        "independent" => Some(time_ns(|| independent(count, body_ns)) / count as f64),
        "fib-join" => {
            fib_join(12);
            let mut value = 0;
            let ns = time_ns(|| value = fib_join(count));
            assert_eq!(value, fib(count));
            Some(ns / (fib(count + 1) - 1) as f64)
        }
        "for_each" => Some(for_each_ns(count as usize) / count as f64),
        "reduce" => Some(reduce_ns(count as usize) / count as f64),
        "find" => Some(find_ns(count as usize) / count as f64),
        "sort" => Some(sort_ns(count as usize) / count as f64),
        _ => None,
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args.get(i).and_then(|s| s.parse::<u64>().ok());
    let (Some(workers), Some(count)) = (number(2), number(3)) else {
        eprintln!("usage: {} WORKLOAD WORKERS COUNT [BODY_NS]", args[0]);
        std::process::exit(2);
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers as usize).build().expect("a pool");
    match pool.install(|| measure(&args[1], count, number(4).unwrap_or(0))) {
        Some(ns) => println!("ns {ns}"),
        None => {
            eprintln!("this runtime has no workload '{}'", args[1]);
            std::process::exit(2);
        }
    }
}
