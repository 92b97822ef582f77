/* The environment of a container as YARN sets it (ContainerLaunch.sanitizeEnv). */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_ENV_H
#define SELVEDGE_NODEMANAGER_LAUNCH_CONTAINER_ENV_H

#include "common/arena.h"
#include "common/base.h"
#include "executor/script.h"
#include "wire/ipc/methods.h"

struct nm_aux;
struct nm_container;

/* Refuses more environment than a container may have (EXE_ENV_*), naming the container and the
 * limit; no side effect. */
int nm_env_check(const Hadoop__Yarn__ContainerLaunchContextProto *clc, const char *container,
                 struct sv_error *err) _must_use_;

/* Everything in the arena; `aux` (NULL: none) adds NM_AUX_SERVICE_…. A name that no shell can
 * export is refused with a message (-EINVAL). */
int nm_env_build(const struct nm_container *c, const struct nm_aux *aux, struct sv_arena *a,
                 struct exe_env **ret, size_t *ret_n, struct sv_error *err) _must_use_;
/* The value that the container will have for a name: its own, else the daemon's if whitelisted,
 * else NULL. */
const char *nm_env_value(const struct nm_container *c, const char *name);
/* Its own alone, of its launch context; NULL: it has none. */
const char *nm_env_own_value(const struct nm_container *c, const char *name);

#endif
