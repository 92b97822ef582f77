/* A sub-cluster of an application, for the files sub-cluster*.c alone. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_SUB_CLUSTER_PARTS_H
#define SELVEDGE_NODEMANAGER_FEDERATION_SUB_CLUSTER_PARTS_H

#include "federation/amrm/relay.h"
#include "nodemanager/federation/sub-cluster.h"
#include "wire/pieces.h"

/* An answer while it is read, in turns of the loop. */
struct nm_sub_reader {
    const ProtobufCMessageDescriptor *type;
    /* Takes what it says, once it is read; 0: done, FED_MORE. NULL: nothing. */
    int (*take)(struct nm_sub_cluster *s, const ProtobufCMessage *m, struct fed_relay_at *at,
                struct fed_budget *b);
    /* It is read; error < 0: it cannot be, and `m` is NULL. The arena may be taken. */
    void (*done)(struct nm_sub_cluster *s, const ProtobufCMessage *m, struct sv_arena **arena,
                 int error);
};
struct nm_sub_answer {
    struct nm_turn turn;
    const struct nm_sub_reader *how;
    struct sv_arena *arena; /* of the message; NULL: none is being read */
    uint8_t *body;          /* a copy, once a turn was not enough */
    struct ipc_reading *reading;
    const ProtobufCMessage *m; /* NULL: not read yet */
    struct fed_relay_at at;    /* in it */
};

struct nm_sub_cluster {
    struct nm_sub_config cfg; /* its id is `id` */
    char *id;
    struct fed_uam uam;
    struct fed_relay *relay;
    struct nm_member_line am, client;
    sd_event_source *timer; /* of the master's life */
    sd_event_source *pause; /* before a failed heartbeat is repeated */
    int64_t pause_ms;       /* 0: the last heartbeat was answered */
    int64_t answered_ms;
    int64_t heard_ms;          /* of its last answer to the master, a registration's too */
    struct nm_turn beat;       /* the next heartbeat */
    struct nm_sub_answer read; /* of the last one */
    bool due;                  /* the master has called since the last heartbeat */
    bool paused;               /* `pause` runs */
    bool held;
    unsigned kept_back;             /* answers that are not recorded yet */
    bool failure_logged;            /* and it has not been registered since */
    bool registers_later;           /* once they are: a registration forgets the last answer */
    bool recall;                    /* the last answer is to be had again, before registration */
    bool recall_known;              /* ... by its response id */
    int expects;                    /* response ids in a row that the ResourceManager has refused */
    struct yarn_attempt_id attempt; /* as the sub-cluster's report has it */
    struct sv_arena *token_arena;   /* of a token that is not stored yet */
    struct yarn_token token;
    bool finish_wanted; /* of the home, once it is registered again */
    bool ending;        /* nothing is told any more */
    /* Runs an event of the master's life: sub-cluster.c. */
    void (*post)(struct nm_sub_cluster *s, enum fed_uam_event event, struct fed_uam_arg *arg);
};

/* ---- sub-cluster-calls.c: one call each, whose end is posted ---- */

void nm_sub_call_submit(struct nm_sub_cluster *s);
void nm_sub_call_report(struct nm_sub_cluster *s);
void nm_sub_call_attempt_report(struct nm_sub_cluster *s);
void nm_sub_call_register(struct nm_sub_cluster *s);
void nm_sub_call_finish(struct nm_sub_cluster *s);
void nm_sub_call_kill(struct nm_sub_cluster *s);
/* A new token in an answer to a heartbeat. */
void nm_sub_take_token(struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m);

/* ---- sub-cluster-beat.c ---- */

void nm_sub_beat_init(struct nm_sub_cluster *s);
/* Heartbeats where one is due and may go out, now or in a later turn of the loop. */
void nm_sub_pump(struct nm_sub_cluster *s);
/* No heartbeat is open, paused or being read from now on. */
void nm_sub_beat_stop(struct nm_sub_cluster *s);

/* ---- sub-cluster-answer.c ---- */

void nm_sub_read_init(struct nm_sub_cluster *s);
/* Reads an answer of n bytes, which are copied unless this turn is enough. */
void nm_sub_read(struct nm_sub_cluster *s, const struct nm_sub_reader *how, const uint8_t *p,
                 size_t n);
void nm_sub_read_stop(struct nm_sub_cluster *s);
bool nm_sub_is_reading(const struct nm_sub_cluster *s);

#endif
