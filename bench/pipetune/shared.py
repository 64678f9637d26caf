"""What the benchmarks of tuning (pipetune, optuna, tenancy) share: running tandem and accounting for its time, the
machine it runs on, results that survive an interruption, and judging them.
"""
import argparse
import contextlib
import gzip
import json
import math
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUSY_ELSEWHERE = 0.05  # of all cores: more than this beside a measurement makes it doubtful
TICKS = os.sysconf("SC_CLK_TCK")


# -- options ----------------------------------------------------------------------------------------------------------


def parser(description, seeds, budget):
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--seeds", type=int, help=f"repeats, each with its own seed (default: {seeds})")
    made.add_argument("--quick", action="store_true", help="one seed, tiny settings: does it work?")
    made.add_argument("--only", metavar="NAME", help="only what has NAME in its name (commas between several)")
    made.add_argument("--budget", type=float, default=budget, metavar="SECONDS",
                      help="end a tuning run after so long (default: %(default)g)")
    made.add_argument("--save", type=pathlib.Path, metavar="FILE", help="raw results, written after every measurement")
    made.add_argument("--report", type=pathlib.Path, metavar="FILE", help="measure nothing, print what FILE has saved")
    made.add_argument("--cores", type=int, metavar="N", help="use only the first N cores")
    made.add_argument("--data", type=pathlib.Path, help="folder with mnist (default: $TANDEM_DATA, ../shared/data)")
    made.add_argument("--tandem", type=pathlib.Path, help="the binary (default: that of the release build)")
    made.add_argument("--strict", action="store_true", help="exit 1 when a requirement is missed")
    return made


def settle(options, seeds):
    """Fills in what the options left open."""
    options.seeds = options.seeds or (1 if options.quick else seeds)
    folder = pathlib.Path(os.environ.get("TANDEM_BIN", ROOT / "build/release/bin"))
    options.tandem = (options.tandem or folder / "tandem").resolve()
    if not options.report and not options.tandem.exists():
        sys.exit(f"{options.tandem} is not there; build it, or name one with --tandem")
    if options.data is None:
        options.data = pathlib.Path(os.environ.get("TANDEM_DATA", ROOT.parent / "shared/data"))
    if options.cores:
        allowed = sorted(os.sched_getaffinity(0))
        if options.cores > len(allowed):
            sys.exit(f"--cores {options.cores}: this machine has {len(allowed)}")
        os.sched_setaffinity(0, allowed[: options.cores])  # inherited, and tandem keeps to it
    return options


def chosen(options, name):
    return not options.only or any(part in name for part in options.only.split(","))


def all_cores():
    return len(os.sched_getaffinity(0))


def core_choices():
    """1, 2, 4, ... and all."""
    choices = [1]
    while choices[-1] * 2 < all_cores():
        choices.append(choices[-1] * 2)
    return choices + ([all_cores()] if all_cores() > 1 else [])


# -- the machine ------------------------------------------------------------------------------------------------------


