"""What the cases of test-localizer share."""

STAMP = 1700000000250


def quote(path):
    return "file://" + path


def expect(condition, detail):
    if not condition:
        raise AssertionError(detail)
