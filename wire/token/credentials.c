/* Credentials: the tokens of a launch context and of a container's token file. Hostile: the
 * bytes. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "proto/security.pb-c.h"
#include "wire/frame.h"
#include "wire/token/token.h"
#include "wire/token/writable.h"

#define MAGIC "HDTS"
#define TOKEN_MIN 5 /* bytes of the smallest entry: five empty fields */
#define SECRET_MIN 2

/* ---- Version 0 ---- */

static int read_count(struct sv_buf *b, size_t entry_min, size_t *ret)
{
    int64_t n;
    int r = ipc_writable_get_vlong(b, &n);
    if (r < 0)
        return r;
    if (n < 0 || (uint64_t)n > sv_buf_left(b) / entry_min)
        return -EBADMSG;
    *ret = (size_t)n;
    return 0;
}

static int read_writable(struct sv_buf *b, struct sv_arena *a, struct yarn_credentials *ret)
{
    struct yarn_credentials c = { 0 };
    int r = read_count(b, TOKEN_MIN, &c.n_tokens);
    if (r < 0)
        return r;
    c.tokens = sv_arena_calloc(a, c.n_tokens, sizeof(*c.tokens));
    if (!c.tokens)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_tokens && r >= 0; i++) {
        r = ipc_writable_get_text(b, a, &c.tokens[i].alias);
        if (r >= 0)
            r = ipc_writable_get_token(b, a, &c.tokens[i].token);
        if (r >= 0 && (c.tokens[i].token.id_len > YARN_TOKEN_ID_MAX ||
                       c.tokens[i].token.password_len > YARN_TOKEN_ID_MAX))
            r = -EBADMSG;
    }
    if (r >= 0)
        r = read_count(b, SECRET_MIN, &c.n_secrets);
    if (r < 0)
        return r;
    c.secrets = sv_arena_calloc(a, c.n_secrets, sizeof(*c.secrets));
    if (!c.secrets)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_secrets && r >= 0; i++) {
        r = ipc_writable_get_text(b, a, &c.secrets[i].alias);
        if (r >= 0)
            r = ipc_writable_get_bytes(b, a, &c.secrets[i].secret, &c.secrets[i].len);
    }
    if (r >= 0)
        *ret = c;
    return r;
}

/* ---- Version 1 ---- */

static int from_proto(const Hadoop__Common__CredentialsProto *m, struct sv_arena *a,
                      struct yarn_credentials *ret)
{
    struct yarn_credentials c = { .n_tokens = m->n_tokens, .n_secrets = m->n_secrets };
    c.tokens = sv_arena_calloc(a, c.n_tokens, sizeof(*c.tokens));
    c.secrets = sv_arena_calloc(a, c.n_secrets, sizeof(*c.secrets));
    if (!c.tokens || !c.secrets)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_tokens; i++) {
        c.tokens[i].alias = m->tokens[i]->alias; /* the message is in the same arena */
        int r = yarn_token_from(m->tokens[i]->token, a, &c.tokens[i].token);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < c.n_secrets; i++) {
        c.secrets[i].alias = m->secrets[i]->alias;
        c.secrets[i].secret = m->secrets[i]->secret.data; /* absent means empty, as in Hadoop */
        c.secrets[i].len = m->secrets[i]->secret.len;
    }
    *ret = c;
    return 0;
}

static int read_protobuf(struct sv_buf *b, struct sv_arena *a, struct yarn_credentials *ret)
{
    ProtobufCMessage *m;
    const uint8_t *p;
    size_t n;
    int r = ipc_delimited_get(b, &p, &n);
    if (r >= 0)
        r = ipc_unpack(a, &hadoop__common__credentials_proto__descriptor, p, n, &m);
    return r < 0 ? r : from_proto((const Hadoop__Common__CredentialsProto *)m, a, ret);
}

/* ---- Both ---- */

