/* One HTTP POST of JSON at a time to selvedge-services, on the event loop, by libcurl, which is
 * loaded with the first one. The server is the one that the launch context names; its answers are
 * bounded. No redirect is followed: the header with the token goes nowhere else. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_POST_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_POST_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

/* Bytes: the texts of all tasks of a framework, of which the launcher keeps 64 MiB, and what stands
 * between and before them. */
#define SVC_POST_ANSWER_MAX ((size_t)80 << 20)

struct svc_post;

/* status: HTTP's, or -errno with the reason in `why`. `body` lives during the callback, which may
 * begin the next request. */
typedef void (*svc_post_fn)(int status, const char *body, size_t len, const char *why,
                            void *userdata);

int svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                 void *userdata, struct svc_post **ret, struct sv_error *err) _must_use_;
struct svc_post *svc_post_free(struct svc_post *p); /* accepts NULL, returns NULL */
/* The next request goes there. -ENOMEM: to the old one. */
int svc_post_set_url(struct svc_post *p, const char *url) _must_use_;
/* Takes the text. -EBUSY: one is open. */
int svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms) _must_use_;
/* Gives the open request up: its callback does not run. No effect without one. */
void svc_post_cancel(struct svc_post *p);

#endif
