/* Parameters and columns of a prepared statement: the library's descriptions of them, and the
 * memory for a row. Hostile: the row. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_BIND_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_BIND_H

#include "federation/store/mysql-library.h"
#include "federation/store/sql.h"

struct fed_binding;

int fed_binding_new(const struct fed_mysql *lib, struct fed_binding **ret) _must_use_;
struct fed_binding *fed_binding_free(struct fed_binding *b); /* accepts NULL, returns NULL */

/* Gives the run's values to the statement, which keeps pointers to them; false: it has another
 * number of parameters, or columns. */
bool fed_binding_parameters(struct fed_binding *b, MYSQL_STMT *st, struct fed_sql_run *run)
    _must_use_;
bool fed_binding_columns(struct fed_binding *b, MYSQL_STMT *st, const struct fed_sql_run *run)
    _must_use_;
/* Passes the row that was fetched to fed_sql_row(), and returns what that returns. */
bool fed_binding_row(struct fed_binding *b, struct fed_sql_run *run) _must_use_;

#endif
