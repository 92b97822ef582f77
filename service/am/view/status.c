/* See status.h. What the definition says is printed once a definition, as pieces of text between
 * which the states go. */
#include "service/am/view/status.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "service/am/view/json-write.h"
#include "service/am/view/status-record.h"

#define RESTARTS_MAX 3 /* of a build, by changes meanwhile */

struct svc_status {
    sd_event *event;
    const struct svc_engine *engine;
    const struct svc_containers *containers;
    svc_status_done done;
    void *userdata;
    char *head;    /* members of the service, without braces */
    char **pieces; /* of each component of the definition, likewise */
    char **names;  /* of these components */
    size_t n_pieces;
    struct sv_buf text;
    bool current;  /* the text is of the present state */
    bool building; /* and goes on in `turn` */
    bool disturbed;
    unsigned restarts;
    size_t component, cursor; /* of the next instance */
    sd_event_source *turn;
};

/* ---- The definition's part ---- */

/* The members of an object as text: "\"a\":1,\"b\":2"; "" where there are none. */
static char *members(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    size_t n = text ? strlen(text) : 0;

    if (n < 2) {
        free(text);
        return NULL;
    }
    memmove(text, text + 1, n - 2);
    text[n - 2] = '\0';
    return text;
}

static void free_pieces(struct svc_status *s)
{
    for (size_t i = 0; i < s->n_pieces; i++) {
        free(s->pieces[i]);
        free(s->names[i]);
    }
    free(s->pieces);
    free(s->names);
    free(s->head);
    s->pieces = s->names = NULL;
    s->head = NULL;
    s->n_pieces = 0;
}

/* Leaves out members that the engine knows better. */
static int add_component(struct svc_status *s, json_t *component)
{
    const char *name = json_string_value(json_object_get(component, "name"));
    char *copy = strdup(name ? name : ""), *piece;

    (void)json_object_del(component, "state");
    (void)json_object_del(component, "containers");
    (void)json_object_del(component, "number_of_containers");
    piece = members(component);
    if (!copy || !piece) {
        free(copy);
        free(piece);
        return -ENOMEM;
    }
    s->names[s->n_pieces] = copy;
    s->pieces[s->n_pieces++] = piece;
    return 0;
}

static int take_definition(struct svc_status *s, json_t *root)
{
    json_t *list = json_object_get(root, "components"), *component;
    size_t n = json_array_size(list), i;
    int r = 0;

    free_pieces(s);
    s->pieces = calloc(n + 1, sizeof(*s->pieces));
    s->names = calloc(n + 1, sizeof(*s->names));
    if (!s->pieces || !s->names)
        return -ENOMEM;
    json_array_foreach(list, i, component) if (r == 0) r = add_component(s, component);
    (void)json_object_del(root, "components");
    (void)json_object_del(root, "state");
    s->head = r == 0 ? members(root) : NULL;
    return s->head ? 0 : -ENOMEM;
}

int svc_status_definition(struct svc_status *s, const struct svc_definition *d)
{
    _cleanup_free_ char *text = NULL;
    int r = svc_definition_print(d, &text);
    json_t *root = r < 0 ? NULL : json_loads(text, 0, NULL);

    if (r == 0)
        r = root ? take_definition(s, root) : -ENOMEM;
    json_decref(root);
    svc_status_changed(s);
    return r;
}

/* ---- The text ---- */

static const char *piece_of(const struct svc_status *s, const char *component)
{
    for (size_t i = 0; i < s->n_pieces; i++)
        if (strcmp(s->names[i], component) == 0)
            return s->pieces[i];
    return "";
}

static int begin_component(struct svc_status *s)
{
    struct svc_component_view v;
    const char *piece;
    int r = s->component > 0 ? sv_buf_put_str(&s->text, "]},{") : sv_buf_put_u8(&s->text, '{');

    svc_engine_component(s->engine, s->component, &v);
    piece = piece_of(s, v.component->name);
    if (r == 0)
        r = sv_buf_put_str(&s->text, piece);
    if (r == 0 && !*piece)
        r = sv_buf_put_str(&s->text, "\"launch_command\":null");
    if (r == 0)
        r = svc_json_member(&s->text, "state", svc_component_state_text(&v));
    if (r == 0)
        r = svc_json_number(&s->text, "number_of_containers", v.desired);
    return r < 0 ? r : sv_buf_put_str(&s->text, ",\"containers\":[");
}

/* As by Hadoop's master, an instance is there from its first start on, no more once its container
 * is being stopped, and the container that has ended until the next one has started. */
