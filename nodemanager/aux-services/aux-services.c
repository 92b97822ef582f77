/* See aux-services.h. Hostile: names and data of a launch context. */
#include "nodemanager/aux-services/aux-services.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/aux-services/aux-conf.h"
#include "nodemanager/aux-services/aux-data.h"
#include "nodemanager/aux-services/aux-events.h"
#include "nodemanager/aux-services/aux-service.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

struct nm_aux {
    struct nm_context *ctx;
    const struct sv_listen_fds *held;
    struct nm_aux_confs confs;
    struct nm_aux_data *data;
    struct nm_aux_service *services[NM_AUX_SERVICES_MAX]; /* those without `missing` */
    size_t n;
};

/* ---- callbacks of a service
 * ------------------------------------------------------------------- */

static char *make_init(const struct nm_aux_conf *conf, const char *const *listen, size_t n_listen,
                       void *userdata)
{
    const struct nm_aux *x = userdata;
    _cleanup_free_ char *properties = NULL;
    struct sv_error err = { 0 };

    if (nm_aux_conf_properties(x->ctx->conf, conf, &properties, &err) < 0) {
        sv_log_err("auxiliary service %s: %s", conf->name, err.text);
        return NULL;
    }
    return nm_aux_init_text(x->ctx, conf, properties, listen, n_listen);
}

static json_t *make_app_init(const struct nm_aux_service *s, const char *app, bool recovered,
                             void *userdata)
{
    const struct nm_aux *x = userdata;
    const struct nm_app *a = nm_app_find(x->ctx, app);
    size_t n = 0;
    const uint8_t *data = a ? nm_aux_data_get(x->data, app, nm_aux_service_name(s), &n) : NULL;

    return data ? nm_aux_app_init(a, data, n, recovered) : NULL;
}

/* A service does not know of events before its `ready`. */
static void replay(struct nm_aux_service *s, void *userdata)
{
    const struct nm_aux *x = userdata;
    size_t n;

    for (struct nm_app *a = x->ctx->apps; a; a = a->hh.next)
        if (nm_aux_data_get(x->data, a->text, nm_aux_service_name(s), &n))
            nm_aux_service_post_app(s, a->text, true);
    for (struct nm_container *c = x->ctx->containers; c; c = c->hh.next) {
        json_t *event = c->aux_init ? nm_aux_container_event(c, "container-init") : NULL;

        if (event && json_object_set_new(event, "recovered", json_true()) >= 0)
            nm_aux_service_post(s, event);
    }
    nm_aux_service_post(s, json_pack("{s:s}", "type", "replayed"));
}

/* ---- begin and end ----------------------------------------------------------------------------*/

static int add_service(struct nm_aux *x, const struct nm_aux_conf *conf, struct sv_error *err)
{
    const struct nm_aux_service_ops ops = { .init = make_init,
                                            .ready = replay,
                                            .application = make_app_init,
                                            .held = x->held,
                                            .userdata = x };
    int r;

    if (conf->missing) {
        sv_log_warning("yarn.nodemanager.aux-services: %s does not run here: %s; containers that "
                       "bring data for it are refused",
                       conf->name, conf->missing);
        return 0;
    }
    r = nm_aux_service_new(x->ctx->event, conf, x->ctx->conf->aux_start_timeout_ms,
                           x->ctx->conf->aux_event_timeout_ms, &ops, &x->services[x->n], err);
    if (r >= 0)
        x->n++;
    return r;
}

int nm_aux_new(struct nm_context *ctx, const struct sv_listen_fds *held, struct nm_aux **ret,
               struct sv_error *err)
{
    struct nm_aux *x = calloc(1, sizeof(*x));
    int r = -ENOMEM;

    if (x) {
        x->ctx = ctx;
        x->held = held;
        x->data = nm_aux_data_new(ctx->store);
    }
    if (x && x->data)
        r = nm_aux_conf_read(ctx->conf, &x->confs, err);
    else
        (void)sv_error_errno(err, r, "auxiliary services");
    for (size_t i = 0; r >= 0 && i < x->confs.n; i++)
        r = add_service(x, &x->confs.list[i], err);
    if (r < 0) {
        nm_aux_free(x);
        return r;
    }
    *ret = x;
    return 0;
}

struct nm_aux *nm_aux_free(struct nm_aux *x)
{
    if (!x)
        return NULL;
    for (size_t i = 0; i < x->n; i++)
        nm_aux_service_end(x->services[i]);
    for (size_t i = 0; i < x->n; i++)
        x->services[i] = nm_aux_service_free(x->services[i]);
    nm_aux_data_free(x->data);
    nm_aux_conf_free(&x->confs);
    free(x);
    return NULL;
}

static int make_state_dir(const struct nm_aux *x, const char *service, struct sv_error *err)
{
    char path[4096];
    int r;

    if (!x->ctx->conf->recovery)
        return 0;
    r = snprintf(path, sizeof(path), "%s/aux-services/%s", x->ctx->conf->recovery_dir, service);
    r = r < 0 || (size_t)r >= sizeof(path) ? -ENAMETOOLONG : sv_mkdir_p(path, 0700);
    return r < 0 ? sv_error_errno(err, r, "yarn.nodemanager.recovery.dir: %s", path) : 0;
}

