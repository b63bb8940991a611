// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace demo {

namespace {

constexpr std::size_t k_every = 5; // each fifth image is held out

template <class Images, class Predicate>
split divide(const Images &images, Predicate is_test) {
  std::vector<const image *> train, test;
  for (std::size_t i = 0; i < images.size(); ++i)
    (is_test(i) ? test : train).push_back(images[i]);
  return {samples(train), samples(test)};
}

std::vector<const image *> pointers(const std::vector<image> &images) {
  std::vector<const image *> list;
  for (const image &i : images)
    list.push_back(&i);
  return list;
}

bool held_out(std::size_t i) {
  return i % k_every == k_every - 1;
}

/// Holds one fit of the search: parameters, fold and, when the fit has run, the number of misread
/// images.
struct trial {
  parameters p;
  const split *fold;
  int misread = 0;
};

/// Lists the smoothest models first, so that they win where the errors are equal.
std::vector<trial> make_trials(const std::vector<split> &folds) {
  std::vector<trial> list;
  for (double gamma : k_gammas)
    for (double lambda : k_lambdas)
      for (const split &fold : folds)
        list.push_back({{gamma, lambda}, &fold});
  return list;
}

/// Runs as a task's body: the fit's own tasks are its children, and the task is suspended while
/// they run.
void run_trial(trial &t, model &m, int tile, tally &counts) {
  std::atomic<int> misread = 0;
  work w(counts);
  m.learn(w, t.fold->train, t.p, tile);
  m.test(w, t.fold->test, misread);
  w.wait();
  t.misread = misread;
}

void choose(const std::vector<trial> &trials, outcome &o) {
  o.misread_in_folds = -1;
  for (auto t = trials.begin(); t != trials.end(); t += k_folds) {
    int misread = 0;
    std::for_each(t, t + k_folds, [&](const trial &fold) { misread += fold.misread; });
    if (o.misread_in_folds < 0 || misread < o.misread_in_folds) {
      o.misread_in_folds = misread;
      o.best = t->p;
    }
  }
}

void run_final(const split &whole, int tile, tally &counts, outcome &o) {
  model m;
  std::atomic<int> misread = 0;
  std::vector<double> squares;
  work w(counts);
  m.learn(w, whole.train, o.best, tile);
  m.test(w, whole.test, misread);
  m.residual(w, squares);
  w.wait();
  o.misread = misread;
  double sum = 0;
  for (double s : squares)
    sum += s;
  o.residual = std::sqrt(sum / (double(whole.train.count()) * k_classes)); // every target is 1 or -1
}

} // namespace

dataset::dataset(const std::vector<image> &images) : whole(divide(pointers(images), held_out)) {
  std::vector<const image *> rest;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (!held_out(i))
      rest.push_back(&images[i]);
  for (std::size_t fold = 0; fold < k_folds; ++fold)
    folds.push_back(divide(rest, [fold](std::size_t i) { return i % k_folds == fold; }));
}

outcome search(const dataset &data, int tile, tally &t, progress &p) {
  outcome o;
  std::vector<trial> trials = make_trials(data.folds);
  // Trials that share a model follow each other, which bounds the memory; more models than workers keep all
  // busy.
  std::vector<model> models(2 * static_cast<std::size_t>(weft::worker_count()) + 1);
  std::vector<weft::access> results;
  weft::task_group jobs(weft::exception_policy::first_cancels);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trial &one = trials[i];
    model &m = models[i % models.size()];
    jobs.spawn([&one, &m, &t, &p, tile] { run_trial(one, m, tile, t), p.advance(); }, weft::inout(m),
               weft::out(one), weft::label("trial"));
    results.push_back(weft::in(one));
  }
  jobs.spawn([&] { choose(trials, o); }, weft::accesses(results), weft::out(o), weft::label("choose"));
  jobs.spawn([&] { run_final(data.whole, tile, t, o), p.advance(); }, weft::inout(o), weft::label("final"));
  jobs.wait();
  return o;
}

} // namespace demo
