/* One connection to a MariaDB or MySQL database on the event loop, by the non-blocking calls of
 * MariaDB Connector/C: a statement at a time, prepared once. Hostile: the server. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_CONNECTION_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_CONNECTION_H

#include "federation/store/backends.h"
#include "federation/store/mysql-library.h"
#include "federation/store/mysql-url.h"
#include "federation/store/sql.h"

struct fed_connection;

struct fed_account {
    struct fed_mysql_url url;
    char user[129], password[257]; /* secret */
    int64_t connect_ms;
};

void fed_account_set(struct fed_account *a, const struct fed_mysql_options *o);

/* Called from the loop, never from inside of a function below. `error` is 0 or
 *   -EHOSTDOWN        the server is away, or too busy; nothing was executed
 *   -ECONNRESET       the connection was lost; the statement may have been executed
 *   -EACCES, -EPROTONOSUPPORT, -EREMOTEIO, -ENOMEM as in store.h
 * and `reason` what the server said, cut and escaped. After an error the connection is closed. */
struct fed_connection_events {
    void (*opened)(struct fed_connection *c, int error, const char *reason);
    void (*executed)(struct fed_connection *c, int error, const char *reason);
    void (*lost)(struct fed_connection *c); /* while no statement was executed */
};

/* The account outlives the connection. */
int fed_connection_new(sd_event *event, const struct fed_mysql *lib,
                       const struct fed_account *account,
                       const struct fed_connection_events *events, void *userdata,
                       struct fed_connection **ret) _must_use_;
struct fed_connection *fed_connection_free(struct fed_connection *c);
void *fed_connection_userdata(const struct fed_connection *c);

/* Connects a closed one → opened. */
void fed_connection_open(struct fed_connection *c);
/* Closes it, whatever it does; no event is told. */
void fed_connection_close(struct fed_connection *c);
/* Executes run->now with its values on an open one that executes nothing → executed. A row of the
 * same key is run->duplicate, no error. */
void fed_connection_execute(struct fed_connection *c, struct fed_sql_run *run);
/* Executes a text without parameters and rows on such a one → executed. The text stays with the
 * caller until then. */
void fed_connection_query(struct fed_connection *c, const char *text);

#endif
