/* LIFETIME timeouts of applications, as Hadoop's RMAppLifetimeMonitor: counted from the submission,
 * in wall clock time; an application that exceeds its lifetime is killed. Lifetimes and dates come
 * from clients. */
#ifndef SELVEDGE_RM_LITE_FSM_APP_LIFETIME_H
#define SELVEDGE_RM_LITE_FSM_APP_LIFETIME_H

#include "proto/yarn.pb-c.h"
#include "rm-lite/core/context.h"

#define RM_LIFETIME_DATE_MAX 48
#define RM_LIFETIME_UNLIMITED "UNLIMITED"

/* End of the lifetime, in milliseconds since the epoch; 0: never. */
int64_t rm_lifetime_end_ms(const struct rm_app *app);
/* Changes the end; the store keeps it with the submission. */
int rm_lifetime_set_end(struct rm_app *app, int64_t end_ms) _must_use_;
/* Gives a new application its queue's default-application-lifetime, or cuts its own to the queue's
 * maximum; also in the submission, so that a restart or a refresh does not change it. */
int rm_lifetime_of_queue(struct rm_app *app) _must_use_;
/* For reports: the date or RM_LIFETIME_UNLIMITED, and the remaining seconds or -1. */
void rm_lifetime_report(const struct rm_app *app, char ret_date[static RM_LIFETIME_DATE_MAX],
                        int64_t *ret_left_s);
/* Kills the applications that have exceeded their lifetime. */
void rm_lifetime_enforce(struct rm *rm, int64_t now_ms);

/* "2099-01-01T00:00:00.000+0000"; -EINVAL for any other form. */
int rm_lifetime_parse(const char *date, int64_t *ret_ms) _must_use_;
void rm_lifetime_format(int64_t ms, char ret[static RM_LIFETIME_DATE_MAX]);

#endif
