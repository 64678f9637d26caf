#!/usr/bin/env python3
"""Which sources of a module are compiled together (CMake's UNITY_GROUP), so that headers are read once for several files.

    cmake/unity.py MEMORY LINES SOURCE...        prints one group number a source, in order, separated by ;

Files of which one has a name in an anonymous namespace that the other has or uses too never meet in a group, so nobody has
to invent longer names for the build's sake. A group has about LINES lines. MEMORY is a file in the build folder that keeps the groups: a file stays
where it was until it clashes, so an edit compiles one group again and no other.
"""

import json
import re
import sys
from pathlib import Path

NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'', re.S)
NOISE_BUT_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ROOT = Path(__file__).resolve().parent.parent / "src"
KEYWORDS = {"if", "for", "while", "switch", "return", "static_assert", "decltype", "sizeof", "alignas", "requires", "operator",
            "noexcept", "constexpr", "const", "auto", "defined"}


BRACES = re.compile(r"[{}]")


def anonymous_parts(code):
    """The text of every anonymous namespace."""
    for start in re.finditer(r"\bnamespace\s*\{", code):
        depth, end = 1, len(code)
        for brace in BRACES.finditer(code, start.end()):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                end = brace.start()
                break
        yield code[start.end():end]


def statements(text):
    """What stands at the top of a namespace: bodies in braces are left out."""
    depth, kept, outside = 0, [], 0
    for brace in BRACES.finditer(text):
        if brace.group() == "{":
            if depth == 0:
                kept += [text[outside:brace.start()], "{;"]
            depth += 1
        else:
            depth -= 1
            outside = brace.end()
    return "".join(kept + [text[outside:]]).split(";")


def declared(statement):
    """The name that a declaration gives, or None."""
    statement = re.sub(r"^\s*(#[^\n]*\n\s*)*", "", statement)
    statement = re.sub(r"\btemplate\s*<[^{}]*?>\s*(?=\w)", "", statement)
    if re.match(r"\s*namespace\s+\w+\s*=", statement):
        return None  # the same in every file that has it
    if found := re.match(r"\s*(?:enum\s+class|struct|class|enum|union)\s+(\w+)\s*(?:final\s*)?(?::[^;]*)?\{?$", statement.strip()):
        return found.group(1)
    if found := re.match(r"\s*using\s+([\w:]+)", statement):
        return None if found.group(1) == "namespace" else found.group(1).split("::")[-1]
    if found := re.match(r"[^(=]*?(\w+)\s*(?:\[[^\]]*\]\s*)*=[^=]", statement):
        return found.group(1)  # a constant, whatever its value calls
    for found in re.finditer(r"([\w:]+)\s*\(", statement):
        if re.fullmatch(r"[A-Z][A-Z_]+", found.group(1)):
            return None  # a macro such as TEST
        if found.group(1) not in KEYWORDS:
            return None if "::" in found.group(1) else found.group(1)
    if found := re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|\{|$)", statement.strip()):
        return found.group(1)
    return None


HEADERS = {}  # header -> the types that it and the headers it includes declare


def types_in(header):
    """Types of our own headers: one of the same name in another file's anonymous namespace would be ambiguous."""
    if header not in HEADERS:
        HEADERS[header] = set()
        path = ROOT / header
        if path.exists():
            code = NOISE_BUT_TEXT.sub(" ", path.read_text(encoding="utf-8"))
            found = set(re.findall(r"\b(?:struct|class|using)\s+([A-Z]\w*)", code))
            for other in re.findall(r'#\s*include\s*"([^"]+)"', code):
                found |= types_in(other)
            HEADERS[header] = found
    return HEADERS[header]


class Source:
    def __init__(self, path):
        text = Path(path).read_text(encoding="utf-8")
        code = NOISE.sub(" ", text)
        self.lines = text.count("\n")
        parts = list(anonymous_parts(code))
        lines = [line for part in parts for line in statements(part)]
        self.own = {name for line in lines if (name := declared(line))}
        self.own |= {name for line in lines if "constexpr" in line and "(" not in line
                     for name in re.findall(r",\s*(k[A-Z]\w*)\s*=", line)}  # the further ones of a line
        self.own |= {name for part in parts for body in re.findall(r"\benum\s+(?!class)\w*\s*(?::[^{;]*)?\{([^}]*)\}", part)
                     for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())}
        self.own |= set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M))
        self.own |= {name.split("::")[-1] for name in re.findall(r"^using\s+(?!namespace\b)([\w:]+)", code, re.M)}
        # Another name for a type of elsewhere: the same name for the same type is no clash, nor is a qualified use of it.
        self.aliases = {(new or target).split("::")[-1]: target
                        for new, target in re.findall(r"\busing\s+(?:(\w+)\s*=\s*)?([\w:]+)\s*;", code)}
        self.own -= set(self.aliases)
        self.own |= set(re.findall(r"^static\s+[^;{=(]*?(\w+)\s*[({=;]", code, re.M))
        included = [types_in(name) for name in re.findall(r'#\s*include\s*"([^"]+)"', text)]
        self.bare = set(re.findall(r"(?<![\w:])[A-Z]\w*", code)) | set(re.findall(r"(?<![\w.>:])([a-z]\w*)\(", code))
        self.words = set().union(*included) | set(re.findall(r"\b[A-Z]\w*", code)) | self.bare

    def clashes(self, other):
        return bool(self.own & other.own or self.own & other.words or other.own & self.words or
                    self.renames_for(other) or other.renames_for(self))

    def renames_for(self, other):
        """A name of ours that the other file uses, unqualified, for something else."""
        return any(other.aliases[name] != target if name in other.aliases else name in other.own or name in other.bare
                   for name, target in self.aliases.items())


def grouped(sources, before, lines):
    """name -> group; before is the grouping of last time."""
    groups, result = {}, {}

    def fits(name, group, limit):
        members = groups.get(group, [])
        if limit and members and sum(sources[m].lines for m in members) + sources[name].lines > limit:
            return False
        return not any(sources[name].clashes(sources[member]) for member in members)

    def put(name, group):
        groups.setdefault(group, []).append(name)
        result[name] = group

    for name in sources:  # who was there stays, even where a group has grown a little
        if name in before and fits(name, before[name], 2 * lines):
            put(name, before[name])
    for name in sources:
        if name not in result:
            group = 0
            while not fits(name, group, lines):
                group += 1
            put(name, group)
    return result


def main(arguments):
    memory, lines, names = Path(arguments[0]), int(arguments[1]), arguments[2:]
    sources = {name: Source(name) for name in names}
    before = json.loads(memory.read_text()) if memory.exists() else {}
    groups = grouped(sources, before, lines)
    text = json.dumps(groups, indent=0)
    if groups != before:
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(text)
    print(";".join(str(groups[name]) for name in names), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
