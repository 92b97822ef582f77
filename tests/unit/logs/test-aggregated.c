/* Tests logs/: the reader reads the writer's output; sizes beyond 2 GiB; truncated and damaged
 * files. Compatibility with Hadoop is tested by tests/interop/test-hdfs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "logs/aggregated.h"

/* A file in memory that keeps no zeros: `n` pieces of data, in order, with zeros between them. */
struct store {
    struct piece {
        uint64_t at;
        size_t n;
        uint8_t *p;
    } * pieces;
    size_t n, cap;
    uint64_t length, read; /* read: bytes, by store_read */
};

static bool all_zero(const uint8_t *p, size_t n)
{
    return n > 0 && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static int store_write(void *userdata, const void *p, size_t n)
{
    struct store *s = userdata;

    if (n < 4096 || !all_zero(p, n)) {
        if (s->n == s->cap) {
            s->cap = s->cap ? 2 * s->cap : 64;
            s->pieces = reallocarray(s->pieces, s->cap, sizeof(*s->pieces));
            assert_non_null(s->pieces);
        }
        s->pieces[s->n] = (struct piece){ s->length, n, malloc(n) };
        assert_non_null(s->pieces[s->n].p);
        memcpy(s->pieces[s->n++].p, p, n);
    }
    s->length += n;
    return 0;
}

static int store_read(void *userdata, uint64_t at, void *p, size_t n)
{
    struct store *s = userdata;
    size_t low = 0, high = s->n;

    assert_true(at + n <= s->length && at + n >= at);
    s->read += n;
    memset(p, 0, n);
    while (low < high) { /* the first piece that ends behind `at` */
        size_t mid = (low + high) / 2;

        if (s->pieces[mid].at + s->pieces[mid].n <= at)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < s->n && s->pieces[low].at < at + n; low++) {
        const struct piece *k = &s->pieces[low];
        uint64_t from = SV_MAX(k->at, at), to = SV_MIN(k->at + k->n, at + n);

        memcpy((uint8_t *)p + (from - at), k->p + (from - k->at), to - from);
    }
    return 0;
}

static void store_clear(struct store *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->pieces[i].p);
    free(s->pieces);
    *s = (struct store){ 0 };
}

/* All bytes in one piece, for tests that damage them. */
static uint8_t *store_flat(const struct store *s)
{
    uint8_t *p = malloc(s->length);

    assert_non_null(p);
    assert_int_equal(store_read((void *)(uintptr_t)s, 0, p, s->length), 0);
    return p;
}

static struct logs_writer *begin(struct store *s, enum logs_codec codec)
{
    static const struct logs_acl acls[] = { { "VIEW_APP", "alice bob" }, { "MODIFY_APP", " " } };
    struct logs_sink sink = { store_write, s };
    struct logs_writer *w = NULL;

    assert_int_equal(logs_writer_new(&sink, codec, "alice", acls, 2, &w), 0);
    return w;
}

static uint8_t pattern(uint64_t i, size_t seed)
{
    return (uint8_t)((i * 2654435761u >> 13) + seed);
}

static void put_file(struct logs_writer *w, const char *name, size_t n, size_t seed)
{
    uint8_t buf[7000];

    assert_int_equal(logs_writer_file(w, name, n), 0);
    for (size_t done = 0; done < n;) {
        size_t some = SV_MIN(n - done, sizeof(buf));

        for (size_t i = 0; i < some; i++)
            buf[i] = pattern(done + i, seed);
        assert_int_equal(logs_writer_put(w, buf, some), 0);
        done += some;
    }
}

static struct logs_reader *reopen(struct store *s)
{
    struct logs_source source = { store_read, s, s->length };
    struct logs_reader *r = NULL;
    struct sv_error err = { 0 };

    if (logs_reader_new(&source, &r, &err) < 0)
        fail_msg("%s", err.text);
    return r;
}

static void expect_file(struct logs_reader *r, const char *name, size_t n, size_t seed)
{
    char is[LOGS_FILE_NAME_MAX + 1];
    uint8_t buf[5000];
    uint64_t length, done = 0;
    ssize_t k;

    assert_int_equal(logs_reader_file(r, is, &length, NULL), 1);
    assert_string_equal(is, name);
    assert_int_equal(length, n);
    while ((k = logs_reader_get(r, buf, sizeof(buf), NULL)) > 0)
        for (ssize_t i = 0; i < k; i++)
            assert_int_equal(buf[i], pattern(done++, seed));
    assert_int_equal(k, 0);
    assert_int_equal(done, n);
}

static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 300000, 1 << 20, (3 << 20) + 7 };

