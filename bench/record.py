#!/usr/bin/env python3
"""What recording and checking cost a program: `bench/record.py target/release/tracewise`.

Per call: a C program (compiled by gcc) makes a million calls of one kind and tells the processor time that it took itself. Beside it stands
the processor time of the program and the recorder together, and the wall clock, which says how long the program waited for the recorder. On
programs: the same for git, sqlite3 and python3, each beside the plain run. The machine's load is printed, since the wall clock depends on it."""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static double used(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
int main(int argc, char **argv) {
    long n = atol(argv[2]);
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int zero = open("/dev/zero", O_RDONLY);
    char c;
    double before = used();
    if (!strcmp(argv[1], "memory")) for (long i = 0; i < n / 2; i++) { char *volatile p = malloc(i % 500 + 1); free(p); }
    if (!strcmp(argv[1], "lock")) for (long i = 0; i < n / 2; i++) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
    if (!strcmp(argv[1], "read")) for (long i = 0; i < n; i++) if (read(zero, &c, 1) != 1) return 1;
    if (!strcmp(argv[1], "open")) for (long i = 0; i < n / 2; i++) close(open("/dev/null", O_RDONLY));
    fprintf(stderr, "used %.6f\n", used() - before);
    return 0;
}
"""

SQL = "create table t(a integer primary key, b text); " + "".join(
    f"insert into t(b) values('row {i}');" for i in range(2000)
) + " select count(*), max(b) from t;"
PROGRAMS = {
    "git log --stat": ["git", "log", "--stat", "-20"],
    "git status": ["git", "status", "--short"],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "python3": [sys.executable, "-c", "import json,re; print(len(json.dumps([re.sub('a','b',str(i)) for i in range(20000)])))"],
}


def run(command):
    """Processor time of everything below, wall clock, output, standard error."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done


def best(command, times):
    return min((run(command) for _ in range(times)), key=lambda one: one[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tracewise")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    tracewise = os.path.abspath(options.tracewise)
    modes = {
        "plain": [],
        "recorded": [tracewise, "record", "-q", "-o", "/dev/null", "--"],
        "checked": [tracewise, "record", "-q", "--library", "posix", "--"],
    }
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "calls.c"), os.path.join(folder, "calls")
        with open(source, "w", encoding="utf-8") as out:
            out.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-w", "-o", program, source, "-lpthread"], check=True)
        print("\n| calls | run | in the program, ns a call | with the recorder, ns a call | wall clock, ns a call |\n|---|---|---|---|---|")
        for kind in ["memory", "lock", "read", "open"]:
            base = {}
            for mode, prefix in modes.items():
                calls = options.calls if mode != "checked" else options.calls // 4
                empty = best([*prefix, program, kind, "0"], options.times)
                cpu, wall, done = best([*prefix, program, kind, str(calls)], options.times)
                own = float(done.stderr.split("used ")[1].split()[0])
                told = [own, cpu - empty[0], wall - empty[1]]
                each = [value / calls * 1e9 for value in told]
                base.setdefault("plain", each)
                shown = " | ".join(f"{value:.0f}" + ("" if mode == "plain" else f" (+{value - plain:.0f})") for value, plain in zip(each, base["plain"]))
                print(f"| {kind} | {mode} | {shown} |", flush=True)
    print("\n| program | run | processor time, s | wall clock, s | events |\n|---|---|---|---|---|")
    for name, command in PROGRAMS.items():
        if not shutil.which(command[0]):
            print(f"| {name} | not there | | | |")
            continue
        plain = None
        for mode, prefix in modes.items():
            loud = [word for word in prefix if word != "-q"]
            cpu, wall, done = best([*loud, *command], options.times)
            plain = plain or done.stdout
            assert done.stdout == plain, f"{name} prints something else when it is {mode}"
            events = [line.split(": ")[1].split(" event")[0] for line in done.stderr.splitlines() if line.startswith("recorded ")]
            print(f"| {name} | {mode} | {cpu:.3f} | {wall:.3f} | {events[0] if events else ''} |", flush=True)


main()
