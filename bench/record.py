"""Recorded results of benchmarks: read from what a benchmark printed, kept in bench/results/NAME.json, shown as
docs/benchmarks.md. bench/run is the front door:

    bench/run --record NAME...   runs them and keeps what they printed
    bench/run --write            writes docs/benchmarks.md from all records

A record has the date, the machine, the commit, the command, and figures: what was measured, what was asked for, what was
seen, and whether that held (null: the benchmark did not say). A record with `entered` was written down by hand, from where it
says; running the benchmark with --record replaces it.
"""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOOD = ("held", "HELD", "holds", "hold", "both hold", "PASS", "ok", "met", "yes", "all held")
WORDS = "both hold|all held|held|HELD|holds|PASS|MISSED|ok|met|yes"
LEADING = re.compile(r"^\s*(PASS|MISSED|met)\s+(\S.*)$")
MIDDLE = re.compile(r"^(.*\S)\s+(PASS|MISSED)\s+(\(at (?:most|least) [^)]*\))$")
TRAILING = re.compile(rf"^(.*\S)(:\s+|\s{{2,}})({WORDS})$")
# Where a line says what was asked for; the first that fits is cut out of it.
ASKED = [
    re.compile(r":? asked (?P<asked>.+?), measured (?P<seen>.+)$"),
    re.compile(r"\s*\((?P<asked>at (?:most|least) [^()]*)\)"),
    re.compile(r"\s*\((?:goal|floor|asked:?|ceiling):? (?P<asked>[^()]*)\)"),
    re.compile(r"[,;]?\s+required:? (?P<asked>.+)$"),
    re.compile(r", (?:floor|ceiling) (?P<asked>.+)$"),
    re.compile(r"^\s*floor (?P<asked>\S+)$"),
    re.compile(r"^\s*asked: (?P<asked>.+)$"),
    re.compile(r"^\s*(?P<asked>at most \S+) is asked$"),
]
UNJUDGED = re.compile(r", (?:floor|ceiling) \S|\(asked: ")  # a floor is named, the verdict is the exit status
SECTION = re.compile(r"^== (.+) ==$")


def judged_lines(text):
    """(line without its verdict, held or None) of every line that judges something. Of a section that ends with a summary,
    tables are its evidence: only one whose header has "asked" and "measured" is itself a list of verdicts."""
    section, asked_table = None, False
    for line in text.splitlines():
        if found := SECTION.match(line.strip()):
            section, asked_table = found.group(1), False
        elif {"asked", "measured"} <= set(line.split()) and len(line.split()) <= 4:
            asked_table = True
        elif not line.strip():
            asked_table = False
        elif found := LEADING.match(line):
            yield found.group(2), found.group(1) != "MISSED"
        elif found := MIDDLE.match(line):
            yield f"{found.group(1)} {found.group(3)}", found.group(2) != "MISSED"
        elif found := TRAILING.match(line):
            row = not found.group(2).startswith(":")
            if not row or asked_table or section is None:
                yield found.group(1), found.group(3) in GOOD
        elif UNJUDGED.search(line):
            yield line, None


def figure_of(line, held):
    cells = [cell for cell in re.split(r"\s{2,}", line.strip()) if cell]
    if len(cells) == 3 and ":" not in cells[2]:
        return {"what": cells[0], "asked": cells[1], "seen": cells[2], "held": held}
    several = len(re.findall(r"\((?:[^()]*; )?(?:at most|at least|goal|floor|asked)\b", line)) > 1  # then none can be told apart
    for pattern in ASKED:
        if not several and (found := pattern.search(line)):
            rest = (line[:found.start()] + line[found.end():]).strip()
            asked, seen = found.group("asked").strip(), found.groupdict().get("seen")
            break
    else:
        rest, asked, seen = line.strip(), "", None
    if seen is None:
        rest, _, seen = rest.partition(": ")
    return {"what": " ".join(rest.split()), "asked": asked, "seen": " ".join(seen.split()), "held": held}


