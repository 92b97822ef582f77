/* Long bodies of the launcher's calls, read on a thread: a MiB takes 10 ms and more. See
 * frameworks.h. Hostile: bodies. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "service/server/frameworks-internal.h"

/* Bytes of bodies that wait for the thread, with those whose clients have gone: the HTTP server
 * does not count these any more. */
#define READINGS_MAX ((size_t)64 << 20)

struct reading {               /* on the thread */
    struct framework_body *to; /* NULL: the client has gone; the loop's alone */
    atomic_bool gone;          /* likewise: it need not be read */
    enum svc_lr_body_kind kind;
    bool gpus;
    char *json;
    size_t len;
    struct svc_lr_body body;
};
struct framework_body {      /* of a request that waits */
    struct reading *reading; /* NULL: it was read */
    struct sv_http_caller *caller;
    struct svc_lr_body body;
};

static void run(void *data)
{
    struct reading *r = data;

    if (!atomic_load(&r->gone))
        svc_lr_body_read(r->kind, r->json, r->len, r->gpus, &r->body);
}

static void reading_free(void *data)
{
    struct reading *r = data;

    svc_lr_body_free(&r->body);
    free(r->json);
    free(r);
}

static void done(int status, void *data, void *userdata)
{
    struct svc_frameworks *s = userdata;
    struct reading *r = data;

    (void)status;
    s->reading -= r->len;
    if (!r->to)
        return;
    r->to->body = r->body;
    r->body = (struct svc_lr_body){ 0 };
    r->to->reading = NULL;
    sv_http_wake(r->to->caller);
}

static void body_free(void *data)
{
    struct framework_body *b = data;

    if (b->reading) {
        b->reading->to = NULL;
        atomic_store(&b->reading->gone, true);
    }
    svc_lr_body_free(&b->body);
    free(b);
}

static struct reading *reading_new(const struct svc_frameworks *s,
                                   const struct sv_http_request *req, enum svc_lr_body_kind kind)
{
    struct reading *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->kind = kind;
    r->gpus = s->cfg.settings->gpus;
    r->len = req->body_len;
    r->json = malloc(req->body_len);
    if (!r->json) {
        free(r);
        return NULL;
    }
    memcpy(r->json, req->body, req->body_len);
    return r;
}

static int hand_over(struct svc_frameworks *s, struct reading *r)
{
    const struct sv_job job = {
        .data = r, .userdata = s, .run = run, .done = done, .free = reading_free
    };
    int e = s->reader ? 0 : sv_worker_new(s->cfg.event, "frameworks", &s->reader);

    if (e == 0)
        e = sv_worker_run(s->reader, &job);
    if (e == 0)
        s->reading += r->len;
    return e;
}

static int begin(struct svc_frameworks *s, const struct sv_http_request *req,
                 enum svc_lr_body_kind kind)
{
    struct framework_body *b;
    struct reading *r;
    int e;

    if (s->reading + req->body_len > READINGS_MAX)
        return -EBUSY;
    b = calloc(1, sizeof(*b));
    r = b ? reading_new(s, req, kind) : NULL;
    e = r ? hand_over(s, r) : -ENOMEM;
    if (e < 0) {
        if (r)
            reading_free(r);
        free(b);
        return e;
    }
    r->to = b;
    *b = (struct framework_body){ .reading = r, .caller = req->caller };
    *req->kept = (struct sv_http_kept){ b, body_free };
    return -EAGAIN;
}

int svc_frameworks_body(struct svc_frameworks *s, const struct sv_http_request *req,
                        struct svc_lr_body **ret)
{
    struct framework_body *b = req->kept->data;
    enum svc_lr_body_kind kind = svc_lr_body_kind(req->method, req->uri);

    *ret = NULL;
    /* A long one of another kind, or path, is refused: SVC_FRAMEWORKS_SHORT_MAX. */
    if (!b && (kind == SVC_LR_BODY_SHORT || req->body_len <= SVC_FRAMEWORKS_SHORT_MAX ||
               req->body_len > SVC_FW_JSON_MAX))
        return 0;
    if (!b)
        return begin(s, req, kind);
    if (b->reading)
        return -EAGAIN;
    *ret = &b->body;
    return 0;
}
