/* See web-list.h. A client that reads slowly holds the ids, one turn's text, and what
 * common/web/http-stream.h buffers. */
#include "nodemanager/web/web-list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/web/http-stream.h"
#include "common/web/json-xml.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/web-reply.h"

#define TEXT_MAX ((size_t)4 << 20) /* of one turn */

struct list {
    const struct nm_context *ctx;
    unsigned *all; /* lists being written */
    const struct nm_web_list_kind *kind;
    struct nm_web_caller who;
    struct nm_web_filter filter;
    struct nm_web_objects objects;
    size_t at;
    bool xml;          /* with `inner` */
    bool some, closed; /* an entry has been written; the end has */
    struct sv_http_stream *stream;
    sd_event_source *turn;
    struct sv_buf text;
};

static void objects_free(struct nm_web_objects *o)
{
    free(o->ids);
    json_decref(o->first);
}

static void list_free(struct list *l)
{
    (*l->all)--;
    sd_event_source_disable_unref(l->turn);
    objects_free(&l->objects);
    sv_buf_free(&l->text);
    free(l);
}

/* ---- Text ---- */

static const char *content_type(const struct list *l)
{
    return l->xml ? SV_XML_TYPE : l->kind->inner ? SV_JSON_TYPE : SV_JMX_TYPE;
}

static int put_begin(struct list *l)
{
    const struct nm_web_list_kind *k = l->kind;

    if (l->xml)
        return sv_buf_printf(&l->text, SV_XML_HEAD "<%s>", k->outer);
    return k->inner ? sv_buf_printf(&l->text, "{\"%s\":{\"%s\":[", k->outer, k->inner)
                    : sv_buf_printf(&l->text, "{\n  \"%s\": [\n", k->outer);
}

/* `entry`: an object, or NULL. */
static int put_json(struct list *l, const json_t *entry)
{
    _cleanup_free_ char *text =
        entry ? json_dumps(entry, l->kind->inner ? JSON_COMPACT : JSON_INDENT(2)) : NULL;
    int r = 0;

    if (!text) /* without memory it is missing */
        return 0;
    r = l->some ? sv_buf_put_u8(&l->text, ',') : put_begin(l);
    l->some = true;
    return r < 0 ? r : sv_buf_put_str(&l->text, text);
}

static int put_xml(struct list *l, json_t *entry)
{
    int r = l->some || !entry ? 0 : put_begin(l);

    if (r < 0 || !entry)
        return r;
    l->some = true;
    return sv_json_xml_element(entry, l->kind->inner, &l->text);
}

static int put_entry(struct list *l, const char *id)
{
    json_t *entry = l->kind->entry(l->ctx, &l->who, &l->filter, id);
    int r = l->xml ? put_xml(l, entry) : put_json(l, entry);

    json_decref(entry);
    return r;
}

static int put_first(struct list *l)
{
    const json_t *entry;
    size_t i;
    int r = 0;

    json_array_foreach(l->objects.first, i, entry) if (r >= 0) r = put_json(l, entry);
    json_decref(l->objects.first);
    l->objects.first = NULL;
    return r;
}

static int put_end(struct list *l)
{
    int r = 0;

    l->closed = true;
    if (l->xml || !l->kind->inner) {
        r = l->some ? 0 : put_begin(l);
        if (r < 0)
            return r;
        return l->xml ? sv_buf_printf(&l->text, "</%s>", l->kind->outer)
                      : sv_buf_put_str(&l->text, "]\n}");
    }
    return l->some ? sv_buf_put_str(&l->text, "]}}")
                   : sv_buf_printf(&l->text, "{\"%s\":{}}", l->kind->outer);
}

/* One turn. */
static int put_entries(struct list *l)
{
    int64_t begin = sv_now_ms();
    int r = put_first(l);

    for (int i = 0; l->at < l->objects.n && i < NM_WEB_LIST_TURN && r >= 0; i++) {
        if (sv_now_ms() - begin >= NM_WEB_LIST_TURN_MS)
            return 0;
        r = put_entry(l, l->objects.ids[l->at++]);
    }
    return r >= 0 && l->at == l->objects.n && !l->closed ? put_end(l) : r;
}

