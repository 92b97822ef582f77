/* Change of Resource or ExecutionType of an existing container: the part shared by requests of
 * ApplicationMasters and heartbeats. The new token is written to the store before the limits of the
 * cgroup change and before the scheduler knows. */
#ifndef SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_RESIZE_H
#define SELVEDGE_NODEMANAGER_RESOURCES_CONTAINER_RESIZE_H

#include "common/error.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

struct nm_context;
struct nm_scheduler;

/* `t` is a verified token, `id` the bytes of its identifier. */
int nm_resize_container(struct nm_context *ctx, struct nm_scheduler *scheduler,
                        const struct yarn_container_token *t, const void *id, size_t id_len,
                        struct sv_error *err) _must_use_;
/* For the next heartbeat: containers whose resource increased since the last delivered one. NULL:
 * arena exhausted. */
Hadoop__Yarn__ContainerProto **nm_resize_increased(const struct nm_context *ctx, struct sv_arena *a,
                                                   size_t *ret_n);
void nm_resize_increased_delivered(const struct nm_context *ctx);

#endif
