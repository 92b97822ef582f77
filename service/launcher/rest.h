/* The FrameworkLauncher's REST API, version 1, without HTTP: a call in, an answer out. Hostile: all
 * of a call but who its `caller` is. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_REST_H
#define SELVEDGE_SERVICE_LAUNCHER_REST_H

#include "service/launcher/answers.h"
#include "service/launcher/body.h"
#include "service/launcher/launcher.h"

struct svc_lr_call {
    const char *method, *uri; /* the latter as sent */
    const char *body;
    size_t body_len;
    size_t read_max;          /* bytes of a body that is read here; 0: any */
    struct svc_lr_body *read; /* the body, by svc_lr_body_read(), and what is needed of it is taken;
                               * NULL: it is read here */
    bool is_json;             /* Content-Type */
    const char *caller;       /* authenticated; NULL: nobody is, in this cluster */
    const char *user;         /* header UserName, or NULL */
    const char *client_type;  /* header LaunchClientType, or NULL */
    const char *host;         /* header Host, or NULL */
    const char *peer;         /* address of the client */
};

struct svc_lr_answer {
    unsigned status;
    bool plain; /* no JSON, but text */
    char *body; /* malloc'd, or NULL */
    size_t len;
    char *location;               /* malloc'd, or NULL */
    struct svc_lr_pieces *pieces; /* the body, if it is long; or NULL */
};

/* True for the API's paths. */
bool svc_lr_takes(const char *uri);
void svc_lr_rest(struct svc_lr *l, const struct svc_lr_call *c, struct svc_lr_answer *ret);

#endif
