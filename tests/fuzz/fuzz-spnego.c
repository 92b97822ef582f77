/* libFuzzer target: the header Authorization of a web client, and the cookie that is issued for
 * whatever name a ticket has. First byte modulo 2: 0, a header: what is accepted is bounded, and is
 * written again as the same token; 1, a name: what is signed is verified as the same name. */
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/web/auth-cookie.h"
#include "common/web/spnego.h"
#include "common/web/web-acceptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void header(const char *text)
{
    _cleanup_free_ uint8_t *token = NULL, *again = NULL;
    _cleanup_free_ char *written = NULL;
    size_t n, m;

    if (sv_spnego_token(text, &token, &n) < 0) {
        MUST(!token);
        return;
    }
    MUST(n > 0 && n <= SV_WEB_TOKEN_MAX && strlen(text) > n);
    MUST(sv_spnego_challenge(token, n, &written) == 0);
    MUST(sv_spnego_token(written, &again, &m) == 0 && m == n && memcmp(token, again, n) == 0);
}

static void name(const char *text)
{
    const struct sv_auth_cookie c = { text, text, "kerberos", 1000 };
    struct sv_auth_cookie_header h = { .expires_ms = -1 };
    _cleanup_free_ char *value = NULL, *line = NULL;
    struct sv_auth_names names;
    int r;

    if (sv_auth_cookie_sign(&c, "key", 3, &value) < 0)
        return;
    h.value = value;
    MUST(sv_auth_cookie_header(&h, &line) == 0);
    MUST(!strpbrk(line, "\r\n") && strchr(line, ';') == strstr(line, "; Path=/; HttpOnly"));
    r = sv_auth_cookie_names(line, "key", 3, "kerberos", 1000, &names);
    MUST(r < 0 ? strlen(text) >= SV_AUTH_USER_MAX
               : strcmp(names.user, text) == 0 && strcmp(names.principal, text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = NULL;

    if (size == 0)
        return 0;
    text = malloc(size);
    MUST(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 2)
        name(text);
    else
        header(text);
    return 0;
}
