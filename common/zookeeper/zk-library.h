/* The functions of ZooKeeper's C client that are used, each with its own type, loaded late. Where
 * its headers were not there at build time, SV_ZK_HEADERS is 0 and no session can be made. */
#ifndef SELVEDGE_COMMON_ZOOKEEPER_ZK_LIBRARY_H
#define SELVEDGE_COMMON_ZOOKEEPER_ZK_LIBRARY_H

#include "common/base.h"
#include "common/error.h"

#if __has_include(<zookeeper/zookeeper.h>)
#define SV_ZK_HEADERS 1
#include <zookeeper/zookeeper.h>

#define SV_ZK_FUNCTIONS(F)                                                                         \
    F(zookeeper_init2)                                                                             \
    F(zookeeper_close)                                                                             \
    F(zookeeper_interest)                                                                          \
    F(zookeeper_process)                                                                           \
    F(is_unrecoverable)                                                                            \
    F(zoo_state)                                                                                   \
    F(zoo_set_servers)                                                                             \
    F(zoo_set_debug_level)                                                                         \
    F(zoo_acreate)                                                                                 \
    F(zoo_aset)                                                                                    \
    F(zoo_aget)                                                                                    \
    F(zoo_aget_children)                                                                           \
    F(zoo_adelete)                                                                                 \
    F(zoo_amulti)                                                                                  \
    F(zoo_create_op_init)                                                                          \
    F(zoo_set_op_init)                                                                             \
    F(zoo_delete_op_init)                                                                          \
    F(zoo_recv_timeout)

struct sv_zk_library {
#define MEMBER(name) __typeof__(&name) name;
    SV_ZK_FUNCTIONS(MEMBER)
#undef MEMBER
    const int *connected;    /* ZOO_CONNECTED_STATE */
    const int *read, *write; /* ZOOKEEPER_READ, ZOOKEEPER_WRITE */
};

/* Loads it once. -ELIBACC. */
int sv_zk_library(const struct sv_zk_library **ret, struct sv_error *err) _must_use_;

#else
#define SV_ZK_HEADERS 0
#endif

#endif