static void write_then_read(enum logs_codec codec)
{
    struct store s = { 0 };
    struct logs_writer *w = begin(&s, codec);
    struct logs_reader *r;
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];

    assert_int_equal(logs_writer_container(w, "container_1"), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        (void)snprintf(name, sizeof(name), "log %zu", sizes[i]);
        put_file(w, name, sizes[i], i);
    }
    assert_int_equal(logs_writer_container(w, "container_without_files"), 0);
    for (size_t i = 0; i < 20; i++) { /* several blocks, with several containers each */
        (void)snprintf(name, sizeof(name), "container_%zu", 100 + i);
        assert_int_equal(logs_writer_container(w, name), 0);
        put_file(w, "stderr\xff", 60000, i);
        put_file(w, "stdout", i, i);
    }
    assert_int_equal(logs_writer_finish(w), 0);
    logs_writer_free(w);

    r = reopen(&s);
    assert_int_equal(logs_reader_container(r, id, NULL), 1);
    assert_string_equal(id, "container_1");
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        (void)snprintf(name, sizeof(name), "log %zu", sizes[i]);
        expect_file(r, name, sizes[i], i);
    }
    for (size_t i = 0; i < 20; i++) {
        uint64_t length;

        (void)snprintf(name, sizeof(name), "container_%zu", 100 + i);
        assert_int_equal(logs_reader_container(r, id, NULL), 1);
        assert_string_equal(id, name);
        if (i % 3 == 0) /* whatever is left unread is skipped */
            continue;
        if (i % 3 == 1)
            assert_int_equal(logs_reader_file(r, name, &length, NULL), 1);
        else
            expect_file(r, "stderr\xef\xbf\xbd", 60000, i);
        expect_file(r, "stdout", i, i);
        assert_int_equal(logs_reader_file(r, name, &length, NULL), 0);
    }
    assert_int_equal(logs_reader_container(r, id, NULL), 0);
    logs_reader_free(r);
    store_clear(&s);
}

static void plain(void **state)
{
    (void)state;
    write_then_read(LOGS_NONE);
}

static void compressed(void **state)
{
    (void)state;
    write_then_read(LOGS_GZ);
}

static void without_containers(void **state)
{
    struct store s = { 0 };
    struct logs_writer *w = begin(&s, LOGS_NONE);
    struct logs_reader *r;
    char id[LOGS_ID_MAX + 1];

    (void)state;
    assert_int_equal(logs_writer_finish(w), 0);
    logs_writer_free(w);
    r = reopen(&s);
    assert_int_equal(logs_reader_container(r, id, NULL), 0);
    logs_reader_free(r);
    store_clear(&s);
}

static void beyond_2_gib(void **state)
{
    const uint64_t length = (2ull << 30) + 12345;
    struct store s = { 0 };
    struct logs_writer *w = begin(&s, LOGS_NONE);
    struct logs_reader *r;
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    static uint8_t zeros[1 << 16];
    uint64_t is;

    (void)state;
    assert_int_equal(logs_writer_container(w, "container_1"), 0);
    assert_int_equal(logs_writer_file(w, "large", length), 0);
    for (uint64_t left = length; left > 0;) {
        size_t some = (size_t)SV_MIN(left, (uint64_t)sizeof(zeros));

        assert_int_equal(logs_writer_put(w, zeros, some), 0);
        left -= some;
    }
    assert_int_equal(logs_writer_container(w, "container_2"), 0);
    put_file(w, "behind", 10, 1);
    assert_int_equal(logs_writer_finish(w), 0);
    logs_writer_free(w);
    assert_true(s.length > length);

    r = reopen(&s);
    assert_int_equal(logs_reader_container(r, id, NULL), 1);
    assert_int_equal(logs_reader_file(r, name, &is, NULL), 1);
    assert_true(is == length);
    assert_int_equal(logs_reader_container(r, id, NULL), 1);
    assert_string_equal(id, "container_2");
    expect_file(r, "behind", 10, 1);
    logs_reader_free(r);
    store_clear(&s);
}

/* Reading one of several large containers does not decompress the others. */
static void one_of_several(void **state)
{
    struct store s = { 0 };
    struct logs_writer *w = begin(&s, LOGS_GZ);
    struct logs_reader *r;
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    uint64_t random = 88172645463325252u, length;

    (void)state;
    for (int i = 0; i < 5; i++) {
        (void)snprintf(id, sizeof(id), "container_%d", i);
        assert_int_equal(logs_writer_container(w, id), 0);
        assert_int_equal(logs_writer_file(w, "noise", 1 << 20), 0);
        for (int k = 0; k < 1 << 17; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            assert_int_equal(logs_writer_put(w, &random, sizeof(random)), 0);
        }
    }
    assert_int_equal(logs_writer_finish(w), 0);
    logs_writer_free(w);

    r = reopen(&s);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(logs_reader_container(r, id, NULL), 1);
        assert_int_equal(id[strlen("container_")], '0' + i);
    }
    assert_true(s.read < 100 << 10); /* only the first block and the indexes */
    assert_int_equal(logs_reader_file(r, name, &length, NULL), 1);
    assert_int_equal(logs_reader_skip(r, length, NULL), 0);
    assert_int_equal(logs_reader_container(r, id, NULL), 0);
    assert_true(s.read > 1 << 20 && s.read < 2 << 20);
    logs_reader_free(r);
    store_clear(&s);
}

