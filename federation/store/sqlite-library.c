/* See sqlite-library.h. */
#include "federation/store/sqlite-library.h"

#include "federation/store/library.h"

int fed_sqlite_load(const struct fed_sqlite **ret, struct sv_error *err)
{
#define NAME(name) "sqlite3_" #name,
    static const char *const names[] = { FED_SQLITE_FUNCTIONS(NAME) };
    static struct fed_sqlite functions;
    static bool loaded;
    int r;

    _Static_assert(sizeof(functions) == sizeof(void *) * SV_ARRAY_LEN(names), "a pointer a name");
    if (!loaded) {
        /* POSIX: an object pointer holds a function's address. */
        r = fed_library_load("libsqlite3.so.0", "SQLite", names, SV_ARRAY_LEN(names),
                             (void **)&functions, err);
        if (r < 0)
            return r;
        loaded = true;
    }
    *ret = &functions;
    return 0;
}
