/* The life of a sub-cluster's master: events in, calls out; see sub-cluster.h. */
#include "nodemanager/federation/sub-cluster.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/federation/sub-cluster-parts.h"

#define ACCURACY_US 10000

static void run(struct nm_sub_cluster *s, enum fed_uam_event event, struct fed_uam_arg *arg);

/* ---- Actions of the table ---- */

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    (void)source;
    (void)usec;
    run(userdata, FED_UAM_TIMER, &arg);
    return 0;
}

static void wait_for(struct nm_sub_cluster *s)
{
    uint64_t us = (uint64_t)s->uam.wait_ms * 1000;
    int r;

    if (s->timer) {
        r = sd_event_source_set_time_relative(s->timer, us);
        if (r >= 0)
            r = sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
    } else {
        r = sd_event_add_time_relative(s->cfg.event, &s->timer, CLOCK_MONOTONIC, us, ACCURACY_US,
                                       on_timer, s);
    }
    if (r < 0)
        sv_log_err("%s: sub-cluster %s: timer: %s; its master is not launched", s->cfg.app->text,
                   s->id, strerror(-r));
}

static void stop_waiting(struct nm_sub_cluster *s)
{
    if (s->timer)
        (void)sd_event_source_set_enabled(s->timer, SD_EVENT_OFF); /* cannot fail, ignoring */
}

static void end(struct nm_sub_cluster *s)
{
    if (s->uam.state == FED_UAM_FAILED) {
        if (!s->failure_logged || !s->uam.has_token) /* with one it is tried again, and again */
            sv_log_warning("%s: master in sub-cluster %s: %s", s->cfg.app->text, s->id, s->uam.why);
        s->failure_logged = true;
    } else if (!s->cfg.home) {
        sv_log_info("%s: unmanaged master in sub-cluster %s: ended", s->cfg.app->text, s->id);
    }
    if (!s->ending)
        s->cfg.owner->ended(s->cfg.userdata, s);
}

static void save(struct nm_sub_cluster *s)
{
    Hadoop__Common__TokenProto *m;
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);

    m = a ? yarn_token_to(a, &s->token) : NULL;
    if (m)
        s->cfg.owner->token(s->cfg.userdata, s, m);
    else
        nm_sub_saved(s, -ENOMEM);
}

static void kill_it(struct nm_sub_cluster *s)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    if (s->cfg.home)
        run(s, FED_UAM_KILLED, &arg); /* its ResourceManager ends the application itself */
    else
        nm_sub_call_kill(s);
}

static void begin_beats(struct nm_sub_cluster *s)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    if (s->finish_wanted) {
        s->finish_wanted = false;
        run(s, FED_UAM_FINISH, &arg);
        return;
    }
    nm_sub_pump(s);
}

static void act(struct nm_sub_cluster *s, int todo)
{
    switch (todo) {
    case FED_UAM_DO_NOTHING:
        break;
    case FED_UAM_DO_WAIT:
        wait_for(s);
        break;
    case FED_UAM_DO_SUBMIT:
        nm_sub_call_submit(s);
        break;
    case FED_UAM_DO_REPORT:
        nm_sub_call_report(s);
        break;
    case FED_UAM_DO_REPORT_ATTEMPT:
        nm_sub_call_attempt_report(s);
        break;
    case FED_UAM_DO_SAVE:
        save(s);
        break;
    case FED_UAM_DO_REGISTER:
        nm_sub_call_register(s);
        break;
    case FED_UAM_DO_HEARTBEAT:
        begin_beats(s);
        break;
    case FED_UAM_DO_FINISH:
        nm_sub_call_finish(s);
        break;
    case FED_UAM_DO_KILL:
        kill_it(s);
        break;
    case FED_UAM_DO_END:
        end(s);
        break;
    }
}

/* A step takes the place of the open call and of the timer. */
static void run(struct nm_sub_cluster *s, enum fed_uam_event event, struct fed_uam_arg *arg)
{
    int todo = fed_uam_handle(&s->uam, event, arg);

    /* Unknown to a ResourceManager that has just taken it: it has restarted and lost it. */
    if (todo == -EPROTO && (event == FED_UAM_LOST || event == FED_UAM_RESYNC)) {
        arg->why = "the ResourceManager has forgotten the application";
        todo = fed_uam_handle(&s->uam, FED_UAM_CALL_FAILED, arg);
    }
    if (todo <= FED_UAM_DO_NOTHING)
        return; /* illegal now: what it was about is over, ignoring */
    stop_waiting(s);
    s->registers_later = false;
    nm_member_line_drop(&s->client);
    nm_sub_beat_stop(s);
    act(s, todo);
}

static void post(struct nm_sub_cluster *s, enum fed_uam_event event)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms() };

    run(s, event, &arg);
}

/* ---- The object ---- */

struct nm_sub_cluster *nm_sub_new(const struct nm_sub_config *c)
{
    struct nm_sub_cluster *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->cfg = *c;
    s->post = run;
    s->id = strdup(c->id);
    s->relay = fed_relay_new();
    s->am = (struct nm_member_line){ .wire = c->wire,
                                     .wire_userdata = c->wire_userdata,
                                     .service = YARN_RM_SCHEDULER,
                                     .own = c->home };
    s->client = (struct nm_member_line){ .wire = c->wire,
                                         .wire_userdata = c->wire_userdata,
                                         .service = YARN_RM_CLIENTS,
                                         .user = c->app->user };
    nm_sub_beat_init(s);
    fed_uam_init(&s->uam, &c->settings);
    return s->id && s->relay ? s : nm_sub_free(s);
}

