// SPDX-License-Identifier: Apache-2.0
//! The workloads that Rayon has; the protocol is that of ../sample.hpp.
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
