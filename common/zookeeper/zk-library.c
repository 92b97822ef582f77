/* See zk-library.h. Packages suggest the library by name (packaging/packages). */
#include "common/zookeeper/zk-library.h"

#if SV_ZK_HEADERS

#include "common/late-library.h"

int sv_zk_library(const struct sv_zk_library **ret, struct sv_error *err)
{
#define SYMBOL(name) { #name, &z.name },
    static struct sv_zk_library z;
    static const struct sv_late_symbol symbols[] = {
        SV_ZK_FUNCTIONS(SYMBOL){ "ZOO_CONNECTED_STATE", &z.connected },
        { "ZOOKEEPER_READ", &z.read },
        { "ZOOKEEPER_WRITE", &z.write },
    };
    static struct sv_late_library library = {
        .soname = "libzookeeper_st.so.2",
        .missing = "ZooKeeper's C client is missing, install libzookeeper-st2",
        .product = "ZooKeeper"
    };
    bool loaded = library.loaded;
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r < 0)
        return r;
    if (!loaded)
        z.zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    *ret = &z;
    return 0;
}

#endif
