/* See machine.h. */
#include "service/launcher/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/engine/exit-table.h"
#include "service/engine/retry.h"

/* ---- How an application ended ---- */

static char *copy(const char *s)
{
    return s ? strdup(s) : NULL; /* without memory it is absent, ignoring */
}

static void set_code(struct svc_lr_status *s, int32_t code, const char *words)
{
    struct svc_fw_exit known;

    svc_lr_exit_free(&s->exit);
    svc_fw_exit_of_code(NULL, code, &known);
    s->exit.known = true;
    s->exit.code = code;
    s->exit.type = known.type;
    s->exit.description = copy(known.description);
    s->exit.diagnostics = copy(words);
}

/* The ResourceManager's word of the end stays; the master's are added. */
static void add_words(struct svc_lr_status *s, const struct svc_lr_exit *x)
{
    struct svc_lr_exit kept = s->exit;

    if (s->code_kept) {
        if (!kept.diagnostics)
            s->exit.diagnostics = copy(x->diagnostics);
    } else {
        svc_lr_exit_free(&s->exit);
        s->exit = (struct svc_lr_exit){ .known = true,
                                        .code = x->code,
                                        .type = x->type,
                                        .description = copy(x->description),
                                        .diagnostics = copy(x->diagnostics) };
    }
    s->exit.trigger = copy(x->trigger);
    s->exit.trigger_role = copy(x->trigger_role);
    s->exit.trigger_index = x->trigger_index;
}

static void clear_app(struct svc_lr_status *s)
{
    free(s->user);
    free(s->tracking_url);
    svc_lr_exit_free(&s->exit);
    s->user = s->tracking_url = NULL;
    s->app = (struct yarn_app_id){ 0 };
    s->progress = -1;
    s->launched_ms = s->app_completed_ms = 0;
    s->code_kept = false;
    s->retry_at_ms = 0;
    s->attempt = 0;
    s->sequence = -1;
}

/* ---- Actions ---- */

static int create(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    const struct svc_lr_input *in = arg;

    (void)event;
    clear_app(s);
    s->app = in->app;
    s->user = copy(in->user);
    return SVC_LR_CREATED;
}

static int launched(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;

    (void)event;
    s->launched_ms = ((const struct svc_lr_input *)arg)->now_ms;
    return SVC_LR_LAUNCHED;
}

/* It may have reached the ResourceManager all the same. */
static int refused(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    struct svc_lr_input *in = arg;

    (void)event;
    set_code(s, in->code, in->words);
    s->code_kept = true;
    in->kill = true;
    return SVC_LR_RETRIEVING;
}

static int ended(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    const struct svc_lr_input *in = arg;

    if (event == SVC_LR_LOST)
        set_code(s, SVC_FW_EXIT_APP_LOST, in->words);
    else if (in->has_code)
        set_code(s, in->code, NULL);
    s->code_kept = event == SVC_LR_LOST || in->has_code;
    if (s->launched_ms == 0)
        s->launched_ms = in->now_ms;
    return SVC_LR_RETRIEVING;
}

static int said(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    const struct svc_lr_input *in = arg;
    struct svc_fw_retries next;
    enum svc_fw_decision d;
    int64_t wait = 0;

    (void)event;
    if (in->exit)
        add_words(s, in->exit);
    else if (!s->exit.known)
        set_code(s, SVC_FW_EXIT_DIAGNOSTICS_LOST, in->words);
    s->app_completed_ms = in->now_ms;
    d = svc_fw_decide(in->policy, s->exit.type, &s->retries, &next);
    if (d == SVC_FW_RETRY_LATER)
        wait = svc_fw_backoff_s(s->retries.transient_conflict, in->delay_min_s, in->delay_max_s,
                                in->random);
    s->retry_at_ms = d == SVC_FW_END ? -1 : in->now_ms + wait * 1000;
    return SVC_LR_APP_COMPLETED;
}

static int retry(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    struct svc_lr_input *in = arg;

    (void)event;
    (void)svc_fw_decide(in->policy, s->exit.type, &s->retries, &s->retries); /* counts, ignoring */
    clear_app(s);
    in->drop_tasks = true;
    return SVC_LR_WAITING;
}

