/* See curl.h. */
#include "common/web/curl.h"

#include <dlfcn.h>
#include <errno.h>

/* The version of the headers that this is compiled with; packages depend on it by name
 * (packaging/packages). */
#define SONAME "libcurl.so.4"

static int find(void *library, const char *name, void *ret, struct sv_error *err)
{
    void *function = dlsym(library, name);

    if (!function)
        return sv_error_set(err, -ELIBACC, SONAME " has no %s: a newer libcurl is needed", name);
    *(void **)ret = function; /* POSIX: a function's address fits */
    return 0;
}

int sv_curl_load(const struct sv_curl **ret, struct sv_error *err)
{
    static struct sv_curl curl;
    static bool loaded;
    void *library;
    int r = 0;

    if (!loaded) {
        library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return sv_error_set(err, -ELIBACC, "HTTP needs libcurl: %s", dlerror());
#define FIND(name) r = r < 0 ? r : find(library, "curl_" #name, &curl.name, err);
        SV_CURL_FUNCTIONS(FIND)
        if (r < 0)
            return r;
        loaded = true;
    }
    *ret = &curl;
    return 0;
}
