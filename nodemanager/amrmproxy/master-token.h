/* The AMRMToken in the credentials of a master that starts: the real one out, a local one in. Pure.
 * Hostile: the credentials. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_MASTER_TOKEN_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_MASTER_TOKEN_H

#include "common/arena.h"
#include "common/error.h"
#include "proto/yarn.pb-c.h"
#include "wire/token/token.h"

/* Replaces the first token of kind YARN_AM_RM_TOKEN, which *ret_real is then, and removes others of
 * its kind. New bytes are in the arena, in the format of the old ones. -ENOENT: there is none;
 * -EBADMSG: it is not the attempt's, or the credentials are none. */
int nm_master_token_exchange(Hadoop__Yarn__ContainerLaunchContextProto *clc,
                             struct yarn_attempt_id id, const struct yarn_token *local,
                             struct sv_arena *a, struct yarn_token *ret_real, struct sv_error *err)
    _must_use_;

#endif