int yarn_credentials_parse(const uint8_t *p, size_t n, struct sv_arena *a,
                           struct yarn_credentials *ret, struct sv_error *err)
{
    struct sv_buf b = SV_BUF_VIEW(p, n);
    const uint8_t *magic;
    uint8_t version;
    if (n == 0) {
        *ret = (struct yarn_credentials){ 0 };
        return 0;
    }
    if (n > YARN_CREDENTIALS_MAX)
        return sv_error_set(err, -EMSGSIZE, "credentials: %zu bytes are more than the %d accepted",
                            n, YARN_CREDENTIALS_MAX);
    if (sv_buf_get_ref(&b, &magic, strlen(MAGIC)) < 0 || memcmp(magic, MAGIC, strlen(MAGIC)) != 0 ||
        sv_buf_get_u8(&b, &version) < 0)
        return sv_error_set(err, -EBADMSG, "credentials: they do not begin with " MAGIC);
    if (version != YARN_CREDENTIALS_WRITABLE && version != YARN_CREDENTIALS_PROTOBUF)
        return sv_error_set(err, -EBADMSG, "credentials: unknown version %u", version);
    int r = version == YARN_CREDENTIALS_WRITABLE ? read_writable(&b, a, ret)
                                                 : read_protobuf(&b, a, ret);
    if (r == -ENOMEM)
        return sv_error_set(err, r, "credentials: out of memory");
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "credentials: malformed near byte %zu of %zu", b.pos, n);
    return 0;
}

static int write_writable(const struct yarn_credentials *c, struct sv_buf *out)
{
    int r = ipc_writable_put_vlong(out, (int64_t)c->n_tokens);
    for (size_t i = 0; i < c->n_tokens && r >= 0; i++) {
        r = ipc_writable_put_text(out, c->tokens[i].alias);
        if (r >= 0)
            r = ipc_writable_put_token(out, &c->tokens[i].token);
    }
    if (r >= 0)
        r = ipc_writable_put_vlong(out, (int64_t)c->n_secrets);
    for (size_t i = 0; i < c->n_secrets && r >= 0; i++) {
        r = ipc_writable_put_text(out, c->secrets[i].alias);
        if (r >= 0)
            r = ipc_writable_put_bytes(out, c->secrets[i].secret, c->secrets[i].len);
    }
    return r;
}

static Hadoop__Common__CredentialsKVProto **entries(struct sv_arena *a, size_t n)
{
    Hadoop__Common__CredentialsKVProto **list = sv_newn(a, Hadoop__Common__CredentialsKVProto *, n);
    for (size_t i = 0; list && i < n; i++) {
        list[i] = sv_new(a, Hadoop__Common__CredentialsKVProto);
        if (!list[i])
            return NULL;
        hadoop__common__credentials_kvproto__init(list[i]);
    }
    return list;
}

static char *alias_of(const char *alias)
{
    return (char *)(uintptr_t)(alias ? alias : "");
}

static int to_proto(const struct yarn_credentials *c, struct sv_arena *a,
                    Hadoop__Common__CredentialsProto *m)
{
    m->tokens = entries(a, c->n_tokens);
    m->secrets = entries(a, c->n_secrets);
    if (!m->tokens || !m->secrets)
        return -ENOMEM;
    m->n_tokens = c->n_tokens;
    m->n_secrets = c->n_secrets;
    for (size_t i = 0; i < c->n_tokens; i++) {
        m->tokens[i]->alias = alias_of(c->tokens[i].alias);
        m->tokens[i]->token = yarn_token_to(a, &c->tokens[i].token);
        if (!m->tokens[i]->token)
            return -ENOMEM;
    }
    for (size_t i = 0; i < c->n_secrets; i++) {
        m->secrets[i]->alias = alias_of(c->secrets[i].alias);
        m->secrets[i]->has_secret = 1;
        m->secrets[i]->secret.data = (uint8_t *)(uintptr_t)c->secrets[i].secret;
        m->secrets[i]->secret.len = c->secrets[i].len;
    }
    return 0;
}

