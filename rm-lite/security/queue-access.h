/* Access to queues: acl_submit_applications and acl_administer_queue of capacity-scheduler.xml,
 * enforced with yarn.acl.enable. User names are claims of clients. */
#ifndef SELVEDGE_RM_LITE_SECURITY_QUEUE_ACCESS_H
#define SELVEDGE_RM_LITE_SECURITY_QUEUE_ACCESS_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* Starts the look-up of the groups of a user who will soon submit. */
void rm_queue_access_prepare(struct rm *rm, const char *user);
/* The queue by queue-mappings, valid until the next refresh. -EAGAIN while they need the user's
 * groups. */
int rm_queue_of_submission(struct rm *rm, const char *queue, const char *user, const char **ret,
                           struct sv_error *err) _must_use_;
/* -EACCES with Hadoop's words; also while the user's groups are unknown and would matter. */
int rm_queue_may_submit(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                        struct sv_error *err) _must_use_;
/* For a move to the queue; an unknown queue is refused alike. */
int rm_queue_may_move(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                      struct sv_error *err) _must_use_;
/* Rights that the lists of the queue and of those above it give the user; all without
 * yarn.acl.enable. False for groups that are not known yet: sv_groups_missed(). */
void rm_queue_rights(struct rm *rm, const char *queue, const char *user, bool *ret_submit,
                     bool *ret_administer);
bool rm_queue_administers(struct rm *rm, const char *queue, const char *user);

#endif
