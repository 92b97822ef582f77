/* The master's side of service/framework/link.h: one request at a time. Changes are told at once, a
 * request that waits for a revision is given up for them; a failed request is repeated later and
 * later, with what has changed since, and to the next server where there are several. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_LINK_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_LINK_H

#include <jansson.h>
#include <systemd/sd-event.h>

#include "common/error.h"
#include "service/am/framework/answer.h"

struct svc_link;

struct svc_link_ops {
    /* Adds changed tasks to "taskRoles" ({"W": [ TaskStatus… ]}), at most SVC_FW_LINK_TASKS and
     * some MiB of them. */
    void (*fill)(json_t *roles, void *userdata);
    /* Tasks that were filled in, if any, are on the launcher's disk, or (false) to be told again.
     */
    void (*told)(bool ok, void *userdata);
    bool (*left)(void *userdata); /* there is something to tell */
    double (*progress)(void *userdata);
    /* Before told() of the same request. The first one answers the greeting. */
    void (*answered)(const struct svc_answer *a, void *userdata);
    /* The framework has another version, or is gone; the link is silent from now on. */
    void (*gone)(const char *why, void *userdata);
};
struct svc_link_config {
    const char *launcher; /* URLs, separated by commas, of servers of which one is active */
    const char *framework, *application, *token;
    int32_t version;
    int32_t attempt;
    const struct svc_link_ops *ops;
    void *userdata;
};
/* Texts are copied. The greeting is sent when the loop runs. */
int svc_link_new(sd_event *event, const struct svc_link_config *cfg, struct svc_link **ret,
                 struct sv_error *err) _must_use_;
struct svc_link *svc_link_free(struct svc_link *l); /* accepts NULL, returns NULL */
/* Something has changed: told in the loop's next turn, or with the next request. */
void svc_link_changed(struct svc_link *l);
/* The application ends: requests say so from now on, the next one at once. */
void svc_link_end(struct svc_link *l);
/* One that said so was answered. */
bool svc_link_ended(const struct svc_link *l);

#endif
