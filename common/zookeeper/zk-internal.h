/* The session's state, shared by its files: zk.c (connection), zk-requests.c. */
#ifndef SELVEDGE_COMMON_ZOOKEEPER_ZK_INTERNAL_H
#define SELVEDGE_COMMON_ZOOKEEPER_ZK_INTERNAL_H

#include "common/zookeeper/zk-library.h"
#include "common/zookeeper/zk.h"

#if SV_ZK_HEADERS

struct sv_zk_servers;

struct sv_zk {
    const struct sv_zk_library *lib;
    sd_event *event;
    struct sv_zk_config cfg; /* without the servers */
    struct sv_zk_servers *servers;
    char *addresses;   /* in use; NULL: not known yet */
    zhandle_t *handle; /* NULL: none, until the addresses are known */
    sd_event_source *io, *timer;
    ino_t socket; /* that `io` watches a duplicate of */
    int64_t looked_up_ms;
    bool looking_up;
    bool up;
    bool inside;  /* a function of the library runs, and drives afterwards */
    bool closing; /* requests that end now are cancelled */
};

/* Lets the library do what is due in the next turn of the loop. */
void sv_zk_wake(struct sv_zk *z);

#endif

#endif
