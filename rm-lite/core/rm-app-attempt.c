/* Application attempts as objects; see rm-app-attempt.h. */
#include "rm-lite/core/rm-app-attempt.h"

#include <string.h>

#include "common/oom.h"
#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/text.h"
#include "wire/exit-status.h"

#define A(x) HADOOP__YARN__YARN_APPLICATION_ATTEMPT_STATE_PROTO__APP_ATTEMPT_##x
#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x

/* If the application keeps containers, the next master gets the ends that the last one may not have
 * received, those in a lost answer included. */
static void take_ends(struct rm_attempt *att, struct rm_attempt *last)
{
    DL_CONCAT(att->done, last->sent);
    DL_CONCAT(att->done, last->done);
    last->sent = last->done = NULL;
}

void rm_attempt_tell_again(struct rm_attempt *att)
{
    DL_CONCAT(att->sent, att->done);
    att->done = att->sent;
    att->sent = NULL;
}

struct rm_attempt *rm_attempt_new(struct rm_app *app, int32_t number)
{
    struct rm_attempt *att = calloc(1, sizeof(*att));

    if (!att)
        sv_out_of_memory();
    att->rm = app->rm;
    att->app = app;
    att->id = (struct yarn_attempt_id){ app->id, number };
    yarn_attempt_id_text(att->id, att->id_str);
    att->state = RM_ATT_ST_NEW;
    att->rpc_port = -1;
    att->exit_status = YARN_EXIT_INVALID;
    att->failure_counts = true;
    att->start_ms = sv_wall_ms();
    att->final_status = F(UNDEFINED);
    DL_APPEND(app->attempts, att);
    if (app->keep_containers && app->current)
        take_ends(att, app->current);
    app->current = att;
    return att;
}

void rm_done_set_text(struct rm_done *d, const char *diagnostics)
{
    bool full = d->rm->done_texts >= RM_DONE_TEXTS_MAX;

    if (!diagnostics)
        return;
    d->diagnostics =
        rm_strdup_cut(diagnostics, full ? RM_ENDED_DIAGNOSTICS_MAX : RM_DIAGNOSTICS_MAX);
    d->rm->done_texts += strlen(d->diagnostics);
}

void rm_done_free(struct rm_done *d)
{
    HASH_DEL(d->rm->done, d);
    if (d->diagnostics)
        d->rm->done_texts -= strlen(d->diagnostics);
    free(d->diagnostics);
    free(d->node);
    free(d);
}

static void done_clear(struct rm_done **list)
{
    struct rm_done *d, *tmp;

    DL_FOREACH_SAFE (*list, d, tmp) {
        DL_DELETE(*list, d);
        rm_done_free(d);
    }
}

void rm_attempt_unplaced(struct rm_attempt *att, const uint8_t *request, size_t len, int32_t count,
                         bool fitted)
{
    struct rm_unplaced *u = calloc(1, sizeof(*u) + len);

    if (!u)
        sv_out_of_memory();
    u->count = count;
    u->fitted = fitted;
    u->len = len;
    memcpy(u->request, request, len);
    DL_APPEND(att->unplaced, u);
}

static void unplaced_clear(struct rm_attempt *att)
{
    struct rm_unplaced *u, *tmp;

    DL_FOREACH_SAFE (att->unplaced, u, tmp)
        free(u);
    att->unplaced = NULL;
}

void rm_attempt_free(struct rm_attempt *att)
{
    unplaced_clear(att);
    done_clear(&att->done);
    done_clear(&att->sent);
    rm_set_clear(&att->nm_tokens);
    free(att->master_http);
    free(att->host);
    free(att->tracking_url);
    free(att->diagnostics);
    free(att->last_response);
    free(att);
}

bool rm_attempt_is_final(const struct rm_attempt *att)
{
    return att->state == RM_ATT_ST_FINISHED || att->state == RM_ATT_ST_FAILED ||
           att->state == RM_ATT_ST_KILLED;
}

int rm_attempt_wire_state(const struct rm_attempt *att)
{
    switch (att->state == RM_ATT_ST_FINAL_SAVING ? att->before : att->state) {
    case RM_ATT_ST_NEW:
        return A(NEW);
    case RM_ATT_ST_SUBMITTED:
        return A(SUBMITTED);
    case RM_ATT_ST_SCHEDULED:
        return A(SCHEDULED);
    case RM_ATT_ST_ALLOCATED_SAVING:
        return A(ALLOCATED_SAVING);
    case RM_ATT_ST_ALLOCATED:
    case RM_ATT_ST_LAUNCHED_UNMANAGED_SAVING:
        return A(ALLOCATED);
    case RM_ATT_ST_LAUNCHED:
        return A(LAUNCHED);
    case RM_ATT_ST_RUNNING:
        return A(RUNNING);
    case RM_ATT_ST_FINISHING:
        return A(FINISHING);
    case RM_ATT_ST_FINISHED:
        return A(FINISHED);
    case RM_ATT_ST_KILLED:
        return A(KILLED);
    default:
        return A(FAILED);
    }
}

void rm_attempt_answer_finish(struct rm_attempt *att)
{
    if (att->finish_call)
        att->finish_answer(att);
}

static void post(struct rm_attempt *att, enum rm_attempt_event event, const char *text,
                 const void *payload, size_t size)
{
    sv_dispatcher_post(att->rm->dispatcher, &(struct sv_event){ .machine = RM_M_ATTEMPT,
                                                                .type = event,
                                                                .object = att,
                                                                .text = text,
                                                                .payload = payload,
                                                                .payload_size = size });
}

void rm_attempt_post(struct rm_attempt *att, enum rm_attempt_event event, const char *text)
{
    post(att, event, text, NULL, 0);
}

void rm_attempt_post_allocated(struct rm_attempt *att, struct rm_container *c)
{
    struct rm_attempt_allocated p = { .container = c };

    post(att, RM_ATT_EV_CONTAINER_ALLOCATED, NULL, &p, sizeof(p));
}

void rm_attempt_post_unregistered(struct rm_attempt *att, int final_status, const char *diagnostics)
{
    struct rm_attempt_unregistered p = { .final_status = final_status };

    post(att, RM_ATT_EV_UNREGISTERED, diagnostics, &p, sizeof(p));
}

void rm_attempt_post_master_exit(struct rm_attempt *att, int32_t exit_status,
                                 const char *diagnostics)
{
    struct rm_attempt_master_exit p = { .exit_status = exit_status };

    post(att, RM_ATT_EV_CONTAINER_FINISHED, diagnostics, &p, sizeof(p));
}
