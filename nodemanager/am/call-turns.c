/* See call-turns.h. */
#include "nodemanager/am/call-turns.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "nodemanager/store/state-store.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

struct nm_call_turns {
    sd_event_source *turn;
    struct nm_call *calls; /* utlist, the next one first */
};

static void finish_if_recorded(struct nm_call *c)
{
    if (c->ended && c->commits == 0)
        c->done(c, c->result);
}

static void on_commit(void *userdata, int result)
{
    struct nm_call *c = userdata;

    c->commits--;
    c->lost = c->lost || result < 0;
    finish_if_recorded(c);
}

static void wait_for_commit(struct nm_call *c)
{
    if (!c->store)
        return;
    if (nm_store_after_commit(c->store, on_commit, c) < 0)
        c->lost = true;
    else
        c->commits++;
}

static void end(struct nm_call *c, int result)
{
    c->ended = true;
    c->result = result;
    wait_for_commit(c);
    finish_if_recorded(c);
}

/* False: rows are left. */
static bool take_turn(struct nm_call *c)
{
    int64_t begin = sv_now_ms();
    int r = 0;

    for (size_t rows = 0; c->at < c->n && r >= 0; rows++) {
        if (rows == NM_CALL_TURN_ROWS || sv_now_ms() - begin >= NM_CALL_TURN_MS) {
            wait_for_commit(c);
            return false;
        }
        r = c->row(c);
        c->at++;
    }
    end(c, r < 0 ? r : 0);
    return true;
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_call_turns *t = userdata;
    struct nm_call *c = t->calls;

    if (c) {
        DL_DELETE(t->calls, c);
        if (!take_turn(c))
            DL_APPEND(t->calls, c);
    }
    if (!t->calls)
        (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
    return 0;
}

void nm_call_turns_run(struct nm_call_turns *t, struct nm_call *c)
{
    if (take_turn(c))
        return;
    DL_APPEND(t->calls, c);
    (void)sd_event_source_set_enabled(t->turn, SD_EVENT_ON); /* ours, ignoring */
}

bool nm_call_turns_takes(struct ipc_call *call, size_t n)
{
    if (n <= NM_CALL_ROWS_MAX)
        return true;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "%zu containers in one request, at most %d are accepted", n, NM_CALL_ROWS_MAX);
    return false;
}

int nm_call_turns_new(sd_event *event, struct nm_call_turns **ret)
{
    struct nm_call_turns *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return -ENOMEM;
    r = sd_event_add_defer(event, &t->turn, on_turn, t);
    if (r >= 0)
        r = sd_event_source_set_enabled(t->turn, SD_EVENT_OFF);
    if (r >= 0) /* behind short calls and heartbeats */
        r = sd_event_source_set_priority(t->turn, SD_EVENT_PRIORITY_NORMAL + 10);
    if (r < 0) {
        (void)nm_call_turns_free(t);
        return r;
    }
    *ret = t;
    return 0;
}

struct nm_call_turns *nm_call_turns_free(struct nm_call_turns *t)
{
    if (!t)
        return NULL;
    while (t->calls) {
        struct nm_call *c = t->calls;

        DL_DELETE(t->calls, c);
        end(c, -ESHUTDOWN);
    }
    sd_event_source_disable_unref(t->turn);
    free(t);
    return NULL;
}
