/* YARN's identifiers in the format of Hadoop before 2.6: Java's DataOutput, big-endian numbers,
 * texts with a 16-bit length. Later versions read them too, for rolling upgrades. Hostile: every
 * byte. */
#include <errno.h>
#include <string.h>

#include "wire/depth.h"
#include "wire/token/token-internal.h"

static int get_i64(struct sv_buf *b, int64_t *ret)
{
    uint64_t v;
    int r = sv_buf_get_u64(b, &v);
    if (r >= 0)
        *ret = (int64_t)v;
    return r;
}

static int get_i32(struct sv_buf *b, int32_t *ret)
{
    uint32_t v;
    int r = sv_buf_get_u32(b, &v);
    if (r >= 0)
        *ret = (int32_t)v;
    return r;
}

/* Copies a text into an array; fails if it does not fit. */
static int get_utf(struct sv_buf *b, char *dst, size_t size)
{
    const uint8_t *p;
    uint16_t n;
    if (sv_buf_get_u16(b, &n) < 0 || sv_buf_get_ref(b, &p, n) < 0 || n >= size ||
        !ipc_text_ok(p, n))
        return -EBADMSG;
    if (n > 0)
        memcpy(dst, p, n);
    dst[n] = 0;
    return 0;
}

static int get_attempt(struct sv_buf *b, struct yarn_attempt_id *ret)
{
    struct yarn_attempt_id t = { 0 };
    if (get_i64(b, &t.app.cluster_ts) < 0 || get_i32(b, &t.app.id) < 0 ||
        get_i32(b, &t.attempt) < 0 || t.app.cluster_ts < 0 || t.app.id < 1 || t.attempt < 1)
        return -EBADMSG;
    *ret = t;
    return 0;
}

/* Skips the optional LogAggregationContext: an int32 length and that many bytes, or -1. */
static int skip_log_context(struct sv_buf *b)
{
    const uint8_t *ignored;
    int32_t n;
    if (sv_buf_left(b) == 0) /* Hadoop before 2.5 */
        return 0;
    if (get_i32(b, &n) < 0 || n < -1)
        return -EBADMSG;
    return n < 0 ? 0 : sv_buf_get_ref(b, &ignored, (size_t)n);
}

int yarn_container_token_old(const uint8_t *id, size_t len, struct yarn_container_token *ret)
{
    struct sv_buf b = SV_BUF_VIEW(id, len);
    struct yarn_container_token t = { .container_type = 2,
                                      .execution_type = 1,
                                      .allocation_request_id = -1 };
    int32_t memory;
    if (get_attempt(&b, &t.container.attempt) < 0 || get_i64(&b, &t.container.id) < 0 ||
        get_utf(&b, t.nm_addr, sizeof(t.nm_addr)) < 0 ||
        get_utf(&b, t.submitter, sizeof(t.submitter)) < 0 || get_i32(&b, &memory) < 0 ||
        get_i32(&b, &t.resource.vcores) < 0 || get_i64(&b, &t.expiry_ms) < 0 ||
        get_i32(&b, &t.key_id) < 0 || get_i64(&b, &t.rm_identifier) < 0 ||
        get_i32(&b, &t.priority) < 0 || get_i64(&b, &t.creation_ms) < 0 ||
        skip_log_context(&b) < 0 || sv_buf_left(&b) > 0 || t.container.id < 0 || memory < 0 ||
        t.resource.vcores < 0)
        return -EBADMSG;
    t.resource.memory_mb = memory;
    *ret = t;
    return 0;
}

int yarn_nm_token_old(const uint8_t *id, size_t len, struct yarn_nm_token *ret)
{
    struct sv_buf b = SV_BUF_VIEW(id, len);
    struct yarn_nm_token t = { 0 };
    char node[264];
    if (get_attempt(&b, &t.attempt) < 0 || get_utf(&b, node, sizeof(node)) < 0 ||
        yarn_node_id_parse(node, &t.node) < 0 ||
        get_utf(&b, t.submitter, sizeof(t.submitter)) < 0 || get_i32(&b, &t.key_id) < 0 ||
        sv_buf_left(&b) > 0)
        return -EBADMSG;
    *ret = t;
    return 0;
}

int yarn_amrm_token_old(const uint8_t *id, size_t len, struct yarn_amrm_token *ret)
{
    struct sv_buf b = SV_BUF_VIEW(id, len);
    struct yarn_amrm_token t = { 0 };
    if (get_attempt(&b, &t.attempt) < 0 || get_i32(&b, &t.key_id) < 0 || sv_buf_left(&b) > 0)
        return -EBADMSG;
    *ret = t;
    return 0;
}
