/* One attempt behind the federation's interceptor, for the files fed-*.c and
 * federation-interceptor.c alone. Hostile: the master's requests, members' answers, rows of the
 * federation's store. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_FED_ATTEMPT_H
#define SELVEDGE_NODEMANAGER_FEDERATION_FED_ATTEMPT_H

#include "federation/amrm/merge.h"
#include "federation/amrm/split.h"
#include "federation/cache.h"
#include "nodemanager/federation/fed-shared.h"
#include "nodemanager/federation/sub-cluster.h"
#include "wire/pieces.h"

/* Answers that the master has not been given: beyond it no further heartbeat goes out. */
#define NM_FED_REPLIES_MAX 4096
#define NM_FED_REPLY_BYTES_MAX (64u << 20)
#define NM_FED_OPEN_BYTES_MAX (128u << 20) /* of requests and the like in all sub-clusters */

#define NM_FED_WORK_BYTES_MAX ((size_t)256 << 20) /* of an open heartbeat: its split, its merge */

#define NM_FED_HOME 0 /* the number of the home among the members */

struct nm_fed_member {
    char *id;
    bool listed, active;        /* in the store; SC_RUNNING there */
    struct nm_sub_cluster *sub; /* NULL: nothing was ever to be told there */
    int64_t failed_ms;          /* the last time that a launch had failed */
    char *token;                /* text of a stored token; NULL: none, or it is attached */
    bool attached;              /* by a stored token, and not registered again yet */
    bool clashed;               /* said in the log */
    bool exchanging;            /* it is to be told of containers that are given back */
    bool told_damaged;          /* the record of its last answer cannot be read */
    bool drops_news;            /* its next answer has nothing that the master is told */
    uint64_t keeping;           /* its token, with that commit; 0: it is not being kept */
};

struct nm_fed_question { /* of a policy, which cannot be cancelled */
    struct nm_fed *f;    /* NULL: the attempt is gone */
};

struct nm_fed_reply { /* from a member; one of the three, as struct fed_reply */
    size_t member;
    const Hadoop__Yarn__AllocateResponseProto *answer;
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *registration;
    const char *lost;
    bool tells;    /* what is said once: its sub-cluster keeps its next heartbeat back */
    bool recalled; /* of a record: it was read, and its containers are known */
    struct sv_arena *arena;
    struct nm_fed_reply *prev, *next;
};

/* An open registration, then an open heartbeat. What is done in turns of the loop (turns.h) is
 * before and behind the wait. */
enum nm_fed_phase {
    NM_FED_NONE,         /* none is open */
    NM_FED_RECALLING,    /* what the master was told before a restart */
    NM_FED_RECALLED,     /* the commit of that */
    NM_FED_HOME_PACKING, /* the home's answer to a registration, for the record: `writing` */
    NM_FED_JOINING,      /* it with other members': `joining`; then as a merged answer */
    NM_FED_MOVING,       /* requests of silent sub-clusters to the home: `member` */
    NM_FED_SPLITTING,    /* `split` */
    NM_FED_TAKING,       /* a part by the relay of `member`, at `at` */
    NM_FED_WAITING,      /* for the home */
    NM_FED_MERGING,      /* `merging` */
    NM_FED_PACKING,      /* `writing` */
    NM_FED_RECORDING,    /* `telling` */
    NM_FED_RECORDED,     /* the commit of that */
    NM_FED_KEEPING,      /* the containers of the merge */
    NM_FED_EXCHANGING,   /* the clash of number `row` */
};

struct nm_fed_telling { /* records of an answer, in the making */
    struct sv_buf *v;   /* by member, n told ones, then n known ones; NULL: none yet */
    size_t n;
    bool merged; /* the merged answer's lists are done */
    size_t reply, list, row;
};

struct nm_fed_work {
    struct nm_turn turn;
    enum nm_fed_phase phase;
    bool running;           /* its turn has come */
    struct sv_arena *arena; /* of split and merge */
    size_t member, row;
    int64_t rows; /* of the master's request, taken so far */
    struct fed_split *split;
    struct fed_part *parts; /* n_parts of them */
    size_t n_parts, open_bytes;
    struct fed_relay_at at;
    int32_t n_moved;
    struct fed_replies replies;
    struct fed_joining *joining; /* NULL: it is a heartbeat's answer */
    struct fed_registered joined;
    struct fed_merging *merging;
    struct fed_merged merged;
    struct ipc_writing writing;
    struct sv_buf packed;
    struct nm_fed_telling telling;
};

