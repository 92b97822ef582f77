/* Loads a back end's library when a store is opened that needs it: programs that use another one,
 * or none, neither depend on it nor pay for it at their start. */
#ifndef SELVEDGE_FEDERATION_STORE_LIBRARY_H
#define SELVEDGE_FEDERATION_STORE_LIBRARY_H

#include "common/base.h"
#include "common/error.h"

/* `ret`: n pointers to functions, in the order of the names. -ELIBACC with a text that says what to
 * install: there is no such library, or it has no such function. The library is kept. */
int fed_library_load(const char *soname, const char *package, const char *const *names, size_t n,
                     void **ret, struct sv_error *err) _must_use_;

#endif
