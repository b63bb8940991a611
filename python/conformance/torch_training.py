# SPDX-License-Identifier: Apache-2.0
"""Trains small networks with PyTorch in several threads at once, and prints what is the same however they run.

usage: torch_training.py [--threads N] [--teams N] [--steps N]

Prints one line of JSON: "losses" of each thread, step by step; "loaded", what the last thread's DataLoader made in
processes that it forks; "seconds", "processor" seconds; "running", how many kernel threads were seen to run or be ready at once: in the
middle, in nine of ten looks at most, and at most; "computing", the threads that had a twentieth of the processor time;
"runtime", the file of the OpenMP that computes.
"""

import argparse
import ctypes
import json
import os
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    """Rows that are made in the process that asks for them."""

    def __len__(self):
        return 32

    def __getitem__(self, index):
        rows = torch.arange(4096, dtype=torch.float64).reshape(64, 64) / 4096 + index
        return (rows @ rows).sum()  # in a team, where the matrix is large enough


def train(seed, steps, losses):
    """Trains one network; a thread's random numbers are its own."""
    random = torch.Generator().manual_seed(seed)
    inputs = torch.randn(512, 128, generator=random)
    targets = torch.tanh(inputs @ torch.randn(128, 32, generator=random))
    weights = [torch.randn(128, 256, generator=random) * 0.05, torch.randn(256, 32, generator=random) * 0.05]
    weights = [weight.requires_grad_() for weight in weights]
    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((torch.relu(inputs @ weights[0]) @ weights[1] - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


class Watch(threading.Thread):
    """Looks at the other threads of this process every two milliseconds: how many run or are ready to, and what each computes."""

    def __init__(self):
        super().__init__()
        self.stopped = threading.Event()
        self.counts = []
        self.first, self.last = {}, {}  # nanoseconds of each thread

    def look(self):
        own, running = str(threading.get_native_id()), 0
        for thread in os.listdir("/proc/self/task"):
            try:
                with open(f"/proc/self/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    state = file.read().rpartition(")")[2].split()[0]
                with open(f"/proc/self/task/{thread}/schedstat", encoding="utf-8") as file:
                    used = int(file.read().split()[0])
            except OSError:  # it has ended
                continue
            if thread != own:
                running += state == "R"
                self.first.setdefault(thread, used if not self.counts else 0)
                self.last[thread] = used
        self.counts.append(running)

    def run(self):
        while not self.stopped.wait(0.002):
            self.look()

    def finish(self):
        """Returns the median, the ninth tenth and the most of the counts, and how many threads had a twentieth of the time or more."""
        self.stopped.set()
        self.join()
        counts = sorted(self.counts) or [0]
        used = [self.last[thread] - self.first[thread] for thread in self.last]
        return {
            "running": [counts[len(counts) // 2], counts[len(counts) * 9 // 10], counts[-1]],
            "computing": sum(20 * one >= sum(used) > 0 for one in used),
        }


def openmp_in_use():
    """Returns the file whose omp_get_max_threads() the process finds first."""

    class Info(ctypes.Structure):
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]

    info, process = Info(), ctypes.CDLL(None)
    for function in (process, ctypes.CDLL("libgomp.so.1")):
        try:
            address = ctypes.cast(function.GOMP_parallel, ctypes.c_void_p)
        except AttributeError:
            continue
        if process.dladdr(address, ctypes.byref(info)):
            return info.file.decode()
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--teams", type=int, default=2, help="threads of each team of PyTorch's")
    parser.add_argument("--steps", type=int, default=150)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.teams)
    warm = threading.Thread(target=train, args=(0, 3, []))  # PyTorch makes threads of its own once, which spin for a while
    warm.start()
    warm.join()
    losses = [[] for _ in range(arguments.threads)]
    watch = Watch()
    watch.start()
    begin, used = time.monotonic(), time.process_time()
    threads = [threading.Thread(target=train, args=(seed + 1, arguments.steps, losses[seed])) for seed in range(arguments.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, used = time.monotonic() - begin, time.process_time() - used
    seen = watch.finish()
    loader = DataLoader(Squares(), batch_size=8, num_workers=2, multiprocessing_context="fork")
    loaded = [value for batch in loader for value in batch.tolist()]
    print(json.dumps({"losses": losses, "loaded": loaded, "seconds": round(seconds, 3), "processor": round(used, 3), **seen, "runtime": openmp_in_use()}))


if __name__ == "__main__":
    main()
