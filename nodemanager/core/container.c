/* See container.h. */
#include "nodemanager/core/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

const char *const nm_container_state_names[NM_CONTAINER_N_STATES] = {
    [NM_CONTAINER_NEW] = "NEW",
    [NM_CONTAINER_LOCALIZING] = "LOCALIZING",
    [NM_CONTAINER_LOCALIZATION_FAILED] = "LOCALIZATION_FAILED",
    [NM_CONTAINER_SCHEDULED] = "SCHEDULED",
    [NM_CONTAINER_RUNNING] = "RUNNING",
    [NM_CONTAINER_RELAUNCHING] = "RELAUNCHING",
    [NM_CONTAINER_REINITIALIZING] = "REINITIALIZING",
    [NM_CONTAINER_REINITIALIZING_AWAITING_KILL] = "REINITIALIZING_AWAITING_KILL",
    [NM_CONTAINER_PAUSING] = "PAUSING",
    [NM_CONTAINER_PAUSED] = "PAUSED",
    [NM_CONTAINER_RESUMING] = "RESUMING",
    [NM_CONTAINER_KILLING] = "KILLING",
    [NM_CONTAINER_EXITED_WITH_SUCCESS] = "EXITED_WITH_SUCCESS",
    [NM_CONTAINER_EXITED_WITH_FAILURE] = "EXITED_WITH_FAILURE",
    [NM_CONTAINER_CLEANEDUP_AFTER_KILL] = "CONTAINER_CLEANEDUP_AFTER_KILL",
    [NM_CONTAINER_DONE] = "DONE",
};

const char *nm_container_state_name(int state)
{
    return state > 0 && state < NM_CONTAINER_N_STATES ? nm_container_state_names[state] : "?";
}

bool nm_container_is_done(const struct nm_container *c)
{
    return c->state == NM_CONTAINER_DONE;
}

bool nm_container_is_live(const struct nm_container *c)
{
    switch (c->state) {
    case NM_CONTAINER_RUNNING:
    case NM_CONTAINER_PAUSING:
    case NM_CONTAINER_PAUSED:
    case NM_CONTAINER_RESUMING:
    case NM_CONTAINER_REINITIALIZING:
    case NM_CONTAINER_REINITIALIZING_AWAITING_KILL:
        return true;
    default:
        return false;
    }
}

bool nm_container_may_launch(const struct nm_container *c)
{
    return (c->state == NM_CONTAINER_SCHEDULED || c->state == NM_CONTAINER_RELAUNCHING) &&
           !c->launch.exe && !c->launch.exit.event;
}

/* ---- object ---------------------------------------------------------------------------------*/

struct nm_container *nm_container_free(struct nm_container *c)
{
    if (!c)
        return NULL;
    sd_event_source_disable_unref(c->launch.kill_timer);
    sd_event_source_disable_unref(c->launch.again_timer);
    nm_retry_clear(&c->retry);
    sv_arena_free(c->arena);
    sv_arena_free(c->reinit.arena);
    free(c->node_label);
    free(c->tags);
    free(c->share.cpus);
    free(c->share.mems);
    free(c->share.numa);
    free(c->diagnostics);
    free(c->launch.exit.text);
    free(c);
    return NULL;
}

/* Behind an "exec", which begins most commands of ApplicationMasters. Omits the value of a command
 * that begins with an assignment: jobs put passwords there. */
static void first_word(const char *command, char *ret, size_t size)
{
    size_t n, name;

    command += strspn(command, " \t\n");
    if (sv_has_prefix(command, "exec ")) {
        command += strlen("exec ");
        command += strspn(command, " \t\n");
    }
    n = strcspn(command, " \t\n;|&<>()");
    name = strcspn(command, "=");
    if (name < n)
        snprintf(ret, size, "%.*s=", (int)SV_MIN(name, size - 2), command);
    else
        snprintf(ret, size, "%.*s", (int)SV_MIN(n, size - 1), command);
}

static int unpack_request(struct nm_container *c, const uint8_t *request, size_t len)
{
    Hadoop__Yarn__StartContainerRequestProto *m;

    c->arena = sv_arena_new(0);
    if (!c->arena)
        return -ENOMEM;
    m = hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(c->arena), len,
                                                            request);
    if (!m || !m->container_launch_context)
        return -EBADMSG;
    c->clc = m->container_launch_context;
    if (c->clc->n_command > 0)
        first_word(c->clc->command[0], c->command, sizeof(c->command));
    return 0;
}

void nm_container_drop_request(struct nm_container *c)
{
    c->arena = sv_arena_free(c->arena);
    c->clc = NULL;
}

