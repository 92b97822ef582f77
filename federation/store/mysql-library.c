/* See mysql-library.h. */
#include "federation/store/mysql-library.h"

#include "federation/store/library.h"

int fed_mysql_load(const struct fed_mysql **ret, struct sv_error *err)
{
#define NAME(name) "mysql_" #name,
    static const char *const names[] = { FED_MYSQL_FUNCTIONS(NAME) };
    static struct fed_mysql functions;
    static bool loaded;
    int r;

    _Static_assert(sizeof(functions) == sizeof(void *) * SV_ARRAY_LEN(names), "a pointer a name");
    if (!loaded) {
        /* POSIX: an object pointer holds a function's address. */
        r = fed_library_load("libmariadb.so.3", "MariaDB Connector/C (libmariadb3)", names,
                             SV_ARRAY_LEN(names), (void **)&functions, err);
        if (r < 0)
            return r;
        loaded = true;
    }
    *ret = &functions;
    return 0;
}
