/* See mysql-library.h. */
#include "federation/store/mysql-library.h"

#include "common/late-library.h"

int fed_mysql_load(const struct fed_mysql **ret, struct sv_error *err)
{
#define SYMBOL(name) { "mysql_" #name, &functions.name##_ },
    static struct fed_mysql functions;
    static const struct sv_late_symbol symbols[] = { FED_MYSQL_FUNCTIONS(SYMBOL) };
    static struct sv_late_library library = {
        .soname = "libmariadb.so.3",
        .missing = "the federation's store needs libmariadb.so.3: install MariaDB Connector/C "
                   "(libmariadb3)",
        .product = "MariaDB Connector/C (libmariadb3)"
    };
    int r = sv_late_load(&library, symbols, SV_ARRAY_LEN(symbols), err);

    if (r == 0)
        *ret = &functions;
    return r;
}
