/* See application.h. */
#include "nodemanager/core/application.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

const char *const nm_app_state_names[NM_APP_N_STATES] = {
    [NM_APP_NEW] = "NEW",
    [NM_APP_INITING] = "INITING",
    [NM_APP_RUNNING] = "RUNNING",
    [NM_APP_FINISHING_CONTAINERS_WAIT] = "FINISHING_CONTAINERS_WAIT",
    [NM_APP_RESOURCES_CLEANINGUP] = "APPLICATION_RESOURCES_CLEANINGUP",
    [NM_APP_FINISHED] = "FINISHED",
};

const char *nm_app_state_name(int state)
{
    return state > 0 && state < NM_APP_N_STATES ? nm_app_state_names[state] : "?";
}

struct nm_app *nm_app_free(struct nm_app *a)
{
    if (!a)
        return NULL;
    free(a->user);
    free(a->run_as);
    free(a->view_acl);
    free(a->modify_acl);
    free(a->init_error);
    free(a);
    return NULL;
}

const char *nm_account_of(const struct nm_conf *conf, const char *submitter)
{
    return conf->limit_users ? conf->local_user : submitter;
}

int nm_app_new(struct nm_context *ctx, struct yarn_app_id id, const char *user, struct nm_app **ret)
{
    struct nm_app *a = calloc(1, sizeof(*a));

    if (!a)
        return -ENOMEM;
    a->ctx = ctx;
    a->id = id;
    yarn_app_id_text(id, a->text);
    a->state = NM_APP_NEW;
    a->start_ms = sv_wall_ms();
    a->user = strdup(user);
    a->run_as = strdup(nm_account_of(ctx->conf, user));
    if (!a->user || !a->run_as) {
        nm_app_free(a);
        return -ENOMEM;
    }
    *ret = a;
    return 0;
}

int nm_app_join(struct nm_app *a, struct nm_container *c)
{
    struct nm_app_member *m = calloc(1, sizeof(*m));

    if (!m)
        return -ENOMEM;
    m->c = c;
    HASH_ADD_KEYPTR(hh, a->members, c->text, strlen(c->text), m);
    return 0;
}

void nm_app_leave(struct nm_app *a, struct nm_container *c)
{
    struct nm_app_member *m = NULL;

    HASH_FIND_STR(a->members, c->text, m);
    if (m) {
        HASH_DEL(a->members, m);
        free(m);
    }
}

void nm_app_post(struct nm_app *a, int event, const char *text)
{
    sv_dispatcher_post(
        a->ctx->dispatcher,
        &(struct sv_event){ .machine = NM_MACHINE_APP, .type = event, .object = a, .text = text });
}

void nm_app_finish(struct nm_app *a, const char *why)
{
    nm_app_post(a, NM_APP_EV_FINISH_APPLICATION, why);
}
