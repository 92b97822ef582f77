/* libFuzzer target: DIGEST-MD5 input. First byte modulo 3: 0, a client's answer to the server, with
 * the server's nonce in place of @N; 1, a server's challenge to the client, then its rspauth; 2,
 * messages of a protected connection. */
#include <stdlib.h>
#include <string.h>

#include "wire/sasl/digest-exchange.h"
#include "wire/sasl/digest-layer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)id, (void)id_len, (void)ret_class, (void)err, (void)userdata;
    memcpy(ret_password, "password", 8);
    *ret_len = 8;
    memcpy(ret_user, "user", 5);
    return 0;
}

static void server(const uint8_t *p, size_t n)
{
    _cleanup_(sasl_server_freep) struct sasl_server *s = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    const char *java_class;
    if (ipc_digest_server_new(verify, NULL, IPC_QOP_ALL, &s) < 0)
        abort();
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    const char *nonce =
        strstr((const char *)ipc_sasl_server_challenge(s).p, "nonce=\"") + strlen("nonce=\"");
    for (size_t i = 0; i < n; i++) {
        bool mark = i + 1 < n && p[i] == '@' && p[i + 1] == 'N';
        if (sv_buf_put(&b, mark ? (const void *)nonce : &p[i], mark ? strcspn(nonce, "\"") : 1) < 0)
            return;
        i += mark;
    }
    int r = ipc_sasl_server_step(s, b.data, b.len, &answer, &java_class, &err);
    if (r == 0) /* a digest over an unknown nonce */
        abort();
    if (!java_class || !err.text[0])
        abort();
}

static void client(const uint8_t *p, size_t n)
{
    static const struct yarn_token token = { .id = (const uint8_t *)"id",
                                             .id_len = 2,
                                             .password = (const uint8_t *)"password",
                                             .password_len = 8 };
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    struct sasl_bytes answer;
    const uint8_t *second = memchr(p, '\n', n);
    size_t first = second ? (size_t)(second - p) : n;
    if (ipc_digest_client_new(&token, IPC_QOP_ALL, &c) < 0)
        abort();
    if (ipc_sasl_client_step(c, p, first, &answer, &err) == 0 && second)
        (void)!ipc_sasl_client_step(c, second + 1, n - first - 1, &answer, &err);
    if (ipc_sasl_client_done(c)) /* only the server knows the client's cnonce */
        abort();
}

/* A wrapped message is unwrapped by the other side; a forged one is rejected. */
static void layer(const uint8_t *p, size_t n)
{
    static const uint8_t ha1[16] = "0123456789abcde";
    _cleanup_(sasl_layer_freep) struct sasl_layer *us = NULL, *peer = NULL;
    uint8_t wrapped[4096 + DIGEST_LAYER_OVERHEAD], forged[4096], *out;
    enum ipc_qop qop = n > 0 && p[0] % 2 ? IPC_QOP_PRIVACY : IPC_QOP_INTEGRITY;
    size_t len;
    if (n > sizeof(forged))
        return;
    if (ipc_digest_layer_new(qop, ha1, true, 65536, &us) < 0 ||
        ipc_digest_layer_new(qop, ha1, false, 65536, &peer) < 0)
        abort();
    for (int i = 0; i < 2; i++) {
        if (ipc_sasl_layer_wrap(peer, p, n, wrapped) < 0 ||
            ipc_sasl_layer_unwrap(us, wrapped, ipc_sasl_layer_size(peer, n), &out, &len) < 0 ||
            len != n || memcmp(out, p, n) != 0)
            abort();
    }
    memcpy(forged, p, n);
    if (ipc_sasl_layer_unwrap(us, forged, n, &out, &len) >= 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] % 3 == 0)
        server(data + 1, size - 1);
    else if (size > 0 && data[0] % 3 == 1)
        client(data + 1, size - 1);
    else if (size > 0)
        layer(data + 1, size - 1);
    return 0;
}
