/* Golden bytes: tests/golden/token/NAME.hex, written by a real Hadoop 3.4.2, and VERSION/NAME.hex
 * where another version differs (tests/interop/test-tokens). NAME-old.hex is the format of Hadoop
 * 2.5: generated here, verified with the versions that read it. Unit tests run in the top
 * directory. */
#ifndef SELVEDGE_TESTS_LIB_GOLDEN_H
#define SELVEDGE_TESTS_LIB_GOLDEN_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>

struct golden {
    uint8_t p[4096];
    size_t n;
};

static inline struct golden golden(const char *name)
{
    struct golden g = { .n = 0 };
    char path[256];
    unsigned byte;
    snprintf(path, sizeof(path), "tests/golden/token/%s.hex", name);
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s: not found; run the test in the top directory", path);
    while (g.n < sizeof(g.p) && fscanf(f, "%2x", &byte) == 1)
        g.p[g.n++] = (uint8_t)byte;
    fclose(f);
    assert_true(g.n > 0);
    return g;
}

#endif