static int write_protobuf(const struct yarn_credentials *c, struct sv_buf *out)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Common__CredentialsProto m = HADOOP__COMMON__CREDENTIALS_PROTO__INIT;
    int r = a ? to_proto(c, a, &m) : -ENOMEM;
    if (r < 0)
        return r;
    size_t n = protobuf_c_message_get_packed_size(&m.base);
    r = sv_buf_reserve(out, n + 10);
    for (size_t left = n; r >= 0; left >>= 7) { /* its length as a varint */
        r = sv_buf_put_u8(out, (uint8_t)(left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f)
            break;
    }
    if (r < 0)
        return r;
    out->len += protobuf_c_message_pack(&m.base, out->data + out->len);
    return 0;
}

int yarn_credentials_write_as(const struct yarn_credentials *c, enum yarn_credentials_format format,
                              struct sv_buf *out)
{
    size_t before = out->len;
    int r = sv_buf_put_str(out, MAGIC);
    if (r >= 0)
        r = sv_buf_put_u8(out, (uint8_t)format);
    if (r >= 0)
        r = format == YARN_CREDENTIALS_PROTOBUF ? write_protobuf(c, out) : write_writable(c, out);
    if (r < 0)
        out->len = before;
    return r;
}

int yarn_credentials_write(const struct yarn_credentials *c, struct sv_buf *out)
{
    return yarn_credentials_write_as(c, YARN_CREDENTIALS_WRITABLE, out);
}

static int token_copy(struct sv_arena *a, const struct yarn_token *t, struct yarn_token *ret)
{
    struct yarn_token n = { .id = sv_arena_memdup(a, t->id, t->id_len),
                            .id_len = t->id_len,
                            .password = sv_arena_memdup(a, t->password, t->password_len),
                            .password_len = t->password_len,
                            .kind = sv_arena_strdup(a, t->kind ? t->kind : ""),
                            .service = sv_arena_strdup(a, t->service ? t->service : "") };
    if (!n.id || !n.password || !n.kind || !n.service)
        return -ENOMEM;
    *ret = n;
    return 0;
}

int yarn_credentials_add(struct sv_arena *a, struct yarn_credentials *c, const char *alias,
                         const struct yarn_token *t)
{
    struct yarn_token copy;
    int r = token_copy(a, t, &copy);
    if (r < 0)
        return r;
    size_t at = 0;
    while (at < c->n_tokens && !sv_streq(c->tokens[at].alias, alias))
        at++;
    size_t n = at == c->n_tokens ? c->n_tokens + 1 : c->n_tokens;
    __typeof__(c->tokens) list = sv_arena_calloc(a, n, sizeof(*list));
    const char *name = sv_arena_strdup(a, alias);
    if (!list || !name)
        return -ENOMEM;
    if (c->n_tokens > 0)
        memcpy(list, c->tokens, c->n_tokens * sizeof(*list));
    list[at].alias = name;
    list[at].token = copy;
    c->tokens = list;
    c->n_tokens = n;
    return 0;
}

int yarn_credentials_add_secret(struct sv_arena *a, struct yarn_credentials *c, const char *alias,
                                const void *secret, size_t len)
{
    size_t at = 0;
    while (at < c->n_secrets && !sv_streq(c->secrets[at].alias, alias))
        at++;
    size_t n = at == c->n_secrets ? c->n_secrets + 1 : c->n_secrets;
    __typeof__(c->secrets) list = sv_arena_calloc(a, n, sizeof(*list));
    const char *name = sv_arena_strdup(a, alias);
    const uint8_t *copy = sv_arena_memdup(a, secret, len);
    if (!list || !name || !copy)
        return -ENOMEM;
    if (c->n_secrets > 0)
        memcpy(list, c->secrets, c->n_secrets * sizeof(*list));
    list[at].alias = name;
    list[at].secret = copy;
    list[at].len = len;
    c->secrets = list;
    c->n_secrets = n;
    return 0;
}
