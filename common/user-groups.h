/* Groups of users for access control lists, from the machine's name service, as Hadoop's
 * NodeManagers resolve them, or from the configuration, with a cache. A look-up may take minutes,
 * so it runs on a thread; requests that depend on it are retried when it completes. Hostile: the
 * user's name, which a client chooses: users, concurrent look-ups and the time of each are bounded.
 */
#ifndef SELVEDGE_COMMON_USER_GROUPS_H
#define SELVEDGE_COMMON_USER_GROUPS_H

#include <systemd/sd-event.h>

#include "common/base.h"

#define SV_GROUPS_NAME_MAX 255     /* bytes of a user's name; a longer one has no groups */
#define SV_GROUPS_USERS_MAX 1000   /* cached users */
#define SV_GROUPS_PENDING_MAX 64   /* users waiting for a look-up; further ones have no groups */
#define SV_GROUPS_THREADS 4        /* concurrent look-ups */
#define SV_GROUPS_PER_USER 1024    /* further groups are ignored */
#define SV_GROUPS_TIMEOUT_MS 10000 /* after it, the user has no groups for `negative_ms` */

#define SV_GROUPS_WHY_MAX 300

struct sv_groups;

/* Another source than the name service: common/ldap/ldap-groups.h, tests. */
struct sv_groups_source {
    /* Runs on a thread, and must not log: malloc'd names, NULL-terminated, the primary one first;
     * NULL: none, or it has failed, for the reason that it writes to `why`. NULL: the name
     * service. */
    char **(*names)(void *data, const char *user, char *why, size_t why_size);
    /* A look-up may outlive the struct sv_groups: each has a reference. NULL: `data` lives for as
     * long as the process. */
    void *(*ref)(void *data);
    void (*unref)(void *data);
    void *data;
};
static inline void sv_groups_source_unref(const struct sv_groups_source *s)
{
    if (s->unref)
        s->unref(s->data);
}

struct sv_groups_conf {
    int64_t cache_ms;    /* hadoop.security.groups.cache.secs */
    int64_t negative_ms; /* hadoop.security.groups.negative-cache.secs: for users without groups */
    struct sv_groups_source source;
    /* A look-up has completed: requests that got -EAGAIN may be retried. */
    void (*known)(void *userdata);
    void *userdata;
    /* Users with groups of the configuration: static-groups.h; NULL: none. Parsed anew, so that it
     * may go. */
    const char *overrides;
};

int sv_groups_new(sd_event *event, const struct sv_groups_conf *conf, struct sv_groups **ret)
    _must_use_;
struct sv_groups *sv_groups_free(struct sv_groups *g);
/* Returns the names, sorted, NULL-terminated, valid until the event loop runs again. -EAGAIN:
 * pending. */
int sv_groups_of(struct sv_groups *g, const char *user, char *const **ret) _must_use_;
/* The primary group; NULL: none, or pending. */
const char *sv_groups_primary(struct sv_groups *g, const char *user);
/* True if sv_groups_of has returned -EAGAIN since the last call of this function. */
bool sv_groups_missed(struct sv_groups *g);
/* Clears the cache. */
void sv_groups_forget(struct sv_groups *g);

/* True if the list admits the user by name, as everybody or, unless `g` is NULL, by a group. False
 * while groups are pending. */
bool sv_acl_admits(const char *acl, const char *user, struct sv_groups *g);

#endif