struct nm_fed {
    struct nm_amrm_attempt *at;
    struct nm_fed_shared *shared;
    struct nm_sub_application app;
    struct sv_arena *arena; /* of registration, queue, context and end */
    struct fed_merge *merge;
    struct nm_fed_member *members; /* NM_FED_HOME first */
    size_t n_members;
    uint64_t ask_members, ask_context; /* questions that are open; 0: none */
    bool members_known, context_known;
    sd_event_source *later; /* of what is tried again */

    struct nm_fed_reply *replies; /* for the next allocate's answer */
    size_t n_replies, reply_bytes;
    struct nm_fed_reply *registrations; /* for the next registration's answer */
    struct nm_fed_reply *told;          /* of records, until the master's first call */
    uint64_t n_recording, n_recorded;   /* commits of what is told */

    struct nm_amrm_call *call; /* the master's, open */
    sd_event_source *limit;    /* of its wait for the home or for launches */
    bool limit_over;
    /* The registration, packed; NULL: none. The home's answer is what is on record, the master's
     * has the other members' containers too. */
    uint8_t *request, *home_response, *response;
    size_t n_request, n_home_response, n_response;
    struct nm_fed_question *question; /* that is open */
    bool home_collected;              /* the home's answer is among `registrations` */
    bool policy_known, response_kept;
    bool recovered;                 /* the master is to register again */
    bool restarted;                 /* the daemon was, since the master's first registration */
    bool resyncing;                 /* the master registers again, and has its containers */
    struct nm_member_line home_ask; /* for the home's containers, after a restart */
    bool home_unsure;               /* they are not known yet */
    /* The home's answer to a registration while it is put together anew; NULL: it is not. */
    struct sv_arena *again;
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *again_m;
    size_t again_asked;

    int32_t response_id;
    uint8_t *last; /* the last answer, packed */
    size_t n_last;
    int64_t called_ms, called_before_ms;           /* the master's last two heartbeats */
    int64_t home_since_ms;                         /* the home is registered since */
    bool home_late, home_answered, other_answered; /* since the open heartbeat began */
    int64_t not_before_ms;                         /* it is answered later than this */
    struct nm_fed_work work;                       /* on the open heartbeat */

    bool finishing;
    bool finish_told;           /* to all sub-clusters, since the master's last call */
    int64_t finish_ms;          /* its first one */
    uint64_t n_keeping, n_kept; /* commits waited for, and those that were */
    bool stopping, kill_told, stopped;

    const struct nm_sub_owner *owner; /* of the sub-clusters' words: federation-interceptor.c */
    /* Goes on with what waited for the store, for members, or for time: federation-interceptor.c */
    void (*step)(struct nm_fed *f);
};

/* ---- fed-members.c: who is a member, and how it is reached ---- */

/* Reads the members, and what the store has of the application, through the cache. */
void nm_fed_ask_members(struct nm_fed *f);
void nm_fed_ask_context(struct nm_fed *f);
/* The members are read from the store itself: an address may have changed. */
void nm_fed_flush_members(struct nm_fed *f);
/* Makes the member's sub-cluster where there is none. */
int nm_fed_sub(struct nm_fed *f, size_t member, struct nm_sub_cluster **ret) _must_use_;
/* Adds a member that the store does not list (yet), by its id; returns its number, -ENOMEM. */
int nm_fed_member_add(struct nm_fed *f, const char *id) _must_use_;
/* As the store last had it; NULL: it has not. Valid until the loop runs. */
const struct fed_member *nm_fed_listed(const struct nm_fed *f, const char *id);
/* It has not answered for long, while the master called. */
bool nm_fed_silent(const struct nm_fed *f, size_t member);
/* Runs f->step after a second. */
void nm_fed_later(struct nm_fed *f);
void nm_fed_members_clear(struct nm_fed *f);

