/* See token-conf.h. A property is its name and its value, each a Text, and where it was set: a
 * count of four bytes, -1 for none, and as many texts packed by gzip, each behind a length of four
 * bytes, -1 for none. Those are skipped. */
#include "rm-lite/security/token-conf.h"

#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/str.h"
#include "wire/token/writable.h"

#define PROPERTY_MIN 6 /* bytes: two empty texts and a count */

static bool has_meaning(const char *name)
{
    return sv_streq(name, "dfs.nameservices") || sv_has_prefix(name, "dfs.ha.namenodes.") ||
           sv_has_prefix(name, "dfs.namenode.rpc-address.");
}

static int skip_sources(struct sv_buf *b)
{
    const uint8_t *skipped;
    uint32_t n, len;
    int r = sv_buf_get_u32(b, &n);

    if (r < 0 || n == UINT32_MAX)
        return r;
    if (n > sv_buf_left(b) / sizeof(len))
        return -EBADMSG;
    for (; r >= 0 && n > 0; n--) {
        r = sv_buf_get_u32(b, &len);
        if (r >= 0 && len != UINT32_MAX)
            r = sv_buf_get_ref(b, &skipped, len);
    }
    return r;
}

/* A value with a variable would be expanded from the environment of this daemon. */
static int keep(struct sv_conf *c, size_t *kept, const char *name, const char *value)
{
    if (!has_meaning(name) || strchr(value, '$'))
        return 0;
    if (++*kept > RM_TOKEN_CONF_KEPT_MAX)
        return -E2BIG;
    return sv_conf_set(c, name, value);
}

static int read_properties(struct sv_buf *b, struct sv_arena *a, struct sv_conf *c)
{
    const char *name, *value;
    size_t kept = 0;
    int64_t n;
    int r = ipc_writable_get_vlong(b, &n);

    if (r >= 0 && (n < 0 || (uint64_t)n > sv_buf_left(b) / PROPERTY_MIN))
        r = -EBADMSG;
    for (; r >= 0 && n > 0; n--) {
        r = ipc_writable_get_text(b, a, &name);
        if (r >= 0)
            r = ipc_writable_get_text(b, a, &value);
        if (r >= 0)
            r = skip_sources(b);
        if (r >= 0)
            r = keep(c, &kept, name, value);
    }
    return r;
}

int rm_token_conf_parse(const uint8_t *p, size_t n, struct sv_conf **ret, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_buf b = SV_BUF_VIEW(p, n);
    int r;

    if (!c || !a)
        return sv_error_errno(err, -ENOMEM, "tokens_conf");
    if (n > RM_TOKEN_CONF_MAX)
        return sv_error_set(err, -E2BIG, "tokens_conf: %zu bytes are more than the %u accepted", n,
                            RM_TOKEN_CONF_MAX);
    r = read_properties(&b, a, c);
    if (r == -ENOMEM)
        return sv_error_errno(err, r, "tokens_conf");
    if (r == -E2BIG)
        return sv_error_set(err, r,
                            "tokens_conf: it names more than %d NameNodes and nameservices: send "
                            "those of the job's tokens alone",
                            RM_TOKEN_CONF_KEPT_MAX);
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "tokens_conf: malformed near byte %zu of %zu", b.pos, n);
    *ret = SV_TAKE(c);
    return 0;
}