static int on_request(const void *request, size_t len, void *userdata)
{
    return unpack_request(userdata, request, len);
}

int nm_container_load_request(struct nm_container *c)
{
    int r = c->clc ? 0
                   : nm_store_container_request(c->ctx->store, c->text, NM_STORED_REQUEST,
                                                on_request, c);

    if (r < 0)
        nm_container_drop_request(c);
    return r;
}

/* The ResourceManager counts containers by their tags: after its restart it needs them from here.
 */
static bool copy_tags(struct nm_container *c, const struct yarn_container_token *t)
{
    size_t len = 0;

    if (t->n_tags == 0)
        return true;
    for (size_t i = 0; i < t->n_tags; i++)
        len += strlen(t->tags + len) + 1;
    c->tags = malloc(len);
    if (!c->tags)
        return false;
    memcpy(c->tags, t->tags, len);
    c->n_tags = t->n_tags;
    return true;
}

int nm_container_new(struct nm_context *ctx, const struct yarn_container_token *t,
                     const uint8_t *request, size_t request_len, struct nm_container **ret)
{
    struct nm_container *c = calloc(1, sizeof(*c));
    int r = -ENOMEM;

    if (!c)
        return -ENOMEM;
    c->ctx = ctx;
    c->id = t->container;
    yarn_container_id_text(c->id, c->text);
    c->state = NM_CONTAINER_NEW;
    c->resource = t->resource;
    c->priority = t->priority;
    c->version = t->version;
    c->execution_type = t->execution_type;
    c->began_opportunistic = t->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC;
    c->container_type = t->container_type;
    c->allocation_request_id = t->allocation_request_id;
    c->creation_ms = t->creation_ms;
    c->rm_identifier = t->rm_identifier;
    c->exit_code = YARN_EXIT_INVALID;
    c->kill_code = YARN_EXIT_INVALID;
    c->launch.local_dir = c->launch.log_dir = -1;
    c->launch.ended_ms = -1;
    c->start_ms = sv_wall_ms();
    c->node_label = strdup(t->node_label);
    c->diagnostics = strdup("");
    if (c->node_label && c->diagnostics && copy_tags(c, t))
        r = unpack_request(c, request, request_len);
    if (r >= 0)
        nm_retry_set(&c->retry, c->clc, ctx->conf->retry_minimum_ms);
    if (r < 0) {
        nm_container_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

/* ---- restore --------------------------------------------------------------------------------*/

/* The token inside a recorded request was verified when it was received. */
static int token_of(const struct nm_stored_container *s, struct yarn_container_token *ret)
{
    Hadoop__Yarn__StartContainerRequestProto *m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err;

    m = a ? hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(a),
                                                                s->request_len, s->request)
          : NULL;
    if (!m || !m->container_token || !m->container_token->identifier.data)
        return -EBADMSG;
    return yarn_container_token_decode(m->container_token->identifier.data,
                                       m->container_token->identifier.len, ret, &err);
}

static int restore_update(struct nm_container *c, const struct nm_stored_container *s)
{
    struct yarn_container_token t;
    struct sv_error err;

    if (yarn_container_token_decode(s->updated, s->updated_len, &t, &err) < 0 ||
        yarn_container_id_cmp(t.container, c->id) != 0)
        return -EBADMSG;
    c->resource = t.resource;
    c->version = t.version;
    c->execution_type = t.execution_type;
    return 0;
}

static int restore_reinit(struct nm_container *c, const struct nm_stored_container *s)
{
    int kind = s->reinit & ~NM_STORED_REINIT_KILLS;

    c->late_resources = s->late > 0 ? s->late : 0;
    c->reinit.can_rollback = s->has_previous;
    if (kind < NM_REINIT_NONE || kind > NM_REINIT_ROLLBACK)
        return -EBADMSG;
    c->reinit.kind = kind;
    c->reinit.kills = s->reinit & NM_STORED_REINIT_KILLS;
    return 0;
}

static void restore_end(struct nm_container *c, const struct nm_stored_container *s)
{
    char *d = *s->diagnostics ? strdup(s->diagnostics) : NULL;

    if (d) {
        free(c->diagnostics);
        c->diagnostics = d;
    }
    if (s->completed) {
        c->recovered = NM_RECOVERED_COMPLETED;
        c->exit_code = s->exit_code;
    } else {
        c->recovered = s->launched ? NM_RECOVERED_LAUNCHED : NM_RECOVERED_REQUESTED;
        c->recovering = true;
    }
    if (s->done) { /* it only waits for its report to the ResourceManager */
        c->state = NM_CONTAINER_DONE;
        nm_container_drop_request(c);
    }
}

int nm_container_restore(struct nm_context *ctx, const struct nm_stored_container *s,
                         struct nm_container **ret)
{
    struct yarn_container_token t;
    struct nm_container *c;
    int r;

    if (token_of(s, &t) < 0)
        return -EBADMSG;
    r = nm_container_new(ctx, &t, s->request, s->request_len, &c);
    if (r < 0)
        return r;
    if (strcmp(c->text, s->id) != 0) {
        nm_container_free(c);
        return -EBADMSG;
    }
    r = s->updated_len && restore_update(c, s) < 0;
    if (nm_retry_restore(&c->retry, s->retry) < 0)
        r = 1; /* all of its retries are left */
    c->launch.ended_ms = s->ended_ms;
    c->launch.again = s->ended_ms >= 0;
    if (restore_reinit(c, s) < 0)
        r = 1; /* its process goes on */
    c->recorded = true;
    c->start_ms = s->start_ms;
    c->launch_ms = s->launch_ms;
    c->finish_ms = s->finish_ms;
    c->launch.local_dir = s->local_dir;
    c->launch.log_dir = s->log_dir;
    c->kill_requested = s->killed;
    c->kill_code = s->kill_code;
    restore_end(c, s);
    *ret = c;
    return r;
}

/* ---- diagnostics ----------------------------------------------------------------------------*/

/* As ContainerImpl.addDiagnostics: each text is stamped; the oldest characters are dropped
 * first. */
void nm_container_add_diagnostics(struct nm_container *c, const char *text)
{
    int64_t now = sv_wall_ms(), max = c->ctx->conf->diagnostics_max;
    time_t secs = (time_t)(now / 1000);
    char stamp[32], *joined = NULL;
    struct tm tm;

    localtime_r(&secs, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
    if (sv_asprintf(&joined, "%s[%s.%03d]%s", c->diagnostics, stamp, (int)(now % 1000), text) < 0)
        return; /* out of memory: the container ends without this text */
    if (max > 0 && strlen(joined) > (size_t)max) {
        const char *cut = joined + strlen(joined) - (size_t)max;

        while ((*cut & 0xc0) == 0x80) /* not within a UTF-8 character: this is sent as a string */
            cut++;
        memmove(joined, cut, strlen(cut) + 1);
    }
    free(c->diagnostics);
    c->diagnostics = joined;
}

void nm_container_add_diagnostics_line(struct nm_container *c, const char *text)
{
    _cleanup_free_ char *line = NULL;

    if (text && sv_asprintf(&line, "%s\n", text) >= 0)
        nm_container_add_diagnostics(c, line);
}

/* ---- usage ----------------------------------------------------------------------------------*/

void nm_container_take_usage(struct nm_container *c, const struct cg_usage *now)
{
    const struct cg_usage *last = &c->usage.last;
    struct nm_counters *n = &c->ctx->counters;

    if (now->n_throttled > last->n_throttled)
        n->throttled_periods += now->n_throttled - last->n_throttled;
    if (now->throttled_usec > last->throttled_usec)
        n->throttled_usec += now->throttled_usec - last->throttled_usec;
    c->usage.last = *now;
}

/* ---- events ---------------------------------------------------------------------------------*/

static void post(struct nm_container *c, int event, const char *text,
                 const struct nm_container_exit *exit)
{
    sv_dispatcher_post(c->ctx->dispatcher, &(struct sv_event){
                                               .machine = NM_MACHINE_CONTAINER,
                                               .type = event,
                                               .object = c,
                                               .text = text,
                                               .payload = exit,
                                               .payload_size = exit ? sizeof(*exit) : 0,
                                           });
}

void nm_container_post(struct nm_container *c, int event, const char *text)
{
    post(c, event, text, NULL);
}

void nm_container_post_exit(struct nm_container *c, int event, int code, const char *text)
{
    post(c, event, text, &(struct nm_container_exit){ .code = code });
}

void nm_container_kill(struct nm_container *c, int exit_code, const char *why)
{
    int r;

    if (c->state == NM_CONTAINER_DONE)
        return;
    if (!c->kill_requested && c->recovered != NM_RECOVERED_COMPLETED) {
        c->kill_requested = true;
        c->kill_code = exit_code;
        r = nm_store_container_killed(c->ctx->store, c->text, exit_code);
        if (r < 0)
            sv_log(SV_LOG_ERR, c->text, "%s: cannot record kill in state store: %s", c->text,
                   strerror(-r));
    }
    nm_container_post_exit(c, NM_CONTAINER_EV_KILL, exit_code, why);
}
