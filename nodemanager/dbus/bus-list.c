/* See bus-list.h. */
#include "nodemanager/dbus/bus-list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-caller.h"

struct list {
    struct list *prev, *next;
    sd_bus_message *call, *reply;
    uid_t uid;                     /* of the caller */
    char (*ids)[YARN_ID_TEXT_MAX]; /* applications first */
    size_t n, n_apps, at;
};

struct nm_bus_lists {
    const struct nm_bus_view *view;
    sd_event_source *turn;
    struct list *lists; /* utlist, the first one is in progress */
    unsigned n;
};

static void list_free(struct nm_bus_lists *all, struct list *l)
{
    DL_DELETE(all->lists, l);
    all->n--;
    sd_bus_message_unref(l->call);
    sd_bus_message_unref(l->reply);
    free(l->ids);
    free(l);
}

/* Takes the ids that the caller may read now; each is looked up again in its turn. */
static int snapshot(struct list *l, const struct nm_context *ctx, const struct nm_bus_caller *who)
{
    size_t most = HASH_COUNT(ctx->apps) + HASH_COUNT(ctx->containers);

    if (most > NM_BUS_OBJECTS_MAX)
        return -E2BIG;
    l->ids = calloc(most + 1, sizeof(*l->ids));
    if (!l->ids)
        return -ENOMEM;
    for (struct nm_app *a = ctx->apps; a; a = a->hh.next)
        if (nm_bus_may_read(who, a))
            memcpy(l->ids[l->n++], a->text, sizeof(*l->ids));
    l->n_apps = l->n;
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next)
        if (nm_bus_may_read(who, c->app))
            memcpy(l->ids[l->n++], c->text, sizeof(*l->ids));
    return 0;
}

static int append_object(sd_bus_message *m, const char *prefix, const char *id,
                         const struct nm_bus_object *o)
{
    char path[NM_BUS_PATH_MAX];
    int r = sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");

    if (r >= 0)
        r = sd_bus_message_append(m, "o", nm_bus_path(prefix, id, path));
    if (r >= 0)
        r = nm_bus_append_interfaces(m, o, 0);
    return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_next(struct list *l, const struct nm_bus_view *view)
{
    const char *id = l->ids[l->at];
    bool is_app = l->at++ < l->n_apps;
    struct nm_bus_object o;

    if (is_app) {
        struct nm_app *a = nm_app_find(view->ctx, id);

        if (!a)
            return 0;
        nm_bus_object_of_app(view, a, &o);
        return append_object(l->reply, NM_BUS_APPLICATIONS, id, &o);
    }
    struct nm_container *c = nm_container_find(view->ctx, id);

    if (!c)
        return 0;
    nm_bus_object_of_container(view, c, &o);
    return append_object(l->reply, NM_BUS_CONTAINERS, id, &o);
}

static int send_reply(const struct list *l)
{
    int r = sd_bus_message_close_container(l->reply);

    return r < 0 ? r : sd_bus_send(NULL, l->reply, NULL);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_bus_lists *all = userdata;
    struct list *l = all->lists;
    int r = 0;

    for (size_t i = 0; l && l->at < l->n && i < NM_BUS_SLICE && r >= 0; i++)
        r = append_next(l, all->view);
    if (l && (r < 0 || l->at == l->n)) {
        if (r >= 0)
            r = send_reply(l);
        if (r < 0) {
            sv_log_debug("D-Bus: GetManagedObjects: %s", strerror(-r));
            (void)sd_bus_reply_method_errno(l->call, r,
                                            NULL); /* the caller may have disconnected, ignoring */
        }
        list_free(all, l);
    }
    if (!all->lists)
        (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
    return 0;
}

int nm_bus_lists_add(struct nm_bus_lists *all, sd_bus_message *m, const struct nm_bus_caller *who)
{
    struct list *l;
    unsigned own = 0;
    int r;

    DL_FOREACH (all->lists, l)
        own += l->uid == who->uid;
    if (all->n >= NM_BUS_LISTS_MAX || own >= NM_BUS_LISTS_OF_USER)
        return -EBUSY;
    l = calloc(1, sizeof(*l));
    if (!l)
        return -ENOMEM;
    DL_APPEND(all->lists, l);
    all->n++;
    l->uid = who->uid;
    l->call = sd_bus_message_ref(m);
    r = snapshot(l, all->view->ctx, who);
    if (r >= 0)
        r = sd_bus_message_new_method_return(m, &l->reply);
    if (r >= 0)
        r = sd_bus_message_open_container(l->reply, 'a', "{oa{sa{sv}}}");
    if (r >= 0)
        r = sd_event_source_set_enabled(all->turn, SD_EVENT_ON);
    if (r < 0)
        list_free(all, l);
    return r;
}

void nm_bus_lists_reset(struct nm_bus_lists *all)
{
    while (all->lists)
        list_free(all, all->lists);
}

int nm_bus_lists_new(sd_event *event, const struct nm_bus_view *view, struct nm_bus_lists **ret)
{
    struct nm_bus_lists *all = calloc(1, sizeof(*all));
    int r;

    if (!all)
        return -ENOMEM;
    all->view = view;
    r = sd_event_add_defer(event, &all->turn, on_turn, all);
    if (r >= 0)
        r = sd_event_source_set_enabled(all->turn, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_source_set_priority(all->turn, SD_EVENT_PRIORITY_IDLE);
    if (r < 0) {
        nm_bus_lists_free(all);
        return r;
    }
    *ret = all;
    return 0;
}

struct nm_bus_lists *nm_bus_lists_free(struct nm_bus_lists *all)
{
    if (!all)
        return NULL;
    nm_bus_lists_reset(all);
    sd_event_source_disable_unref(all->turn);
    free(all);
    return NULL;
}
