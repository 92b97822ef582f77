/* See answers.h. */
#include "service/launcher/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/launcher/print.h"

#define ENDED_ONCE 32 /* such tasks of one call: each is parsed */

enum phase { HEAD, ROLE, TASKS, TAIL, LIST, END };

struct svc_lr_pieces {
    struct svc_lr *l;
    enum svc_lr_shape shape;
    enum phase phase;
    char *name, *head;
    uint64_t generation;
    size_t role;
    int32_t task;
    int ended;    /* tasks whose text became another one in this call */
    bool more;    /* something stands before the next one */
    char **names; /* SummarizedFrameworkInfos */
    size_t n_names, at;
    bool opened; /* the list */
};

/* ---- Parts ---- */

static int put(struct sv_buf *out, const char *text)
{
    return sv_buf_put_str(out, text);
}

/* `o` is taken. */
static int put_json(struct sv_buf *out, json_t *o)
{
    _cleanup_free_ char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text ? put(out, text) : -ENOMEM;
}

/* `text` is taken. */
static int put_text(struct sv_buf *out, char *text)
{
    int r = text ? put(out, text) : -ENOMEM;

    free(text);
    return r;
}

static int put_head(struct svc_lr_pieces *p, const struct svc_framework *f, struct sv_buf *out)
{
    int r = p->head ? put(out, p->head) : 0;

    if (r == 0 && p->shape == SVC_LR_INFO) {
        r = put(out, "{\"summarizedFrameworkInfo\":");
        if (r == 0)
            r = put_json(out, svc_lr_summary(f));
        if (r == 0)
            r = put(out, ",\"aggregatedFrameworkRequest\":");
        if (r == 0)
            r = put_text(out, svc_lr_aggregated_request(f));
        if (r == 0)
            r = put(out, ",\"aggregatedFrameworkStatus\":");
    }
    if (r < 0 || p->shape == SVC_LR_TOLD)
        return r < 0 ? r : put(out, "{");
    r = put(out, "{\"frameworkStatus\":");
    if (r == 0)
        r = put_json(out, svc_lr_framework_status(f));
    return r < 0 ? r : put(out, ",\"aggregatedTaskRoleStatuses\":{");
}

static int put_role(struct svc_lr_pieces *p, const struct svc_framework *f, struct sv_buf *out)
{
    const char *name = f->roles[p->role].name; /* needs no escape */
    int r = sv_buf_printf(out, "%s\"%s\":", p->role ? "," : "", name);

    if (r < 0 || p->shape == SVC_LR_TOLD)
        return r < 0 ? r : put(out, "[");
    r = put(out, "{\"taskRoleStatus\":");
    if (r == 0)
        r = put_json(out, svc_lr_role_status(f, name));
    return r < 0 ? r
                 : sv_buf_printf(out,
                                 ",\"taskStatuses\":{\"taskRoleName\":\"%s\",\"taskStatusArray\":[",
                                 name);
}

/* A task that had not ended with its application is shown as ended. That text stays in memory, in
 * the place of the told one, which the store keeps. */
static int end_task(struct svc_lr_pieces *p, struct svc_framework *f, struct svc_lr_role *role)
{
    char **at = &role->tasks[p->task];
    char *ended = svc_lr_ended_task(f, *at);
    size_t before = strlen(*at);

    if (!ended)
        return -ENOMEM;
    svc_lr_count_texts(&p->l->all, f, (int64_t)strlen(ended) - (int64_t)before);
    free(*at);
    *at = ended;
    role->completed[p->task] = true;
    return 0;
}

static int put_task(struct svc_lr_pieces *p, struct svc_framework *f, struct svc_lr_role *role,
                    struct sv_buf *out)
{
    int r = 0;

    if (!role->tasks[p->task])
        return 0;
    if (p->shape != SVC_LR_TOLD && f->st.state >= SVC_LR_APP_COMPLETED &&
        !role->completed[p->task]) {
        r = end_task(p, f, role);
        p->ended++;
    }
    if (r == 0 && p->more)
        r = put(out, ",");
    p->more = true;
    return r < 0 ? r : put(out, role->tasks[p->task]);
}