int nm_aux_start(struct nm_aux *x, struct sv_error *err)
{
    int r = x ? nm_aux_data_recover(x->data) : 0;

    if (r < 0)
        return sv_error_errno(err, r, "state store: data for auxiliary services");
    for (size_t i = 0; x && i < x->n; i++) {
        r = make_state_dir(x, nm_aux_service_name(x->services[i]), err);
        if (r < 0)
            return r;
        nm_aux_service_start(x->services[i]);
    }
    return 0;
}

bool nm_aux_starting(const struct nm_aux *x)
{
    for (size_t i = 0; x && i < x->n; i++)
        if (nm_aux_service_is_starting(x->services[i]))
            return true;
    return false;
}

/* ---- events -----------------------------------------------------------------------------------*/

static struct nm_aux_service *find(const struct nm_aux *x, const char *name)
{
    for (size_t i = 0; x && name && i < x->n; i++)
        if (sv_streq(nm_aux_service_name(x->services[i]), name))
            return x->services[i];
    return NULL;
}

int nm_aux_check(const struct nm_aux *x, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                 const char *container, struct sv_error *err)
{
    if (clc->n_service_data > NM_AUX_SERVICES_MAX) /* a map: a name has one entry */
        return sv_error_set(err, -E2BIG,
                            "Container %s: %zu entries of data for auxiliary services, at most %d "
                            "are accepted",
                            container, clc->n_service_data, NM_AUX_SERVICES_MAX);
    for (size_t i = 0; i < clc->n_service_data; i++) {
        const Hadoop__Yarn__StringBytesMapProto *d = clc->service_data[i];
        char shown[128];

        sv_escape(shown, sizeof(shown), d->key ? d->key : "");
        if (!find(x, d->key))
            return sv_error_set(err, -ENOENT, "The auxService:%s does not exist", shown);
        if (d->has_value && d->value.len > NM_AUX_DATA_MAX)
            return sv_error_set(err, -EMSGSIZE,
                                "Container %s: %zu bytes of data for the auxiliary service %s, at "
                                "most %zu are accepted",
                                container, d->value.len, shown, NM_AUX_DATA_MAX);
    }
    return 0;
}

static void give_data(struct nm_aux *x, const struct nm_container *c,
                      const Hadoop__Yarn__StringBytesMapProto *d)
{
    struct nm_aux_service *s = find(x, d->key);
    int r = s ? nm_aux_data_put(x->data, c->app->text, d->key, d->value.data, d->value.len) : 0;

    if (r < 0)
        sv_log(SV_LOG_WARNING, c->app->text,
               "%s: cannot record its data for the auxiliary service %s: %s", c->app->text, d->key,
               strerror(-r));
    if (r != 0)
        nm_aux_service_post_app(s, c->app->text, false);
}

static void post_container(const struct nm_aux *x, const struct nm_container *c, const char *type)
{
    for (size_t i = 0; i < x->n; i++)
        if (nm_aux_service_is_ready(x->services[i]))
            nm_aux_service_post(x->services[i], nm_aux_container_event(c, type));
}

void nm_aux_container_init(struct nm_aux *x, struct nm_container *c)
{
    if (!x || x->n == 0 || c->aux_init)
        return;
    for (size_t i = 0; c->clc && i < c->clc->n_service_data; i++)
        give_data(x, c, c->clc->service_data[i]);
    c->aux_init = true;
    post_container(x, c, "container-init");
}

void nm_aux_container_stop(struct nm_aux *x, struct nm_container *c)
{
    if (!x || !c->aux_init)
        return;
    c->aux_init = false;
    post_container(x, c, "container-stop");
}

void nm_aux_app_stop(struct nm_aux *x, const struct nm_app *a)
{
    if (!x)
        return;
    nm_aux_data_drop(x->data, a->text);
    for (size_t i = 0; i < x->n; i++)
        if (nm_aux_service_is_ready(x->services[i]))
            nm_aux_service_post(x->services[i], nm_aux_app_stop_event(a));
}

void nm_aux_dirs_changed(struct nm_aux *x)
{
    for (size_t i = 0; x && i < x->n; i++)
        if (nm_aux_service_is_ready(x->services[i]))
            nm_aux_service_post(x->services[i], nm_aux_dirs_event(x->ctx));
}

/* ---- queries for answers, environments and pages
 * ---------------------------------------------- */

size_t nm_aux_count(const struct nm_aux *x)
{
    return x ? x->n : 0;
}

void nm_aux_info(const struct nm_aux *x, size_t i, struct nm_aux_info *ret)
{
    const struct nm_aux_service *s = x->services[i];

    *ret = (struct nm_aux_info){ .name = nm_aux_service_name(s),
                                 .ready_since_ms = nm_aux_service_ready_since_ms(s),
                                 .restarts = nm_aux_service_restarts(s),
                                 .metrics = nm_aux_service_metrics(s) };
    ret->metadata = nm_aux_service_metadata(s, &ret->metadata_len);
}
