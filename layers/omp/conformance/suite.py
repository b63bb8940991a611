# SPDX-License-Identifier: Apache-2.0
"""The parts that the conformance runs share: the cache, packages, running programs, the assertion on runtimes, the page of results."""
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

RUNTIME = re.compile(r"\blib(gomp|omp|iomp5)\b[\w.-]*\.so")


def cache(name):
    """Returns a folder for what is fetched and compiled, outside the repository."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "weft", name)
    os.makedirs(folder, exist_ok=True)
    return folder


def fetch_packages(folder, names):
    """Unpacks packages of the distribution into folder/root, without installing them. Raises CalledProcessError when one cannot be had."""
    root = os.path.join(folder, "root")
    for name in names:
        mark = os.path.join(folder, name + ".unpacked")
        if os.path.exists(mark):
            continue
        for stale in glob.glob(os.path.join(folder, name + "_*.deb")):
            os.remove(stale)
        subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        package = glob.glob(os.path.join(folder, name + "_*.deb"))[0]
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        os.remove(package)
        open(mark, "w").close()
    return root


def codename():
    """Returns the name of the distribution's release, such as "bookworm"; "" where it has none."""
    with open("/etc/os-release") as file:
        found = re.search(r"^VERSION_CODENAME=(\S+)", file.read(), re.M)
    return found[1] if found else ""


def source_list(text, release):
    """Returns a list of sources with source packages instead of packages, of another release if one is named."""
    text = re.sub(r"^Types:.*", "Types: deb-src", re.sub(r"^deb\s", "deb-src ", text, flags=re.M), flags=re.M)
    return re.sub(rf"(?<![-\w]){codename()}\b", release, text) if release and codename() else text


def fetch_source(folder, name, release=""):
    """Fetches the upstream archive of one of the distribution's source packages, perhaps of another release. The system's list of sources stays as it is."""
    pattern = os.path.join(folder, name + "_*.orig.tar.*")
    found = [f for f in glob.glob(pattern) if not f.endswith(".asc")]
    if found:
        return found[0]
    parts = os.path.join(folder, "sources.list.d")
    lists = os.path.join(folder, "lists")
    os.makedirs(os.path.join(lists, "partial"), exist_ok=True)
    os.makedirs(parts, exist_ok=True)
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*.list"), *glob.glob("/etc/apt/sources.list.d/*.sources")]:
        if os.path.exists(path):
            with open(path) as file, open(os.path.join(parts, os.path.basename(path)), "w") as to:
                to.write(source_list(file.read(), release))
    apt = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=" + parts, "-o", "Dir::State::lists=" + lists]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*apt, "source", "--download-only", "--tar-only", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return [f for f in glob.glob(pattern) if not f.endswith(".asc")][0]


def other_runtimes(program, env, libraries):
    """Returns the OpenMP runtimes that the loader would map for a program, except those of the folder `libraries`."""
    traced = subprocess.run([program], env=dict(env, LD_TRACE_LOADED_OBJECTS="1"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return [line.strip() for line in traced.stdout.decode(errors="replace").splitlines() if RUNTIME.search(line) and libraries not in line]


def run(command, env, folder, limit):
    """Runs a command. Returns (exit status, output), with status None when the command did not end in time. Ends what the command started with it; the command ends when this process does."""
    with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None, process.communicate()[0].decode(errors="replace")


def environment(libraries, pairs):
    """Returns the environment of a program on Weft; without libraries, on its own runtime."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "LD_"))}
    env.update(pair.split("=", 1) for pair in pairs)
    if libraries:
        env["LD_LIBRARY_PATH"] = libraries
    return env


def for_each(jobs, function, items):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(function, items))


def tally(results):
    """Returns counts by state, and of excluded tests by reason."""
    counts = collections.Counter(r["state"] for r in results)
    excluded = collections.Counter(r["why"] for r in results if r["state"] == "excluded")
    return counts, ", ".join(f"{n} {why}" for why, n in sorted(excluded.items()))


def write_page(path, mark, lines):
    """Puts the lines between the marks `<!-- mark -->` and `<!-- end mark -->` of a page."""
    with open(path) as file:
        text = file.read()
    begin, end = f"<!-- {mark} -->\n", f"<!-- end {mark} -->\n"
    if begin not in text or end not in text:
        sys.exit(f"{path} has no marks {begin.strip()} and {end.strip()} to write between")
    head, rest = text.split(begin)
    with open(path, "w") as file:
        file.write(head + begin + "".join(line + "\n" for line in lines) + end + rest.split(end)[1])
