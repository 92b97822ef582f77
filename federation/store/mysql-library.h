/* The functions of MariaDB Connector/C that the store calls, as a table, loaded late. */
#ifndef SELVEDGE_FEDERATION_STORE_MYSQL_LIBRARY_H
#define SELVEDGE_FEDERATION_STORE_MYSQL_LIBRARY_H

#include <mysql.h>

#include "common/base.h"
#include "common/error.h"

#define FED_MYSQL_FUNCTIONS(F)                                                                     \
    F(close)                                                                                       \
    F(errno)                                                                                       \
    F(error)                                                                                       \
    F(get_socket)                                                                                  \
    F(get_timeout_value_ms)                                                                        \
    F(init)                                                                                        \
    F(optionsv)                                                                                    \
    F(real_connect_cont)                                                                           \
    F(real_connect_start)                                                                          \
    F(real_query_cont)                                                                             \
    F(real_query_start)                                                                            \
    F(stmt_affected_rows)                                                                          \
    F(stmt_bind_param)                                                                             \
    F(stmt_bind_result)                                                                            \
    F(stmt_close)                                                                                  \
    F(stmt_errno)                                                                                  \
    F(stmt_error)                                                                                  \
    F(stmt_execute_cont)                                                                           \
    F(stmt_execute_start)                                                                          \
    F(stmt_fetch_cont)                                                                             \
    F(stmt_fetch_start)                                                                            \
    F(stmt_field_count)                                                                            \
    F(stmt_init)                                                                                   \
    F(stmt_param_count)                                                                            \
    F(stmt_prepare_cont)                                                                           \
    F(stmt_prepare_start)

/* A member is the function mysql_MEMBER with its own type. */
struct fed_mysql {
#define FED_MYSQL_MEMBER(name) __typeof__(mysql_##name) *name##_;
    FED_MYSQL_FUNCTIONS(FED_MYSQL_MEMBER)
#undef FED_MYSQL_MEMBER
};

int fed_mysql_load(const struct fed_mysql **ret, struct sv_error *err) _must_use_;

#endif
