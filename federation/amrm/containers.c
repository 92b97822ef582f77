/* The containers of an application; see containers.h. Hostile: container ids. */
#include "federation/amrm/containers.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "federation/hash.h"

struct container {
    struct key { /* hashed: no padding. The application is the same for all */
        int64_t attempt;
        int64_t id;
    } key;
    uint32_t member;
    bool told;    /* the master knows */
    bool ended;   /* in `ended`, not counted */
    bool is_new;  /* staged: undone by removing it */
    bool telling; /* staged: told from now on */
    bool ending;  /* staged: ended from now on */
    struct container *next_staged;
    struct container *prev, *next; /* in `ended`, or in its member's list */
    UT_hash_handle hh;
};

struct fed_containers {
    struct yarn_app_id app;
    struct container *by_id, *staged, *ended; /* ended: the oldest first */
    struct container **live;                  /* by member, n_members of them */
    size_t n_live, n_ended, n_members;
};

struct fed_containers *fed_containers_new(struct yarn_app_id app)
{
    struct fed_containers *c = calloc(1, sizeof(*c));

    if (c)
        c->app = app;
    return c;
}

struct fed_containers *fed_containers_free(struct fed_containers *c)
{
    struct container *it, *next;

    if (!c)
        return NULL;
    HASH_ITER (hh, c->by_id, it, next) {
        HASH_DEL(c->by_id, it);
        free(it);
    }
    free(c->live);
    free(c);
    return NULL;
}

/* ---- One container ---- */

static bool is_of_app(const struct fed_containers *c, struct yarn_container_id id)
{
    return yarn_app_id_cmp(id.attempt.app, c->app) == 0;
}

static struct container *find(const struct fed_containers *c, struct yarn_container_id id)
{
    struct key key = { id.attempt.attempt, id.id };
    struct container *it;

    if (!is_of_app(c, id))
        return NULL;
    HASH_FIND(hh, c->by_id, &key, sizeof(key), it);
    return it;
}

static int make_room(struct fed_containers *c, size_t member)
{
    struct container **grown;

    if (member < c->n_members)
        return 0;
    grown = reallocarray(c->live, member + 1, sizeof(struct container *));
    if (!grown)
        return -ENOMEM;
    for (; c->n_members <= member; c->n_members++)
        grown[c->n_members] = NULL;
    c->live = grown;
    return 0;
}

static struct container *make(struct fed_containers *c, struct yarn_container_id id, size_t member)
{
    struct container *it = make_room(c, member) == 0 ? calloc(1, sizeof(*it)) : NULL;

    if (!it)
        return NULL;
    it->key = (struct key){ id.attempt.attempt, id.id };
    it->member = (uint32_t)member;
    HASH_ADD(hh, c->by_id, key, sizeof(it->key), it);
    if (!it->hh.tbl) {
        free(it);
        return NULL;
    }
    DL_APPEND(c->live[member], it);
    c->n_live++;
    return it;
}

static void leave_live(struct fed_containers *c, struct container *it)
{
    DL_DELETE(c->live[it->member], it);
    c->n_live--;
}

static void discard(struct fed_containers *c, struct container *it)
{
    HASH_DEL(c->by_id, it);
    if (it->ended) {
        DL_DELETE(c->ended, it);
        c->n_ended--;
    } else {
        leave_live(c, it);
    }
    free(it);
}

int fed_containers_leave(struct fed_containers *c, struct fed_budget *b)
{
    c->staged = NULL;
    for (size_t i = 0; i <= c->n_members;) {
        struct container *it = i < c->n_members ? c->live[i] : c->ended;

        if (!it) {
            i++;
            continue;
        }
        if (fed_spent(b))
            return FED_MORE;
        discard(c, it);
        fed_spend(b, 1);
    }
    return 0;
}

static void stage(struct fed_containers *c, struct container *it)
{
    if (it->is_new || it->telling || it->ending)
        return;
    it->next_staged = c->staged;
    c->staged = it;
}

static struct container *make_staged(struct fed_containers *c, struct yarn_container_id id,
                                     size_t member)
{
    struct container *it = make(c, id, member);

    if (it) {
        stage(c, it);
        it->is_new = true;
    }
    return it;
}

/* ---- Answers of members ---- */

static int see(struct fed_containers *c, struct yarn_container_id id, size_t member, bool tell,
               enum fed_seen *ret_seen)
{
    struct container *it = find(c, id);

    if (!is_of_app(c, id) || (it && it->member != member)) {
        *ret_seen = FED_FOREIGN;
    } else if (it && (!tell || it->told || it->telling || it->ended || it->ending)) {
        *ret_seen = FED_REPEATED;
    } else if (!it && c->n_live >= FED_CONTAINERS_MAX) {
        *ret_seen = FED_FULL;
    } else {
        if (!it)
            it = make_staged(c, id, member);
        if (!it)
            return -ENOMEM;
        if (tell)
            stage(c, it);
        it->telling = tell;
        *ret_seen = FED_FRESH;
    }
    return 0;
}

