/* Shared libraries that a program loads when it first needs one: a program that never does neither
 * depends on it nor pays for it at its start (docs/adr/0041-libcurl-loaded-late.md). */
#ifndef SELVEDGE_COMMON_LATE_LIBRARY_H
#define SELVEDGE_COMMON_LATE_LIBRARY_H

#include "common/base.h"
#include "common/error.h"

struct sv_late_library {
    const char *soname;  /* the version of the headers that the caller is compiled with */
    const char *missing; /* why it is needed, what to install; the loader's reason follows */
    const char *product; /* whose newer version has a symbol that is not there */
    bool loaded;
};

struct sv_late_symbol {
    const char *name;
    void *ret; /* where its address goes: a pointer to a pointer */
};

/* Loads the library at the first call, finds the symbols, and keeps it. -ELIBACC: there is none, or
 * it lacks a symbol; the next call tries again. */
int sv_late_load(struct sv_late_library *l, const struct sv_late_symbol *symbols, size_t n,
                 struct sv_error *err) _must_use_;

#endif