static int put_instance(struct svc_status *s)
{
    const struct svc_container *ended;
    struct svc_instance_view v;
    bool first = s->text.data[s->text.len - 1] == '[', runs;

    if (!svc_engine_instance(s->engine, s->component, &s->cursor, &v)) {
        s->component++;
        s->cursor = 0;
        return 0;
    }
    ended = svc_containers_ended(s->containers, v.name);
    runs = v.has_container && v.state != SVC_INSTANCE_INIT && v.state != SVC_INSTANCE_LAUNCHING &&
           v.state != SVC_INSTANCE_STOPPING;
    if (!ended && !runs)
        return 0;
    if (!first && sv_buf_put_u8(&s->text, ',') < 0)
        return -ENOMEM;
    return ended ? svc_record_ended(&s->text, &v, ended)
                 : svc_record_container(&s->text, &v,
                                        svc_containers_find(s->containers, v.container));
}

static int begin(struct svc_status *s)
{
    int64_t running = 0;
    struct svc_component_view v;
    int r;

    sv_buf_free(&s->text);
    s->component = s->cursor = 0;
    s->disturbed = false;
    for (size_t i = 0; i < svc_engine_components(s->engine); i++) {
        svc_engine_component(s->engine, i, &v);
        running += v.live;
    }
    r = sv_buf_put_u8(&s->text, '{');
    if (r == 0)
        r = sv_buf_put_str(&s->text, s->head ? s->head : "\"name\":\"\"");
    if (r == 0)
        r = svc_json_member(&s->text, "state", svc_service_state_text(svc_engine_state(s->engine)));
    if (r == 0)
        r = svc_json_number(&s->text, "number_of_running_containers", running);
    return r < 0 ? r : sv_buf_put_str(&s->text, ",\"components\":[");
}

static int end(struct svc_status *s)
{
    int r = sv_buf_put_str(&s->text, s->component > 0 ? "]}]}" : "]}");

    if (r == 0)
        r = sv_buf_put_u8(&s->text, '\0');
    return r;
}

/* 1: finished; 0: more to do. */
static int build_some(struct svc_status *s)
{
    size_t n = svc_engine_components(s->engine);
    int r = 0;

    for (unsigned left = SVC_STATUS_TURN; r == 0 && s->component < n; left--) {
        if (left == 0)
            return 0;
        if (s->cursor == 0)
            r = begin_component(s);
        if (r == 0)
            r = put_instance(s);
    }
    if (r == 0)
        r = end(s);
    return r < 0 ? r : 1;
}

static void finish(struct svc_status *s, int r)
{
    s->building = false;
    s->current = r == 0 && !s->disturbed;
    (void)sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
    if (r < 0)
        sv_buf_free(&s->text);
}

/* The text of a state that changed meanwhile is built anew a few times, then it is good enough. */
static int advance(struct svc_status *s)
{
    int r = 0;

    if (s->disturbed && s->restarts < RESTARTS_MAX) {
        s->restarts++;
        r = begin(s);
    }
    return r < 0 ? r : build_some(s);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_status *s = userdata;
    int r;

    (void)source;
    if (!s->building)
        return sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
    r = advance(s);
    if (r == 0)
        return 0;
    finish(s, r > 0 ? 0 : r);
    s->current = r > 0; /* whoever waits gets it; a change since then makes it stale again */
    s->done(r > 0 ? 0 : r, s->userdata);
    s->current = s->current && !s->disturbed;
    return 0;
}

static int start(struct svc_status *s)
{
    int r = begin(s);

    s->restarts = 0;
    if (r == 0)
        r = build_some(s);
    if (r != 0) {
        finish(s, r > 0 ? 0 : r);
        return r > 0 ? 0 : r;
    }
    s->building = true;
    r = sd_event_source_set_enabled(s->turn, SD_EVENT_ON);
    return r < 0 ? r : -EAGAIN;
}

int svc_status_text(struct svc_status *s, const char **ret, size_t *ret_len)
{
    int r = 0;

    if (!s->current)
        r = s->building ? -EAGAIN : start(s);
    if (r < 0)
        return r;
    *ret = (const char *)s->text.data;
    *ret_len = s->text.len - 1;
    return 0;
}

void svc_status_changed(struct svc_status *s)
{
    s->current = false;
    s->disturbed = true;
}

/* ---- Life ---- */

int svc_status_new(sd_event *event, const struct svc_engine *engine,
                   const struct svc_containers *containers, svc_status_done done, void *userdata,
                   struct svc_status **ret)
{
    struct svc_status *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->event = sd_event_ref(event);
    s->engine = engine;
    s->containers = containers;
    s->done = done;
    s->userdata = userdata;
    s->text = SV_BUF_INIT(SVC_STATUS_MAX);
    r = sd_event_add_defer(event, &s->turn, on_turn, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
    if (r < 0) {
        svc_status_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct svc_status *svc_status_free(struct svc_status *s)
{
    if (!s)
        return NULL;
    sd_event_source_disable_unref(s->turn);
    sv_buf_free(&s->text);
    free_pieces(s);
    sd_event_unref(s->event);
    free(s);
    return NULL;
}
