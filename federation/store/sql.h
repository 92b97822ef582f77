/* Operations of the store as SQL statements, for both databases: an operation is a few statements,
 * one after the other, each chosen by what the one before it did. A back end executes them, at once
 * or asynchronously.
 *
 * Tables, columns and bytes are those of Hadoop's SQLFederationStateStore. */
#ifndef SELVEDGE_FEDERATION_STORE_SQL_H
#define SELVEDGE_FEDERATION_STORE_SQL_H

#include "federation/store/store-backend.h"

enum fed_sql {
    SQL_MEMBER_UPDATE,
    SQL_MEMBER_INSERT,
    SQL_MEMBER_DEREGISTER,
    SQL_MEMBER_HEARTBEAT,
    SQL_MEMBER_GET,
    SQL_MEMBER_LIST,
    SQL_HOME_INSERT,
    SQL_HOME_STORED,
    SQL_HOME_UPDATE,
    SQL_HOME_GET,
    SQL_HOME_LIST,
    SQL_HOME_LIST_OF,
    SQL_HOME_DELETE,
    SQL_RESERVATION_INSERT,
    SQL_RESERVATION_UPDATE,
    SQL_RESERVATION_GET,
    SQL_RESERVATION_LIST,
    SQL_RESERVATION_DELETE,
    SQL_POLICY_SET,
    SQL_POLICY_GET,
    SQL_POLICY_LIST,
    SQL_POLICY_DELETE,
    SQL_KEY_INSERT,
    SQL_KEY_GET,
    SQL_KEY_DELETE,
    SQL_TOKEN_INSERT,
    SQL_TOKEN_UPDATE,
    SQL_TOKEN_GET,
    SQL_TOKEN_LIST,
    SQL_TOKEN_DELETE,
    SQL_SEQUENCE_INSERT,
    SQL_SEQUENCE_GET,
    SQL_SEQUENCE_NEXT,
    SQL_SEQUENCE_NEW, /* the value of SQL_SEQUENCE_NEXT */
    SQL_SEQUENCE_SET,
    SQL_VERSION_GET,
    SQL_VERSION_INSERT,
    SQL_SCHEMA, /* numbers of tables, procedures, and of those that are Hadoop's; MySQL alone */
    SQL_STATEMENTS
};

#define FED_SQL_VALUES 9 /* parameters and columns of a statement */

enum fed_dialect { FED_MYSQL, FED_SQLITE };
const char *fed_sql_text(enum fed_sql s, enum fed_dialect dialect); /* a ? for each parameter */
const char *fed_sql_parameters(enum fed_sql s); /* a letter each, what it is: sql-values.c */
const char *fed_sql_columns(enum fed_sql s);    /* a letter each, its type; "" = no rows */

/* Columns' types. */
#define SQL_COLUMN_NAME 'n'    /* text of FED_NAME_MAX characters */
#define SQL_COLUMN_JSON 'c'    /* text of FED_CAPABILITY_MAX characters */
#define SQL_COLUMN_TEXT 't'    /* text of FED_TOKEN_INFO_MAX characters */
#define SQL_COLUMN_PARAMS 'p'  /* FED_PARAMS_MAX bytes */
#define SQL_COLUMN_CONTEXT 'x' /* FED_CONTEXT_MAX bytes */
#define SQL_COLUMN_NUMBER 'i'
/* Bytes of the longest value of a type; 0 for a number. */
size_t fed_sql_column_max(char type);

struct fed_value {
    enum fed_value_type { FED_NULL, FED_NUMBER, FED_TEXT, FED_BYTES } type;
    int64_t number;
    const void *p; /* text (not terminated) or bytes */
    size_t n;
};

/* A call that is being executed. */
struct fed_sql_run {
    struct fed_call *call;
    unsigned step;    /* statements so far */
    enum fed_sql now; /* the statement to execute */
    struct fed_value values[FED_SQL_VALUES];
    /* Takes a row in place of fed_sql_row(), where there is no call; NULL. */
    bool (*row)(struct fed_sql_run *run, const struct fed_value *columns);
    /* The back end sets these after each statement. */
    bool duplicate;   /* a row of this key exists */
    uint64_t changed; /* rows that were found, changed or not */
};

/* Chooses the next statement, `now` with `values`; false: the call was answered. The first call is
 * before any statement. A statement that fails but for `duplicate` ends the run: the back end
 * answers. */
bool fed_sql_step(struct fed_sql_run *run);
/* Takes a row of the statement `now`; `columns` as it says. A value that is longer than its
 * column's type has p == NULL and n > 0. False: no more rows are taken. */
bool fed_sql_row(struct fed_sql_run *run, const struct fed_value *columns);

/* ---- Values (sql-values.c) ---- */

/* Fills `values` for the statement. -ENOMEM. */
int fed_sql_bind(struct fed_sql_run *run) _must_use_;

#endif