/* ---- fed-replies.c: answers of members until the master has them ---- */

/* Takes the message with its arena; all that is lost without memory is told to the log. */
void nm_fed_reply_answer(struct nm_fed *f, size_t member,
                         const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena);
void nm_fed_reply_registration(struct nm_fed *f, size_t member,
                               const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                               struct sv_arena **arena);
/* The member's containers have ended: its ResourceManager has lost them. */
void nm_fed_reply_lost(struct nm_fed *f, size_t member, const char *why);
/* Those that are there, and which members are silent, for a merge. -ENOMEM. */
int nm_fed_replies_list(const struct nm_fed *f, struct sv_arena *a, struct fed_replies *ret)
    _must_use_;
/* Frees the first n of them, which the master has been told. */
void nm_fed_replies_done(struct nm_fed *f, size_t n);
/* Gives one back that the master cannot have, and says so once; the member's next heartbeat, which
 * the caller sees to, tells it: m->exchanging. */
void nm_fed_exchange_one(struct nm_fed *f, const struct fed_clash *c);
/* Several, and their members are told. */
void nm_fed_exchange(struct nm_fed *f, const struct fed_clash *v, size_t n);
void nm_fed_exchange_tell(struct nm_fed *f);
void nm_fed_replies_free(struct nm_fed_reply **list);

/* ---- fed-call.c: the master's open call ---- */

/* Packs a message; malloc'd. -ENOMEM. */
int nm_fed_pack(const ProtobufCMessage *m, uint8_t **ret, size_t *ret_n) _must_use_;
void nm_fed_answer(struct nm_fed *f, const ProtobufCMessage *m);
/* With a message that is packed: `m`, an empty one of its type, is what it is sent as. Its first
 * field's number is below 16. */
void nm_fed_answer_packed(struct nm_fed *f, ProtobufCMessage *m, const uint8_t *p, size_t n);
void nm_fed_fail(struct nm_fed *f, const char *java_class, const char *fmt, ...) _printf_(3, 4);
/* The work on a heartbeat ends: it is not answered any more, or has been. */
void nm_fed_work_stop(struct nm_fed *f);
/* Runs f->step with f->limit_over set. */
void nm_fed_limit(struct nm_fed *f, int64_t ms);

/* ---- fed-work.c: work on the open heartbeat, in turns of the loop ---- */

void nm_fed_work_init(struct nm_fed *f);
/* Begins with the phase, or goes on with it. */
void nm_fed_work_go(struct nm_fed *f, enum nm_fed_phase phase);
/* Goes on if it waits for records, and they are on disk; false: it does not. */
bool nm_fed_work_recorded(struct nm_fed *f);

/* ---- fed-split.c: its first half; each step as a function that takes a budget ---- */

int nm_fed_move(struct nm_fed *f, struct fed_budget *b);
int nm_fed_split(struct nm_fed *f, struct fed_budget *b, struct sv_error *err);
int nm_fed_take(struct nm_fed *f, struct fed_budget *b, struct sv_error *err);
/* Heartbeats to all sub-clusters. */
void nm_fed_beat_all(struct nm_fed *f);

/* ---- fed-answer.c: its second half ---- */

int nm_fed_merge(struct nm_fed *f, struct fed_budget *b);
int nm_fed_pack_answer(struct nm_fed *f, struct fed_budget *b);
int nm_fed_exchange_all(struct nm_fed *f, struct fed_budget *b);
/* An answer of this type is written into f->work.packed. */
void nm_fed_write(struct nm_fed *f, const ProtobufCMessage *m);
/* The merged answer is the master's. */
void nm_fed_answer_merged(struct nm_fed *f);
/* The last answer again, to a master that has not had it. */
void nm_fed_answer_last(struct nm_fed *f);

/* ---- fed-told.c: what the master is told, on record before it is ---- */

/* Records the merged answer. 0: done, and the commit is waited for while n_recorded is not
 * n_recording; FED_MORE; -ENOMEM. */
int nm_fed_record(struct nm_fed *f, struct fed_budget *b);
int nm_fed_take_told(struct nm_fed *f, const char *member, const struct nm_amrm_record *record);
/* As nm_fed_know() of the answer that a member has given once more. Where its record is damaged the
 * master knows what is in it. */
