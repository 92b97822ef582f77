/* Tables of the master: tasks to be told, containers, requests. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/oom.h"
#include "common/str.h"
#include "service/am/framework/master-internal.h"

void svc_fwm_need(int r)
{
    if (r == -ENOMEM)
        sv_out_of_memory();
}

size_t svc_fwm_role_of(const char *instance)
{
    return (size_t)strtoul(instance + strlen("role"), NULL, 10);
}

const char *svc_fwm_name(const struct svc_fwm *m, const char *instance, char ret[SVC_FWM_NAME])
{
    const char *index = instance ? strrchr(instance, '-') : NULL;
    size_t role = instance ? svc_fwm_role_of(instance) : SIZE_MAX;

    (void)snprintf(ret, SVC_FWM_NAME, "%s%s",
                   index && role < m->spec->n_roles ? m->spec->roles[role].name : "no task",
                   index ? index : "");
    return ret;
}

/* ---- Tasks ---- */

static struct svc_fwm_task *find_task(const struct svc_fwm *m, const char *instance)
{
    struct svc_fwm_task *t;

    HASH_FIND_STR(m->tasks, instance, t);
    return t;
}

void svc_fwm_changed(struct svc_fwm *m, const char *instance)
{
    struct svc_fwm_task *t = find_task(m, instance);

    m->info_stale = true;
    if (t) {
        t->again |= t->sent;
        return;
    }
    t = calloc(1, sizeof(*t));
    if (!t || !(t->instance = strdup(instance)))
        sv_out_of_memory();
    HASH_ADD_KEYPTR(hh, m->tasks, t->instance, strlen(t->instance), t);
    DL_APPEND(m->changed, t);
    svc_link_changed(m->link);
}

bool svc_fwm_is_told(const struct svc_fwm *m, const char *instance)
{
    return !find_task(m, instance);
}

/* ---- Containers ---- */

struct svc_fwm_container *svc_fwm_container(const struct svc_fwm *m, struct yarn_container_id id)
{
    struct svc_fwm_container *c;
    char key[YARN_ID_TEXT_MAX];

    HASH_FIND_STR(m->containers, yarn_container_id_text(id, key), c);
    return c;
}

struct svc_fwm_container *svc_fwm_container_add(struct svc_fwm *m, struct yarn_container_id id,
                                                const struct yarn_node_id *node, const char *http)
{
    struct svc_fwm_container *c = svc_fwm_container(m, id);

    if (c)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c)
        sv_out_of_memory();
    c->id = id;
    c->node = *node;
    (void)yarn_container_id_text(id, c->key);
    c->http = strdup(http ? http : "");
    c->ports = strdup("");
    if (!c->http || !c->ports)
        sv_out_of_memory();
    HASH_ADD_STR(m->containers, key, c);
    return c;
}

static void free_container(struct svc_fwm_container *c)
{
    free(c->http);
    free(c->ports);
    free(c->instance);
    free(c);
}

void svc_fwm_unclaim(struct svc_fwm *m, struct svc_fwm_container *c)
{
    if (c->claim && m->places)
        svc_places_settle(m->places, c->claim, false);
    c->claim = 0;
}

/* Out of the table and its lists. */
static void take_out(struct svc_fwm *m, struct svc_fwm_container *c)
{
    if (c->waits)
        DL_DELETE(m->waiting, c);
    c->waits = c->prepares = false;
    svc_ports_give(m->ports, c->node.host, c->ports);
    svc_fwm_unclaim(m, c);
    HASH_DEL(m->containers, c);
}

void svc_fwm_container_remove(struct svc_fwm *m, struct svc_fwm_container *c)
{
    take_out(m, c);
    free_container(c);
}

void svc_fwm_container_end(struct svc_fwm *m, struct svc_fwm_container *c)
{
    take_out(m, c);
    if (!c->instance) {
        free_container(c);
        return;
    }
    svc_fwm_forget_ended(m, c->instance);
    HASH_ADD_KEYPTR(hh, m->ended_of, c->instance, strlen(c->instance), c);
}

