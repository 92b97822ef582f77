/* See by-home.h. The home is stored, or cached: one that no longer knows the application is looked
 * up anew by the next call. */
#include "router/by-home.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

struct by_home {
    struct rtr_call *x;
    struct yarn_app_id app;
    char home[FED_NAME_MAX + 1];
};

static void finish_failed(struct by_home *h, const struct rtr_failure *f)
{
    rtr_call_fail_as(h->x, f);
    free(h);
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct by_home *h = userdata;
    struct rtr_failure f;

    if (r->status >= 0) {
        rtr_call_reply(h->x, r->response);
        free(h);
        return;
    }
    rtr_failure_of(h->x->r, h->home, r, err, &f);
    if (sv_streq(f.class, JAVA_APP_NOT_FOUND))
        fed_cache_flush(h->x->r->cache,
                        &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = h->app } });
    finish_failed(h, &f);
}

static void on_member(const struct fed_answer *a, void *userdata)
{
    struct by_home *h = userdata;
    char text[YARN_ID_TEXT_MAX];
    struct rtr_failure f;

    if (a->error == -ENOENT) {
        rtr_call_fail(h->x, JAVA_YARN_EXCEPTION,
                      "%s: its home %s is no member of the federation any more",
                      yarn_app_id_text(h->app, text), h->home);
        free(h);
    } else if (a->error < 0) {
        rtr_call_store_failed(h->x, a);
        free(h);
    } else if (rtr_call_member(h->x, &a->members[0], h->x->request, on_answer, h, &f) < 0) {
        finish_failed(h, &f);
    }
}

static void on_home(const struct fed_answer *a, void *userdata)
{
    struct by_home *h = userdata;
    char text[YARN_ID_TEXT_MAX];

    if (a->error == -ENOENT) {
        rtr_call_fail(h->x, JAVA_APP_NOT_FOUND,
                      "Application with id '%s' doesn't exist in the federation's state store. "
                      "Please check that the job submission was successful.",
                      yarn_app_id_text(h->app, text));
        free(h);
        return;
    }
    if (a->error < 0 || strlen(a->homes[0].home) > FED_NAME_MAX) {
        rtr_call_store_failed(h->x, a);
        free(h);
        return;
    }
    memcpy(h->home, a->homes[0].home, strlen(a->homes[0].home) + 1);
    if (fed_cache_get(h->x->r->cache,
                      &(struct fed_request){ .op = FED_MEMBER_GET, .member = { .id = h->home } },
                      on_member, h, NULL) < 0) {
        rtr_call_no_memory(h->x);
        free(h);
    }
}

void rtr_by_home(struct rtr_call *x, struct yarn_app_id app)
{
    struct by_home *h = calloc(1, sizeof(*h));

    if (!h) {
        rtr_call_no_memory(x);
        return;
    }
    *h = (struct by_home){ .x = x, .app = app };
    if (fed_cache_get(x->r->cache,
                      &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = app } }, on_home,
                      h, NULL) < 0) {
        rtr_call_no_memory(x);
        free(h);
    }
}
