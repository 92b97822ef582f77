/* Event dispatcher of a daemon's state machines: one first-in-first-out queue, run to completion on
 * the daemon's only thread. Both daemons have one (YARN's AsyncDispatcher, without its thread).
 *
 * An event posted while another is being handled is queued, so no state machine is entered from
 * within its own actions. An event posted from outside is handled before the post returns, unless a
 * batch is open: then at the end of the batch; or the dispatcher takes turns and the running
 * handler of the loop has already taken SV_DISPATCHER_TURN_MS: then in a later turn, in the same
 * order. When the queue is empty, the `idle` callback runs (free dead objects, start deferred
 * work); it may post again. */
#ifndef SELVEDGE_COMMON_DISPATCHER_H
#define SELVEDGE_COMMON_DISPATCHER_H

#include <systemd/sd-event.h>

#include "common/base.h"

struct sv_dispatcher;

/* `text` and `payload` are copied by the post and are valid until the handler returns. The shape of
 * the payload follows from `machine` and `type`: the daemon's header of that state machine declares
 * it. */
struct sv_event {
    int machine;         /* index of the handler, 0 to SV_DISPATCHER_MACHINES - 1 */
    int type;            /* event number of that state machine */
    void *object;        /* not owned; must live until the queue is empty */
    const char *text;    /* NULL: none */
    const void *payload; /* NULL: none; aligned for any type when it is handled */
    size_t payload_size;
};

#define SV_DISPATCHER_MACHINES 8
#define SV_DISPATCHER_TURN_MS 5 /* of a handler of the loop (sv_loop_spent_ms()) */

typedef void (*sv_event_handler)(const struct sv_event *event, void *userdata);

/* Returns NULL when out of memory. */
struct sv_dispatcher *sv_dispatcher_new(void) _must_use_;
/* Drops pending events. Accepts NULL; returns NULL. */
struct sv_dispatcher *sv_dispatcher_free(struct sv_dispatcher *d);
/* Registers the handler for the events of `machine`; once for each machine. */
void sv_dispatcher_register(struct sv_dispatcher *d, int machine, sv_event_handler handler,
                            void *userdata);
/* From now on the queue is left to later turns of the loop where a handler takes long. */
int sv_dispatcher_take_turns(struct sv_dispatcher *d, sd_event *event) _must_use_;
void sv_dispatcher_on_idle(struct sv_dispatcher *d, void (*idle)(void *userdata), void *userdata);

/* Never fails: out of memory ends the process with a log line, because a lost event would leave a
 * container or an application stuck in a state, while a restart recovers it from the state
 * store. */
void sv_dispatcher_post(struct sv_dispatcher *d, const struct sv_event *event);
/* Handles all queued events, now, also inside a batch: for a caller whose answer depends on the
 * effect of earlier posts. Does nothing inside a handler: the queue is already being run. */
void sv_dispatcher_run(struct sv_dispatcher *d);

/* A batch: posts are queued until the outermost batch ends. A daemon's entry points (an RPC method,
 * a timer) open one, so that objects do not change between two of their posts. */
struct sv_dispatcher *sv_dispatcher_begin(struct sv_dispatcher *d) _must_use_;
void sv_dispatcher_end(struct sv_dispatcher *d);
static inline void sv_dispatcher_endp(struct sv_dispatcher **d)
{
    sv_dispatcher_end(*d);
}
/* Opens a batch that ends with the enclosing block. */
#define SV_DISPATCH_BATCH(d) SV_DISPATCH_BATCH_(d, __COUNTER__)
#define SV_DISPATCH_BATCH_(d, n) SV_DISPATCH_BATCH__(d, n)
#define SV_DISPATCH_BATCH__(d, n)                                                                  \
    struct sv_dispatcher *sv_batch_##n _cleanup_(sv_dispatcher_endp) _unused_ =                    \
        sv_dispatcher_begin(d)

#endif