void svc_fwm_forget_ended(struct svc_fwm *m, const char *instance)
{
    struct svc_fwm_container *c;

    HASH_FIND_STR(m->ended_of, instance, c);
    if (!c)
        return;
    HASH_DEL(m->ended_of, c);
    free_container(c);
}

const struct svc_fwm_container *
svc_fwm_container_of(const struct svc_fwm *m, struct yarn_container_id id, const char *instance)
{
    struct svc_fwm_container *c = svc_fwm_container(m, id);

    if (c)
        return c;
    HASH_FIND_STR(m->ended_of, instance, c);
    return c && yarn_container_id_cmp(c->id, id) == 0 ? c : NULL;
}

/* ---- Requests ---- */

void svc_fwm_request_add(struct svc_fwm *m, int32_t priority, size_t role, int64_t request,
                         bool claimed)
{
    struct svc_fwm_request *q;

    HASH_FIND(hh, m->requests, &priority, sizeof(priority), q);
    if (q)
        return;
    q = calloc(1, sizeof(*q));
    if (!q)
        sv_out_of_memory();
    q->priority = priority;
    q->role = role;
    q->request = request;
    q->claimed = claimed;
    HASH_ADD(hh, m->requests, priority, sizeof(q->priority), q);
}

static void note_answered(struct svc_fwm *m, int64_t request)
{
    size_t room = SV_MAX(2 * m->answered_room, (size_t)16);

    if (m->n_answered == m->answered_room) {
        int64_t *list = reallocarray(m->answered, room, sizeof(*list));

        if (!list)
            sv_out_of_memory();
        m->answered = list;
        m->answered_room = room;
    }
    m->answered[m->n_answered++] = request;
}

int svc_fwm_request_role(const struct svc_fwm *m, int32_t priority, size_t *ret)
{
    const struct svc_fwm_request *q;

    HASH_FIND(hh, m->requests, &priority, sizeof(priority), q);
    if (!q)
        return -ENOENT;
    *ret = q->role;
    return 0;
}

/* The place of a container that is kept is claimed until the next list of nodes has it. */
void svc_fwm_request_take(struct svc_fwm *m, int32_t priority, struct svc_fwm_container *by)
{
    struct svc_fwm_request *q;

    HASH_FIND(hh, m->requests, &priority, sizeof(priority), q);
    if (!q)
        return;
    if (q->claimed && by) {
        by->claim = q->request;
        note_answered(m, q->request);
    } else if (q->claimed) {
        svc_places_settle(m->places, q->request, true);
    }
    HASH_DEL(m->requests, q);
    free(q);
}

/* ---- Why tasks wait ---- */

void svc_fwm_why_set(struct svc_fwm *m, size_t role, const char *why)
{
    char *copy = why ? strdup(why) : NULL;

    if (!m->whys)
        m->whys = calloc(m->spec->n_roles, sizeof(*m->whys));
    if (!m->whys || (why && !copy))
        sv_out_of_memory();
    free(m->whys[role]);
    m->whys[role] = copy;
}

/* ---- End ---- */

void svc_fwm_tasks_clear(struct svc_fwm *m)
{
    struct svc_fwm_task *t, *next_task;
    struct svc_fwm_container *c, *next_container;
    struct svc_fwm_request *q, *next_request;

    HASH_ITER (hh, m->tasks, t, next_task) {
        HASH_DEL(m->tasks, t);
        free(t->instance);
        free(t);
    }
    HASH_ITER (hh, m->containers, c, next_container)
        svc_fwm_container_remove(m, c);
    HASH_ITER (hh, m->ended_of, c, next_container) {
        HASH_DEL(m->ended_of, c);
        free_container(c);
    }
    HASH_ITER (hh, m->requests, q, next_request) {
        HASH_DEL(m->requests, q);
        free(q);
    }
    for (size_t i = 0; m->whys && i < m->spec->n_roles; i++)
        free(m->whys[i]);
    free(m->whys);
    m->whys = NULL;
}
