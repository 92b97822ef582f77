/* See key-roll.h. */
#include "wire/token/key-roll.h"

#include <string.h>

int yarn_key_roll_init(struct yarn_key_roll *k, size_t len, int64_t now_ms)
{
    struct yarn_master_key first;
    uint32_t id;
    int r;

    if (k->current.len)
        return 0;
    r = yarn_master_key_generate(0, sizeof(id), &first);
    if (r < 0)
        return r;
    memcpy(&id, first.bytes, sizeof(id));
    r = yarn_master_key_generate((int32_t)(id & 0x3fffffff) | 1, len, &k->current);
    if (r >= 0)
        k->made_ms = now_ms;
    return r;
}

enum yarn_key_roll_due yarn_key_roll_due(const struct yarn_key_roll *k, int64_t roll_ms,
                                         int64_t delay_ms, int64_t now_ms)
{
    const int64_t age = now_ms - k->made_ms;

    if (k->next.len)
        return age >= delay_ms ? YARN_KEY_ROLL_ACTIVATE : YARN_KEY_ROLL_NOTHING;
    return age >= roll_ms ? YARN_KEY_ROLL_MAKE : YARN_KEY_ROLL_NOTHING;
}

int yarn_key_roll_make(const struct yarn_key_roll *k, size_t len, struct yarn_master_key *ret)
{
    const int32_t last = yarn_key_roll_newest(k)->key_id;

    return yarn_master_key_generate(last == INT32_MAX ? 1 : last + 1, len, ret);
}

void yarn_key_roll_add(struct yarn_key_roll *k, const struct yarn_master_key *next, int64_t now_ms)
{
    k->next = *next;
    k->made_ms = now_ms;
}

void yarn_key_roll_activate(struct yarn_key_roll *k)
{
    k->current = k->next;
    explicit_bzero(&k->next, sizeof(k->next));
}

const struct yarn_master_key *yarn_key_roll_newest(const struct yarn_key_roll *k)
{
    return k->next.len ? &k->next : &k->current;
}

const struct yarn_master_key *yarn_key_roll_find(const struct yarn_key_roll *k, int32_t key_id)
{
    if (k->current.len && k->current.key_id == key_id)
        return &k->current;
    return k->next.len && k->next.key_id == key_id ? &k->next : NULL;
}
