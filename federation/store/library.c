/* See library.h. */
#include "federation/store/library.h"

#include <dlfcn.h>
#include <errno.h>

int fed_library_load(const char *soname, const char *package, const char *const *names, size_t n,
                     void **ret, struct sv_error *err)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return sv_error_set(err, -ELIBACC, "the federation's store needs %s: install %s (%s)",
                            soname, package, dlerror());
    for (size_t i = 0; i < n; i++) {
        ret[i] = dlsym(library, names[i]);
        if (!ret[i])
            return sv_error_set(err, -ELIBACC, "%s has no %s: a newer %s is needed", soname,
                                names[i], package);
    }
    return 0;
}
