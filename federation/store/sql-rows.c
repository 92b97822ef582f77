/* Rows of the database as records. Hostile: every value. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "federation/store/base64url.h"
#include "federation/store/sql.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_server.pb-c.h"
#include "proto/yarn_token.pb-c.h"
#include "wire/depth.h"
#include "wire/token/writable.h"

#define VERSION_MAX 64
#define KEY_BYTES_MAX (FED_KEY_MAX + 32)

/* A value as text in the arena; NULL if it is none, or has a NUL. */
static const char *text_of(struct fed_call *c, const struct fed_value *v)
{
    char *s;

    if (v->type != FED_TEXT || !v->p || memchr(v->p, '\0', v->n))
        return NULL;
    s = sv_arena_alloc(c->arena, v->n + 1);
    if (s)
        memcpy(s, v->p, v->n);
    return s;
}

static bool is_bytes(const struct fed_value *v)
{
    return (v->type == FED_BYTES || v->type == FED_TEXT) && v->p;
}

/* A number; -1 for any other value, which no field accepts. */
static int64_t number_of(const struct fed_value *v)
{
    return v->type == FED_NUMBER ? v->number : -1;
}

/* An object's name with the reason why its row is broken. */
static bool broken(struct fed_call *c, const char *kind, const char *name, const char *rule)
{
    char escaped[FED_NAME_MAX + 1], reason[2 * FED_NAME_MAX];

    sv_escape(escaped, sizeof(escaped), name ?: "?");
    snprintf(reason, sizeof(reason), "%s %s: %s", kind, escaped, rule);
    fed_call_broken(c, reason);
    return true;
}

/* True if a row is another one than the request's: collations of a database may hold two names for
 * one. `asked` NULL: any is right. */
static bool is_other(const char *asked, const char *found)
{
    return asked && (!found || strcmp(asked, found) != 0);
}

static bool member_row(struct fed_call *c, const struct fed_value *v)
{
    struct fed_member m = {
        .id = text_of(c, &v[0]),
        .am = text_of(c, &v[1]),
        .client = text_of(c, &v[2]),
        .admin = text_of(c, &v[3]),
        .web = text_of(c, &v[4]),
        .last_heartbeat_ms = number_of(&v[5]),
        .last_start_ms = v[7].type == FED_NULL ? 0 : number_of(&v[7]),
        .capability = text_of(c, &v[8]),
    };
    const char *state = text_of(c, &v[6]);

    if (is_other(c->request.member.id, m.id))
        return true;
    if (!state || fed_state_parse(state, &m.state) < 0)
        return broken(c, "member", m.id, "its state is none of Hadoop's");
    return fed_call_add(c, &m);
}

static bool context_ok(const struct fed_value *v)
{
    return is_bytes(v) &&
           ipc_depth_check(v->p, v->n,
                           &hadoop__yarn__application_submission_context_proto__descriptor,
                           IPC_DEPTH_MAX) == 0;
}

static bool home_row(struct fed_call *c, const struct fed_value *v, bool has_context)
{
    struct fed_home h = { .home = text_of(c, &v[1]), .created_ms = number_of(&v[2]) };
    const char *app = text_of(c, &v[0]);

    if (!app || yarn_app_id_parse(app, &h.app) < 0)
        return broken(c, "home of", app, "it is no application");
    if (has_context && v[3].type != FED_NULL) {
        if (!context_ok(&v[3]))
            return broken(c, "home of", app, "its submission context is broken");
        h.context = v[3].p;
        h.context_len = v[3].n;
    }
    return fed_call_add(c, &h);
}

static bool reservation_row(struct fed_call *c, const struct fed_value *v)
{
    return fed_call_add(c, &(struct fed_reservation){ text_of(c, &v[0]), text_of(c, &v[1]) });
}

