/* Opens the database file of the state store, creates or upgrades its tables; for state-store.c
 * alone. The file belongs to the daemon's account; its owner, integrity and schema are checked,
 * because a disk or an operator may have damaged it. */
#ifndef SELVEDGE_NODEMANAGER_STORE_STATE_STORE_OPEN_H
#define SELVEDGE_NODEMANAGER_STORE_STATE_STORE_OPEN_H

#include <sqlite3.h>

#include "common/error.h"

#define NM_STORE_NEW "new" /* a setting: nm_store_is_new */

/* path NULL: in memory. 1: NM_STORE_NEW is set. */
int nm_store_db_open(const char *path, sqlite3 **ret, struct sv_error *err) _must_use_;

#endif
