/* libFuzzer target: what a peer says in DIGEST-MD5. First byte even: the bytes are a client's answer
 * to our server; odd: a server's challenge to our client, and after it its rspauth. */
#include <stdlib.h>
#include <string.h>

#include "wire/sasl.h"

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
    const char *answer, *java_class;
    if (sasl_server_new(verify, NULL, &s) < 0)
        abort();
    int r = sasl_server_step(s, p, n, &answer, &java_class, &err);
    if (r == 0) /* a digest over a nonce that nobody has seen */
        abort();
    if (!java_class || !err.text[0])
        abort();
}

static void client(const uint8_t *p, size_t n)
{
    static const struct yarn_token token = { .id = (const uint8_t *)"id", .id_len = 2,
                                             .password = (const uint8_t *)"password",
                                             .password_len = 8 };
    _cleanup_(sasl_client_freep) struct sasl_client *c = NULL;
    struct sv_error err = { 0 };
    const char *answer;
    const uint8_t *second = memchr(p, '\n', n);
    size_t first = second ? (size_t)(second - p) : n;
    if (sasl_client_new(&token, &c) < 0)
        abort();
    if (sasl_client_step(c, p, first, &answer, &err) == 0 && second)
        (void)!sasl_client_step(c, second + 1, n - first - 1, &answer, &err);
    if (sasl_client_done(c)) /* nobody but the server knows our cnonce */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] % 2 == 0)
        server(data + 1, size - 1);
    else if (size > 0)
        client(data + 1, size - 1);
    return 0;
}
