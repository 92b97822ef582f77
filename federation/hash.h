/* uthash whose failed allocation leaves the element out, hh.tbl NULL, instead of ending the
 * process: include it before uthash. */
#ifndef SELVEDGE_FEDERATION_HASH_H
#define SELVEDGE_FEDERATION_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