/* ---- Turns ---- */

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct list *l = userdata;
    int r = sv_http_stream_flush(l->stream, &l->text);

    if (r >= 0)
        r = put_entries(l);
    if (!l->who.sees_all)
        (void)sv_groups_missed(l->who.groups); /* a user without groups then, ignoring */
    if (r >= 0)
        r = sv_http_stream_flush(l->stream, &l->text);
    if (r == -EAGAIN) {
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    } else if (r < 0 || l->closed) {
        sv_http_stream_end(l->stream, r >= 0);
        list_free(l);
    }
    return 0;
}

static void on_drained(void *userdata)
{
    struct list *l = userdata;

    (void)sd_event_source_set_enabled(l->turn, SD_EVENT_ON); /* cannot fail, ignoring */
}

static void on_gone(void *userdata)
{
    list_free(userdata);
}

/* ---- Answers ---- */

static int begin_stream(struct list *l, const struct sv_http_request *req)
{
    static const struct sv_http_stream_events events = { .drained = on_drained, .gone = on_gone };
    int r = sd_event_add_defer(l->ctx->event, &l->turn, on_turn, l);

    if (r >= 0)
        r = sd_event_source_set_priority(l->turn, SV_HTTP_PRIORITY);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->turn, SD_EVENT_ON);
    if (r < 0)
        return r;
    l->stream = sv_http_stream_new(req, &events, l);
    if (!l->stream)
        return -ENOMEM;
    (void)!sv_http_stream_own(l->stream,
                              content_type(l)); /* without memory one is missing, ignoring */
    sv_http_stream_begin(l->stream, 200, -1);
    return SV_HTTP_LATER;
}

/* One turn has written all. */
static int answer_short(struct list *l, struct sv_http_response *ret)
{
    ret->status = 200;
    ret->content_type = content_type(l);
    ret->body_len = l->text.len;
    ret->body = (char *)SV_TAKE(l->text.data);
    list_free(l);
    return 0;
}

struct nm_web_objects nm_web_containers(const struct nm_context *ctx, json_t *first)
{
    struct nm_web_objects all = { .first = first };

    all.ids = calloc(HASH_COUNT(ctx->containers) + 1, sizeof(*all.ids));
    for (const struct nm_container *c = ctx->containers; all.ids && c; c = c->hh.next)
        memcpy(all.ids[all.n++], c->text, sizeof(*all.ids));
    return all;
}

int nm_web_list(const struct nm_web *w, const struct nm_web_caller *who,
                const struct nm_web_list_kind *kind, const struct nm_web_filter *f,
                struct nm_web_objects objects, const struct sv_http_request *req,
                struct sv_http_response *ret)
{
    struct list *l = objects.ids ? calloc(1, sizeof(*l)) : NULL;
    int r = l ? 0 : -ENOMEM;
    char *const *groups;

    if (r >= 0 && !who->sees_all) /* before the first turn, so that no later one lacks them */
        r = sv_groups_of(who->groups, who->user, &groups);
    if (r < 0) {
        objects_free(&objects);
        free(l);
        return r;
    }
    *l = (struct list){ .ctx = w->ctx,
                        .all = w->lists,
                        .kind = kind,
                        .who = *who,
                        .filter = *f,
                        .objects = objects,
                        .xml = ret->xml && kind->inner,
                        .text = SV_BUF_INIT(TEXT_MAX) };
    (*l->all)++;
    r = put_entries(l);
    if (r >= 0 && l->closed)
        return answer_short(l, ret);
    if (r >= 0 && *l->all > NM_WEB_LISTS_MAX) {
        list_free(l);
        return nm_web_exception(ret, 503, "WebApplicationException",
                                "%d long lists are being written: try again later",
                                NM_WEB_LISTS_MAX);
    }
    if (r >= 0)
        r = begin_stream(l, req);
    if (r < 0)
        list_free(l);
    return r;
}
