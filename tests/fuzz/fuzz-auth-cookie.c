/* Fuzzes the cookie hadoop.auth, signed and not, and access control lists: without the secret no
 * bytes are accepted; with it, the user is one of the text's fields. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "common/acl.h"
#include "common/str.h"
#include "common/web/auth-cookie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_signed(const char *text)
{
    _cleanup_free_ char *signature = NULL, *header = NULL;
    char user[SV_AUTH_USER_MAX];
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    MUST(HMAC(EVP_sha256(), "key", 3, (const uint8_t *)text, strlen(text), mac, &len));
    MUST(sv_base64_encode(mac, len, &signature) >= 0);
    MUST(sv_asprintf(&header, "hadoop.auth=\"%s&s=%s\"", text, signature) >= 0);
    if (sv_auth_cookie_verify(header, "key", 3, "simple", 1000, user) == 0)
        MUST(*user && !strchr(user, '&') && strstr(text, user) && strstr(text, "t=simple"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *const groups[] = { "dev", "staff", "x" };
    char *text = malloc(size + 1), user[SV_AUTH_USER_MAX];

    MUST(text);
    memcpy(text, data, size);
    text[size] = 0;
    MUST(sv_auth_cookie_verify(text, "another secret than the seeds'", 30, "simple", 1000, user) <
         0);
    check_signed(text);
    MUST(!sv_acl_allows(text, ""));
    MUST(!sv_acl_allows_all(text) || sv_acl_allows(text, "alice"));
    MUST(!sv_acl_allows_groups(text, groups, SV_ARRAY_LEN(groups)) || sv_acl_names_groups(text) ||
         sv_acl_allows_all(text));
    MUST(!sv_acl_allows_groups(text, NULL, 0));
    free(text);
    return 0;
}
