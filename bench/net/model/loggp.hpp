// SPDX-License-Identifier: Apache-2.0
// A LogGP model of two ranks that compute and exchange in stages: pure arithmetic, in seconds and bytes.
//
// A message of k bytes takes o of the sender's processor, and leaves it behind that; its last byte is at the receiver
// L + (k - 1) G later, and takes o of its processor there. Two messages of a rank are at least g apart, and (k - 1) G.
// Where processors move the bytes, as in shared memory, each byte takes processor time as well.
//
// Source      Alexandrov, Ionescu, Schauser, Scheiman: LogGP (1995); the processor time of a byte is added.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace net_bench::loggp {

/// Holds the parameters of a network between two ranks.
struct network {
  double latency = 0; // L
  double overhead = 0; // o, the mean of both ends
  double gap = 0; // g
  double per_byte = 0; // G
  double sent_byte = 0, received_byte = 0; // processor time of a byte, at either end
};

/// Holds what a program measures between two ranks. Long messages have `long_bytes`, others `short_bytes`.
struct readings {
  double short_bytes = 8, long_bytes = 0;
  double trip = 0, long_trip = 0; // one way, from the call that sends to the one that has received
  double send = 0, long_send = 0; // the call that sends
  double receive = 0, long_receive = 0; // the call that receives what is there
  double flood = 0; // from the first of `flood_count` sends until an answer to the last
  double flood_count = 0;
};

/// Returns the parameters that explain the readings; none is negative.
[[nodiscard]] inline network solve(const readings &r) {
  const auto positive = [](double value) { return std::max(0.0, value); };
  const double more = r.long_bytes - r.short_bytes;
  network n;
  n.overhead = (r.send + r.receive) / 2;
  n.latency = positive(r.trip - r.send - r.receive);
  n.per_byte = more > 0 ? positive(r.long_trip - r.trip) / more : 0;
  n.sent_byte = more > 0 ? positive(r.long_send - r.send) / more : 0;
  n.received_byte = more > 0 ? positive(r.long_receive - r.receive) / more : 0;
  // The answer comes a trip behind the last message, which takes a trip itself.
  n.gap = r.flood_count > 1 ? positive(r.flood - 2 * r.trip) / (r.flood_count - 1) : 0;
  return n;
}

/// Returns the processor time of a message at its sender.
[[nodiscard]] inline double sending(const network &n, double bytes) {
  return n.overhead + std::max(0.0, bytes - 1) * n.sent_byte;
}

/// Returns the processor time of a message at its receiver.
[[nodiscard]] inline double receiving(const network &n, double bytes) {
  return n.overhead + std::max(0.0, bytes - 1) * n.received_byte;
}

/// Returns when the last byte of `messages` has come, from the begin of the first send; 0 without any.
[[nodiscard]] inline double last_byte(const network &n, double messages, double bytes) {
  if (messages < 1)
    return 0;
  const double length = std::max(0.0, bytes - 1) * n.per_byte;
  const double apart = std::max({n.gap, length, sending(n, bytes)});
  return (messages - 1) * apart + n.overhead + length + n.latency;
}

/// Returns the time of a short message, with both ends.
[[nodiscard]] inline double trip(const network &n) { return n.latency + 2 * n.overhead; }

/// Is what a rank does between two calls that receive: kernels, its sends, and kernels behind them. Those that are
/// `late` need what has come at the end of the stage before.
struct stage {
  double free_before = 0, late_before = 0;
  double sends = 0, bytes = 0; // messages, of so many bytes each
  double free_behind = 0, late_behind = 0;
  double receives = 0; // messages that end the stage
};

/// Says how a superstep ends, beyond the messages themselves.
enum class ending {
  none, // the task that waits for a message sees it come
  barrier, // all have their data
  counts, // ranks tell each other how many come, then a barrier
  fetched, // counts, then each message is fetched, then counts again
};