int nm_fed_know_recalled(struct nm_fed *f, size_t member,
                         const Hadoop__Yarn__AllocateResponseProto *m, struct fed_relay_at *at,
                         struct fed_budget *b);
/* The answer, or of an answer that the master knows the rest; NULL: no memory. */
const Hadoop__Yarn__AllocateResponseProto *
nm_fed_without_news(struct nm_fed *f, size_t member, const Hadoop__Yarn__AllocateResponseProto *m,
                    struct sv_arena *a);
/* Its allocated containers are the member's; whether the master was told is not known. */
int nm_fed_know(struct nm_fed *f, size_t member, const Hadoop__Yarn__AllocateResponseProto *m,
                struct fed_relay_at *at, struct fed_budget *b);
/* By the open call, the master's first one after a restart: what it has read is known from now on,
 * the rest is told once more. As nm_fed_record(). */
int nm_fed_recall(struct nm_fed *f, struct fed_budget *b);

/* ---- fed-join.c: registrations of several members as one ---- */

int nm_fed_pack_home(struct nm_fed *f, struct fed_budget *b);
int nm_fed_join(struct nm_fed *f, struct fed_budget *b);
/* The joined answer is what the master's registration is answered with. -ENOMEM. */
int nm_fed_take_joined(struct nm_fed *f) _must_use_;

/* ---- fed-again.c: a registration whose answer is lost ---- */

/* The home has registered the master and says no more. */
void nm_fed_again(struct nm_fed *f);
void nm_fed_again_step(struct nm_fed *f); /* while f->again */

/* ---- fed-register.c, fed-recover.c, fed-allocate.c, fed-finish.c ---- */

void nm_fed_register(struct nm_fed *f);
void nm_fed_register_step(struct nm_fed *f);
int nm_fed_registering(struct nm_fed *f, struct nm_sub_cluster *s,
                       const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                       struct fed_relay_at *at, struct fed_budget *b);
void nm_fed_registered(struct nm_fed *f, struct nm_sub_cluster *s,
                       const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                       struct sv_arena **arena);
/* Keeps a member's message, with its arena, for the answer to the master's registration. */
int nm_fed_collect(struct nm_fed *f, size_t member,
                   const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                   struct sv_arena **arena) _must_use_;
void nm_fed_allocate(struct nm_fed *f);
void nm_fed_allocate_step(struct nm_fed *f);
static inline int32_t nm_fed_next_id(int32_t response_id)
{
    return response_id == INT32_MAX ? 0 : response_id + 1;
}
void nm_fed_finish(struct nm_fed *f);
void nm_fed_finish_step(struct nm_fed *f);

int nm_fed_recover(struct nm_fed *f, enum nm_amrm_recovery from, const struct nm_amrm_record *v,
                   size_t n, struct sv_error *err) _must_use_;
/* Attaches what was recovered, once members are known and the registration is. */
void nm_fed_recover_step(struct nm_fed *f);
void nm_fed_attach_all(struct nm_fed *f); /* the tokens; part of it */
/* A container of the home, which is the one that has those that nobody is known to have while the
 * home has not said which it has. */
int nm_fed_owner(void *userdata, struct yarn_container_id id);

#define NM_FED_NO_MEMORY "the NodeManager has no memory for the call; try again"

/* Names of records, as Hadoop's. */
#define NM_FED_RECORD "FederationInterceptor/"
#define NM_FED_REQUEST_RECORD NM_FED_RECORD "registerRequest"
#define NM_FED_RESPONSE_RECORD NM_FED_RECORD "registerResponse"
#define NM_FED_TOKEN_RECORD NM_FED_RECORD "secondarySC/" /* and the sub-cluster's id */
/* Ours, AllocateResponseProto of the sub-cluster of that id: what the master was told last; ends
 * that it knew and that the sub-cluster had repeated then. */
#define NM_FED_TOLD_RECORD NM_FED_RECORD "told/"
#define NM_FED_KNOWN_RECORD NM_FED_RECORD "known/"

#endif
