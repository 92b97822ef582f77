/* libFuzzer target: identifiers of every kind of token, protobuf and Writable, and the text form of
 * a whole token. Decoded input must survive encoding and decoding unchanged. */
#include <stdlib.h>
#include <string.h>

#include "wire/token/node-secret.h"
#include "wire/token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROUND_TRIP(name, decoded_alone)                                                            \
    static void name(const uint8_t *p, size_t n)                                                   \
    {                                                                                              \
        struct yarn_##name t, again;                                                               \
        const uint8_t *id;                                                                         \
        size_t len;                                                                                \
        if (yarn_##name##_decode(p, n, &t, NULL) < 0)                                              \
            return;                                                                                \
        decoded_alone(&t);                                                                         \
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);                                      \
        if (!a || yarn_##name##_encode(a, &t, &id, &len) < 0 ||                                    \
            yarn_##name##_decode(id, len, &again, NULL) < 0 || memcmp(&t, &again, sizeof(t)) != 0) \
            abort();                                                                               \
    }
/* Fields that no encoder writes. */
static void log_context(struct yarn_container_token *t)
{
    memset(t->log_include, 0, sizeof(t->log_include));
    memset(t->log_exclude, 0, sizeof(t->log_exclude));
    memset(t->log_rolled_include, 0, sizeof(t->log_rolled_include));
    memset(t->log_rolled_exclude, 0, sizeof(t->log_rolled_exclude));
    memset(t->log_policy, 0, sizeof(t->log_policy));
    t->log_too_long = false;
    memset(t->log_policy_parameters, 0, sizeof(t->log_policy_parameters));
    memset(t->unknown_resource, 0, sizeof(t->unknown_resource));
}
#define NONE(t) (void)(t)
ROUND_TRIP(container_token, log_context)
ROUND_TRIP(nm_token, NONE)
ROUND_TRIP(amrm_token, NONE)
ROUND_TRIP(client_am_token, NONE)
ROUND_TRIP(delegation_token, NONE)

static void writable_delegation_token(const uint8_t *p, size_t n)
{
    struct yarn_delegation_token t, again;
    const uint8_t *id;
    size_t len;
    if (yarn_delegation_token_decode(p, n, &t, NULL) < 0)
        return;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    if (!a || yarn_delegation_token_encode_writable(a, &t, &id, &len) < 0 ||
        yarn_delegation_token_decode(id, len, &again, NULL) < 0 ||
        memcmp(&t, &again, sizeof(t)) != 0)
        abort();
}

/* A node's identifier is text of exactly one form. */
static void node_token(const uint8_t *p, size_t n)
{
    static const struct yarn_node_secret secret = { .bytes = "a secret of 32 bytes or more ...",
                                                    .len = 32,
                                                    .id = "0123456789abcdef" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct yarn_node_token again;
    char host[256];
    size_t len;
    if (yarn_node_token_verify(&secret, p, n, password, &len, host, NULL) < 0)
        return;
    if (yarn_node_token_make(&secret, host, &again) < 0 ||
        !yarn_bytes_equal(again.id, again.token.id_len, p, n) ||
        !yarn_bytes_equal(again.password, again.token.password_len, password, len))
        abort();
}

static void text(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char *s = a ? sv_arena_alloc(a, n + 1) : NULL;
    struct yarn_token t, again;
    const char *out;
    if (!s)
        return;
    if (n > 0)
        memcpy(s, p, n);
    if (yarn_token_parse(a, s, &t) < 0)
        return;
    if (yarn_token_text(a, &t, &out) < 0 || yarn_token_parse(a, out, &again) < 0 ||
        !yarn_bytes_equal(t.id, t.id_len, again.id, again.id_len) ||
        !yarn_bytes_equal(t.password, t.password_len, again.password, again.password_len) ||
        strcmp(t.kind, again.kind) != 0 || strcmp(t.service, again.service) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    container_token(data, size);
    nm_token(data, size);
    amrm_token(data, size);
    client_am_token(data, size);
    delegation_token(data, size);
    writable_delegation_token(data, size);
    node_token(data, size);
    text(data, size);
    return 0;
}
