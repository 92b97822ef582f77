/* uthash and utlist with the policy of common/oom.h; the default of uthash exits without a log
 * line. */
#ifndef SELVEDGE_SERVICE_ENGINE_HASH_H
#define SELVEDGE_SERVICE_ENGINE_HASH_H

#include "common/oom.h"

#define uthash_fatal(text) sv_out_of_memory()
#include <uthash.h>
#include <utlist.h>

#endif
