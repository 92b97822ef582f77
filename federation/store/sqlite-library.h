/* The functions of SQLite that the store calls, as a table, loaded late. */
#ifndef SELVEDGE_FEDERATION_STORE_SQLITE_LIBRARY_H
#define SELVEDGE_FEDERATION_STORE_SQLITE_LIBRARY_H

#include <sqlite3.h>

#include "common/base.h"
#include "common/error.h"

#define FED_SQLITE_FUNCTIONS(F)                                                                    \
    F(bind_blob)                                                                                   \
    F(bind_int64)                                                                                  \
    F(bind_null)                                                                                   \
    F(bind_text)                                                                                   \
    F(changes)                                                                                     \
    F(close)                                                                                       \
    F(column_blob)                                                                                 \
    F(column_bytes)                                                                                \
    F(column_int64)                                                                                \
    F(column_text)                                                                                 \
    F(column_type)                                                                                 \
    F(create_function)                                                                             \
    F(db_config)                                                                                   \
    F(errcode)                                                                                     \
    F(errmsg)                                                                                      \
    F(exec)                                                                                        \
    F(finalize)                                                                                    \
    F(get_autocommit)                                                                              \
    F(limit)                                                                                       \
    F(open_v2)                                                                                     \
    F(prepare_v2)                                                                                  \
    F(reset)                                                                                       \
    F(result_int64)                                                                                \
    F(step)

/* A member is the function sqlite3_MEMBER with its own type. */
struct fed_sqlite {
#define FED_SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
    FED_SQLITE_FUNCTIONS(FED_SQLITE_MEMBER)
#undef FED_SQLITE_MEMBER
};

int fed_sqlite_load(const struct fed_sqlite **ret, struct sv_error *err) _must_use_;

#endif
