/* See gss-library.h. */
#include "wire/sasl/gss-library.h"

#include <dlfcn.h>
#include <errno.h>

/* The version of the headers that this is compiled with; its package is a dependency of the one
 * that has selvedge-gss, which is linked to it. */
#define SONAME "libgssapi_krb5.so.2"

static int find(void *library, const char *name, void *ret, struct sv_error *err)
{
    void *function = dlsym(library, name);

    if (!function)
        return sv_error_set(err, -ELIBACC, SONAME " has no %s: a newer MIT Kerberos is needed",
                            name);
    *(void **)ret = function; /* POSIX: a function's address fits */
    return 0;
}

int ipc_gss_library(const struct gss_library **ret, struct sv_error *err)
{
    static struct gss_library gss;
    static bool loaded;
    void *library;
    int r = 0;

    if (!loaded) {
        library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return sv_error_set(err, -ELIBACC, "Kerberos needs libgssapi_krb5: %s", dlerror());
#define FIND(name) r = r < 0 ? r : find(library, "gss_" #name, &gss.name, err);
        GSS_LIBRARY_FUNCTIONS(FIND)
        if (r < 0)
            return r;
        loaded = true;
    }
    *ret = &gss;
    return 0;
}
