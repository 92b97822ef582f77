/* Hostile messages of nm-driver: requests and answers that are well-formed protobuf but that no
 * sound peer would send (HARDENING E62, E63). */
#ifndef SELVEDGE_TESTS_NM_HOSTILE_H
#define SELVEDGE_TESTS_NM_HOSTILE_H

#include "common/arena.h"
#include "wire/ipc/methods.h"

/* By name; false: not a fault of the launch context. */
bool hostile_context(struct sv_arena *a, const char *fault,
                     Hadoop__Yarn__ContainerLaunchContextProto *clc);
/* A heartbeat's answer with lists of `n` rows each that mean nothing here; good until the next. */
bool hostile_heartbeat(const char *kind, size_t n, Hadoop__Yarn__NodeHeartbeatResponseProto *m);

#endif
