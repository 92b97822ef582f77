/* See live.h. */
#include "service/am/view/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop-guard.h"

struct svc_live {
    struct svc_live_config cfg;
    sd_event_source *turn;
    struct sv_buf text;
    enum svc_live_list which; /* of the text */
    char component[SVC_LIVE_NAME_MAX];
    struct svc_slider_walk walk;
    json_t *nodes; /* by host */
    void *node;    /* the iterator of the next one to write; NULL: all are written */
    bool listing;  /* nodes are complete and being written */
    bool building;
    int status;       /* of the last one that was built in turns */
    int64_t built_ms; /* 0: there is none */
};

static void drop_nodes(struct svc_live *l)
{
    json_decref(SV_TAKE(l->nodes));
    l->node = NULL;
    l->listing = false;
}

static int begin(struct svc_live *l, enum svc_live_list which, const char *component)
{
    drop_nodes(l);
    sv_buf_free(&l->text);
    l->which = which;
    (void)snprintf(l->component, sizeof(l->component), "%s", component);
    l->walk = (struct svc_slider_walk){ 0 };
    l->built_ms = 0;
    if (which == SVC_LIVE_NODES && !(l->nodes = json_object()))
        return -ENOMEM;
    return 0;
}

static int write_node(const char *bytes, size_t n, void *userdata)
{
    struct svc_live *l = userdata;

    return sv_buf_put(&l->text, bytes, n) < 0 ? -1 : 0;
}

static int write_nodes(struct svc_live *l)
{
    int r = 0;

    for (unsigned left = SVC_LIVE_TURN; r == 0 && l->node && left > 0; left--) {
        r = l->text.len > 1 ? sv_buf_put_u8(&l->text, ',') : 0;
        if (r == 0 &&
            json_dump_callback(json_object_iter_value(l->node), write_node, l, JSON_COMPACT) < 0)
            r = -EMSGSIZE;
        l->node = json_object_iter_next(l->nodes, l->node);
    }
    if (r < 0 || l->node)
        return r;
    drop_nodes(l);
    r = sv_buf_put_u8(&l->text, ']');
    return r < 0 ? r : 1;
}

static int nodes(struct svc_live *l, const struct svc_slider_view *v)
{
    int r;

    if (l->listing)
        return write_nodes(l);
    if (!svc_slider_view_some_nodes(v, &l->walk, SVC_LIVE_TURN, NULL, l->nodes))
        return 0;
    l->listing = true;
    l->node = json_object_iter(l->nodes);
    r = sv_buf_put_u8(&l->text, '[');
    return r < 0 ? r : write_nodes(l);
}

/* 1: complete; 0: there is more. */
static int advance(struct svc_live *l)
{
    struct svc_slider_view v;

    l->cfg.view(l->cfg.view_userdata, &v);
    switch (l->which) {
    case SVC_LIVE_CONTAINERS:
        return svc_slider_view_some_containers(&v, &l->walk, SVC_LIVE_TURN, &l->text);
    case SVC_LIVE_NODES:
        return nodes(l, &v);
    case SVC_LIVE_COMPONENT:
    case SVC_LIVE_COMPONENT_IDS:
        break;
    }
    return svc_slider_view_some_ids(&v, l->component, l->which == SVC_LIVE_COMPONENT, &l->walk,
                                    SVC_LIVE_TURN, &l->text);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_live *l = userdata;
    int r = advance(l);

    if (r == 0)
        return 0;
    drop_nodes(l);
    l->building = false;
    l->status = SV_MIN(r, 0);
    l->built_ms = SV_MAX(sv_now_ms(), 1);
    (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* exists, ignoring */
    l->cfg.done(l->cfg.userdata);
    return 0;
}

/* 0: built; -EAGAIN: begun. */
static int build(struct svc_live *l, enum svc_live_list which, const char *component)
{
    int r = begin(l, which, component);

    if (r == 0)
        r = advance(l);
    if (r == 0) {
        l->building = true;
        r = sd_event_source_set_enabled(l->turn, SD_EVENT_ON);
        return r < 0 ? r : -EAGAIN;
    }
    drop_nodes(l);
    return SV_MIN(r, 0);
}

int svc_live_text(struct svc_live *l, enum svc_live_list which, const char *component,
                  const char **ret, size_t *ret_len)
{
    const char *name = component ? component : "";
    bool fresh = l->built_ms > 0 && l->which == which && strcmp(l->component, name) == 0 &&
                 sv_now_ms() - l->built_ms < SVC_LIVE_FRESH_MS;
    int r = strlen(name) >= SVC_LIVE_NAME_MAX ? -ENOENT
            : l->building                     ? -EAGAIN
            : fresh                           ? l->status
                                              : build(l, which, name);

    if (r < 0)
        return r;
    *ret = (const char *)l->text.data;
    *ret_len = l->text.len;
    return 0;
}

int svc_live_new(sd_event *event, const struct svc_live_config *cfg, struct svc_live **ret)
{
    struct svc_live *l = calloc(1, sizeof(*l));
    int r;

    if (!l)
        return -ENOMEM;
    l->cfg = *cfg;
    l->text = SV_BUF_INIT(SVC_LIVE_MAX);
    r = sd_event_add_defer(event, &l->turn, on_turn, l);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->turn, SD_EVENT_OFF);
    if (r < 0) {
        svc_live_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

struct svc_live *svc_live_free(struct svc_live *l)
{
    if (!l)
        return NULL;
    sd_event_source_disable_unref(l->turn);
    drop_nodes(l);
    sv_buf_free(&l->text);
    free(l);
    return NULL;
}
