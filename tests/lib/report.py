"""Counts tests and prints the plain line that ends every test program and suite: "N passed, N
failed, N skipped".

A test is a case: one test function. Its checks are assertions, counted apart; a check outside of
every case is a test of its own."""
import os
import sys
import time
import traceback


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = self.assertions = 0
        self._failures = (
            None  # failed and skipped checks of the running case: a list, None outside of cases
        )

    def check(self, name, holds, detail=""):
        """One assertion. Returns whether it holds."""
        return self._assertion(name, holds, detail)

    def _assertion(self, name, holds, detail):
        self.assertions += 1
        if self._failures is None:
            self.passed += bool(holds)
            self.failed += not holds
        elif not holds:
            self._failures.append("FAIL")
        print(
            f"  ok    {name}"
            if holds
            else f"  FAIL  {name}" + (f": {detail}" if detail != "" else ""),
            flush=True,
        )
        return bool(holds)

    def case(self, name, function, *args):
        """Runs one test function; an exception is its failure. Returns whether the test passed."""
        began, self._failures = time.monotonic(), []
        try:
            function(*args)
        except Exception as error:  # noqa: BLE001 - any error fails the test, with its place
            place = traceback.extract_tb(error.__traceback__)[-1]
            self._assertion(
                name, False, f"{error} ({os.path.basename(place.filename)}:{place.lineno})"
            )
        finally:
            results, self._failures = self._failures, None
        took = f"({time.monotonic() - began:.1f} s)"
        failures = results.count("FAIL")
        if failures:
            self.failed += 1
            print(f"  FAIL  {name}: {failures} assertions {took}", flush=True)
        elif results:
            self.skipped += 1
        else:
            self.passed += 1
            print(f"  ok    {name} {took}", flush=True)
        return not failures

    def skip(self, name, why):
        """A test, or a part of the running one, that cannot run here: the test counts as
        skipped."""
        if self._failures is None:
            self.skipped += 1
        else:
            self._failures.append("skip")
        print(f"  skip  {name}: {why}", flush=True)

    def end(self):
        """Prints the last line; returns the exit status."""
        if self.assertions:
            print(f"({self.assertions} assertions)")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        skipped_counts = os.environ.get("CI") == "true" and self.skipped
        return 1 if self.failed or skipped_counts or not self.passed + self.skipped else 0

    def finish(self):
        """The same, and exits."""
        sys.exit(self.end())


class Checks(Report):
    """The same with the condition first, and the names of `NAMES` in place of numbers."""

    NAMES = {}

    def check(self, ok, name, detail=""):  # pylint: disable=arguments-renamed
        return self._assertion(name, ok, detail)

    def equal(self, got, want, name):
        return self.check(
            got == want,
            name,
            "got %r, want %r"
            % (
                self.NAMES.get(got, got) if isinstance(want, int) else got,
                self.NAMES.get(want, want) if isinstance(want, int) else want,
            ),
        )
