# SPDX-License-Identifier: Apache-2.0
"""Reads the messages between ranks in a trace, for tests."""
import subprocess


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
    import json
    done = subprocess.run([weft, "trace", "export", "-f", "chrome", *folders], check=True, text=True,
                          capture_output=True, timeout=60).stdout
    events = json.loads(done)["traceEvents"]
    begun = {e["id"]: e for e in events if e["ph"] == "s"}
    ended = {e["id"]: e for e in events if e["ph"] == "f"}
    arrivals = [e for e in events if " from rank " in e["name"] and not e["name"].startswith("waits")]
    return begun, ended, arrivals
