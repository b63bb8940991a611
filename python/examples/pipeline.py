# SPDX-License-Identifier: Apache-2.0
"""A pipeline in asyncio: coroutines wait for the outside, and tasks compute meanwhile."""

import asyncio
import hashlib
import sys

import weftrt


async def arrive(count):
    """Yields blocks of data as they come, as a server does."""
    for number in range(count):
        await asyncio.sleep(0)
        yield bytes([number % 251]) * 20_000


def digest(block):
    return hashlib.sha256(block).hexdigest()


async def main(count=100, most=16):
    results, waiting = [], []
    async for block in arrive(count):
        waiting.append(weftrt.spawn(digest, block))
        if len(waiting) == most:  # the oldest ones leave in order
            results.append(await waiting.pop(0))
    for task in waiting:
        results.append(await task)
    expected = [digest(bytes([number % 251]) * 20_000) for number in range(count)]
    assert results == expected
    print(f"pipeline: {count} blocks are right")


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
