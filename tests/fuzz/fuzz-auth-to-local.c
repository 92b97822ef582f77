/* libFuzzer target: rules of hadoop.security.auth_to_local, up to the first NUL, and a principal
 * behind it, by both mechanisms. A name that comes out is one; a refusal has its text; the same
 * principal gets the same answer again. */
#include <stdlib.h>
#include <string.h>

#include "common/identity/auth-to-local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name, bool simple)
{
    if (!*name || strlen(name) > SV_LOCAL_NAME_MAX || (simple && strpbrk(name, "/@")))
        abort();
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            abort();
}

static void translate(const char *rules, enum sv_auth_mechanism mechanism, const char *principal,
                      size_t len)
{
    _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *a = NULL;
    char name[SV_LOCAL_NAME_MAX + 1], again[SV_LOCAL_NAME_MAX + 1];
    struct sv_error err = { 0 };

    if (sv_auth_to_local_new(rules, mechanism, "EXAMPLE.COM", &a, &err) < 0) {
        if (!*err.text)
            abort();
        return;
    }
    if (sv_auth_to_local(a, principal, len, name, &err) < 0) {
        if (!*err.text || sv_auth_to_local(a, principal, len, again, NULL) >= 0)
            abort();
        return;
    }
    check_name(name, mechanism == SV_AUTH_HADOOP && memchr(principal, '@', len));
    if (sv_auth_to_local(a, principal, len, again, NULL) < 0 || strcmp(name, again) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    const char *rules = (const char *)data;

    if (!end)
        return 0;
    translate(rules, SV_AUTH_HADOOP, (const char *)end + 1, size - (size_t)(end - data) - 1);
    translate(rules, SV_AUTH_MIT, (const char *)end + 1, size - (size_t)(end - data) - 1);
    return 0;
}
