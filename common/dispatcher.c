/* The event dispatcher; see dispatcher.h. Reads no outside input. */
#include "common/dispatcher.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>
#include <utlist.h>

#include "common/loop-guard.h"
#include "common/oom.h"

struct queued {
    struct queued *prev, *next;
    struct sv_event event; /* text and payload point behind this struct */
    alignas(max_align_t) unsigned char data[];
};

struct sv_dispatcher {
    struct {
        sv_event_handler handler;
        void *userdata;
    } machines[SV_DISPATCHER_MACHINES];
    void (*idle)(void *userdata);
    void *idle_userdata;
    struct queued *queue; /* utlist: head knows the tail */
    unsigned batches;     /* number of open batches */
    bool running;
    sd_event_source *turn; /* NULL: the whole queue is handled at once */
};

struct sv_dispatcher *sv_dispatcher_new(void)
{
    return calloc(1, sizeof(struct sv_dispatcher));
}

struct sv_dispatcher *sv_dispatcher_free(struct sv_dispatcher *d)
{
    struct queued *q, *next;

    if (!d)
        return NULL;
    DL_FOREACH_SAFE (d->queue, q, next)
        free(q);
    sd_event_source_disable_unref(d->turn);
    free(d);
    return NULL;
}

void sv_dispatcher_register(struct sv_dispatcher *d, int machine, sv_event_handler handler,
                            void *userdata)
{
    assert(machine >= 0 && machine < SV_DISPATCHER_MACHINES && !d->machines[machine].handler);
    d->machines[machine].handler = handler;
    d->machines[machine].userdata = userdata;
}

void sv_dispatcher_on_idle(struct sv_dispatcher *d, void (*idle)(void *userdata), void *userdata)
{
    d->idle = idle;
    d->idle_userdata = userdata;
}

/* False: the queue waits for its turn. */
static bool run(struct sv_dispatcher *d, bool in_turns)
{
    if (d->running)
        return true;
    d->running = true;
    do {
        while (d->queue) {
            if (in_turns && sv_loop_spent_ms() >= SV_DISPATCHER_TURN_MS) {
                d->running = false;
                return false;
            }
            struct queued *q = d->queue;

            DL_DELETE(d->queue, q);
            d->machines[q->event.machine].handler(&q->event,
                                                  d->machines[q->event.machine].userdata);
            free(q);
        }
        if (d->idle)
            d->idle(d->idle_userdata);
    } while (d->queue);
    d->running = false;
    return true;
}

void sv_dispatcher_run(struct sv_dispatcher *d)
{
    (void)run(d, false);
}

static void run_or_wait(struct sv_dispatcher *d)
{
    bool all = run(d, d->turn);

    if (d->turn)
        (void)sd_event_source_set_enabled(d->turn, all ? SD_EVENT_OFF : SD_EVENT_ON);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_dispatcher *d = userdata;

    (void)s;
    if (!d->batches)
        run_or_wait(d);
    return 0;
}

int sv_dispatcher_take_turns(struct sv_dispatcher *d, sd_event *event)
{
    int r = sd_event_add_defer(event, &d->turn, on_turn, d);

    return r < 0 ? r : sd_event_source_set_enabled(d->turn, SD_EVENT_OFF);
}

void sv_dispatcher_post(struct sv_dispatcher *d, const struct sv_event *event)
{
    size_t text_size = event->text ? strlen(event->text) + 1 : 0;
    struct queued *q = malloc(sizeof(*q) + event->payload_size + text_size);

    assert(event->machine >= 0 && event->machine < SV_DISPATCHER_MACHINES &&
           d->machines[event->machine].handler);
    if (!q)
        sv_out_of_memory();
    q->event = *event;
    if (event->payload_size)
        q->event.payload = memcpy(q->data, event->payload, event->payload_size);
    if (text_size)
        q->event.text = memcpy(q->data + event->payload_size, event->text, text_size);
    DL_APPEND(d->queue, q);
    if (!d->batches)
        run_or_wait(d);
}

struct sv_dispatcher *sv_dispatcher_begin(struct sv_dispatcher *d)
{
    d->batches++;
    return d;
}

void sv_dispatcher_end(struct sv_dispatcher *d)
{
    assert(d->batches > 0);
    if (--d->batches == 0)
        run_or_wait(d);
}
