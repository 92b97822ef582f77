/* A moment as people type it: "7d" ago, "2026-01-31", "2026-01-31T12:00", "2026-01-31 12:00:30",
 * with a Z for UTC. Pure. */
#ifndef SELVEDGE_CLIENT_CORE_MOMENT_H
#define SELVEDGE_CLIENT_CORE_MOMENT_H

#include "common/base.h"

/* Milliseconds since 1970. `now_ms`: wall clock; `utc`: dates without a Z are UTC's too, else local
 * time's. -EINVAL: none of these, or before 1970. */
int cli_moment_parse(const char *text, int64_t now_ms, bool utc, int64_t *ret_ms) _must_use_;

#endif
