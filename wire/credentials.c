/* Credentials: what a launch context carries for a container and what its token file holds. Called by
 * the NodeManager, which adds to them, and by rm-lite. Hostile: the bytes. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "proto/security.pb-c.h"
#include "wire/frame.h"
#include "wire/token.h"
#include "wire/writable.h"

#define MAGIC "HDTS"
#define FORMAT_WRITABLE 0
#define FORMAT_PROTOBUF 1
#define TOKEN_MIN 5  /* bytes of the smallest entry: five empty fields */
#define SECRET_MIN 2

/* ---- Version 0 ---- */

static int read_count(struct sv_buf *b, size_t entry_min, size_t *ret)
{
    int64_t n;
    int r = writable_get_vlong(b, &n);
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
    c.tokens = sv_arena_calloc(a, c.n_tokens, sizeof *c.tokens);
    if (!c.tokens)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_tokens && r >= 0; i++) {
        r = writable_get_text(b, a, &c.tokens[i].alias);
        if (r >= 0)
            r = writable_get_token(b, a, &c.tokens[i].token);
    }
    if (r >= 0)
        r = read_count(b, SECRET_MIN, &c.n_secrets);
    if (r < 0)
        return r;
    c.secrets = sv_arena_calloc(a, c.n_secrets, sizeof *c.secrets);
    if (!c.secrets)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_secrets && r >= 0; i++) {
        r = writable_get_text(b, a, &c.secrets[i].alias);
        if (r >= 0)
            r = writable_get_bytes(b, a, &c.secrets[i].secret, &c.secrets[i].len);
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
    c.tokens = sv_arena_calloc(a, c.n_tokens, sizeof *c.tokens);
    c.secrets = sv_arena_calloc(a, c.n_secrets, sizeof *c.secrets);
    if (!c.tokens || !c.secrets)
        return -ENOMEM;
    for (size_t i = 0; i < c.n_tokens; i++) {
        c.tokens[i].alias = m->tokens[i]->alias; /* the message lives in the same arena */
        int r = yarn_token_from(m->tokens[i]->token, a, &c.tokens[i].token);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < c.n_secrets; i++) {
        if (!m->secrets[i]->has_secret)
            return -EBADMSG;
        c.secrets[i].alias = m->secrets[i]->alias;
        c.secrets[i].secret = m->secrets[i]->secret.data;
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
        return sv_error_set(err, -EMSGSIZE, "credentials: %zu bytes are more than the %d accepted", n,
                            YARN_CREDENTIALS_MAX);
    if (sv_buf_get_ref(&b, &magic, strlen(MAGIC)) < 0 || memcmp(magic, MAGIC, strlen(MAGIC)) != 0 ||
        sv_buf_get_u8(&b, &version) < 0)
        return sv_error_set(err, -EBADMSG, "credentials: they do not begin with " MAGIC);
    if (version != FORMAT_WRITABLE && version != FORMAT_PROTOBUF)
        return sv_error_set(err, -EBADMSG, "credentials: unknown version %u", version);
    int r = version == FORMAT_WRITABLE ? read_writable(&b, a, ret) : read_protobuf(&b, a, ret);
    if (r == -ENOMEM)
        return sv_error_set(err, r, "credentials: out of memory");
    if (r < 0)
        return sv_error_set(err, -EBADMSG, "credentials: malformed near byte %zu of %zu", b.pos, n);
    return 0;
}

static int write_all(const struct yarn_credentials *c, struct sv_buf *out)
{
    int r = sv_buf_put_str(out, MAGIC);
    if (r >= 0)
        r = sv_buf_put_u8(out, FORMAT_WRITABLE);
    if (r >= 0)
        r = writable_put_vlong(out, (int64_t)c->n_tokens);
    for (size_t i = 0; i < c->n_tokens && r >= 0; i++) {
        r = writable_put_text(out, c->tokens[i].alias);
        if (r >= 0)
            r = writable_put_token(out, &c->tokens[i].token);
    }
    if (r >= 0)
        r = writable_put_vlong(out, (int64_t)c->n_secrets);
    for (size_t i = 0; i < c->n_secrets && r >= 0; i++) {
        r = writable_put_text(out, c->secrets[i].alias);
        if (r >= 0)
            r = writable_put_bytes(out, c->secrets[i].secret, c->secrets[i].len);
    }
    return r;
}

int yarn_credentials_write(const struct yarn_credentials *c, struct sv_buf *out)
{
    size_t before = out->len;
    int r = write_all(c, out);
    if (r < 0)
        out->len = before;
    return r;
}

static int token_copy(struct sv_arena *a, const struct yarn_token *t, struct yarn_token *ret)
{
    struct yarn_token n = { .id = sv_arena_memdup(a, t->id, t->id_len), .id_len = t->id_len,
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
    __typeof__(c->tokens) list = sv_arena_calloc(a, n, sizeof *list);
    const char *name = sv_arena_strdup(a, alias);
    if (!list || !name)
        return -ENOMEM;
    if (c->n_tokens > 0)
        memcpy(list, c->tokens, c->n_tokens * sizeof *list);
    list[at].alias = name;
    list[at].token = copy;
    c->tokens = list;
    c->n_tokens = n;
    return 0;
}
