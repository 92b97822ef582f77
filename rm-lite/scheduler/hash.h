/* uthash with the policy of common/oom.h; the default of uthash exits without a log line. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_HASH_H
#define SELVEDGE_RM_LITE_SCHEDULER_HASH_H

#include "common/oom.h"

#define uthash_fatal(text) sv_out_of_memory()
#include <uthash.h>

#endif
