"""Answers of our services API beside Apache's, field by field. Each difference has its row in
tests/golden/services-api/differences, CALL | DIFFERENCE | REASON, in shell patterns without
brackets. A difference is "FIELD: APACHE'S -> OURS", "-" for what is not there; the body of a
refusal is `error`. Where one side refuses what the other accepts, that is the only difference."""
import json
import os

from interop import hadoop
from interop.cases.commands import matches

TABLE = os.path.join(hadoop.TOP, "tests", "golden", "services-api", "differences")


def rows():
    """[[call, difference, reason]] of the table."""
    found = []
    with open(TABLE, encoding="utf-8") as f:
        for line in f:
            cells = [cell.strip() for cell in line.split(" | ")]
            if line.strip() and not line.startswith("#"):
                if len(cells) != 3 or not all(cells):
                    raise ValueError(f"{TABLE}: three cells are expected: {line!r}")
                found.append(cells)
    return found


def fields(value, path=""):
    """{path: text} of a JSON value."""
    if isinstance(value, dict) and value:
        return {k: v for key in value for k, v in fields(value[key], f"{path}.{key}").items()}
    if isinstance(value, list) and value:
        return {k: v for i, e in enumerate(value) for k, v in fields(e, f"{path}[{i}]").items()}
    return {path.lstrip("."): json.dumps(value)}


def refuses(answer):
    return answer["status"] >= 400


def of_answer(answer):
    body = "error" if refuses(answer) else "body"
    return fields({"status": answer["status"], "type": answer["type"], body: answer["body"]})


def differences(ours, apache):
    """Texts of the differences of two answers."""
    one, other = of_answer(ours), of_answer(apache)
    names = ["status"] if refuses(ours) != refuses(apache) else sorted({*one, *other})
    return [
        f"{name}: {other.get(name, '-')} -> {one.get(name, '-')}"
        for name in names
        if one.get(name) != other.get(name)
    ]


def follows(name, ours, apache):
    """What comes of a definition that one side has not saved."""
    kind, _, of = name.partition(": ")
    save = f"save: {of}"
    return kind in ("saved", "stored") and (
        save not in ours or save not in apache or refuses(ours[save]) != refuses(apache[save])
    )


def compare(ours, apache, table, names=None):
    """([problem], number of calls compared): differences without a row; rows without a difference.
    `names`: of the calls that were made, None for all of Apache's."""
    used, problems, wanted = set(), [], [n for n in apache if names is None or n in names]
    wanted = [name for name in wanted if not follows(name, ours, apache)]
    for name in wanted:
        if name not in ours or name not in apache:
            problems.append(f"{name}: answered on one side alone")
            continue
        for text in differences(ours[name], apache[name]):
            hits = [i for i, r in enumerate(table) if matches(r[0], name) and matches(r[1], text)]
            used.update(hits[:1])
            if not hits:
                problems.append(f"{name}: {text}")
    if names is None:
        problems += [
            f"{' | '.join(row[:2])}: this difference is gone: remove the row"
            for i, row in enumerate(table)
            if i not in used
        ]
    return problems, len(wanted)
