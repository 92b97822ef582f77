/* See curl.h. Packages depend on the library by name (packaging/packages). */
#include "common/late-library.h"
#include "common/web/curl.h"

int sv_curl_load(const struct sv_curl **ret, struct sv_error *err)
{
#define SYMBOL(name) { "curl_" #name, &curl.name },
    static struct sv_curl curl;
    static const struct sv_late_symbol symbols[] = { SV_CURL_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = { .soname = "libcurl.so.4",
                                              .missing = "HTTP needs libcurl",
                                              .product = "libcurl" };
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &curl;
    return r;
}
