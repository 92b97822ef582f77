/* Tests logs/indexed-reader.c and the readers below it: files that Hadoop's classes have written
 * (tests/interop/capture-logs), whole, cut and with bytes changed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include <cmocka.h>

#include "common/fd.h"
#include "logs/aggregated.h"
#include "logs/indexed-reader.h"

struct bytes {
    uint8_t *p;
    size_t n;
};

static const char *const names[] = { "2.10.2-none", "2.10.2-gz", "3.3.6-none", "3.3.6-gz",
                                     "3.4.2-none",  "3.4.2-gz",  "3.5.0-none", "3.5.0-gz" };

static struct bytes golden(const char *name)
{
    struct bytes b;
    char path[200];

    (void)snprintf(path, sizeof(path), "tests/golden/logs/%s.indexed", name);
    assert_int_equal(sv_read_file_at(AT_FDCWD, path, 1 << 20, (char **)&b.p, &b.n), 0);
    return b;
}

static int read_at(void *userdata, uint64_t offset, void *p, size_t n)
{
    const struct bytes *b = userdata;

    assert_true(offset <= b->n && n <= b->n - offset);
    memcpy(p, b->p + offset, n);
    return 0;
}

/* One line a log: container, name, length and CRC of its bytes. */
struct lines {
    char v[10][300];
    size_t n;
};

static int dump(struct bytes *b, struct lines *ret, struct sv_error *err)
{
    const struct logs_source source = { read_at, b, b->n };
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    uint64_t length;
    uint8_t buf[777];
    ssize_t k = logs_reader_new(&source, &r, err);

    while (k >= 0 && (k = logs_reader_container(r, id, err)) > 0)
        while (k > 0 && (k = logs_reader_file(r, name, &length, err)) > 0) {
            unsigned long crc = crc32(0, NULL, 0);

            while ((k = logs_reader_get(r, buf, sizeof(buf), err)) > 0)
                crc = crc32(crc, buf, (unsigned)k);
            if (ret && ret->n < SV_ARRAY_LEN(ret->v))
                (void)snprintf(ret->v[ret->n++], sizeof(ret->v[0]), "%.40s/%.100s %llu %08lx", id,
                               name, (unsigned long long)length, crc);
            if (k == 0)
                k = 1;
        }
    return (int)k;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The logs that tests/interop/capture-logs gives to Hadoop; the order within a container is that of
 * a Java set. */
static void assert_all(struct lines *l)
{
#define ID "container_1700000000123_0042_01_00000"
    static const char *const wanted[] = { ID "1/stdout 0 00000000", ID "1/syslog 10000 @",
                                          ID "2/a b \xc3\xbc 1 @", ID "2/stdout 256 @" };
    uint8_t text[10000], all[256];
    unsigned long crcs[] = { 0, 0, crc32(0, (const uint8_t *)"x", 1), 0 };

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t) "line\n"[i % 5];
    for (unsigned i = 0; i < sizeof(all); i++)
        all[i] = (uint8_t)i;
    crcs[1] = crc32(0, text, sizeof(text));
    crcs[3] = crc32(0, all, sizeof(all));
    assert_int_equal(l->n, SV_ARRAY_LEN(wanted));
    qsort(l->v, l->n, sizeof(l->v[0]), by_line);
    for (size_t i = 0; i < l->n; i++) {
        char line[300];
        size_t n = strcspn(wanted[i], "@");

        (void)snprintf(line, sizeof(line), "%.*s", (int)n, wanted[i]);
        if (wanted[i][n])
            (void)snprintf(line + n, sizeof(line) - n, "%08lx", crcs[i]);
        assert_string_equal(l->v[i], line);
    }
}

static void hadoop(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        struct bytes b = golden(names[i]);
        struct lines got = { 0 };
        struct sv_error err = { 0 };

        if (dump(&b, &got, &err) < 0)
            fail_msg("%s: %s", names[i], err.text);
        assert_all(&got);
        free(b.p);
    }
}

/* Cut anywhere it is refused, with a text. */
static void cut(void **state)
{
    struct bytes b = golden("3.4.2-gz");
    size_t n = b.n;

    (void)state;
    for (size_t k = 0; k < n; k += k < n - 600 ? 13 : 1) {
        struct sv_error err = { 0 };

        b.n = k;
        assert_true(dump(&b, NULL, &err) < 0);
        assert_true(err.text[0]);
    }
    free(b.p);
}

/* Any byte of the index changed: read or refused, within the file. */
static void changed(void **state)
{
    struct bytes b = golden("3.4.2-none");

    (void)state;
    for (size_t at = b.n - 2200; at < b.n; at++)
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            struct sv_error err = { 0 };
            int r;

            b.p[at] ^= (uint8_t)bit;
            r = dump(&b, NULL, &err);
            assert_true(r == 0 || err.text[0]);
            b.p[at] ^= (uint8_t)bit;
        }
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hadoop),
        cmocka_unit_test(cut),
        cmocka_unit_test(changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
