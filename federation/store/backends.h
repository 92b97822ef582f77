/* The back ends, for store-open.c and tests. */
#ifndef SELVEDGE_FEDERATION_STORE_BACKENDS_H
#define SELVEDGE_FEDERATION_STORE_BACKENDS_H

#include "federation/store/store.h"

/* An absolute path; the file is made where it does not exist. */
int fed_store_open_sqlite(sd_event *event, const char *path, struct fed_store **ret,
                          struct sv_error *err) _must_use_;

#endif
