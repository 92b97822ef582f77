"""Counts what a lane checked and prints the one line that every lane ends with."""
import os
import sys
import time
import traceback


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.started = time.monotonic()

    def check(self, name, holds, detail=""):
        """One assertion. Returns whether it holds."""
        if holds:
            self.passed += 1
            print(f"  ok    {name}", flush=True)
        else:
            self.failed += 1
            print(f"  FAIL  {name}" + (f": {detail}" if detail else ""), flush=True)
        return bool(holds)

    def case(self, name, function, *args):
        """Runs one test function; an exception is its failure."""
        began = time.monotonic()
        try:
            function(*args)
        except Exception as error:  # noqa: BLE001 - any error fails the case, with its place
            place = traceback.extract_tb(error.__traceback__)[-1]
            self.check(name, False, f"{error} ({os.path.basename(place.filename)}:{place.lineno})")
            return False
        return self.check(f"{name} ({time.monotonic() - began:.1f} s)", True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"  skip  {name}: {why}", flush=True)

    def finish(self):
        """Prints the lane's last line and exits with its result."""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        skipped_counts = os.environ.get("CI") == "true" and self.skipped
        sys.exit(1 if self.failed or skipped_counts or not self.passed else 0)
