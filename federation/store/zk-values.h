/* Values of the nodes in ZooKeeper: Hadoop's messages, and for the Router's keys its Writable and
 * for counters four bytes. Hostile: every value that is read, and names of nodes. */
#ifndef SELVEDGE_FEDERATION_STORE_ZK_VALUES_H
#define SELVEDGE_FEDERATION_STORE_ZK_VALUES_H

#include "common/arena.h"
#include "federation/store/records.h"

#define FED_ZK_VALUE_MAX 262144 /* bytes of a node; longer ones are broken */

union fed_zk_record {
    struct fed_member member;
    struct fed_home home;
    struct fed_reservation reservation;
    struct fed_policy policy;
    struct fed_key key;
    struct fed_token token;
    struct fed_version version;
};
struct fed_zk_bytes {
    const uint8_t *p;
    size_t n;
};

/* The record in the value of the node `name` (member, application, reservation, queue; the number
 * of a key or a token); counters have none. It points into arena and value and is not checked by
 * the records' rules yet. -EBADMSG: *ret_rule says what is wrong. */
int fed_zk_value_read(struct sv_arena *a, enum fed_kind kind, const char *name,
                      struct fed_zk_bytes value, union fed_zk_record *ret, const char **ret_rule)
    _must_use_;
/* The value that a request adds or sets, in the arena. -EINVAL with a rule; -ENOMEM. */
int fed_zk_value_write(struct sv_arena *a, const struct fed_request *q, int64_t now_ms,
                       struct fed_zk_bytes *ret, const char **ret_rule) _must_use_;
/* The stored value with a request's change; fields that are unknown here stay. -EBADMSG, -EINVAL,
 * -ENOMEM. */
int fed_zk_value_change(struct sv_arena *a, const struct fed_request *q, int64_t now_ms,
                        struct fed_zk_bytes old, struct fed_zk_bytes *ret, const char **ret_rule)
    _must_use_;

/* A counter of Curator's; an empty node counts 0. -EBADMSG. */
int fed_zk_count_read(struct fed_zk_bytes value, int32_t *ret) _must_use_;

#endif
