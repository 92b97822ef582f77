/* Fuzzes SchedulingRequests and registered placement constraints of ApplicationMasters, from their
 * bytes to containers on two nodes. The first byte chooses which. A refusal has a reason and
 * changes nothing; what is accepted leaves no tag behind once the application is gone. */
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static const struct yarn_app_id app = { 1700000000000, 1 };
static struct yarn_node_id nodes[2] = { { .host = "node1", .port = 1 },
                                        { .host = "node2", .port = 1 } };

static int handle(struct rm_sched *s, struct rm_sched_event ev, struct sv_error *err)
{
    const struct rm_decision *d;
    size_t n;

    return rm_sched_handle(s, &ev, 1000, &d, &n, err);
}

static struct rm_sched *start(void)
{
    struct sv_conf *conf = sv_conf_new();
    struct rm_sched *s;
    const char *tag = "web";

    MUST(conf && rm_sched_new(conf, 0, &s, NULL) == 0);
    sv_conf_free(conf);
    for (int i = 0; i < 2; i++)
        MUST(handle(s,
                    (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                             .node_added = { .node = &nodes[i],
                                                             .rack = i ? "/r2" : "/r1",
                                                             .total = { 65536, 64 } } },
                    NULL) == 0);
    MUST(handle(s,
                (struct rm_sched_event){ .type = RM_SCHED_APP_ADDED,
                                         .app_added = { .app = app,
                                                        .user = "ann",
                                                        .queue = "default",
                                                        .am_resource = { 0, 0 },
                                                        .tags = &tag,
                                                        .n_tags = 1 } },
                NULL) == 0);
    MUST(handle(s,
                (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                         .attempt_added = { .app = app, .attempt = 1 } },
                NULL) == 0);
    return s;
}

static int64_t pending(struct rm_sched *s)
{
    struct rm_app_usage u;

    MUST(rm_sched_app_amounts(s, app, &u) == 0);
    return u.pending_containers;
}

static void try_request(struct rm_sched *s, Hadoop__Yarn__SchedulingRequestProto *q, bool processor)
{
    struct rm_sched_event ev = {
        .type = RM_SCHED_ASK,
        .ask = { .app = app, .requests = &q, .n_requests = 1, .attempts = processor ? 1 : 0 }
    };
    struct sv_error err = { 0 };
    int r = handle(s, ev, &err);

    MUST(r == 0 || (err.text[0] && pending(s) == 0 && HASH_COUNT(s->words) == 1));
    for (int i = 0; i < 2; i++)
        MUST(handle(s,
                    (struct rm_sched_event){ .type = RM_SCHED_NODE_HEARTBEAT,
                                             .node_heartbeat = { .node = &nodes[i] } },
                    NULL) == 0);
    ev.ask.n_requests = 0;
    MUST(handle(s, ev, &err) == 0);
    MUST(!processor || pending(s) == 0);
}

static void try_rule(struct rm_sched *s, Hadoop__Yarn__PlacementConstraintMapEntryProto *m)
{
    struct rm_sched_event ev = { .type = RM_SCHED_CONSTRAINTS,
                                 .constraints = { .app = app, .entries = &m, .n_entries = 1 } };
    struct sv_error err = { 0 };

    MUST(handle(s, ev, &err) == 0 || err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_arena *a = size ? sv_arena_new(ipc_arena_max(size)) : NULL;
    const ProtobufCMessageDescriptor *d =
        size && (data[0] & 2) ? &hadoop__yarn__placement_constraint_map_entry_proto__descriptor
                              : &hadoop__yarn__scheduling_request_proto__descriptor;
    ProtobufCMessage *m;
    struct rm_sched *s;

    if (!a || ipc_unpack(a, d, data + 1, size - 1, &m) < 0) {
        sv_arena_free(a);
        return 0;
    }
    s = start();
    if (data[0] & 2)
        try_rule(s, (Hadoop__Yarn__PlacementConstraintMapEntryProto *)m);
    else
        try_request(s, (Hadoop__Yarn__SchedulingRequestProto *)m, data[0] & 1);
    MUST(handle(
             s,
             (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED, .app_removed = { .app = app } },
             NULL) == 0);
    rm_placements_forget(s);
    MUST(!s->words && !s->tag_counts);
    rm_sched_free(s);
    sv_arena_free(a);
    return 0;
}
