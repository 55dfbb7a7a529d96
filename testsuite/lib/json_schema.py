# What commands print as JSON, beside `stapwatch --json-schema'.
#
# usage: json_schema.py SCHEMA COMPLETE EXCEPT (KINDS FILE)...
#
# Each object in a line of FILE, or in the array that FILE is, must agree with one of KINDS,
# names of the schema's $defs with commas between them: each key is in the schema, and once;
# its value has the type; what is required is there; the first key is the version.
# Then each key of the kinds COMPLETE, and of the parts of these, must have been seen, but for
# those in EXCEPT, DEF.KEY, which must not.  Lists have commas between their elements.
# Prints a line for each thing that is wrong, and exits with 1.
import json
import sys

TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}


class Twice(Exception):
    pass


def once(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Twice("a key stands twice: %s" % [key for key, _ in pairs])
    return dict(pairs)


def ref(schema):
    return schema["$ref"].rpartition("/")[2]


def check(value, schema, where, wrong, seen):
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            problems, keys = [], set()
            check(value, one, where, problems, keys)
            if not problems:
                seen |= keys
                return
        wrong.extend(problems)
        return
    if "$ref" in schema:
        where = ref(schema)
        schema = defs[where]
    types = schema["type"]
    types = types if isinstance(types, list) else [types]
    if not any(TYPES[name](value) for name in types):
        wrong.append("%s: %r is no %s" % (where, value, " or ".join(types)))
    elif "const" in schema and value != schema["const"]:
        wrong.append("%s: %r is not %r" % (where, value, schema["const"]))
    elif isinstance(value, list):
        for item in value:
            check(item, schema["items"], where, wrong, seen)
    elif isinstance(value, dict):
        check_object(value, schema, where, wrong, seen)


def check_object(value, schema, where, wrong, seen):
    if "additionalProperties" in schema:
        for item in value.values():
            check(item, schema["additionalProperties"], where, wrong, seen)
        return
    for key in schema["required"]:
        if key not in value:
            wrong.append("%s: %s is missing" % (where, key))
    for key, item in value.items():
        name = "%s.%s" % (where, key)
        if key not in schema["properties"]:
            wrong.append("%s: the schema lacks it" % name)
            continue
        seen.add(name)
        check(item, schema["properties"][key], name, wrong, seen)


def check_own(value, kinds, seen):
    """An object that is in no other: what is wrong with it by the kind that fits best."""
    best = None
    for kind in kinds:
        wrong, keys = [], set()
        check(value, {"$ref": "#/$defs/" + kind}, kind, wrong, keys)
        if isinstance(value, dict) and next(iter(value), None) != "version":
            wrong.append("%s: its first key is not version" % kind)
        if not wrong:
            seen |= keys
            return []
        if best is None or len(wrong) < len(best):
            best = wrong
    return best


def none(constant):
    raise ValueError("%s is not JSON" % constant)


def values_of(text):
    lines = [text] if text.startswith("[") else filter(None, text.split("\n"))
    values = [json.loads(line, object_pairs_hook=once, parse_constant=none) for line in lines]
    return values[0] if text.startswith("[") else values


def parts_of(schema):
    """The objects that are named within a schema, but no kinds of their own."""
    if isinstance(schema, list):
        return set().union(*map(parts_of, schema))
    if not isinstance(schema, dict):
        return set()
    found = set().union(*map(parts_of, schema.values()))
    if "$ref" in schema and ref(schema) not in own:
        found |= {ref(schema)} | parts_of(defs[ref(schema)])
    return found


with open(sys.argv[1], encoding="utf-8") as f:
    whole = json.load(f)
defs = whole["$defs"]
own = {ref(one.get("items", one)) for one in whole["anyOf"]}
problems, seen, nr = [], set(), 0
complete, excepted = (set(filter(None, arg.split(","))) for arg in sys.argv[2:4])
for kinds, path in zip(sys.argv[4::2], sys.argv[5::2]):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        values = values_of(text)
    except (ValueError, Twice) as e:
        problems.append("%s: %s: %.200s" % (kinds, e, text))
        continue
    for value in values:
        problems += check_own(value, kinds.split(","), seen)
        nr += 1
if not nr:
    problems.append("there is no object")
for name in sorted(complete | parts_of([defs[kind] for kind in complete])):
    for key in defs[name]["properties"]:
        key = "%s.%s" % (name, key)
        if (key in seen) == (key in excepted):
            problems.append("%s: %s" % (key, "it is printed" if key in seen
                                        else "nothing has printed it"))
for problem in dict.fromkeys(problems):
    print(problem)
sys.exit(bool(problems))