struct nm_sub_cluster *nm_sub_free(struct nm_sub_cluster *s)
{
    if (!s)
        return NULL;
    s->ending = true;
    nm_sub_beat_stop(s);
    nm_member_line_clear(&s->am);
    nm_member_line_clear(&s->client);
    sd_event_source_disable_unref(s->timer);
    sd_event_source_disable_unref(s->pause);
    sv_arena_wipe(s->token_arena);
    nm_turns_leave(s->cfg.turns, s->relay, fed_relay_leave);
    free(s->id);
    free(s);
    return NULL;
}

size_t nm_sub_member(const struct nm_sub_cluster *s)
{
    return s->cfg.member;
}

const char *nm_sub_id(const struct nm_sub_cluster *s)
{
    return s->id;
}

int nm_sub_state(const struct nm_sub_cluster *s)
{
    return s->uam.state;
}

const char *nm_sub_why(const struct nm_sub_cluster *s)
{
    return s->uam.why;
}

int64_t nm_sub_answered_ms(const struct nm_sub_cluster *s)
{
    return s->answered_ms;
}

int64_t nm_sub_heard_ms(const struct nm_sub_cluster *s)
{
    return SV_MAX(s->heard_ms, s->answered_ms);
}

bool nm_sub_has_token(const struct nm_sub_cluster *s)
{
    return s->uam.has_token;
}

bool nm_sub_owes(const struct nm_sub_cluster *s)
{
    return s->uam.state == FED_UAM_REGISTERING || s->uam.state == FED_UAM_PAUSED ||
           (s->uam.state == FED_UAM_RUNNING &&
            (s->am.open || s->paused || nm_sub_is_reading(s) || s->beat.waiting));
}

bool nm_sub_has_news(const struct nm_sub_cluster *s)
{
    return fed_relay_has_news(s->relay);
}

size_t nm_sub_bytes(const struct nm_sub_cluster *s)
{
    return fed_relay_bytes(s->relay);
}

int nm_sub_set_addresses(struct nm_sub_cluster *s, const struct fed_member *m)
{
    int r = m ? nm_member_line_set_address(&s->am, m->am) : 0;

    return r >= 0 && m ? nm_member_line_set_address(&s->client, m->client) : r;
}

/* ---- Its life ---- */

void nm_sub_start(struct nm_sub_cluster *s)
{
    post(s, s->uam.state == FED_UAM_FAILED && s->uam.has_token ? FED_UAM_ATTACH : FED_UAM_START);
}

int nm_sub_attach(struct nm_sub_cluster *s, const struct yarn_token *t)
{
    int r = nm_member_line_set_token(&s->am, t);

    if (r >= 0)
        post(s, FED_UAM_ATTACH);
    return r;
}

void nm_sub_recall(struct nm_sub_cluster *s)
{
    s->recall = true;
}

void nm_sub_saved(struct nm_sub_cluster *s, int result)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms(), .why = "its token could not be stored" };

    if (result >= 0 && s->token_arena)
        result = nm_member_line_set_token(&s->am, &s->token);
    if (s->uam.state == FED_UAM_SAVING)
        run(s, result >= 0 ? FED_UAM_SAVED : FED_UAM_CALL_FAILED, &arg);
}

int nm_sub_set_token(struct nm_sub_cluster *s, const struct yarn_token *t)
{
    return nm_member_line_set_token(&s->am, t);
}

static void register_at_last(struct nm_sub_cluster *s)
{
    if (s->registers_later)
        nm_sub_call_register(s);
    s->registers_later = false;
}

/* The home's ResourceManager has to hear of it; elsewhere a master that is not registered is
 * killed. */
void nm_sub_finish(struct nm_sub_cluster *s)
{
    bool away = s->uam.state == FED_UAM_REGISTERING || s->uam.state == FED_UAM_PAUSED ||
                s->uam.state == FED_UAM_FAILED;

    if (!s->cfg.home || !away) {
        post(s, FED_UAM_FINISH);
        return;
    }
    s->finish_wanted = true;
    register_at_last(s);
    if (s->uam.state == FED_UAM_FAILED)
        post(s, FED_UAM_ATTACH);
}

void nm_sub_kill(struct nm_sub_cluster *s)
{
    post(s, FED_UAM_KILL);
}

/* ---- Heartbeats ---- */

int nm_sub_take(struct nm_sub_cluster *s, const Hadoop__Yarn__AllocateRequestProto *part,
                struct fed_relay_at *at, struct fed_budget *b, struct sv_error *err)
{
    return fed_relay_take(s->relay, part, at, b, err);
}

void nm_sub_beat(struct nm_sub_cluster *s)
{
    s->due = true;
    nm_sub_pump(s);
}

int nm_sub_exchange(struct nm_sub_cluster *s, const Hadoop__Yarn__ContainerProto *c)
{
    return fed_relay_exchange(s->relay, c);
}

int nm_sub_move(struct nm_sub_cluster *from, struct nm_sub_cluster *to, struct fed_budget *b,
                int32_t *n)
{
    return fed_relay_move(from->relay, to->relay, from->uam.state == FED_UAM_RUNNING, b, n);
}

void nm_sub_keep_back(struct nm_sub_cluster *s)
{
    s->kept_back++;
}

void nm_sub_recorded(struct nm_sub_cluster *s)
{
    s->kept_back--;
    if (!s->kept_back)
        register_at_last(s);
    nm_sub_pump(s);
}

bool nm_sub_keeps_back(const struct nm_sub_cluster *s)
{
    return s->kept_back > 0;
}

void nm_sub_hold(struct nm_sub_cluster *s, bool held)
{
    s->held = held;
    nm_sub_pump(s);
}
