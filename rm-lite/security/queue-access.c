/* See queue-access.h. */
#include "rm-lite/security/queue-access.h"

#include <errno.h>

#include "common/acl.h"
#include "common/user-groups.h"
#include "rm-lite/scheduler/scheduler.h"

struct caller {
    const char *user;
    struct sv_groups *groups;
};

void rm_queue_access_prepare(struct rm *rm, const char *user)
{
    char *const *groups;

    if ((rm->conf.acl_enable || rm_sched_maps_groups(rm->sched)) &&
        sv_groups_of(rm->groups, user, &groups) < 0)
        (void)sv_groups_missed(rm->groups); /* known when it submits */
}

int rm_queue_of_submission(struct rm *rm, const char *queue, const char *user, const char **ret,
                           struct sv_error *err)
{
    struct rm_submitter who = { .user = user };
    int r;

    if (rm_sched_maps_groups(rm->sched) && sv_groups_of(rm->groups, user, &who.groups) >= 0)
        who.primary = sv_groups_primary(rm->groups, user);
    (void)sv_groups_missed(rm->groups); /* checked below where they matter, ignoring */
    r = rm_sched_place(rm->sched, queue, &who, ret);
    return r < 0 ? sv_error_set(err, r,
                                "yarn.scheduler.capacity.queue-mappings: the groups of user %s are "
                                "not known yet, submit again",
                                user)
                 : 0;
}

static bool in_list(const char *acl, void *userdata)
{
    const struct caller *c = userdata;

    return sv_acl_admits(acl, c->user, c->groups);
}

/* Excludes lists that admit everybody: they are no reason to let everybody kill others'
 * applications. */
static bool named_in_list(const char *acl, void *userdata)
{
    return !sv_acl_allows_all(acl) && in_list(acl, userdata);
}

int rm_queue_may_submit(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                        struct sv_error *err)
{
    struct caller caller = { user, rm->groups };
    char text[YARN_ID_TEXT_MAX];

    if (!rm->conf.acl_enable || rm_sched_may_submit(rm->sched, queue, in_list, &caller))
        return 0;
    return sv_error_set(
        err, -EACCES,
        "org.apache.hadoop.security.AccessControlException: User %s does not have "
        "permission to submit %s to queue %s%s",
        user, yarn_app_id_text(app, text), queue,
        sv_groups_missed(rm->groups) ? ": the user's groups are not known yet, submit again" : "");
}

int rm_queue_may_move(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                      struct sv_error *err)
{
    struct caller caller = { user, rm->groups };
    struct rm_queue_info info;
    char text[YARN_ID_TEXT_MAX];

    if (!rm->conf.acl_enable || (rm_sched_queue(rm->sched, queue, &info) >= 0 &&
                                 rm_sched_may_submit(rm->sched, queue, in_list, &caller)))
        return 0;
    return sv_error_set(
        err, -EACCES,
        "org.apache.hadoop.security.AccessControlException: User %s cannot submit applications to "
        "target queue or the target queue doesn't exist: %.255s while moving %s%s",
        user, queue, yarn_app_id_text(app, text),
        sv_groups_missed(rm->groups) ? ": the user's groups are not known yet, move again" : "");
}

void rm_queue_rights(struct rm *rm, const char *queue, const char *user, bool *ret_submit,
                     bool *ret_administer)
{
    struct caller caller = { user, rm->groups };
    bool all = !rm->conf.acl_enable;

    *ret_submit = all || rm_sched_may_submit(rm->sched, queue, in_list, &caller);
    *ret_administer = all || rm_sched_administers(rm->sched, queue, in_list, &caller);
}

bool rm_queue_administers(struct rm *rm, const char *queue, const char *user)
{
    struct caller caller = { user, rm->groups };

    return rm_sched_administers(rm->sched, queue, named_in_list, &caller);
}
