/* The epochs of members, as their ResourceManagers tell them: with the cluster's figures, in the
 * capability of a heartbeat. Ours do, Apache's tell none. Two members with one epoch give equal ids
 * to containers of one application. Hostile: the text, which anybody may have stored. */
#ifndef SELVEDGE_FEDERATION_STORE_MEMBER_EPOCH_H
#define SELVEDGE_FEDERATION_STORE_MEMBER_EPOCH_H

#include "federation/store/store.h"

/* A number in the object clusterMetrics, where readers of Apache's look for fields by name. */
#define FED_EPOCH_FIELD "selvedgeEpoch"

/* -1: the text tells none. */
int64_t fed_member_epoch(const char *capability);
/* Calls `found` for each active member (b) that has the epoch of one before it (a), once. -ENOMEM.
 */
int fed_members_with_one_epoch(const struct fed_member *v, size_t n,
                               void (*found)(const struct fed_member *a, const struct fed_member *b,
                                             int64_t epoch, void *userdata),
                               void *userdata) _must_use_;

#endif
