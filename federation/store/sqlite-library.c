/* See sqlite-library.h. */
#include "federation/store/sqlite-library.h"

#include "common/late-library.h"

int fed_sqlite_load(const struct fed_sqlite **ret, struct sv_error *err)
{
#define SYMBOL(name) { "sqlite3_" #name, &functions.name },
    static struct fed_sqlite functions;
    static const struct sv_late_symbol symbols[] = { FED_SQLITE_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = {
        .soname = "libsqlite3.so.0",
        .missing = "the federation's store needs libsqlite3.so.0: install SQLite",
        .product = "SQLite"
    };
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &functions;
    return r;
}
