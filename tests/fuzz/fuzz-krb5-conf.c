/* libFuzzer target: a krb5.conf. A refusal has its text and its line; a realm is one, and the first
 * one stays; includes have absolute paths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity/krb5-conf.h"
#include "common/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_include(const char *path, bool directory, void *userdata, struct sv_error *err)
{
    unsigned *n = userdata;

    (void)directory, (void)err;
    if (*path != '/' || ++*n > SV_KRB5_FILE_MAX)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char realm[SV_REALM_MAX + 1] = "", same[SV_REALM_MAX + 1] = "FIRST";
    struct sv_error err = { 0 };
    unsigned n = 0;
    int r = sv_krb5_parse("input", (const char *)data, size, on_include, &n, realm, &err);

    if (r < 0 && (!strstr(err.text, "input:") || (r != -EINVAL && r != -E2BIG)))
        abort();
    if (strpbrk(realm, "/@\\ \n") || strlen(realm) > SV_REALM_MAX)
        abort();
    if (sv_krb5_parse("input", (const char *)data, size, on_include, &n, same, NULL) == 0 &&
        !sv_streq(same, "FIRST"))
        abort();
    return 0;
}
