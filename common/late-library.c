/* See late-library.h. */
#include "common/late-library.h"

#include <dlfcn.h>
#include <errno.h>

int sv_late_load(struct sv_late_library *l, const struct sv_late_symbol *symbols, size_t n,
                 struct sv_error *err)
{
    void *library;

    if (l->loaded)
        return 0;
    library = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return sv_error_set(err, -ELIBACC, "%s: %s", l->missing, dlerror());
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, symbols[i].name);

        if (!symbol)
            return sv_error_set(err, -ELIBACC, "%s has no %s: a newer %s is needed", l->soname,
                                symbols[i].name, l->product);
        *(void **)symbols[i].ret = symbol; /* POSIX: a function's address fits */
    }
    l->loaded = true;
    return 0;
}
