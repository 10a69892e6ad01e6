#!/usr/bin/env python3
"""Checks objects that --json prints against the tables of docs/json.md.

    json_schema.py DOC FILE     exits with 1 and a line for each difference

A key that is printed and not documented, documented and not printed, or of another type is a difference. Parsing is
stricter than Python's: no NaN, no infinity, no key twice, valid UTF-8, one object and nothing else.
"""
import json
import re
import sys


def reject(what):
    raise ValueError(f"{what} is not JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key twice among {keys}")
    return dict(pairs)


def load(path):
    """Returns the object in a file."""
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    value = json.loads(text, parse_constant=reject, object_pairs_hook=unique)
    if not isinstance(value, dict) or not text.endswith("}\n"):
        raise ValueError("not one object and the end of its line")
    return value


def tables(doc):
    """Returns, for each heading, the types of the keys in its table."""
    found = {}
    for line in open(doc, encoding="utf-8"):
        heading = re.match(r"##+ (.*)", line)
        row = re.match(r"\| (`[^|]+`) \| ([^|]+) \| ", line)
        if heading:
            keys = found.setdefault(heading[1].strip(), {})
        elif row:
            for key in re.findall(r"`([^`]+)`", row[1]):
                if key in keys:
                    raise ValueError(f"{key} twice in docs/json.md")
                keys[key] = row[2].strip()
    return found


class Checker:
    def __init__(self, doc):
        self.tables = tables(doc)
        self.wrong = []

    def say(self, path, what):
        self.wrong.append(f"{path}: {what}")

    def is_of(self, path, value, kind, keys, prefix):
        """Checks a value against a type; `keys` and `prefix` say where the members of an object are documented."""
        if kind.startswith("array of "):
            if not isinstance(value, list):
                return self.say(path, "not an array")
            for k, element in enumerate(value):
                self.is_of(f"{path}[{k}]", element, kind[9:], keys, prefix + "[]")
            return None
        if kind.startswith("object of "):
            if not isinstance(value, dict):
                return self.say(path, "not an object")
            for key, element in value.items():
                self.name(path, key)
                self.is_of(f"{path}.{key}", element, kind[10:], keys, "")
            return None
        if kind.endswith(" or null"):
            if value is None:
                return None
            kind = kind[:-8]
        if kind == "object":
            return self.members(path, value, keys, prefix + ".")
        if kind in ("row", "range", "divergence", "trace"):
            return self.named(path, value, kind)
        if kind == "settings":
            return self.settings(path, value)
        python = {"string": str, "integer": int, "number": (int, float), "boolean": bool}[kind]
        if not isinstance(value, python) or (kind != "boolean" and isinstance(value, bool)):
            self.say(path, f"{value!r} is not of type {kind}")
        return None

    def name(self, path, key):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
            self.say(path, f"the key {key!r} is not in snake_case")

    def settings(self, path, value):
        for key, element in value.items():
            self.name(path, key)
            if not (element is None or isinstance(element, (bool, int, float, str))):
                self.say(f"{path}.{key}", "not a value of an option")

    def named(self, path, value, kind):
        if not isinstance(value, dict):
            return self.say(path, "not an object")
        keys = self.tables["row" if kind == "trace" else kind]
        if kind == "trace":
            keys = {key: "array of " + of for key, of in keys.items()}
        open_ended = kind in ("row", "trace")
        rest = {k: v for k, v in value.items() if k not in keys} if open_ended else {}
        for key, element in rest.items():
            self.name(path, key)
            if not re.match(r"(train|test)_", key):
                self.say(f"{path}.{key}", "neither a column nor an outcome")
            of = "array of number or null" if kind == "trace" else "number or null"
            self.is_of(f"{path}.{key}", element, of, {}, "")
        return self.members(path, {k: v for k, v in value.items() if k not in rest}, keys, "")

    def members(self, path, value, keys, prefix):
        if not isinstance(value, dict):
            return self.say(path, "not an object")
        own = {k[len(prefix):]: kind for k, kind in keys.items()
               if k.startswith(prefix) and not re.search(r"[.\[]", k[len(prefix):])}
        for key in sorted(set(own) - set(value)):
            self.say(path, f"{key} is missing")
        for key, element in value.items():
            self.name(path, key)
            if key not in own:
                self.say(path, f"{key} is not documented")
            else:
                self.is_of(f"{path}.{key}", element, own[key], keys, prefix + key)
        return None


def check(doc, value):
    """Returns the differences."""
    checker = Checker(doc)
    command = value.get("command")
    if command not in checker.tables:
        return [f"command {command!r} is not documented"]
    if list(value)[:3] != ["saddle", "schema", "command"] or value["schema"] != 2:
        return ["it does not begin with saddle, schema 2 and command"]
    keys = {**checker.tables["Every command"], **checker.tables[command]}
    checker.members(command, value, keys, "")
    return checker.wrong


if __name__ == "__main__":
    try:
        differences = check(sys.argv[1], load(sys.argv[2]))
    except ValueError as reason:
        differences = [str(reason)]
    for difference in differences:
        print(difference)
    sys.exit(1 if differences else 0)
