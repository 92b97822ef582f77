/* Keys of the store, for the command line and doctor; daemons call fed_store_open() alone. */
#ifndef SELVEDGE_FEDERATION_STORE_STORE_CONF_H
#define SELVEDGE_FEDERATION_STORE_STORE_CONF_H

#include "federation/store/backends.h"
#include "federation/store/mysql-url.h"

#define FED_CLASS_SQL "org.apache.hadoop.yarn.server.federation.store.impl.SQLFederationStateStore"
#define FED_CLASS_ZOOKEEPER                                                                        \
    "org.apache.hadoop.yarn.server.federation.store.impl.ZookeeperFederationStateStore"
#define FED_CLASS_SQLITE "org.selvedge.SqliteStateStore"

/* yarn.federation.state-store.class. */
int fed_store_class(struct sv_conf *c, const char **ret, struct sv_error *err) _must_use_;
int fed_store_sqlite_path(struct sv_conf *c, const char **ret, struct sv_error *err) _must_use_;
/* The keys of SQLFederationStateStore; `ret` points to `url` and to texts of the configuration. */
int fed_store_mysql_options(struct sv_conf *c, struct fed_mysql_url *url,
                            struct fed_mysql_options *ret, struct sv_error *err) _must_use_;

#endif
