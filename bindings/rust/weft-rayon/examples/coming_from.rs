// SPDX-License-Identifier: Apache-2.0
//! The ten programs of docs/user/coming_from.md in Rayon.

use rayon::prelude::*;
use std::sync::mpsc::{channel, sync_channel};

fn call() -> i32 {
    let (to, from) = channel();
    rayon::spawn(move || to.send(2 * 21).unwrap());
    from.recv().unwrap()
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (x, y) = rayon::join(|| fib(n - 1), || fib(n - 2));
    x + y
}

fn map(v: &mut [f64]) {
    v.par_iter_mut().for_each(|x| *x = 2.0 * *x + 1.0);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.par_iter().zip(b).map(|(x, y)| x * y).sum()
}

fn sort(v: &mut [i32]) {
    v.par_sort_unstable();
}

fn chain() -> String {
    let (to, from) = channel();
    rayon::spawn(move || {
        let x = 6;
        rayon::spawn(move || {
            let y = 7 * x;
            rayon::spawn(move || to.send(y.to_string()).unwrap());
        });
    });
    from.recv().unwrap()
}

fn all() -> i32 {
    (0..10).into_par_iter().map(|i| i * i).sum()
}

fn graph() -> i32 {
    let (a, b) = rayon::join(|| 1, || 2);
    a + b
}

fn pipeline() -> i64 {
    let (to, from) = sync_channel(4);
    rayon::in_place_scope(|scope| {
        scope.spawn(move |_| (0..100).for_each(|i| to.send(i).unwrap()));
        from.iter().sum()
    })
}

fn error() -> bool {
    let both = || rayon::join(|| panic!("in a task"), || ());
    std::panic::catch_unwind(both).is_err()
}

fn check() {
    assert_eq!((call(), fib(15)), (42, 610));
    let (mut v, w) = (vec![1.0; 1000], vec![2.0; 1000]);
    map(&mut v);
    assert_eq!((v[999], dot(&v, &w)), (3.0, 6000.0));
    let mut numbers: Vec<i32> = (0..1000).map(|i| i * 7919 % 1000).collect();
    sort(&mut numbers);
    assert!(numbers.windows(2).all(|two| two[0] <= two[1]));
    assert_eq!(
        (chain().as_str(), all(), graph(), pipeline()),
        ("42", 285, 3, 4950)
    );
    assert!(error());
}

fn main() -> Result<(), rayon::ThreadPoolBuildError> {
    let pool = weft_rayon::pool(2)?;
    pool.install(check);
    println!("right");
    Ok(())
}

#[test]
fn each_of_the_ten_is_right_on_threads_of_rayon() {
    check();
}
