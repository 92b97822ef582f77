/* A master key that is replaced by age: the next key is made when the newest is roll_ms old, and
 * becomes the current one delay_ms later, when everybody who must know it has had the time. Times
 * are monotonic: setting the clock does not roll a key. */
#ifndef SELVEDGE_WIRE_TOKEN_KEY_ROLL_H
#define SELVEDGE_WIRE_TOKEN_KEY_ROLL_H

#include "wire/token/token.h"

struct yarn_key_roll {
    struct yarn_master_key current, next; /* next.len 0 = none */
    int64_t made_ms;                      /* of the newest key */
};

/* Makes the first key, unless there is one. Its id is random, so that a key of an earlier process
 * is never mistaken for it. -errno: no random bytes. */
int yarn_key_roll_init(struct yarn_key_roll *k, size_t len, int64_t now_ms) _must_use_;
enum yarn_key_roll_due { YARN_KEY_ROLL_NOTHING, YARN_KEY_ROLL_MAKE, YARN_KEY_ROLL_ACTIVATE };
enum yarn_key_roll_due yarn_key_roll_due(const struct yarn_key_roll *k, int64_t roll_ms,
                                         int64_t delay_ms, int64_t now_ms);
/* The key that follows the newest one, not in use yet. */
int yarn_key_roll_make(const struct yarn_key_roll *k, size_t len, struct yarn_master_key *ret)
    _must_use_;
void yarn_key_roll_add(struct yarn_key_roll *k, const struct yarn_master_key *next, int64_t now_ms);
void yarn_key_roll_activate(struct yarn_key_roll *k);
/* The next key if there is one, else the current one. */
const struct yarn_master_key *yarn_key_roll_newest(const struct yarn_key_roll *k);
/* The current or the next key; NULL: neither has that id. */
const struct yarn_master_key *yarn_key_roll_find(const struct yarn_key_roll *k, int32_t key_id);

#endif