static int give_up(void *object, int event, void *arg)
{
    (void)event;
    ((struct svc_lr_status *)object)->completed_ms = ((const struct svc_lr_input *)arg)->now_ms;
    return SVC_LR_COMPLETED;
}

static int stop(void *object, int event, void *arg)
{
    struct svc_lr_status *s = object;
    struct svc_lr_input *in = arg;

    (void)event;
    in->kill = svc_lr_live(s->state);
    set_code(s, SVC_FW_EXIT_STOP_REQUESTED, NULL);
    s->code_kept = true;
    s->retry_at_ms = -1;
    if (s->app_completed_ms == 0)
        s->app_completed_ms = in->now_ms;
    s->completed_ms = in->now_ms;
    return SVC_LR_COMPLETED;
}

/* ---- The table ---- */

#define ROW(state) ((SVC_LR_##state) * SVC_LR_N_EVENTS)
#define AT(state, event) [ROW(state) + SVC_LR_##event]
#define STAYS(state, event) AT(state, event) = { NULL, SVC_LR_##state, { 0 } }
#define STOPS(state) AT(state, STOP) = { stop, SVC_LR_COMPLETED, { 0 } }
#define LIVE(state)                                                                                \
    AT(state, SEEN_WAITING) = { NULL, SVC_LR_APP_WAITING, { 0 } },                                 \
              AT(state, SEEN_RUNNING) = { NULL, SVC_LR_APP_RUNNING, { 0 } },                       \
              AT(state, SEEN_ENDED) = { ended, SVC_LR_RETRIEVING, { 0 } },                         \
              AT(state, LOST) = { ended, SVC_LR_RETRIEVING, { 0 } }, STAYS(state, SUBMITTED),      \
              STAYS(state, RECOVER), STOPS(state)

/* clang-format off */
static const struct sv_fsm_cell cells[SVC_LR_N_STATES * SVC_LR_N_EVENTS] = {
    AT(WAITING, CREATE) = { create, SVC_LR_CREATED, { 0 } },
    STAYS(WAITING, RECOVER),
    STOPS(WAITING),

    AT(CREATED, SUBMITTED) = { launched, SVC_LR_LAUNCHED, { 0 } },
    AT(CREATED, NOT_SUBMITTED) = { refused, SVC_LR_RETRIEVING, { 0 } },
    /* Whether it was submitted is not known: it is submitted again, under the same id. */
    STAYS(CREATED, RECOVER),
    STOPS(CREATED),

    LIVE(LAUNCHED),
    LIVE(APP_WAITING),
    LIVE(APP_RUNNING),

    AT(RETRIEVING, DIAGNOSTICS) = { said, SVC_LR_APP_COMPLETED, { 0 } },
    STAYS(RETRIEVING, RECOVER),
    STAYS(RETRIEVING, SUBMITTED),
    STOPS(RETRIEVING),

    AT(APP_COMPLETED, RETRY) = { retry, SVC_LR_WAITING, { 0 } },
    AT(APP_COMPLETED, GIVE_UP) = { give_up, SVC_LR_COMPLETED, { 0 } },
    STAYS(APP_COMPLETED, RECOVER),
    STOPS(APP_COMPLETED),

    STAYS(COMPLETED, RECOVER),
    STAYS(COMPLETED, STOP),
};

static const char *const event_names[SVC_LR_N_EVENTS] = {
    "", "create", "submitted", "not submitted", "recover", "seen waiting", "seen running",
    "seen ended", "lost", "diagnostics", "retry", "give up", "stop",
};
/* clang-format on */

const struct sv_fsm *svc_lr_machine(void)
{
    static const char *state_names[SVC_LR_N_STATES];
    static const struct sv_fsm machine = { .name = "framework",
                                           .n_states = SVC_LR_N_STATES,
                                           .n_events = SVC_LR_N_EVENTS,
                                           .state_names = state_names,
                                           .event_names = event_names,
                                           .cells = cells };

    for (int i = 0; i < SVC_LR_N_STATES; i++)
        state_names[i] = i ? svc_lr_state_name(i) : "";
    return &machine;
}

int svc_lr_run(struct svc_lr_status *s, enum svc_lr_event e, struct svc_lr_input *in)
{
    return sv_fsm_run(svc_lr_machine(), &s->state, e, s, in);
}
