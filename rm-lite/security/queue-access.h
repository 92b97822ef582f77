/* Who may submit to a queue and who administers it: acl_submit_applications and
 * acl_administer_queue of capacity-scheduler.xml, which count with yarn.acl.enable. Users are those
 * whom clients say they are. */
#ifndef SELVEDGE_RM_LITE_SECURITY_QUEUE_ACCESS_H
#define SELVEDGE_RM_LITE_SECURITY_QUEUE_ACCESS_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* Starts the look-up of a user who will soon submit. */
void rm_queue_access_prepare(struct rm *rm, const char *user);
/* The queue by queue-mappings, valid until the next refresh. -EAGAIN while they need the user's
 * groups. */
int rm_queue_of_submission(struct rm *rm, const char *queue, const char *user, const char **ret,
                           struct sv_error *err) _must_use_;
/* -EACCES with Hadoop's words; also while the user's groups are not known and would matter. */
int rm_queue_may_submit(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                        struct sv_error *err) _must_use_;
/* The same for a move to the queue; one that does not exist is refused alike. */
int rm_queue_may_move(struct rm *rm, const char *queue, const char *user, struct yarn_app_id app,
                      struct sv_error *err) _must_use_;
bool rm_queue_administers(struct rm *rm, const char *queue, const char *user);

#endif
