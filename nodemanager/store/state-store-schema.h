/* The tables of the state store; for state-store.c alone. */
#ifndef SELVEDGE_NODEMANAGER_STORE_STATE_STORE_SCHEMA_H
#define SELVEDGE_NODEMANAGER_STORE_STATE_STORE_SCHEMA_H

#include "nodemanager/store/state-store.h"

extern const char *const nm_store_schema; /* creates NM_STORE_SCHEMA */
/* Step i upgrades schema i + 1 to the next. */
extern const char *const nm_store_upgrades[NM_STORE_SCHEMA - 1];

#endif