static int put_tasks(struct svc_lr_pieces *p, struct svc_framework *f, struct sv_buf *out, size_t n)
{
    struct svc_lr_role *role = &f->roles[p->role];
    int r = 0;

    for (; r == 0 && p->task < role->n && out->len < n && p->ended < ENDED_ONCE; p->task++)
        r = put_task(p, f, role, out);
    if (r < 0 || p->task < role->n)
        return r;
    r = p->shape == SVC_LR_TOLD ? put(out, "]")
                                : sv_buf_printf(out, "],\"frameworkVersion\":%d}}", f->d->version);
    p->role++;
    p->phase = ROLE;
    return r;
}

static int step_list(struct svc_lr_pieces *p, struct sv_buf *out)
{
    const struct svc_framework *f =
        p->at < p->n_names ? svc_lr_find(&p->l->all, p->names[p->at]) : NULL;
    int r = 0;

    if (!p->opened) {
        p->opened = true;
        return put(out, "{\"summarizedFrameworkInfos\":[");
    }
    if (p->at == p->n_names) {
        p->phase = END;
        return put(out, "]}");
    }
    p->at++;
    if (!f) /* deleted meanwhile */
        return 0;
    if (p->more)
        r = put(out, ",");
    p->more = true;
    return r < 0 ? r : put_json(out, svc_lr_summary(f));
}

static int step(struct svc_lr_pieces *p, struct sv_buf *out, size_t n)
{
    struct svc_framework *f;
    int r;

    if (p->phase == LIST)
        return step_list(p, out);
    f = svc_lr_find(&p->l->all, p->name);
    if (!f || f->generation != p->generation)
        return -ESTALE;
    switch (p->phase) {
    case HEAD:
        p->phase = ROLE;
        return put_head(p, f, out);
    case ROLE:
        if (p->role >= f->n_roles) {
            p->phase = TAIL;
            return 0;
        }
        p->phase = TASKS;
        p->task = 0;
        p->more = false;
        return put_role(p, f, out);
    case TASKS:
        return put_tasks(p, f, out, n);
    default:
        r = put(out, p->shape == SVC_LR_INFO ? "}}}" : "}}");
        p->phase = END;
        return r;
    }
}

int svc_lr_pieces_next(struct svc_lr_pieces *p, struct sv_buf *out, size_t n)
{
    int r = 0;

    n += out->len;
    p->ended = 0;
    while (r == 0 && p->phase != END && out->len < n && p->ended < ENDED_ONCE)
        r = step(p, out, n);
    return r < 0 ? r : p->phase != END;
}

/* ---- Beginnings ---- */

struct svc_lr_pieces *svc_lr_pieces_of(struct svc_lr *l, const struct svc_framework *f,
                                       enum svc_lr_shape shape, char *head)
{
    struct svc_lr_pieces *p = calloc(1, sizeof(*p));

    if (!p) {
        free(head);
        return NULL;
    }
    *p = (struct svc_lr_pieces){
        .l = l, .shape = shape, .head = head, .name = strdup(f->name), .generation = f->generation
    };
    return p->name ? p : svc_lr_pieces_free(p);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct svc_lr_pieces *svc_lr_pieces_list(struct svc_lr *l, const char *user,
                                         const enum svc_lr_client *client)
{
    struct svc_lr_pieces *p = calloc(1, sizeof(*p));
    const struct svc_framework *f;

    if (!p)
        return NULL;
    *p = (struct svc_lr_pieces){ .l = l, .phase = LIST };
    p->names = calloc(l->all.n + 1, sizeof(*p->names));
    if (!p->names)
        return svc_lr_pieces_free(p);
    for (f = l->all.by_name; f; f = f->hh.next) {
        if (f->doomed || (user && strcmp(user, f->d->user) != 0) ||
            (client && *client != f->client))
            continue;
        if (!(p->names[p->n_names] = strdup(f->name)))
            return svc_lr_pieces_free(p);
        p->n_names++;
    }
    qsort(p->names, p->n_names, sizeof(*p->names), by_name);
    return p;
}

struct svc_lr_pieces *svc_lr_pieces_free(struct svc_lr_pieces *p)
{
    if (p) {
        for (size_t i = 0; p->names && i < p->n_names; i++)
            free(p->names[i]);
        free(p->names);
        free(p->name);
        free(p->head);
        free(p);
    }
    return NULL;
}