def busy_ticks():
    """Ticks all CPUs spent on anything but idling, and those stolen from them by other virtual machines."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]))
    user, nice, system, _idle, _waiting, irq, softirq, steal = fields[:8]
    return user + nice + system + irq + softirq, steal


def process_ticks():
    ticks = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, fields = own_fields(stat)
            ticks[stat.parent.name] = (int(fields[11]) + int(fields[12]), name)
    return ticks


def own_fields(stat):
    text = stat.read_text()
    end = text.rindex(")")
    return text[text.index("(") + 1:end], text[end + 2:].split()


def machine():
    """Prints where this runs and warns when it is not alone; returns the same for the records."""
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), os.uname().machine)
    busy, steal = busy_ticks()
    before, began = process_ticks(), time.monotonic()
    time.sleep(1)
    elapsed = (time.monotonic() - began) * TICKS
    after = process_ticks()
    others = sorted(((ticks - before[pid][0]) / elapsed, name, pid) for pid, (ticks, name) in after.items()
                    if pid in before and pid != str(os.getpid()))[::-1]
    found = {"cores": all_cores(), "model": model, "load": os.getloadavg()[0],
             "busy": (busy_ticks()[0] - busy) / elapsed, "steal": (busy_ticks()[1] - steal) / elapsed,
             "at": time.strftime("%Y-%m-%d %H:%M:%S")}
    print(f"machine: {found['cores']} cores, {model}, load {found['load']:.2f}, "
          f"{found['busy']:.2f} cores busy before it starts, {found['at']}")
    if found["busy"] > BUSY_ELSEWHERE * all_cores():
        names = ", ".join(f"{name} ({pid}) {share:.0%}" for share, name, pid in others[:3] if share > 0.02)
        print(f"WARNING: other processes use the CPU: {names or 'short-lived ones'}. Times below are doubtful.")
    return found


# -- running things ---------------------------------------------------------------------------------------------------


def elsewhere(cpu, wall):
    """What others used, as a share of the machine; /proc/stat knows no fewer than all CPUs."""
    return max(cpu, 0) / max(wall * os.cpu_count(), 1e-9)


class Usage:
    """The CPU time of one process we wait for: its own, its children's, and what went elsewhere meanwhile."""

    def __init__(self, process):
        self.process, self.began, self.busy = process, time.time(), busy_ticks()[0]

    def wait(self):
        pid = self.process.pid
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # a zombie still tells what it used itself
        ended = time.time()
        fields = own_fields(pathlib.Path(f"/proc/{pid}/stat"))[1]
        own, children = (int(fields[11]) + int(fields[12])) / TICKS, (int(fields[13]) + int(fields[14])) / TICKS
        wall = ended - self.began
        busy = (busy_ticks()[0] - self.busy) / TICKS
        return {"began": self.began, "wall": wall, "code": self.process.wait(), "own_cpu": own,
                "children_cpu": children, "elsewhere": elsewhere(busy - own - children, wall)}


