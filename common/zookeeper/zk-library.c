/* See zk-library.h. */
#include "common/zookeeper/zk-library.h"

#if SV_ZK_HEADERS

#include <dlfcn.h>
#include <errno.h>

/* The version of the headers that this is compiled with; packages suggest it by name
 * (packaging/packages). */
#define SONAME "libzookeeper_st.so.2"

static int find(void *library, const char *name, void *ret, struct sv_error *err)
{
    void *symbol = dlsym(library, name);

    if (!symbol)
        return sv_error_set(err, -ELIBACC, SONAME " has no %s: a newer ZooKeeper is needed", name);
    *(void **)ret = symbol; /* POSIX: a function's address fits */
    return 0;
}

int sv_zk_library(const struct sv_zk_library **ret, struct sv_error *err)
{
    static struct sv_zk_library z;
    static bool loaded;
    void *library;
    int r = 0;

    if (!loaded) {
        library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return sv_error_set(err, -ELIBACC,
                                "ZooKeeper's C client is missing, install libzookeeper-st2: %s",
                                dlerror());
#define FIND(name) r = r < 0 ? r : find(library, #name, &z.name, err);
        SV_ZK_FUNCTIONS(FIND)
        if (r == 0)
            r = find(library, "ZOO_CONNECTED_STATE", &z.connected, err);
        if (r == 0)
            r = find(library, "ZOOKEEPER_READ", &z.read, err);
        if (r == 0)
            r = find(library, "ZOOKEEPER_WRITE", &z.write, err);
        if (r < 0)
            return r;
        z.zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
        loaded = true;
    }
    *ret = &z;
    return 0;
}

#endif
