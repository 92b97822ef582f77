/* See aggregated.h: reader for TFiles; indexed-reader.c reads IndexedFiles. Hostile: every byte. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "logs/aggregated.h"
#include "logs/indexed-reader.h"
#include "logs/java-utf.h"

struct logs_reader {
    struct logs_indexed *indexed; /* or NULL */
    struct logs_tfile_reader *in;
    uint64_t left; /* remaining bytes of the current file */
    uint8_t buf[LOGS_KEY_MAX];
};

static const char *const not_containers[] = { "VERSION", "APPLICATION_ACL", "APPLICATION_OWNER" };

static int bad(struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "not a TFile of aggregated logs: %s", what);
}

int logs_reader_new(const struct logs_source *source, struct logs_reader **ret,
                    struct sv_error *err)
{
    _cleanup_(logs_reader_freep) struct logs_reader *r = calloc(1, sizeof(*r));
    int k;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "reader");
    k = logs_indexed_is(source);
    if (k > 0)
        k = logs_indexed_new(source, &r->indexed, err);
    else if (k == 0)
        k = logs_tfile_reader_new(source, &r->in, err);
    else
        (void)sv_error_errno(err, k, "read");
    if (k < 0)
        return k;
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_reader *logs_reader_free(struct logs_reader *r)
{
    if (!r)
        return NULL;
    r->indexed = logs_indexed_free(r->indexed);
    r->in = logs_tfile_reader_free(r->in);
    free(r);
    return NULL;
}

static bool is_container(const char *key)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(not_containers); i++)
        if (strcmp(key, not_containers[i]) == 0)
            return false;
    return true;
}

int logs_reader_container(struct logs_reader *r, char ret_id[LOGS_ID_MAX + 1], struct sv_error *err)
{
    r->left = 0;
    if (r->indexed)
        return logs_indexed_container(r->indexed, ret_id, err);
    for (;;) {
        size_t n = 0;
        int k = logs_tfile_next(r->in, r->buf, &n, err);

        if (k <= 0)
            return k;
        if (n < 2 || n - 2 != ((size_t)r->buf[0] << 8 | r->buf[1]) || n - 2 > LOGS_ID_MAX)
            return bad(err, "a key that is no string");
        logs_utf_text(r->buf + 2, n - 2, ret_id);
        if (is_container(ret_id))
            return 1;
    }
}

/* Reads exactly n bytes of the value. Returns 1, or 0 if the value ends before the first byte. */
static int get_all(struct logs_reader *r, uint8_t *p, size_t n, struct sv_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = logs_tfile_get(r->in, p + done, n - done, err);

        if (k < 0)
            return (int)k;
        if (k == 0)
            return done == 0 ? 0 : bad(err, "a container's logs end too early");
        done += (size_t)k;
    }
    return 1;
}

/* Reads a string of at most `max` bytes. Returns 1, or 0 at the end of the value. */
static int get_string(struct logs_reader *r, size_t max, char *ret, struct sv_error *err)
{
    uint8_t length[2];
    size_t n;
    int k = get_all(r, length, sizeof(length), err);

    if (k <= 0)
        return k;
    n = (size_t)length[0] << 8 | length[1];
    if (n > max)
        return bad(err, "too long a name");
    k = n > 0 ? get_all(r, r->buf, n, err) : 1;
    if (k == 0)
        return bad(err, "a container's logs end too early");
    if (k > 0)
        logs_utf_text(r->buf, n, ret);
    return k;
}

int logs_reader_file(struct logs_reader *r, char ret_name[LOGS_FILE_NAME_MAX + 1],
                     uint64_t *ret_length, struct sv_error *err)
{
    char digits[24];
    uint64_t skipped = 0;
    int k;

    if (r->indexed)
        return logs_indexed_file(r->indexed, ret_name, ret_length, err);
    k = logs_tfile_skip(r->in, r->left, &skipped, err);
    if (k == 0 && skipped < r->left)
        return bad(err, "a log is shorter than its length");
    if (k < 0)
        return k;
    r->left = 0;
    k = get_string(r, LOGS_FILE_NAME_MAX, ret_name, err);
    if (k <= 0)
        return k;
    k = get_string(r, sizeof(digits) - 1, digits, err);
    if (k < 0)
        return k;
    if (k == 0 || sv_parse_u64(digits, 0, INT64_MAX, &r->left) < 0)
        return bad(err, "a log without a length");
    *ret_length = r->left;
    return 1;
}

int logs_reader_skip(struct logs_reader *r, uint64_t n, struct sv_error *err)
{
    uint64_t skipped = 0;
    int k;

    if (r->indexed)
        return logs_indexed_skip(r->indexed, n, err);
    n = SV_MIN(n, r->left);
    k = logs_tfile_skip(r->in, n, &skipped, err);
    if (k == 0 && skipped < n)
        return bad(err, "a log is shorter than its length");
    r->left -= n;
    return k;
}

ssize_t logs_reader_get(struct logs_reader *r, void *p, size_t n, struct sv_error *err)
{
    ssize_t k;

    if (r->indexed)
        return logs_indexed_get(r->indexed, p, n, err);
    n = (size_t)SV_MIN((uint64_t)n, r->left);
    if (n == 0)
        return 0;
    k = logs_tfile_get(r->in, p, n, err);
    if (k == 0)
        return bad(err, "a log is shorter than its length");
    if (k > 0)
        r->left -= (uint64_t)k;
    return k;
}
