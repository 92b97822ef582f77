/* See upload-request.h. */
#include "logs/upload-request.h"

#include <errno.h>
#include <string.h>

int logs_upload_put(struct sv_buf *b, int tag, const void *p, size_t n)
{
    int r = sv_buf_reserve(b, 5 + n);

    if (r == 0)
        r = sv_buf_put_u8(b, (uint8_t)tag);
    if (r == 0)
        r = sv_buf_put_u32(b, (uint32_t)n);
    return r < 0 || n == 0 ? r : sv_buf_put(b, p, n);
}

int logs_upload_put_text(struct sv_buf *b, int tag, const char *s)
{
    return logs_upload_put(b, tag, s, strlen(s));
}

int logs_upload_put_u32(struct sv_buf *b, int tag, uint32_t v)
{
    uint8_t bytes[] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

    return logs_upload_put(b, tag, bytes, sizeof(bytes));
}

int logs_upload_put_u64(struct sv_buf *b, int tag, uint64_t v)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(v >> (56 - 8 * i));
    return logs_upload_put(b, tag, bytes, sizeof(bytes));
}

/* Returns a field's bytes as text: moves them over the field's header to make space for the NUL. */
static char *as_text(uint8_t *p, size_t n)
{
    uint8_t *text = p - 5;

    memmove(text, p, n);
    text[n] = 0;
    return memchr(text, 0, n) ? NULL : (char *)text;
}

static int add_id(struct logs_ids *ids, char *id)
{
    if (ids->n == LOGS_CONTAINERS_MAX)
        return -EBADMSG;
    if ((ids->n & (ids->n - 1)) == 0) { /* 0 or a power of two */
        size_t cap = ids->n ? 2 * ids->n : 1;
        char **more = reallocarray(ids->v, cap, sizeof(*more));

        if (!more)
            return -ENOMEM;
        ids->v = more;
    }
    ids->v[ids->n++] = id;
    return 0;
}

static uint32_t u32(const uint8_t p[4])
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t u64(const uint8_t p[8])
{
    return (uint64_t)u32(p) << 32 | u32(p + 4);
}

static int take_number(struct logs_upload *u, int tag, const uint8_t *p, size_t n)
{
    if (tag == LOGS_TAG_CODEC && n == 1 && p[0] <= LOGS_GZ)
        u->codec = (enum logs_codec)p[0];
    else if (tag == LOGS_TAG_HOSTNAMES && n == 1)
        u->use_hostname = p[0] != 0;
    else if (tag == LOGS_TAG_APP_RUNS && n == 1)
        u->app_runs = p[0] != 0;
    else if (tag == LOGS_TAG_DELETE && n == 1)
        u->delete_uploaded = p[0] != 0;
    else if (tag == LOGS_TAG_OLDER_LAYOUT && n == 1)
        u->older_layout = p[0] != 0;
    else if (tag == LOGS_TAG_CREDENTIALS && n == 1)
        u->has_credentials = p[0] != 0;
    else if (tag == LOGS_TAG_TIMEOUT && n == 4)
        u->io_timeout_ms = u32(p);
    else if (tag == LOGS_TAG_PROTECTION && n == 4)
        u->protection = u32(p);
    else if (tag == LOGS_TAG_RATE && n == 8)
        u->rate = u64(p);
    else if (tag == LOGS_TAG_OTHERS_BEFORE && n == 8)
        u->others_before_ms = u64(p);
    else if (tag == LOGS_TAG_FILES_MAX && n == 4)
        u->files_max = u32(p);
    else
        return -EBADMSG;
    return 0;
}

static int take(struct logs_upload *u, int tag, uint8_t *p, size_t n)
{
    bool list = tag == LOGS_TAG_RIGHT || tag == LOGS_TAG_LIST || tag == LOGS_TAG_CONTAINER ||
                tag == LOGS_TAG_SKIP || tag == LOGS_TAG_ENDED;
    char *text = NULL;

    if (!list && (tag < LOGS_REMOTE || tag >= LOGS_FIELDS))
        return take_number(u, tag, p, n);
    text = as_text(p, n);
    if (!text)
        return -EBADMSG;
    if (tag == LOGS_TAG_CONTAINER || tag == LOGS_TAG_SKIP || tag == LOGS_TAG_ENDED)
        return add_id(tag == LOGS_TAG_SKIP    ? &u->skips
                      : tag == LOGS_TAG_ENDED ? &u->ended
                                              : &u->containers,
                      text);
    if (tag < LOGS_FIELDS)
        u->text[tag] = text;
    else if (tag == LOGS_TAG_RIGHT && u->n_acls < LOGS_UPLOAD_ACLS_MAX)
        u->acls[u->n_acls++].right = text;
    else if (tag == LOGS_TAG_LIST && u->n_acls > 0)
        u->acls[u->n_acls - 1].list = text;
    else
        return -EBADMSG;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int logs_upload_parse(uint8_t *bytes, size_t n, struct logs_upload *ret)
{
    static char none[1];
    struct sv_buf b = SV_BUF_VIEW(bytes, n);
    struct logs_upload u = { .bytes = bytes };
    int r = 0;

    for (size_t i = 0; i < LOGS_FIELDS; i++)
        u.text[i] = none;
    for (size_t i = 0; i < LOGS_UPLOAD_ACLS_MAX; i++)
        u.acls[i].list = none;
    while (r == 0 && sv_buf_left(&b) > 0) {
        const uint8_t *p = NULL;
        uint32_t len = 0;
        uint8_t tag = 0;

        r = sv_buf_get_u8(&b, &tag);
        if (r == 0)
            r = sv_buf_get_u32(&b, &len);
        if (r == 0)
            r = sv_buf_get_ref(&b, &p, len);
        if (r == 0)
            r = take(&u, tag, bytes + (p - bytes), len);
    }
    if (r < 0) {
        logs_upload_clear(&u);
        return r;
    }
    if (u.older_layout)
        u.text[LOGS_BUCKET] = none;
    if (u.ended.n > 0)
        qsort(u.ended.v, u.ended.n, sizeof(u.ended.v[0]), by_name);
    if (u.others_before_ms && u.containers.n > 0)
        qsort(u.containers.v, u.containers.n, sizeof(u.containers.v[0]), by_name);
    *ret = u;
    return 0;
}

void logs_upload_clear(struct logs_upload *u)
{
    free(u->containers.v);
    free(u->skips.v);
    free(u->ended.v);
    free(u->bytes);
    *u = (struct logs_upload){ 0 };
}

int logs_answer_parse(const void *p, size_t n, struct logs_answer *ret)
{
    struct logs_answer a;

    if (n != sizeof(a))
        return -EBADMSG;
    memcpy(&a, p, sizeof(a));
    a.text[sizeof(a.text) - 1] = 0;
    if (a.outcome > LOGS_REFUSED)
        return -EBADMSG;
    for (char *c = a.text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    *ret = a;
    return 0;
}
