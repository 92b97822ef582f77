/* See localization-records.h. */
#include "nodemanager/store/localization-records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void nm_loc_record_key(const struct loc_record *r, char *buf, size_t size)
{
    char app[YARN_ID_TEXT_MAX] = "";

    if (r->visibility == LOC_APPLICATION)
        yarn_app_id_text(r->app, app);
    snprintf(buf, size, "%d/%s/%s/%llu", (int)r->visibility, r->user ? r->user : "", app,
             (unsigned long long)r->id);
}

/* A private binary format, smaller and faster than JSON: fields in sequence, texts with their
 * length. Decoded by nm_loc_record_decode. */
int nm_loc_record_encode(const struct loc_record *r, bool completed, struct sv_buf *b)
{
    const char *texts[] = { r->user, r->resource.url, r->resource.pattern, r->local_dir };
    int e = sv_buf_put_u8(b, 1);

    if (e >= 0)
        e = sv_buf_put_u8(b, completed);
    if (e >= 0)
        e = sv_buf_put_u8(b, (uint8_t)r->visibility);
    if (e >= 0)
        e = sv_buf_put_u8(b, (uint8_t)r->resource.type);
    if (e >= 0)
        e = sv_buf_put_u64(b, (uint64_t)r->app.cluster_ts);
    if (e >= 0)
        e = sv_buf_put_u32(b, (uint32_t)r->app.id);
    if (e >= 0)
        e = sv_buf_put_u64(b, (uint64_t)r->resource.timestamp);
    if (e >= 0)
        e = sv_buf_put_u64(b, (uint64_t)r->resource.size);
    if (e >= 0)
        e = sv_buf_put_u32(b, r->dir_number);
    if (e >= 0)
        e = sv_buf_put_u64(b, r->id);
    if (e >= 0)
        e = sv_buf_put_u64(b, r->local_size);
    for (size_t i = 0; i < SV_ARRAY_LEN(texts) && e >= 0; i++) {
        size_t n = texts[i] ? strlen(texts[i]) : 0;

        e = n > UINT16_MAX - 1 ? -EMSGSIZE : sv_buf_put_u16(b, texts[i] ? (uint16_t)n : UINT16_MAX);
        if (e >= 0)
            e = sv_buf_put(b, texts[i] ? texts[i] : "", n);
    }
    return e;
}

static int get_text(struct sv_buf *b, struct sv_arena *a, const char **ret)
{
    const uint8_t *p;
    uint16_t n;
    char *s;
    int r = sv_buf_get_u16(b, &n);

    *ret = NULL;
    if (r < 0 || n == UINT16_MAX)
        return r;
    r = sv_buf_get_ref(b, &p, n);
    if (r < 0)
        return r;
    s = sv_arena_alloc(a, (size_t)n + 1);
    if (!s)
        return -ENOMEM;
    memcpy(s, p, n);
    *ret = s;
    return strlen(s) == n ? 0 : -EBADMSG;
}

int nm_loc_record_decode(struct sv_buf *b, struct sv_arena *a, struct loc_record *ret,
                         bool *ret_completed)
{
    uint8_t version, completed, visibility, type;
    uint64_t ts, timestamp, size;
    uint32_t app;

    *ret = (struct loc_record){ .dir_index = -1 };
    if (sv_buf_get_u8(b, &version) < 0 || version != 1 || sv_buf_get_u8(b, &completed) < 0 ||
        sv_buf_get_u8(b, &visibility) < 0 || sv_buf_get_u8(b, &type) < 0 ||
        sv_buf_get_u64(b, &ts) < 0 || sv_buf_get_u32(b, &app) < 0 ||
        sv_buf_get_u64(b, &timestamp) < 0 || sv_buf_get_u64(b, &size) < 0 ||
        sv_buf_get_u32(b, &ret->dir_number) < 0 || sv_buf_get_u64(b, &ret->id) < 0 ||
        sv_buf_get_u64(b, &ret->local_size) < 0 || get_text(b, a, &ret->user) < 0 ||
        get_text(b, a, &ret->resource.url) < 0 || get_text(b, a, &ret->resource.pattern) < 0 ||
        get_text(b, a, &ret->local_dir) < 0 || sv_buf_left(b))
        return -EBADMSG;
    ret->visibility = (enum loc_visibility)visibility;
    ret->resource.visibility = ret->visibility;
    ret->resource.type = (enum loc_type)type;
    ret->app.cluster_ts = (int64_t)ts;
    ret->app.id = (int32_t)app;
    ret->resource.timestamp = (int64_t)timestamp;
    ret->resource.size = (int64_t)size;
    *ret_completed = completed;
    return 0;
}
