/* The back ends, for store-open.c and tests. */
#ifndef SELVEDGE_FEDERATION_STORE_BACKENDS_H
#define SELVEDGE_FEDERATION_STORE_BACKENDS_H

#include "federation/store/store.h"

/* An absolute path; the file is made where it does not exist. */
int fed_store_open_sqlite(sd_event *event, const char *path, struct fed_store **ret,
                          struct sv_error *err) _must_use_;

struct fed_mysql_url;
struct fed_mysql_options {
    const struct fed_mysql_url *url;
    const char *user, *password;          /* NULL: of the url */
    unsigned connections;                 /* > 0 */
    int64_t connect_ms, idle_ms, life_ms; /* of a connection; idle and life: 0 = for ever */
};
/* Copies the options; connects with the first call. -ELIBACC: the library is missing. */
int fed_store_open_mysql(sd_event *event, const struct fed_mysql_options *o, struct fed_store **ret,
                         struct sv_error *err) _must_use_;

struct sv_zk_settings;
struct fed_zookeeper_options {
    struct sv_zk_settings *settings; /* hadoop.zk.*, with servers; the ACL is taken out of it */
    const char *root;                /* "/federationstore" */
    int64_t patience_ms;             /* of a call; FED_CALL_MS at most; 0 = that */
    unsigned split;                  /* 0-4: characters at the end of an application's id that
                                      * become a node of their own */
};
/* Connects by itself, and again where the connection is lost. -ELIBACC: the library is missing. */
int fed_store_open_zookeeper(sd_event *event, const struct fed_zookeeper_options *o,
                             struct fed_store **ret, struct sv_error *err) _must_use_;

#endif
