/* The groups of users, for access control lists: from the machine's name service, as the
 * NodeManagers of Hadoop ask it, and cached. A name service may take minutes, so a thread asks it,
 * and what depends on an answer is done again when it is there. Hostile: the user's name, which a
 * client chooses: users, look-ups at once and the time of one are bounded. */
#ifndef SELVEDGE_COMMON_USER_GROUPS_H
#define SELVEDGE_COMMON_USER_GROUPS_H

#include <systemd/sd-event.h>

#include "common/base.h"

#define SV_GROUPS_NAME_MAX 255     /* bytes of a user's name; a longer one has no groups */
#define SV_GROUPS_USERS_MAX 1000   /* remembered */
#define SV_GROUPS_PENDING_MAX 64   /* asked for and not known yet; of one more nothing is known */
#define SV_GROUPS_THREADS 4        /* look-ups at once */
#define SV_GROUPS_PER_USER 1024    /* the first of them */
#define SV_GROUPS_TIMEOUT_MS 10000 /* then the user has no groups for `negative_ms` */

struct sv_groups;

struct sv_groups_conf {
    int64_t cache_ms;    /* hadoop.security.groups.cache.secs */
    int64_t negative_ms; /* hadoop.security.groups.negative-cache.secs: of users without groups */
    /* For tests, on a thread: malloc'd names, NULL at the end. NULL: the name service. */
    char **(*source)(const char *user);
    /* A look-up has ended: what was answered -EAGAIN may be asked again. */
    void (*known)(void *userdata);
    void *userdata;
};

int sv_groups_new(sd_event *event, const struct sv_groups_conf *conf, struct sv_groups **ret)
    _must_use_;
struct sv_groups *sv_groups_free(struct sv_groups *g);
/* Names, sorted, NULL at the end, valid until the event loop runs again. -EAGAIN: not known yet. */
int sv_groups_of(struct sv_groups *g, const char *user, char *const **ret) _must_use_;
/* The first of them, as the name service has it; NULL: none, or not known yet. */
const char *sv_groups_primary(struct sv_groups *g, const char *user);
/* Whether sv_groups_of has answered -EAGAIN since the last call of this function. */
bool sv_groups_missed(struct sv_groups *g);
/* The next sv_groups_of asks the name service again. */
void sv_groups_forget(struct sv_groups *g);

/* By name, as everybody or, unless `g` is NULL, by a group. False while groups are not known. */
bool sv_acl_admits(const char *acl, const char *user, struct sv_groups *g);

#endif
