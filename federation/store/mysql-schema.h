/* Tables of the store in MariaDB or MySQL, and the procedures that Hadoop's SQLFederationStateStore
 * calls by name, with its names of parameters. Our own daemons call no procedure.
 *
 * Where Hadoop's scripts are wrong these are not: names of tables are spelled alike, for servers
 * with lower_case_table_names=0; times are UTC whatever the session's zone is; rows are counted
 * that were found, not that changed; a member that starts in the millisecond of another one gets
 * the next. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_SCHEMA_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_SCHEMA_H

#include "common/base.h"

struct fed_schema_part {
    const char *name; /* of the table or procedure */
    bool procedure;   /* it replaces one of this name; a table that exists is kept */
    const char *text; /* one statement, without semicolon at its end */
};
const struct fed_schema_part *fed_mysql_schema(size_t *ret_n);

/* Makes the database, of a name that was escaped by fed_mysql_identifier(). */
#define FED_MYSQL_DATABASE                                                                         \
    "CREATE DATABASE IF NOT EXISTS %s CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
/* "`name`", with its backquotes doubled. */
void fed_mysql_identifier(char *dst, size_t size, const char *name);

#endif
