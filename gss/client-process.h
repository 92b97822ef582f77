/* The helper's process and its socket, of client.c. */
#ifndef SELVEDGE_GSS_CLIENT_PROCESS_H
#define SELVEDGE_GSS_CLIENT_PROCESS_H

#include "common/base.h"
#include "common/child.h"
#include "common/error.h"

struct sgss_process {
    int fd;                /* the connection, non-blocking; -1: none */
    struct sv_child child; /* none where systemd starts the helper */
};
#define SGSS_NO_PROCESS ((struct sgss_process){ .fd = -1, .child = SV_NO_CHILD })

/* Connects to `socket`, or starts argv with a socket as descriptor 3. Does not wait for it. */
int sgss_process_start(const char *socket, char *const *argv, struct sgss_process *ret,
                       struct sv_error *err) _must_use_;
/* Closes the connection, at which a helper of systemd ends, and kills one of ours; the caller reaps
 * it. */
void sgss_process_kill(struct sgss_process *p);
/* "exited with status 1", of the ended child, which is forgotten. */
const char *sgss_process_reap(struct sgss_process *p, char *buf, size_t size);

#endif