/// Says what a version makes of a stage.
struct way {
  ending ends = ending::none;
  bool overlaps = true; // else no kernel runs between a stage's end and its messages
  double send_tasks = 0, receive_tasks = 0, stage_tasks = 0;
  double more_messages = 0; // without data, for each message: they give places back
  double stage_messages = 0; // without data, at the end of each stage: acknowledgements
  bool copies = false; // each byte that has come once more
};

/// Holds the costs of a machine, in seconds.
struct costs {
  network net;
  double kernel = 0; // with its task
  double task = 0; // of a message, say
  double copied_byte = 0;
  double workers = 1; // of a rank
};

/// Returns how long a rank's processors take for the messages of a stage, without waiting.
[[nodiscard]] inline double message_time(const costs &c, const way &w, double sends,
                                         double receives, double bytes) {
  const double copied = w.copies ? bytes * c.copied_byte : 0;
  return sends *
             (sending(c.net, bytes) + w.send_tasks * c.task + w.more_messages * c.net.overhead) +
         receives * (receiving(c.net, bytes) + w.receive_tasks * c.task + copied +
                     w.more_messages * c.net.overhead);
}

/// Returns how many short messages a rank sends to end a stage, among two ranks.
[[nodiscard]] inline double end_messages(const way &w) {
  switch (w.ends) {
  case ending::none:
    return w.stage_messages;
  case ending::barrier:
    return w.stage_messages + 1;
  case ending::counts:
    return w.stage_messages + 2;
  case ending::fetched:
    break;
  }
  return w.stage_messages + 4;
}

/// Is what a rank knows of the time, in seconds from the begin.
struct clock {
  double now = 0; // its processors have done all that came before
  double began = 0; // the stage's first send
  double come = 0; // the last message of the stage before
};

/// Runs a stage of one rank, all but the arrival of its messages.
inline void run_stage(clock &at, const stage &s, const costs &c, const way &w) {
  const double kernel = c.kernel / c.workers;
  const double free = s.free_before * kernel, late = s.late_before * kernel;
  at.now = w.overlaps ? std::max(at.now + free, at.come) + late
                      : std::max(at.now, at.come) + free + late;
  at.began = at.now;
  double messages = message_time(c, w, s.sends, s.receives, s.bytes);
  if (s.sends + s.receives > 0)
    messages += w.stage_tasks * c.task + end_messages(w) * 2 * c.net.overhead;
  at.now += messages / c.workers + (s.free_behind + s.late_behind) * kernel;
}

/// Returns when a rank has what `sender` has begun to send at `began`; 0 if that is nothing.
[[nodiscard]] inline double arrival_of(const stage &sender, double began, const costs &c,
                                       const way &w) {
  const bool is_counted = w.ends == ending::counts || w.ends == ending::fetched;
  double come = is_counted ? began + trip(c.net) : 0;
  if (sender.sends > 0) {
    // What is fetched is asked for when both have exchanged counts, and met.
    const double asked = w.ends == ending::fetched ? 3 * trip(c.net) : 0;
    come = std::max(come,
                    began + asked + last_byte(c.net, sender.sends, sender.bytes) + c.net.overhead);
  }
  return come;
}

/// Returns the seconds until both ranks have ended their stages, which are as many.
[[nodiscard]] inline double predict(const std::vector<stage> (&ranks)[2], const costs &c,
                                    const way &w) {
  clock at[2];
  for (std::size_t n = 0; n != ranks[0].size(); ++n) {
    for (int r = 0; r != 2; ++r)
      run_stage(at[r], ranks[r][n], c, w);
    for (int r = 0; r != 2; ++r)
      at[r].come = arrival_of(ranks[1 - r][n], at[1 - r].began, c, w);
    if (w.ends == ending::none)
      continue;
    const double meetings = w.ends == ending::fetched ? 2 : 1; // behind the data
    at[0].come = at[1].come = std::max(at[0].come, at[1].come) + meetings * trip(c.net);
  }
  return std::max(at[0].now, at[1].now);
}

} // namespace net_bench::loggp
