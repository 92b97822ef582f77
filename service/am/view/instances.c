/* See instances.h. */
#include "service/am/view/instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/loop-guard.h"
#include "service/am/view/json-write.h"
#include "service/am/view/status-record.h"

struct list {
    struct svc_instance_filter filter;
    bool none; /* no instance runs the version of the filter */
    svc_instances_done done;
    void *userdata;
};

struct svc_instances {
    const struct svc_engine *engine;
    const struct svc_containers *containers;
    sd_event_source *turn;
    struct list waiting[SVC_INSTANCES_WAITING]; /* a ring; the first one is being made */
    size_t first, n;
    struct sv_buf text;
    size_t component, cursor; /* of the next instance */
    bool any, here;           /* a component is in the text; the present one is */
};

static bool among(const char *text, char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return n == 0;
}

static int begin_component(struct svc_instances *s, const char *name)
{
    int r = sv_buf_put_str(&s->text, s->any ? ",{\"component_name\":" : "{\"component_name\":");

    s->any = s->here = true;
    if (r == 0)
        r = svc_json_text(&s->text, name);
    return r < 0 ? r : sv_buf_put_str(&s->text, ",\"containers\":[");
}

static int end_component(struct svc_instances *s)
{
    int r = s->here ? sv_buf_put_str(&s->text, "]}") : 0;

    s->component++;
    s->cursor = 0;
    s->here = false;
    return r;
}

/* The next instance of the present component. */
static int put_next(struct svc_instances *s, const struct svc_instance_filter *f)
{
    struct svc_component_view c;
    struct svc_instance_view v;
    const char *state;
    int r;

    svc_engine_component(s->engine, s->component, &c);
    if (!among(c.component->name, f->components, f->n_components) ||
        !svc_engine_instance(s->engine, s->component, &s->cursor, &v))
        return end_component(s);
    state = svc_instance_state_text(&v);
    if (!v.has_container || !*state || !among(state, f->states, f->n_states))
        return 0;
    r = s->here ? sv_buf_put_u8(&s->text, ',') : begin_component(s, c.component->name);
    return r < 0 ? r
                 : svc_record_container(&s->text, &v,
                                        svc_containers_find(s->containers, v.container));
}

/* 1: the text is complete; 0: there is more. */
static int advance(struct svc_instances *s)
{
    const struct list *l = &s->waiting[s->first];
    int r = 0;

    if (s->text.len == 0) {
        s->component = l->none ? SIZE_MAX : 0;
        s->cursor = 0;
        s->any = s->here = false;
        r = sv_buf_put_u8(&s->text, '[');
    }
    for (unsigned left = SVC_INSTANCES_TURN;
         r == 0 && s->component < svc_engine_components(s->engine); left--) {
        if (left == 0)
            return 0;
        r = put_next(s, &l->filter);
    }
    if (r == 0)
        r = sv_buf_put(&s->text, "]", 2); /* with the NUL */
    return r < 0 ? r : 1;
}

/* Makes the first list for a turn, and takes it out when it is there. True: it was. */
static bool work(struct svc_instances *s)
{
    struct list l;
    int r = advance(s);

    if (r == 0)
        return false;
    l = s->waiting[s->first];
    s->first = (s->first + 1) % SVC_INSTANCES_WAITING;
    s->n--;
    l.done(SV_MIN(r, 0), r > 0 ? (const char *)s->text.data : NULL, l.userdata);
    sv_buf_free(&s->text);
    return true;
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_instances *s = userdata;

    if (s->n > 0)
        (void)work(s);
    return s->n > 0 ? 0 : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int svc_instances_list(struct svc_instances *s, const struct svc_instance_filter *f,
                       const char *version, svc_instances_done done, void *userdata)
{
    if (s->n == SVC_INSTANCES_WAITING)
        return -EBUSY;
    s->waiting[(s->first + s->n++) % SVC_INSTANCES_WAITING] =
        (struct list){ *f, f->version && *f->version && strcmp(f->version, version) != 0, done,
                       userdata };
    if (s->n == 1 && !work(s))
        (void)sd_event_source_set_enabled(s->turn, SD_EVENT_ON); /* exists, ignoring */
    return 0;
}

int svc_instances_new(sd_event *event, const struct svc_engine *engine,
                      const struct svc_containers *containers, struct svc_instances **ret)
{
    struct svc_instances *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->engine = engine;
    s->containers = containers;
    s->text = SV_BUF_INIT(SVC_INSTANCES_BYTES);
    r = sd_event_add_defer(event, &s->turn, on_turn, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
    if (r < 0) {
        (void)svc_instances_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct svc_instances *svc_instances_free(struct svc_instances *s)
{
    if (!s)
        return NULL;
    sd_event_source_disable_unref(s->turn);
    sv_buf_free(&s->text);
    free(s);
    return NULL;
}
