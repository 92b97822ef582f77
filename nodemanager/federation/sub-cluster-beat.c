/* Heartbeats of a sub-cluster; see sub-cluster.h. Hostile: the answers. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/federation/sub-cluster-parts.h"
#include "wire/ipc/methods.h"

#define ALLOCATE "allocate"
#define PAUSE_MIN_MS 100
#define PAUSE_MAX_MS 3000
#define ACCURACY_US 10000
#define BEAT_ROWS 8   /* that a call costs */
#define EXPECTS_MAX 3 /* one is usual: behind it, something else is wrong */

static void post_why(struct nm_sub_cluster *s, enum fed_uam_event event, const char *why)
{
    struct fed_uam_arg arg = { .now_ms = sv_now_ms(), .why = why };

    s->post(s, event, &arg);
}

void nm_sub_beat_stop(struct nm_sub_cluster *s)
{
    if (s->pause)
        (void)sd_event_source_set_enabled(s->pause, SD_EVENT_OFF); /* cannot fail, ignoring */
    s->paused = false;
    s->pause_ms = 0;
    s->expects = 0;
    nm_turns_stop(s->cfg.turns, &s->beat);
    nm_sub_read_stop(s);
    nm_member_line_drop(&s->am);
}

/* ---- Failures ---- */

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_sub_cluster *s = userdata;

    (void)source;
    (void)usec;
    s->paused = false;
    s->due = true;
    nm_sub_pump(s);
    return 0;
}

static void repeat_later(struct nm_sub_cluster *s)
{
    uint64_t us;
    int r;

    s->pause_ms = s->pause_ms ? SV_MIN(2 * s->pause_ms, PAUSE_MAX_MS) : PAUSE_MIN_MS;
    us = (uint64_t)s->pause_ms * 1000;
    if (s->pause) {
        r = sd_event_source_set_time_relative(s->pause, us);
        if (r >= 0)
            r = sd_event_source_set_enabled(s->pause, SD_EVENT_ONESHOT);
    } else {
        r = sd_event_add_time_relative(s->cfg.event, &s->pause, CLOCK_MONOTONIC, us, ACCURACY_US,
                                       on_pause_over, s);
    }
    s->paused = r >= 0; /* without a timer the master's next heartbeat repeats it */
}

static void is_absent(struct nm_sub_cluster *s, const struct sv_error *err)
{
    if (!s->pause_ms)
        sv_log_info("%s: sub-cluster %s: heartbeat repeated until it is answered: %s",
                    s->cfg.app->text, s->id, err->text);
    repeat_later(s);
    nm_member_line_hang_up(&s->am); /* nothing may come any more over this connection */
    s->cfg.owner->absent(s->cfg.userdata, s);
}

static void expect_id(struct nm_sub_cluster *s, int32_t id)
{
    if (s->expects++ < EXPECTS_MAX) {
        fed_relay_expect(s->relay, id);
        s->due = true;
        nm_sub_pump(s);
    } else {
        s->expects = 0;
        repeat_later(s);
    }
}

static void failed(struct nm_sub_cluster *s, const struct ipc_result *r, const struct sv_error *err)
{
    int32_t expected = 0;

    switch (nm_member_fault_of(r, err, &expected)) {
    case NM_FAULT_ABSENT:
        is_absent(s, err);
        break;
    case NM_FAULT_NOT_REGISTERED:
        sv_log_info("%s: sub-cluster %s has restarted: registering again", s->cfg.app->text, s->id);
        post_why(s, FED_UAM_RESYNC, NULL);
        break;
    case NM_FAULT_RESPONSE_ID:
        expect_id(s, expected);
        break;
    case NM_FAULT_LOST:
        s->cfg.owner->lost(s->cfg.userdata, s, r->java_class, nm_member_fault_text(err, ALLOCATE));
        post_why(s, FED_UAM_LOST, NULL);
        break;
    case NM_FAULT_REGISTERED:
    case NM_FAULT_REFUSED:
        fed_relay_refused(s->relay);
        s->answered_ms = sv_now_ms();
        s->cfg.owner->refused(s->cfg.userdata, s, r->java_class,
                              nm_member_fault_text(err, ALLOCATE));
        break;
    }
}

/* ---- Heartbeats ---- */

static void garbled(struct nm_sub_cluster *s, int error)
{
    struct sv_error err = { 0 };

    (void)sv_error_set(&err, error, ALLOCATE ": the answer is not a valid AllocateResponseProto");
    is_absent(s, &err);
}

static int take_answer(struct nm_sub_cluster *s, const ProtobufCMessage *m, struct fed_relay_at *at,
                       struct fed_budget *b)
{
    return fed_relay_answered(s->relay, (const Hadoop__Yarn__AllocateResponseProto *)m, at, b);
}

static void on_read(struct nm_sub_cluster *s, const ProtobufCMessage *message,
                    struct sv_arena **arena, int error)
{
    const Hadoop__Yarn__AllocateResponseProto *m =
        (const Hadoop__Yarn__AllocateResponseProto *)message;

    if (error < 0) {
        garbled(s, error);
        return;
    }
    if (m->am_rm_token)
        nm_sub_take_token(s, m->am_rm_token);
    s->cfg.owner->answered(s->cfg.userdata, s, m, arena);
    if (s->pause_ms)
        sv_log_info("%s: sub-cluster %s answers again", s->cfg.app->text, s->id);
    s->pause_ms = 0;
    s->expects = 0;
    nm_sub_pump(s);
}

static const struct nm_sub_reader reader = { &hadoop__yarn__allocate_response_proto__descriptor,
                                             take_answer, on_read };

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_sub_cluster *s = userdata;

    if (r->status < 0) {
        failed(s, r, err);
        return;
    }
    s->answered_ms = sv_now_ms();
    nm_sub_read(s, &reader, r->body, r->body_len);
}

static void send_beat(struct nm_sub_cluster *s, struct fed_budget *b)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto *q;
    struct sv_error err = { 0 };
    int r = a ? fed_relay_make(s->relay, a, b, &q) : -ENOMEM;

    if (r >= 0)
        r = nm_member_line_call(&s->am, ALLOCATE, &q->base, NULL, on_answer, s, &err);
    if (r < 0) {
        if (!err.text[0])
            (void)sv_error_errno(&err, r, ALLOCATE);
        is_absent(s, &err);
        return;
    }
    s->due = false;
}

/* Whether it may go out is seen when its turn has come. */
static bool run_beat(struct nm_turn *t, struct fed_budget *b)
{
    struct nm_sub_cluster *s =
        (struct nm_sub_cluster *)(void *)((char *)t - offsetof(struct nm_sub_cluster, beat));

    if (s->uam.state != FED_UAM_RUNNING || s->am.open || s->paused || s->held || s->kept_back ||
        nm_sub_is_reading(s) || !(s->due || fed_relay_has_news(s->relay)))
        return false;
    fed_spend(b, BEAT_ROWS);
    send_beat(s, b);
    return false;
}

void nm_sub_beat_init(struct nm_sub_cluster *s)
{
    s->beat.run = run_beat;
    nm_sub_read_init(s);
}

void nm_sub_pump(struct nm_sub_cluster *s)
{
    if (s->uam.state == FED_UAM_RUNNING && !s->am.open)
        nm_turns_go(s->cfg.turns, &s->beat);
}
