/* The launcher's side of service/framework/link.h: what masters tell, and what they are answered.
 * Hostile: masters, which users run. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_LINK_H
#define SELVEDGE_SERVICE_LAUNCHER_LINK_H

#include "service/launcher/rest.h"

#define SVC_LR_WAITERS_MAX 256 /* masters whose requests are held; more are told to pause */
#define SVC_LR_PAUSE_MS 5000

struct svc_lr_told { /* a request that was taken in, while its answer waits */
    char *framework;
    uint64_t generation; /* of the framework's tasks, not compared: for the application's */
    struct yarn_app_id app;
    int64_t sequence, seen;
    int64_t revision, cluster; /* of the framework's request and the cluster when it was taken in */
    bool wait, statuses;
};
void svc_lr_told_free(struct svc_lr_told *t);

bool svc_lr_link_takes(const char *uri); /* SVC_FW_LINK_PATH */
/* Takes a request in: writes what it tells. 0: *ret is to be answered by svc_lr_link_answer(); 1:
 * *ret_answer is a refusal. */
int svc_lr_link_take(struct svc_lr *l, const struct svc_lr_call *c, const char *token,
                     struct svc_lr_told *ret, struct svc_lr_answer *ret_answer) _must_use_;
/* Whether there is something since it was taken in that its master acts upon: it is not woken for
 * anything else. */
bool svc_lr_link_has_news(const struct svc_lr *l, const struct svc_lr_told *t);
/* False: there is nothing new: wait. `now`: answer whatever there is. */
bool svc_lr_link_answer(struct svc_lr *l, const struct svc_lr_told *t, bool now, bool pause,
                        struct svc_lr_answer *ret);

#endif