int fed_containers_live(struct fed_containers *c, struct yarn_container_id id, size_t member,
                        enum fed_seen *ret_seen)
{
    return see(c, id, member, true, ret_seen);
}

int fed_containers_has(struct fed_containers *c, struct yarn_container_id id, size_t member,
                       enum fed_seen *ret_seen)
{
    return see(c, id, member, false, ret_seen);
}

int fed_containers_end(struct fed_containers *c, struct yarn_container_id id, size_t member,
                       enum fed_seen *ret_seen)
{
    struct container *it = find(c, id);

    if (!is_of_app(c, id) || (it && it->member != member)) {
        *ret_seen = FED_FOREIGN;
    } else if (it && (it->ended || it->ending)) {
        *ret_seen = FED_REPEATED;
    } else {
        if (!it)
            it = make_staged(c, id, member);
        if (!it)
            return -ENOMEM;
        stage(c, it);
        it->ending = true;
        *ret_seen = FED_FRESH;
    }
    return 0;
}

bool fed_containers_may(const struct fed_containers *c, struct yarn_container_id id, size_t member)
{
    const struct container *it = find(c, id);

    return is_of_app(c, id) && (!it || it->member == member);
}

/* ---- Keeping and undoing ---- */

static void retire(struct fed_containers *c, struct container *it)
{
    leave_live(c, it);
    it->ended = true;
    DL_APPEND(c->ended, it);
    c->n_ended++;
}

static void keep(struct fed_containers *c, struct container *it)
{
    it->told |= it->telling;
    if (it->ending)
        retire(c, it);
    it->is_new = it->telling = it->ending = false;
}

int fed_containers_keep(struct fed_containers *c, struct fed_budget *b)
{
    for (size_t n = 1; c->staged || c->n_ended > FED_ENDED_MAX; n++) {
        struct container *it = c->staged;

        if (fed_spent(b))
            return FED_MORE;
        if (it) {
            c->staged = it->next_staged;
            keep(c, it);
        } else {
            discard(c, c->ended);
        }
        if (n % 4 == 0)
            fed_spend(b, 1);
    }
    return 0;
}

void fed_containers_undo(struct fed_containers *c)
{
    struct container *it = c->staged, *next;

    c->staged = NULL;
    for (; it; it = next) {
        next = it->next_staged;
        if (it->is_new) {
            discard(c, it);
            continue;
        }
        it->telling = it->ending = false;
    }
}

/* ---- From elsewhere ---- */

int fed_containers_know(struct fed_containers *c, struct yarn_container_id id, size_t member,
                        bool told)
{
    struct container *it;

    if (!is_of_app(c, id))
        return -EXDEV;
    if (find(c, id))
        return -EEXIST;
    if (c->n_live >= FED_CONTAINERS_MAX)
        return -ENOSPC;
    it = make(c, id, member);
    if (!it)
        return -ENOMEM;
    it->told = told;
    return 0;
}

/* One that is staged is kept, or undone, with the rest. */
static void has_ended(struct fed_containers *c, struct container *it)
{
    if (it->is_new || it->telling)
        it->ending = true;
    else if (!it->ended && !it->ending)
        retire(c, it);
}

int fed_containers_master_has(struct fed_containers *c, struct yarn_container_id id, size_t member,
                              bool ended)
{
    struct container *it = find(c, id);
    int r = it ? 0 : fed_containers_know(c, id, member, true);

    if (r < 0)
        return r;
    it = it ? it : find(c, id);
    if (it->member != member)
        return -EEXIST;
    it->told = true;
    if (ended)
        has_ended(c, it);
    return 0;
}

int fed_containers_owner(const struct fed_containers *c, struct yarn_container_id id)
{
    const struct container *it = find(c, id);

    return it && !it->ended ? (int)it->member : -ENOENT;
}

bool fed_containers_has_ended(const struct fed_containers *c, struct yarn_container_id id)
{
    const struct container *it = find(c, id);

    return it && it->ended;
}

size_t fed_containers_count(const struct fed_containers *c)
{
    return c->n_live;
}

bool fed_containers_next(const struct fed_containers *c, size_t member, const void **at,
                         struct yarn_container_id *ret)
{
    const struct container *it = *at;

    it = it ? it->next : member < c->n_members ? c->live[member] : NULL;
    if (!it)
        return false;
    *at = it;
    *ret = (struct yarn_container_id){ { c->app, (int32_t)it->key.attempt }, it->key.id };
    return true;
}
