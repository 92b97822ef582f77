/* Work on the open heartbeat, in turns of the loop: its phases in order. See fed-attempt.h. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/federation/fed-attempt.h"
#include "wire/exceptions.h"

/* A heartbeat that is longer is answered so late that its master has one part in this many of the
 * loop. */
#define LONG_ROWS 50000
#define ROWS_PER_MS 1000
#define PARTS 5

/* ---- Phases ---- */

static void no_memory(struct nm_fed *f)
{
    nm_fed_fail(f, JAVA_RETRIABLE, NM_FED_NO_MEMORY);
}

static void fail_split(struct nm_fed *f, int r, const struct sv_error *err)
{
    if (r == -ENOMEM)
        no_memory(f);
    else
        nm_fed_fail(f, JAVA_YARN_EXCEPTION, "%s", err->text);
}

static void set_pace(struct nm_fed *f)
{
    int64_t rows = f->work.rows;

    f->not_before_ms = rows > LONG_ROWS ? sv_now_ms() + rows / ROWS_PER_MS * (PARTS - 1) : 0;
}

/* All parts are taken: heartbeats go out, and their answers are waited for. */
static void begin_wait(struct nm_fed *f)
{
    f->home_late = nm_sub_owes(f->members[NM_FED_HOME].sub);
    f->home_answered = nm_sub_keeps_back(f->members[NM_FED_HOME].sub); /* it is here already */
    f->other_answered = f->home_late && f->n_replies;
    nm_fed_beat_all(f); /* a failure at once comes back to nm_fed_allocate_step() */
    if (!f->call)
        return;
    f->work.phase = NM_FED_WAITING;
    nm_fed_limit(f, f->shared->conf.wait_ms);
    set_pace(f);
    f->step(f);
}

static void next(struct nm_fed *f, enum nm_fed_phase phase)
{
    f->work.phase = phase;
    f->work.member = f->work.row = 0;
}

/* 0: the phase has changed; FED_MORE; < 0: it has failed. */
static int run_request(struct nm_fed *f, struct fed_budget *b, struct sv_error *err)
{
    int r = 0;

    switch (f->work.phase) {
    case NM_FED_MOVING:
        r = nm_fed_move(f, b);
        if (r == 0)
            next(f, NM_FED_SPLITTING);
        break;
    case NM_FED_SPLITTING:
        r = nm_fed_split(f, b, err);
        if (r == 0)
            next(f, NM_FED_TAKING);
        break;
    default: /* NM_FED_TAKING */
        r = nm_fed_take(f, b, err);
        if (r == 0)
            begin_wait(f);
        break;
    }
    return r;
}

/* The registration goes on by f->step(). */
static int end_join(struct nm_fed *f)
{
    int r = nm_fed_take_joined(f);

    if (r < 0)
        return r;
    nm_fed_work_stop(f);
    f->step(f);
    return 0;
}

/* The master's first call after a restart goes on. */
static void end_recall(struct nm_fed *f)
{
    nm_fed_work_stop(f);
    f->step(f);
}

static int run_recall(struct nm_fed *f, struct fed_budget *b)
{
    int r = nm_fed_recall(f, b);

    if (r != 0)
        return r;
    if (f->n_recorded == f->n_recording)
        end_recall(f);
    else
        next(f, NM_FED_RECALLED);
    return 0;
}

static int run_registration(struct nm_fed *f, struct fed_budget *b)
{
    int r;

    if (f->work.phase == NM_FED_RECALLING)
        return run_recall(f, b);
    if (f->work.phase == NM_FED_HOME_PACKING) {
        r = nm_fed_pack_home(f, b);
        if (r == 0)
            next(f, NM_FED_JOINING);
        return r;
    }
    r = nm_fed_join(f, b);
    if (r == 0)
        next(f, NM_FED_PACKING);
    return r;
}

static int run_answer(struct nm_fed *f, struct fed_budget *b)
{
    int r = 0;

    switch (f->work.phase) {
    case NM_FED_MERGING:
        r = nm_fed_merge(f, b);
        if (r == 0)
            next(f, NM_FED_PACKING);
        break;
    case NM_FED_PACKING:
        r = nm_fed_pack_answer(f, b);
        if (r == 0)
            next(f, f->work.joining ? NM_FED_KEEPING : NM_FED_RECORDING);
        break;
    case NM_FED_RECORDING:
        r = nm_fed_record(f, b);
        if (r == 0)
            next(f, f->n_recorded == f->n_recording ? NM_FED_KEEPING : NM_FED_RECORDED);
        break;
    case NM_FED_KEEPING:
        r = fed_merge_keep(f->merge, b);
        if (r == 0)
            next(f, NM_FED_EXCHANGING);
        break;
    default: /* NM_FED_EXCHANGING */
        r = nm_fed_exchange_all(f, b);
        if (r == 0 && f->work.joining)
            r = end_join(f);
        else if (r == 0)
            nm_fed_answer_merged(f);
        break;
    }
    return r;
}

static int run_phase(struct nm_fed *f, struct fed_budget *b)
{
    struct sv_error err = { 0 };
    int64_t before = b->rows;
    int r;

    if (f->work.phase > NM_FED_WAITING || f->work.phase < NM_FED_MOVING) {
        r = f->work.phase > NM_FED_WAITING ? run_answer(f, b) : run_registration(f, b);
        if (r < 0)
            no_memory(f);
        return r;
    }
    r = run_request(f, b, &err);
    f->work.rows += before - b->rows;
    if (r < 0)
        fail_split(f, r, &err);
    return r;
}

static bool waits(const struct nm_fed *f)
{
    return f->work.phase == NM_FED_NONE || f->work.phase == NM_FED_WAITING ||
           f->work.phase == NM_FED_RECALLED || f->work.phase == NM_FED_RECORDED;
}

static bool run(struct nm_turn *t, struct fed_budget *b)
{
    struct nm_fed *f = (struct nm_fed *)(void *)((char *)t - offsetof(struct nm_fed, work.turn));
    int r = 0;

    f->work.running = true;
    while (r == 0 && !waits(f))
        r = run_phase(f, b);
    f->work.running = false;
    return r == FED_MORE;
}

/* ---- Beginning and end ---- */

void nm_fed_work_init(struct nm_fed *f)
{
    f->work.turn.run = run;
}

void nm_fed_work_go(struct nm_fed *f, enum nm_fed_phase phase)
{
    next(f, phase);
    if (!f->work.arena)
        f->work.arena = sv_arena_new(NM_FED_WORK_BYTES_MAX);
    if (!f->work.arena)
        no_memory(f);
    else if (!f->work.running)
        nm_turns_go(&f->shared->turns, &f->work.turn);
}

bool nm_fed_work_recorded(struct nm_fed *f)
{
    if (f->n_recorded != f->n_recording ||
        (f->work.phase != NM_FED_RECORDED && f->work.phase != NM_FED_RECALLED))
        return false;
    if (f->work.phase == NM_FED_RECORDED)
        nm_fed_work_go(f, NM_FED_KEEPING);
    else
        end_recall(f);
    return true;
}
