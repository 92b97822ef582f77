/* Ends one container by signals through the ResourceManager: for `stop` and `kill` of a container
 * whose application goes on. */
#ifndef SELVEDGE_CLIENT_CORE_CONTAINER_END_H
#define SELVEDGE_CLIENT_CORE_CONTAINER_END_H

#include "client/core/session.h"

/* Called once, from the loop, when the container has ended; `killed`: SIGKILL was needed. Not
 * called after an error, which ends the command. */
typedef void (*cli_container_ended_fn)(bool killed, void *userdata);

struct cli_container_end;

/* Sends SIGTERM, and SIGKILL after `grace_ms`; at once if that is 0. NULL: out of memory, or the
 * call could not be made. Freed by the caller. */
struct cli_container_end *cli_container_end(struct cli_ctx *ctx, struct yarn_container_id id,
                                            int64_t grace_ms, cli_container_ended_fn fn,
                                            void *userdata);
struct cli_container_end *cli_container_end_free(struct cli_container_end *e);

#endif
