/* Looks whether the daemon can use what it owns below a local or log directory, as Hadoop's
 * SubAccessibilityVisitor. For the thread of dir-probe.c. Users write below: entries come, go and
 * are links meanwhile, and names are theirs. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_DIR_CONTENT_H
#define SELVEDGE_NODEMANAGER_HEALTH_DIR_CONTENT_H

#include "common/base.h"

#define NM_CONTENT_TURN_MS 1000  /* of one check; the next one goes on behind it */
#define NM_CONTENT_DEPTH 32      /* directories; deeper ones are not looked at */
#define NM_CONTENT_ENTRY_MAX 100 /* bytes of a path that is shown, its end */

struct nm_dir_content {
    uint64_t next;                    /* entry to begin with, in and out; 0: the first */
    const char *what;                 /* what failed: a static string */
    char entry[NM_CONTENT_ENTRY_MAX]; /* where, escaped */
};

/* `fd`: the directory, `own`: the daemon's account. Entries of others, and links, are passed over
 * with what is below them, as are other file systems. 0 or -errno; `what` and `entry` are set in
 * that case alone. */
int nm_dir_content_check(int fd, unsigned own, struct nm_dir_content *c) _must_use_;

#endif