def parse(text, status):
    """The figures in what a benchmark printed; `status` is its exit status. One that judges nothing line by line is one
    figure: it did what it asked of itself, or not."""
    figures = []
    for line, held in judged_lines(text):
        figure = figure_of(line, held)
        if figure not in figures:  # sections say their summaries again at the end
            figures.append(figure)
    for figure in figures:
        if figure["held"] is None and status == 0:
            figure["held"] = True
    if not figures:
        figures = [{"what": "all it checks", "asked": "", "seen": "passed" if status == 0 else "failed",
                    "held": status == 0}]
    return figures


def machine():
    name = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    release = platform.freedesktop_os_release() if hasattr(platform, "freedesktop_os_release") else {}
    cores = len(os.sched_getaffinity(0))
    return f"{cores} core{'s' if cores != 1 else ''}, {name}, {release.get('PRETTY_NAME', platform.system())}"


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return git("rev-parse", "--short=7", "HEAD") + (" with changes" if git("status", "--porcelain", "-uno", "src", "bench") else "")


def record(name, text, status, folder, options=()):
    """Writes NAME.json in the folder; the title of an earlier record is kept."""
    path = Path(folder) / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    made = {"benchmark": name, "title": before.get("title", name), "command": f"bench/run {name}" + (f" {' '.join(options)}" if options else ""),
            "date": datetime.date.today().isoformat(), "machine": machine(), "commit": commit(),
            "figures": parse(text, status)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    return path


def cell(text):
    return text.replace("|", "\\|").replace("**", "")


def row(figure, record):
    seen = cell(figure["seen"])
    if figure["held"] is False:
        seen = f"**{seen}**" if seen else ""
    if "commit" in figure:
        seen += f" ({figure['date']}, {figure['commit']})"
    verdict = {True: "held", False: "**missed**", None: "not judged"}[figure["held"]]
    return f"| {cell(figure['what'])} | {cell(figure['asked'])} | {seen} | {verdict} |"


def page(records):
    """docs/benchmarks.md, of records sorted by title."""
    records = sorted(records, key=lambda each: each["title"].lower())
    figures = [figure for each in records for figure in each["figures"]]
    count = {held: sum(figure["held"] is held for figure in figures) for held in (True, False)}
    missed = [each for each in records if any(figure["held"] is False for figure in each["figures"])]
    lines = ["# Benchmarks", "",
             "<!-- Generated by `bench/run --write` from bench/results/*.json: run that instead of editing. -->", "",
             f"What was asked for and what was seen: {count[True]} figures held, **{count[False]} missed**"
             + (f" ({', '.join(each['title'] for each in missed)})." if missed else "."),
             "`make bench` runs most of them, `bench/run NAME` one, `bench/run --record NAME` keeps what it printed.", ""]
    for each in records:
        lines += [f"## {each['title']}", "",
                  f"`{each['command']}` · {each['date']} · {each['machine']} · commit {each['commit']}"
                  + (f" · entered by hand: {each['entered']}" if "entered" in each else ""), "",
                  "| | asked for | seen | |", "|---|---|---|---|"]
        lines += [row(figure, each) for figure in each["figures"]] + [""]
        if "note" in each:
            lines += [each["note"], ""]
    return "\n".join(lines)


def read_records(folder):
    return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]


def main(arguments):
    results = Path(os.environ.get("TANDEM_BENCH_RESULTS", ROOT / "bench" / "results"))
    if arguments[:1] == ["write"]:
        path = Path(arguments[1]) if len(arguments) > 1 else ROOT / "docs" / "benchmarks.md"
        path.write_text(page(read_records(results)))
        print(f"wrote {path}")
    elif arguments[:1] == ["record"] and len(arguments) >= 4:
        name, printed, status, *options = arguments[1:]
        print(f"recorded in {record(name, Path(printed).read_text(errors='replace'), int(status), results, options)}")
    else:
        print("bench/record.py record NAME FILE STATUS [OPTION...] | write [FILE]", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