/* Reads everything: 0, or the first error. */
static int read_all(const uint8_t *p, size_t n, struct sv_error *err)
{
    struct store s = { 0 };
    struct logs_source source = { store_read, &s, n };
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    struct piece all = { 0, n, (uint8_t *)(uintptr_t)p };
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    uint64_t length;
    int k;

    s.pieces = &all;
    s.n = 1;
    s.length = n;
    k = logs_reader_new(&source, &r, err);
    while (k >= 0 && (k = logs_reader_container(r, id, err)) > 0)
        while ((k = logs_reader_file(r, name, &length, err)) > 0)
            continue;
    return k;
}

/* The index names a container that is not in the block: found when the block is read. */
static void index_that_lies(void **state)
{
    static const char *const ids[] = { "container_0", "container_1", "container_2" };
    struct store s = { 0 };
    struct logs_writer *w = begin(&s, LOGS_NONE);
    struct sv_error err = { 0 };
    uint8_t *p, *in_index;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++) {
        assert_int_equal(logs_writer_container(w, ids[i]), 0);
        put_file(w, "stdout", 300 << 10, i);
    }
    assert_int_equal(logs_writer_finish(w), 0);
    logs_writer_free(w);
    p = store_flat(&s);
    assert_int_equal(read_all(p, s.length, &err), 0);
    in_index = memmem(p + s.length - 300, 300, ids[2], strlen(ids[2]));
    assert_non_null(in_index);
    in_index[strlen(ids[2]) - 1] = '9';
    assert_int_equal(read_all(p, s.length, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "index names another key"));
    free(p);
    store_clear(&s);
}

static void damaged(void **state)
{
    (void)state;
    for (int codec = LOGS_NONE; codec <= LOGS_GZ; codec++) {
        struct store s = { 0 };
        struct logs_writer *w = begin(&s, (enum logs_codec)codec);
        uint8_t *p;

        assert_int_equal(logs_writer_container(w, "container_1"), 0);
        put_file(w, "stderr", 100, 1);
        assert_int_equal(logs_writer_finish(w), 0);
        logs_writer_free(w);
        p = store_flat(&s);
        assert_int_equal(read_all(p, s.length, NULL), 0);
        for (size_t n = 0; n < s.length; n++) {
            struct sv_error err = { 0 };

            assert_true(read_all(p, n, &err) < 0);
            assert_true(err.text[0] != 0);
        }
        for (size_t i = 0; i < s.length; i++)
            for (int bit = 0; bit < 8; bit++) {
                struct sv_error err = { 0 };

                p[i] ^= (uint8_t)(1 << bit);
                assert_true((read_all(p, s.length, &err) < 0) == (err.text[0] != 0));
                p[i] ^= (uint8_t)(1 << bit);
            }
        free(p);
        store_clear(&s);
    }
}

static int full(void *userdata, const void *p, size_t n)
{
    size_t *left = userdata;

    (void)p;
    if (n > *left)
        return -ENOSPC;
    *left -= n;
    return 0;
}

static void sink_fails(void **state)
{
    (void)state;
    for (size_t room = 0;; room += 50) {
        size_t left = room;
        struct logs_sink sink = { full, &left };
        _cleanup_(logs_writer_freep) struct logs_writer *w = NULL;
        int r = logs_writer_new(&sink, LOGS_GZ, "alice", NULL, 0, &w);

        if (r == 0)
            r = logs_writer_container(w, "container_1");
        if (r == 0)
            r = logs_writer_file(w, "stderr", 3);
        if (r == 0)
            r = logs_writer_put(w, "abc", 3);
        if (r == 0)
            r = logs_writer_finish(w);
        if (r == 0)
            break;
        assert_int_equal(r, -ENOSPC);
        assert_true(room < 2000);
    }
}

static void codecs(void **state)
{
    enum logs_codec c;

    (void)state;
    assert_int_equal(logs_codec_parse("none", &c), 0);
    assert_int_equal(c, LOGS_NONE);
    assert_int_equal(logs_codec_parse("gz", &c), 0);
    assert_int_equal(c, LOGS_GZ);
    assert_int_equal(logs_codec_parse("lzo", &c), -EOPNOTSUPP);
    assert_int_equal(logs_codec_parse("zstd", &c), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(compressed),
        cmocka_unit_test(without_containers),
        cmocka_unit_test(beyond_2_gib),
        cmocka_unit_test(one_of_several),
        cmocka_unit_test(index_that_lies),
        cmocka_unit_test(damaged),
        cmocka_unit_test(sink_fails),
        cmocka_unit_test(codecs),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
