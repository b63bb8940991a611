# SPDX-License-Identifier: Apache-2.0
"""What tests of ranks share: they read the messages in traces, and ask why tasks wait."""
import json
import re
import subprocess
import sys
import time


def messages_of(weft, folder):
    """Returns the messages as (event, name, own rank, other rank, number, size): the last two as in the records."""
    text = subprocess.run([weft, "trace", "export", "-f", "csv", folder], check=True, text=True,
                          capture_output=True, timeout=60).stdout
    found = []
    for line in text.splitlines()[1:]:
        _, _, event, _, rest = line.split(",", 4)
        name, a, b = rest.rsplit(",", 2)
        if event in ("send", "arrived", "landed", "awaits", "began"):
            found.append((event, name, int(a) >> 32 & 0xffff, int(a) >> 48, int(a) & 0xffffffff, int(b)))
    return found


def arrows_of(weft, folders):
    """Returns how many arrows between tracks begin and end, and how many messages arrive, in a picture of all."""
    done = subprocess.run([weft, "trace", "export", "-f", "chrome", *folders], check=True, text=True,
                          capture_output=True, timeout=60).stdout
    events = json.loads(done)["traceEvents"]
    begun = {e["id"]: e for e in events if e["ph"] == "s"}
    ended = {e["id"]: e for e in events if e["ph"] == "f"}
    arrivals = [e for e in events if " from rank " in e["name"] and not e["name"].startswith("waits")]
    return begun, ended, arrivals


def expect_why(weft, command, tasks, environment):
    """Runs a program that writes its pid, and asks why each of its tasks waits. `tasks` are names and patterns."""
    running = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        pid = re.match(r"pid (\d+)$", running.stdout.readline())[1]
        for task, *lines in tasks:
            for _ in range(600):  # the tasks come to their waits some time after the line
                done = subprocess.run([weft, "why", pid, task], text=True, capture_output=True, timeout=60)
                if all(re.search(line, done.stdout, re.M) for line in lines):
                    break
                time.sleep(0.1)
            else:
                sys.exit(f"weft why says something else of {task}: {done.stdout}{done.stderr}")
    finally:
        running.terminate()
        running.wait(timeout=60)