def end(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Tandem:
    """Runs the binary. Every store is a folder of its own under `folder`."""

    def __init__(self, options, folder):
        self.binary, self.folder, self.number = str(options.tandem), pathlib.Path(folder), 0

    def new_store(self):
        self.number += 1
        return str(self.folder / f"store-{self.number}")

    def start(self, command, spec, store, *more, environment=None):
        """A process at work on `spec` (a dictionary), and where its result will be."""
        self.number += 1
        base = self.folder / f"job-{self.number}"
        base.with_suffix(".yaml").write_text(json.dumps(spec))  # JSON is YAML
        with open(base.with_suffix(".log"), "w") as log:
            process = subprocess.Popen(
                [self.binary, command, str(base.with_suffix(".yaml")), "--store", store, "--quiet",
                 "--json", str(base.with_suffix(".json")), *map(str, more)],
                stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        return process, base

    def run(self, command, spec, store, *more):
        process, base = self.start(command, spec, store, *more)
        try:
            usage = Usage(process).wait()
        except BaseException:
            end(process)
            raise
        return self.result(usage, base)

    def result(self, usage, base):
        """The JSON of a job that has ended, with what it used under "usage"; None after printing why not."""
        output = base.with_suffix(".json")
        if usage["code"] != 0 or not output.exists():
            lines = base.with_suffix(".log").read_text().strip().splitlines() or ["(it printed nothing)"]
            print(f"  FAILED with {usage['code']}: {' | '.join(lines[-3:])}", flush=True)
            return None
        return {**json.loads(output.read_text()), "usage": usage}

    def journal(self, store, run):
        text = subprocess.run([self.binary, "show", run, "--journal", "--store", store], check=True,
                              capture_output=True, text=True).stdout
        return [json.loads(line)["event"] for line in text.splitlines()]


def retrain(tandem, workload, data, best, epochs, seed):
    """Trains alone and from scratch: seconds of each epoch without the program's start-up, and what it got to."""
    system = {"cores": best["system"]["cores"]}
    if best["system"].get("memory"):
        system["memory"] = f"{best['system']['memory']}B"
    if best["system"].get("speed", 1) != 1:
        system["speed"] = best["system"]["speed"]
    spec = {"kind": "train", "program": workload["program"], "hyper": {**best["hyper"], "epochs": epochs},
            "system": system, "seed": seed}
    store = tandem.new_store()
    result = tandem.run("train", spec, store, *data)
    if result is None:
        return None
    events = [event for event in tandem.journal(store, result["run"]) if event["is"] == "EpochEnded"]
    return {"seconds": [event["seconds"] - event.get("startup", 0) for event in events],
            "scores": [event["metrics"][workload["metric"]] for event in events],
            "joules": result["joules"], "energy_source": result["energy_source"],
            "elsewhere": result["usage"]["elsewhere"]}


# -- data -------------------------------------------------------------------------------------------------------------


def small_mnist(source, target, train, test):
    """The first images of MNIST as IDX files in target/mnist; why not, or None."""
    (target / "mnist").mkdir(parents=True, exist_ok=True)
    for part, count in (("train", train), ("t10k", test)):
        for name, header, size in ((f"{part}-images-idx3-ubyte", 16, 784), (f"{part}-labels-idx1-ubyte", 8, 1)):
            plain, packed = source / "mnist" / name, source / "mnist" / f"{name}.gz"
            if not plain.exists() and not packed.exists():
                return f"there is no {packed}"
            with plain.open("rb") if plain.exists() else gzip.open(packed) as file:
                content = file.read(header + count * size)
            kept = (len(content) - header) // size
            (target / "mnist" / name).write_bytes(content[:4] + struct.pack(">I", kept) + content[8:])
    return None


# -- results ----------------------------------------------------------------------------------------------------------


class Results:
    """Records of what was measured; in the file after each, so that an interruption loses nothing."""

    def __init__(self, options, setting):
        self.file, self.setting, self.records = options.save, setting, []
        if options.report:
            saved = json.loads(options.report.read_text())
            self.setting, self.records = saved["setting"], saved["records"]

    def add(self, **record):
        self.records.append(record)
        if self.file:
            fresh = self.file.with_name(self.file.name + ".new")
            fresh.write_text(json.dumps({"setting": self.setting, "records": self.records}, indent=1))
            fresh.replace(self.file)

    def find(self, **wanted):
        return [r for r in self.records if all(r.get(key) == value for key, value in wanted.items())]

    def values(self, key, **wanted):
        return [r[key] for r in self.find(**wanted) if r.get(key) is not None]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def median(values):
    return statistics.median(values) if values else math.nan


def mean(values):
    return statistics.mean(values) if values else math.nan


def spread(values, form="{:.2f}"):
    """Median [least..most]."""
    if not values:
        return "-"
    if len(values) == 1:
        return form.format(values[0])
    return f"{form.format(median(values))} [{form.format(min(values))}..{form.format(max(values))}]"


class Judgement:
    """Requirements with their limits; printed at the end."""

    def __init__(self):
        self.lines, self.missed = [], 0

    def require(self, text, value, limit, at_most=True, form="{:.3f}", note=""):
        if value is None or math.isnan(value):
            self.lines.append(f"not measured  {text}")
            return
        met = value <= limit if at_most else value >= limit
        self.missed += not met
        self.lines.append(f"{'PASS' if met else 'MISSED':6} {text}: {form.format(value)} "
                          f"({'at most' if at_most else 'at least'} {form.format(limit)}){note}")

    def say(self):
        print("\nrequirements")
        for line in self.lines:
            print("  " + line)


def doubtful(records):
    """Says when something else ran beside the measurements."""
    beside = [r["elsewhere"] for r in records if r.get("elsewhere") is not None]
    if not beside:
        return
    worst = sum(share > BUSY_ELSEWHERE for share in beside)
    print(f"\nCPU that went elsewhere during a measurement: median {median(beside):.1%}, most {max(beside):.1%}"
          + (f"; WARNING: above {BUSY_ELSEWHERE:.0%} in {worst} of {len(beside)}" if worst else ""))


def main(measure, report, options, setting):
    """Measures until done or interrupted, then prints what there is."""
    results = Results(options, setting)
    if not options.report:
        results.setting["machine"] = machine()
        with tempfile.TemporaryDirectory(prefix="tandem-bench-") as folder:
            began = time.monotonic()
            try:
                measure(options, results, pathlib.Path(folder))
            except KeyboardInterrupt:
                print("\ninterrupted: what was measured so far")
            print(f"\nmeasured for {(time.monotonic() - began) / 60:.1f} min", flush=True)
    judgement = report(results)
    doubtful(results.records)
    judgement.say()
    sys.exit(1 if options.strict and judgement.missed else 0)
