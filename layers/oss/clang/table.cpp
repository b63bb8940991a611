// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <vector>

namespace weft_oss {
namespace {

using enum clause_id;

constexpr clause_set k_items = bit(in) | bit(out) | bit(inout) | bit(concurrent) |
                               bit(commutative) | bit(weakin) | bit(weakout) | bit(weakinout) |
                               bit(weakconcurrent) | bit(weakcommutative) | bit(depend);
constexpr clause_set k_sharing = bit(shared) | bit(private_) | bit(firstprivate) | bit(default_);
constexpr clause_set k_device =
    bit(device) | bit(ndrange) | bit(grid) | bit(shmem) | bit(node) | bit(verified);
constexpr clause_set k_task = k_items | k_sharing | k_device | bit(if_) | bit(final) |
                              bit(priority) | bit(cost) | bit(label) | bit(wait) | bit(onready) |
                              bit(reduction) | bit(weakreduction);

constexpr clause_set k_atomic_forms = bit(read) | bit(write) | bit(atomic_update) | bit(capture) | bit(compare);
constexpr clause_set k_atomic_orders =
    bit(seq_cst) | bit(acq_rel) | bit(acquire) | bit(release) | bit(relaxed);

constexpr directive_row k_directives[] = {
    {directive_id::task, "task", body::statement, state::compiled, k_task,
     "The statement becomes a task, which runs when its dependences allow it; of a function, each call "
     "does."},
    {directive_id::taskwait, "taskwait", body::nothing, state::compiled,
     bit(on) | bit(in) | bit(out) | bit(inout) | bit(depend) | bit(noflush),
     "Waits for the children of the task and their descendants; with a clause, until the data that "
     "it names may be touched. Without a clause it throws again what a child has thrown."},
    {directive_id::taskyield, "taskyield", body::nothing, state::compiled, 0,
     "Lets other tasks run first."},
    {directive_id::critical, "critical", body::statement, state::compiled, 0,
     "The statement runs while no other critical section of the same name runs: `critical(name)`; "
     "without a name all are one."},
    {directive_id::release, "release", body::nothing, state::compiled, k_items,
     "Gives dependences of the task up before its body ends."},
    {directive_id::taskloop, "taskloop", body::loop, state::compiled,
     k_task | bit(grainsize) | bit(collapse),
     "Chunks of a `for` loop become tasks; without items and `grainsize`, chunks of one task that "
     "workers share. Nothing waits for them."},
    {directive_id::task_for, "task for", body::loop, state::compiled,
     k_task | bit(chunksize) | bit(collapse), "The loop is one task, whose chunks workers share."},
    {directive_id::taskloop_for, "taskloop for", body::loop, state::compiled,
     k_task | bit(grainsize) | bit(chunksize) | bit(collapse),
     "Chunks of the loop become tasks, whose own chunks workers share."},
    {directive_id::taskiter, "taskiter", body::loop, state::compiled,
     k_task | bit(unroll) | bit(update),
     "The tasks of an iteration of a `for` or `while` loop are created once, and run in every "
     "iteration."},
    {directive_id::atomic, "atomic", body::statement, state::compiled,
     k_atomic_forms | k_atomic_orders,
     "The statement reads or changes one object at once. Without a form it is `update`, without an "
     "order `relaxed`."},
    {directive_id::declare_reduction, "declare reduction", body::nothing, state::compiled, 0,
     "`declare reduction(name : types : combiner) initializer(omp_priv = value)`: how values of "
     "these types are combined; the combiner changes `omp_out` by `omp_in`."},
    {directive_id::assertion, "assert", body::nothing, state::compiled, 0,
     "`assert(\"version.dependencies==regions\")` orders the file's items by bytes; "
     "`...==discrete` demands the order by address."},
    {directive_id::lint, "lint", body::statement, state::ignored, ~clause_set{0},
     "a note to a checker; the statement behind it runs as it is"},
    {directive_id::target, "target", body::statement, state::ignored, 0,
     "a note on the task behind it, which runs on a processor; refused with another device than "
     "smp, and with implements"},
};

constexpr clause_set k_task_1 = bit(in) | bit(out) | bit(inout) | bit(concurrent) |
                                bit(commutative) | bit(depend) | k_sharing | bit(if_) | bit(final) |
                                bit(priority) | bit(label) | bit(reduction) | bit(untied) |
                                bit(mergeable) | bit(tied) | bit(input) | bit(output);
constexpr std::string_view k_of_teams = "it is for OpenMP's teams of threads, which OmpSs has not";

constexpr directive_row k_directives_1[] = {
    {directive_id::task, "task", body::statement, state::compiled, k_task_1,
     "As of `#pragma oss`, on statements and on functions.", "omp"},
    {directive_id::taskwait, "taskwait", body::nothing, state::compiled,
     bit(on) | bit(in) | bit(out) | bit(inout) | bit(depend) | bit(noflush),
     "As of `#pragma oss`: it waits for grandchildren, too, and with `on` also for readers.", "omp"},
    {directive_id::taskyield, "taskyield", body::nothing, state::compiled, 0, "As of `#pragma oss`.",
     "omp"},
    {directive_id::critical, "critical", body::statement, state::compiled, 0,
     "As of `#pragma oss`; both exclude each other.", "omp"},
    {directive_id::atomic, "atomic", body::statement, state::compiled,
     k_atomic_forms | k_atomic_orders, "As of `#pragma oss`.", "omp"},
    {directive_id::declare_reduction, "declare reduction", body::nothing, state::compiled, 0,
     "As of `#pragma oss`.", "omp"},
    {directive_id::target, "target", body::statement, state::ignored, 0,
     "a note on the task behind it, which runs on a processor; refused with another device than "
     "smp, and with implements",
     "omp"},
    {directive_id::other, "simd", body::statement, state::ignored, 0,
     "a hint to the compiler; the loop behind it runs as it is", "omp"},
    {directive_id::other, "for", body::loop, state::refused, 0,
     "write '#pragma oss taskloop' or '#pragma oss task for', and a taskwait", "omp"},
    {directive_id::other, "taskloop", body::loop, state::refused, 0,
     "it waits for its tasks; write '#pragma oss taskloop', and a taskwait", "omp"},
    {directive_id::other, "taskgroup", body::statement, state::refused, 0,
     "write '#pragma omp taskwait' behind the statement", "omp"},
    {directive_id::other, "parallel", body::statement, state::refused, 0, k_of_teams, "omp"},
    {directive_id::other, "single", body::statement, state::refused, 0, k_of_teams, "omp"},
    {directive_id::other, "master", body::statement, state::refused, 0, k_of_teams, "omp"},
    {directive_id::other, "sections", body::statement, state::refused, 0, k_of_teams, "omp"},
    {directive_id::other, "barrier", body::nothing, state::refused, 0, k_of_teams, "omp"},
    {directive_id::other, "threadprivate", body::nothing, state::refused, 0,
     "a task may go on on another thread behind a wait", "omp"},
};

constexpr clause_row k_clauses[] = {
    {in, "in", takes::items, true, state::compiled, "The task reads the items."},
    {out, "out", takes::items, true, state::compiled, "The task writes the items."},
    {inout, "inout", takes::items, true, state::compiled, "The task reads and writes the items."},
    {concurrent, "concurrent", takes::items, true, state::compiled,
     "As `inout`, but neighbours with the same clause run at the same time."},
    {commutative, "commutative", takes::items, true, state::compiled,
     "As `inout`, but neighbours with the same clause run in any order, one at a time."},
    {weakin, "weakin", takes::items, true, state::compiled, "Only children read the items."},
    {weakout, "weakout", takes::items, true, state::compiled, "Only children write the items."},
    {weakinout, "weakinout", takes::items, true, state::compiled,
     "Only children read and write the items."},
    {weakconcurrent, "weakconcurrent", takes::items, true, state::compiled,
     "Only children touch the items, as `concurrent` tasks."},
    {weakcommutative, "weakcommutative", takes::items, true, state::compiled,
     "Only children touch the items, as `commutative` tasks."},
    {depend, "depend", takes::depend, true, state::compiled,
     "`depend(in: x)`, `depend(weak, inout: x)`: the clauses above in OpenMP's form; "
     "`mutexinoutset` is `commutative`, `inoutset` is `concurrent`."},
    {on, "on", takes::items, true, state::compiled, "As `inout`."},
    {shared, "shared", takes::variables, true, state::compiled,
     "The task uses the variables themselves."},
    {private_, "private", takes::variables, true, state::compiled,
     "The task has variables of its own, without a value."},
    {firstprivate, "firstprivate", takes::variables, true, state::compiled,
     "The task has copies, made when it is created."},
    {default_, "default", takes::choice, false, state::compiled,
     "`shared`, `firstprivate` or `none`: for local variables that no other clause or rule names."},
    {if_, "if", takes::expression, false, state::compiled,
     "With false, the creator waits until the task has run."},
    {final, "final", takes::expression, false, state::compiled,
     "With true, the tasks inside of the task run in place."},
    {priority, "priority", takes::expression, false, state::compiled,
     "Larger runs earlier where there is a choice."},
    {cost, "cost", takes::expression, false, state::compiled,
     "How much work the body is, for counters."},
    {label, "label", takes::expression, false, state::compiled,
     "The task's name in reports and traces: a string that outlives the task."},
    {wait, "wait", takes::nothing, false, state::compiled,
     "The task keeps its dependences until its children are complete."},
    {onready, "onready", takes::expression, false, state::compiled,
     "Evaluated once with the task's own variables when the dependences allow it to run."},
    {reduction, "reduction", takes::reduction, true, state::compiled,
     "The task combines values into the items: with `+ - * & | ^ && || min max`, or as declared."},
    {weakreduction, "weakreduction", takes::reduction, true, state::compiled,
     "Only children combine values into the items."},
    {grainsize, "grainsize", takes::expression, false, state::compiled, "Iterations of one task."},
    {chunksize, "chunksize", takes::expression, false, state::compiled,
     "Iterations that a worker takes at a time."},
    {collapse, "collapse", takes::expression, false, state::compiled,
     "So many nested loops are one; a literal."},
    {unroll, "unroll", takes::expression, false, state::compiled,
     "Iterations of one recording; at most so many, where the number of iterations is no multiple. Ignored for a `while` loop."},
    {update, "update", takes::expression, false, state::compiled,
     "The tasks are created anew after so many iterations."},
    {read, "read", takes::nothing, false, state::compiled, "`v = x;`"},
    {write, "write", takes::nothing, false, state::compiled, "`x = value;`"},
    {atomic_update, "update", takes::nothing, false, state::compiled,
     "`x++;`, `x += value;`, `x = x * value;`, `x = value - x;`"},
    {capture, "capture", takes::nothing, false, state::compiled,
     "An update whose old or new value is kept: `v = x++;`, `v = x += value;`, `{ v = x; x = "
     "value; }`"},
    {compare, "compare", takes::nothing, false, state::compiled,
     "An update that a comparison decides: `x = x == e ? d : x;`, `if (x == e) { x = d; }`, `x = x < e ? "
     "e : x;` and with `>`. With `capture` also `{ v = x; if (x < e) { x = e; } }`, `if (x == e) { x = d; } "
     "else { v = x; }`, `{ r = x == e; if (r) { x = d; } }` and the like."},
    {seq_cst, "seq_cst", takes::nothing, false, state::compiled, "As in C++."},
    {acq_rel, "acq_rel", takes::nothing, false, state::compiled,
     "As in C++; not for `read` and `write`."},
    {acquire, "acquire", takes::nothing, false, state::compiled, "As in C++; not for `write`."},
    {release, "release", takes::nothing, false, state::compiled, "As in C++; not for `read`."},
    {relaxed, "relaxed", takes::nothing, false, state::compiled, "As in C++."},
    {verified, "verified", takes::other, false, state::ignored, "a note to a checker"},
    {device, "device", takes::other, false, state::refused,
     "it names an accelerator, and Weft runs tasks on processors, which are device(smp)"},
    {ndrange, "ndrange", takes::other, false, state::refused,
     "it launches a kernel on an accelerator, and Weft runs tasks on processors"},
    {grid, "grid", takes::other, false, state::refused,
     "it launches a kernel on an accelerator, and Weft runs tasks on processors"},
    {shmem, "shmem", takes::other, false, state::refused,
     "it is memory of an accelerator, and Weft runs tasks on processors"},
    {node, "node", takes::other, false, state::ignored,
     "the name of a node of a cluster, and the program runs on one"},
    {untied, "untied", takes::nothing, false, state::ignored,
     "what each task is: behind a wait it goes on on any worker"},
    {mergeable, "mergeable", takes::nothing, false, state::ignored,
     "a permission that Weft does not need"},
    {noflush, "noflush", takes::nothing, false, state::ignored,
     "about data of accelerators, and Weft runs tasks on processors"},
    {tied, "tied", takes::nothing, false, state::refused,
     "behind a wait a task may go on on another worker"},
    {input, "input", takes::other, true, state::refused, "its name is 'in' by now"},
    {output, "output", takes::other, true, state::refused, "its name is 'out' by now"},
};

std::size_t distance(std::string_view a, std::string_view b) { // of Levenshtein
  std::vector<std::size_t> line(b.size() + 1);
  for (std::size_t i = 0; i <= b.size(); ++i)
    line[i] = i;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = line[0];
    line[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = line[j];
      line[j] = std::min({above + 1, line[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return line[b.size()];
}

template <class Rows, class Allowed>
std::string_view nearest(std::string_view wrong, const Rows &rows, const Allowed &allowed) {
  std::string_view best;
  std::size_t least = wrong.size() / 3 + 2; // farther away is another word
  for (const auto &candidate : rows)
    if (allowed(candidate))
      if (const std::size_t d = distance(wrong, candidate.name); d < least) {
        least = d;
        best = candidate.name;
      }
  return best;
}

std::span<const directive_row> rows_of(std::string_view pragma) {
  return pragma == "oss" ? std::span<const directive_row>(k_directives) : k_directives_1;
}

} // namespace

const directive_row *find_directive(std::string_view name, std::string_view pragma) {
  const std::span<const directive_row> all = rows_of(pragma);
  const auto found = std::ranges::find(all, name, &directive_row::name);
  return found == all.end() ? nullptr : &*found;
}
const clause_row *find_clause(std::string_view name, clause_set preferred) {
  const clause_row *found = nullptr;
  for (const clause_row &candidate : k_clauses)
    if (candidate.name == name && (!found || (bit(candidate.id) & preferred) != 0))
      found = &candidate;
  return found;
}
const clause_row &row(clause_id id) { return *std::ranges::find(k_clauses, id, &clause_row::id); }

std::string_view nearest_directive(std::string_view wrong, std::string_view pragma) {
  return nearest(wrong, rows_of(pragma),
                 [](const directive_row &d) { return d.how != state::refused; });
}
std::string_view nearest_clause(std::string_view wrong, clause_set among) {
  return nearest(wrong, k_clauses, [&](const clause_row &r) { return (bit(r.id) & among) != 0; });
}

std::string reference_page() {
  const auto row_of = [](state how, std::string_view says) {
    return (how == state::refused   ? "*Refused:* "
            : how == state::ignored ? "*Ignored:* "
                                    : "") +
           std::string(says);
  };
  std::string page =
      "# Directives and clauses of `#pragma oss`\n\n"
      "What `weft-c++` and `weft-cc` compile, printed from the table that the plugin "
      "reads: `weft-oss-table`.\n"
      "[oss.md](oss.md) shows how to use it.\n\n"
      "## Directives\n\n| directive | meaning | clauses |\n| --- | --- | --- |\n";
  const auto table_of = [&](std::string_view pragma) {
    for (const directive_row &d : rows_of(pragma)) {
      // Loops have the clauses of a task and some more.
      const bool as_task = d.id != directive_id::task && (d.clauses & k_task) == k_task;
      std::string names = as_task ? "those of `task`" : "";
      for (const clause_row &c : k_clauses)
        if (!(as_task && (k_task & bit(c.id)) != 0) && d.how == state::compiled &&
            (d.clauses & bit(c.id)) != 0 && (bit(c.id) & k_device) == 0 && c.how == state::compiled)
          names += (names.empty() ? "`" : ", `") + std::string(c.name) + "`";
      page += "| `" + std::string(d.name) + "` | " + row_of(d.how, d.says) + " | " + names + " |\n";
    }
  };
  table_of("oss");
  page += "\n## Clauses\n\n| clause | meaning |\n| --- | --- |\n";
  for (const clause_row &c : k_clauses) {
    std::string form(c.name);
    switch (c.argument) {
    case takes::nothing:
      break;
    case takes::items:
      form += "(item, ...)";
      break;
    case takes::variables:
      form += "(variable, ...)";
      break;
    case takes::expression:
      form += "(expression)";
      break;
    case takes::reduction:
      form += "(operation: item, ...)";
      break;
    case takes::choice:
      form += "(word)";
      break;
    case takes::depend:
      form += "(kind: item, ...)";
      break;
    case takes::other:
      form += "(...)";
      break;
    }
    page += "| `" + form + "` | " + row_of(c.how, c.says) + " |\n";
  }
  page +=
      "\n## Items\n\n| item | names |\n| --- | --- |\n"
      "| `x`, `*p`, `s.a`, `p->a`, `v[i]` | an object |\n"
      "| `v[a;n]` | `n` elements from `a` on |\n"
      "| `v[a:b]` | from `a` to `b`, both included; `v[a:]`, `v[:b]` and `v[:]` go to the ends |\n"
      "| `[n]p`, `[n][m]p` | the array of these extents that a pointer points to |\n"
      "| `v[a;n][b:c]`, `([n][m]p)[a;k][b;l]` | a block of up to three dimensions |\n"
      "| `{v[i], i=0;n}` | one item for each value: `n` values from 0 on |\n"
      "| `{v[i], i=a:b:step}`, `{v[i], i={1, 4}}` | from `a` to `b`, which is included; the "
      "values of a list |\n"
      "| `{m[i][j], i=0;n, j=i:n-1}` | several iterators; a later one may use an earlier one |\n"
      "\n## C\n\n"
      "`weft-cc` compiles all of this; `declare reduction` must be outside of functions in C.\n"
      "\n## `#pragma omp` of OmpSs-1\n\n"
      "With `--ompss` these are compiled, too; what OmpSs-1 has beside them is refused by name.\n\n"
      "| directive | meaning | clauses |\n| --- | --- | --- |\n";
  table_of("omp");
  return page;
}

} // namespace weft_oss
