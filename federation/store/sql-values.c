/* Values of statements: the request's fields as Hadoop writes them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "federation/store/base64url.h"
#include "federation/store/sql.h"
#include "proto/yarn_server.pb-c.h"
#include "wire/token/writable.h"

#define UTF8_CHARACTER 4
#define KEY_BYTES_MAX (FED_KEY_MAX + 32)

/* Hadoop's names (FederationQueryRunner). */
static const char *const counters[FED_COUNTERS] = {
    [FED_TOKEN_SEQUENCE] = "YARN_ROUTER_SEQUENCE_NUM",
    [FED_KEY_SEQUENCE] = "YARN_ROUTER_CURRENT_KEY_ID",
};

size_t fed_sql_column_max(char type)
{
    switch (type) {
    case SQL_COLUMN_NAME:
        return FED_NAME_MAX * UTF8_CHARACTER;
    case SQL_COLUMN_JSON:
        return FED_CAPABILITY_MAX * UTF8_CHARACTER;
    case SQL_COLUMN_TEXT:
        return FED_TOKEN_INFO_MAX * UTF8_CHARACTER;
    case SQL_COLUMN_PARAMS:
        return FED_PARAMS_MAX;
    case SQL_COLUMN_CONTEXT:
        return FED_CONTEXT_MAX;
    default:
        return 0;
    }
}

static int number(int64_t n, struct fed_value *ret)
{
    *ret = (struct fed_value){ .type = FED_NUMBER, .number = n };
    return 0;
}

static int text(const char *s, struct fed_value *ret)
{
    *ret = (struct fed_value){ .type = FED_TEXT, .p = s, .n = s ? strlen(s) : 0 };
    return s ? 0 : -ENOMEM;
}

static int bytes(const void *p, size_t n, struct fed_value *ret)
{
    *ret = (struct fed_value){ .type = p ? FED_BYTES : FED_NULL, .p = p, .n = n };
    return 0;
}

static int app_text(struct sv_arena *a, struct yarn_app_id app, struct fed_value *ret)
{
    char buf[YARN_ID_TEXT_MAX];

    return text(sv_arena_strdup(a, yarn_app_id_text(app, buf)), ret);
}

/* DelegationKey as a Writable: VInt id, VLong end, VInt length, bytes; as a text of base64url. */
static int key_text(struct sv_arena *a, const struct fed_key *k, struct fed_value *ret)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(KEY_BYTES_MAX);
    int r = sv_buf_reserve(&b, KEY_BYTES_MAX);

    if (r == 0)
        r = ipc_writable_put_vlong(&b, k->id);
    if (r == 0)
        r = ipc_writable_put_vlong(&b, k->expiry_ms);
    if (r == 0)
        r = ipc_writable_put_bytes(&b, k->bytes, k->len);
    return r < 0 ? -ENOMEM : text(fed_base64url_encode(a, b.data, b.len), ret);
}

/* VersionProto of 1.1, and its text. */
static int version_bytes(struct sv_arena *a, struct fed_value *ret)
{
    Hadoop__Yarn__VersionProto m = HADOOP__YARN__VERSION_PROTO__INIT;
    uint8_t *p;

    m.has_major_version = m.has_minor_version = 1;
    m.major_version = m.minor_version = 1;
    p = sv_arena_alloc(a, protobuf_c_message_get_packed_size(&m.base));
    return p ? bytes(p, protobuf_c_message_pack(&m.base, p), ret) : -ENOMEM;
}

static int member_value(const struct fed_member *m, char parameter, struct fed_value *ret)
{
    switch (parameter) {
    case 'a':
        return text(m->am, ret);
    case 'c':
        return text(m->client, ret);
    case 'd':
        return text(m->admin, ret);
    case 'w':
        return text(m->web, ret);
    case 's':
        return text(fed_state_name(m->state), ret);
    case 't':
        return number(m->last_start_ms, ret);
    case 'p':
        return text(m->capability, ret);
    default:
        return text(m->id, ret);
    }
}

static int value(const struct fed_call *c, char parameter, struct fed_value *ret)
{
    const struct fed_request *q = &c->request;

    switch (parameter) {
    case 'A':
        return app_text(c->arena, q->home.app, ret);
    case 'H':
        return text(q->home.home, ret);
    case 'x':
        return bytes(q->home.context, q->home.context_len, ret);
    case 'R':
        return text(q->reservation.id, ret);
    case 'h':
        return text(q->reservation.home, ret);
    case 'q':
        return text(q->policy.queue, ret);
    case 'y':
        return text(q->policy.type, ret);
    case 'P': /* Java takes a row without parameters for none */
        return bytes(q->policy.params ?: (const uint8_t *)"", q->policy.params_len, ret);
    case 'k':
        return number(q->key.id, ret);
    case 'K':
        return key_text(c->arena, &q->key, ret);
    case 'n':
        return number(q->token.sequence, ret);
    case 'T':
        return text(fed_base64url_encode(c->arena, q->token.identifier, q->token.identifier_len),
                    ret);
    case 'o':
        return text(q->token.info, ret);
    case 'r':
        return number(q->token.renew_ms, ret);
    case 'u':
        return text(counters[q->sequence.counter], ret);
    case 'v': /* a new counter begins at 1 */
        return number(q->op == FED_SEQUENCE_SET ? q->sequence.value : 1, ret);
    case 'V':
        return version_bytes(c->arena, ret);
    case 'W':
        return text("1.1", ret);
    case 'L':
        return number(fed_call_limit(c), ret);
    default:
        return member_value(&q->member, parameter, ret);
    }
}

int fed_sql_bind(struct fed_sql_run *run)
{
    const char *p = fed_sql_parameters(run->now);
    int r = 0;

    for (size_t i = 0; r == 0 && p[i]; i++)
        r = value(run->call, p[i], &run->values[i]);
    return r;
}
