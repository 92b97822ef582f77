/* Identifiers of users' tokens, as opposed to daemons': YARN_CLIENT_TOKEN and delegation tokens.
 * Hostile: bytes until the password is verified. */
#include <errno.h>
#include <string.h>

#include "proto/yarn_token.pb-c.h"
#include "wire/frame.h"
#include "wire/token/token-internal.h"
#include "wire/token/writable.h"

typedef Hadoop__Yarn__ClientToAMTokenIdentifierProto client_message;
typedef Hadoop__Yarn__YARNDelegationTokenIdentifierProto delegation_message;

/* ---- YARN_CLIENT_TOKEN ---- */

int yarn_client_am_token_decode(const uint8_t *id, size_t len, struct yarn_client_am_token *ret,
                                struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(len));
    struct yarn_client_am_token t = { 0 };
    ProtobufCMessage *base;
    if (!a)
        return sv_error_set(err, -ENOMEM, "out of memory");
    int r = yarn_token_unpack(a, &hadoop__yarn__client_to_amtoken_identifier_proto__descriptor, id,
                              len, &base, YARN_KIND_CLIENT_AM, err);
    if (r < 0)
        return r;
    const client_message *m = (const client_message *)base;
    if (yarn_attempt_id_from(m->appattemptid, &t.attempt) < 0 ||
        !yarn_token_copy_text(t.client, sizeof(t.client), m->clientname))
        return sv_error_set(err, -EBADMSG, "%s: identifier out of range", YARN_KIND_CLIENT_AM);
    *ret = t;
    return 0;
}

int yarn_client_am_token_encode(struct sv_arena *a, const struct yarn_client_am_token *t,
                                const uint8_t **ret, size_t *ret_len)
{
    client_message m = HADOOP__YARN__CLIENT_TO_AMTOKEN_IDENTIFIER_PROTO__INIT;
    m.appattemptid = yarn_attempt_id_to(a, t->attempt);
    if (!m.appattemptid)
        return -ENOMEM;
    m.clientname = yarn_token_chars(t->client);
    return yarn_token_pack(a, &m.base, ret, ret_len);
}

/* ---- Delegation tokens ---- */

#define WRITABLE_VERSION 0

static int get_name(struct sv_buf *b, struct sv_arena *a, char *dst, size_t size)
{
    const char *s;
    int r = ipc_writable_get_text(b, a, &s);
    if (r < 0)
        return r;
    return yarn_token_copy_text(dst, size, s) ? 0 : -EBADMSG;
}

/* Reads a 32-bit number in WritableUtils' form. */
static int get_vint(struct sv_buf *b, int32_t *ret)
{
    int64_t v;
    int r = ipc_writable_get_vlong(b, &v);
    if (r < 0)
        return r;
    if (v < INT32_MIN || v > INT32_MAX)
        return -EBADMSG;
    *ret = (int32_t)v;
    return 0;
}

static int delegation_writable(struct sv_arena *a, const uint8_t *id, size_t len,
                               struct yarn_delegation_token *ret)
{
    struct sv_buf b = SV_BUF_VIEW(id, len);
    struct yarn_delegation_token t = { 0 };
    uint8_t version;
    if (sv_buf_get_u8(&b, &version) < 0 || version != WRITABLE_VERSION ||
        get_name(&b, a, t.owner, sizeof(t.owner)) < 0 ||
        get_name(&b, a, t.renewer, sizeof(t.renewer)) < 0 ||
        get_name(&b, a, t.real_user, sizeof(t.real_user)) < 0 ||
        ipc_writable_get_vlong(&b, &t.issue_ms) < 0 || ipc_writable_get_vlong(&b, &t.max_ms) < 0 ||
        get_vint(&b, &t.sequence) < 0 || get_vint(&b, &t.key_id) < 0 || sv_buf_left(&b) > 0)
        return -EBADMSG;
    *ret = t;
    return 0;
}

int yarn_delegation_token_decode(const uint8_t *id, size_t len, struct yarn_delegation_token *ret,
                                 struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(len));
    struct yarn_delegation_token t = { 0 };
    ProtobufCMessage *base;
    if (!a)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (yarn_token_is_old(id, len))
        return len > YARN_TOKEN_ID_MAX || delegation_writable(a, id, len, ret) < 0
                   ? sv_error_set(err, -EBADMSG, "delegation token: malformed identifier")
                   : 0;
    int r = yarn_token_unpack(a, &hadoop__yarn__yarndelegation_token_identifier_proto__descriptor,
                              id, len, &base, "delegation token", err);
    if (r < 0)
        return r;
    const delegation_message *m = (const delegation_message *)base;
    if (!yarn_token_copy_text(t.owner, sizeof(t.owner), m->owner) ||
        !yarn_token_copy_text(t.renewer, sizeof(t.renewer), m->renewer) ||
        !yarn_token_copy_text(t.real_user, sizeof(t.real_user), m->realuser))
        return sv_error_set(err, -EBADMSG, "delegation token: identifier out of range");
    t.issue_ms = m->issuedate;
    t.max_ms = m->maxdate;
    t.sequence = m->sequencenumber;
    t.key_id = m->masterkeyid;
    *ret = t;
    return 0;
}

/* Numbers are set even when zero, names only when not empty, as in Hadoop. */
int yarn_delegation_token_encode(struct sv_arena *a, const struct yarn_delegation_token *t,
                                 const uint8_t **ret, size_t *ret_len)
{
    delegation_message m = HADOOP__YARN__YARNDELEGATION_TOKEN_IDENTIFIER_PROTO__INIT;
    m.owner = yarn_token_chars(t->owner);
    m.renewer = yarn_token_chars(t->renewer);
    m.realuser = yarn_token_chars(t->real_user);
    m.has_issuedate = m.has_maxdate = m.has_sequencenumber = m.has_masterkeyid = 1;
    m.issuedate = t->issue_ms;
    m.maxdate = t->max_ms;
    m.sequencenumber = t->sequence;
    m.masterkeyid = t->key_id;
    return yarn_token_pack(a, &m.base, ret, ret_len);
}

int yarn_delegation_token_encode_writable(struct sv_arena *a, const struct yarn_delegation_token *t,
                                          const uint8_t **ret, size_t *ret_len)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(YARN_TOKEN_ID_MAX);
    int r = sv_buf_put_u8(&b, WRITABLE_VERSION);
    if (r >= 0)
        r = ipc_writable_put_text(&b, t->owner);
    if (r >= 0)
        r = ipc_writable_put_text(&b, t->renewer);
    if (r >= 0)
        r = ipc_writable_put_text(&b, t->real_user);
    if (r >= 0)
        r = ipc_writable_put_vlong(&b, t->issue_ms);
    if (r >= 0)
        r = ipc_writable_put_vlong(&b, t->max_ms);
    if (r >= 0)
        r = ipc_writable_put_vlong(&b, t->sequence);
    if (r >= 0)
        r = ipc_writable_put_vlong(&b, t->key_id);
    if (r < 0)
        return r;
    const uint8_t *copy = sv_arena_memdup(a, b.data, b.len);
    if (!copy)
        return -ENOMEM;
    *ret = copy;
    *ret_len = b.len;
    return 0;
}