static bool policy_row(struct fed_call *c, const struct fed_value *v)
{
    struct fed_policy p = { .queue = text_of(c, &v[0]), .type = text_of(c, &v[1]) };

    if (is_other(c->request.policy.queue, p.queue))
        return true;
    if (v[2].type != FED_NULL) {
        if (!is_bytes(&v[2]))
            return broken(c, "policy of queue", p.queue, "its parameter is too long");
        p.params = v[2].p;
        p.params_len = v[2].n;
    }
    return fed_call_add(c, &p);
}

/* The bytes of a text of base64url. */
static int decode(struct fed_call *c, const struct fed_value *v, size_t max, const uint8_t **ret,
                  size_t *ret_len)
{
    return v->type == FED_TEXT && v->p
               ? fed_base64url_decode(c->arena, v->p, v->n, max, ret, ret_len)
               : -EINVAL;
}

static bool key_row(struct fed_call *c, const struct fed_value *v)
{
    struct fed_key k = { .id = (int32_t)number_of(&v[0]) };
    struct sv_buf b;
    const uint8_t *p;
    int64_t id;
    size_t n;

    if (decode(c, &v[1], KEY_BYTES_MAX, &p, &n) < 0)
        return broken(c, "the Router's key", NULL, "it is not base64url");
    b = SV_BUF_VIEW(p, n);
    if (ipc_writable_get_vlong(&b, &id) < 0 || id != k.id || id != number_of(&v[0]) ||
        ipc_writable_get_vlong(&b, &k.expiry_ms) < 0 || ipc_writable_get_len(&b, &k.len) < 0 ||
        sv_buf_get_ref(&b, &k.bytes, k.len) < 0)
        return broken(c, "the Router's key", NULL, "it is no DelegationKey of its number");
    return fed_call_add(c, &k);
}

static bool token_row(struct fed_call *c, const struct fed_value *v)
{
    struct fed_token t = { .sequence = (int32_t)number_of(&v[0]), .renew_ms = number_of(&v[3]) };

    if (t.sequence != number_of(&v[0]) ||
        decode(c, &v[1], FED_TOKEN_TEXT_MAX, &t.identifier, &t.identifier_len) < 0 ||
        ipc_depth_check(t.identifier, t.identifier_len,
                        &hadoop__yarn__yarndelegation_token_identifier_proto__descriptor,
                        IPC_DEPTH_MAX) < 0)
        return broken(c, "the Router's token", NULL, "its identifier is broken");
    t.info = text_of(c, &v[2]);
    return fed_call_add(c, &t);
}

static bool sequence_row(struct fed_call *c, const struct fed_value *v)
{
    int64_t n = number_of(&v[0]);
    struct fed_sequence s = { c->request.sequence.counter, (int32_t)n };

    return n == s.value ? fed_call_add(c, &s)
                        : broken(c, "the Router's counter", NULL, "it is too large");
}

static bool version_row(struct fed_call *c, const struct fed_value *v)
{
    const ProtobufCMessageDescriptor *d = &hadoop__yarn__version_proto__descriptor;
    Hadoop__Yarn__VersionProto *m = NULL;
    ProtobufCAllocator *memory = sv_arena_protobuf(c->arena);

    if (is_bytes(v) && v->n <= VERSION_MAX && ipc_depth_check(v->p, v->n, d, 1) == 0)
        m = hadoop__yarn__version_proto__unpack(memory, v->n, v->p);
    if (!m)
        return broken(c, "the layout's version", NULL, "it is no VersionProto");
    return fed_call_add(c, &(struct fed_version){ m->major_version, m->minor_version });
}

bool fed_sql_row(struct fed_sql_run *run, const struct fed_value *columns)
{
    struct fed_call *c = run->call;

    switch (fed_operations[c->request.op].kind) {
    case FED_MEMBER:
        return member_row(c, columns);
    case FED_HOME:
        return home_row(c, columns, run->now == SQL_HOME_GET);
    case FED_RESERVATION:
        return reservation_row(c, columns);
    case FED_POLICY:
        return policy_row(c, columns);
    case FED_KEY:
        return key_row(c, columns);
    case FED_TOKEN:
        return token_row(c, columns);
    case FED_SEQUENCE:
        return sequence_row(c, columns);
    default:
        return version_row(c, columns);
    }
}
