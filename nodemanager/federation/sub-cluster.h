/* One sub-cluster of an application: the relayer between its master and the ResourceManager there.
 * In the home it speaks as the master itself, elsewhere as an unmanaged master, which it launches,
 * keeps registered over restarts of the ResourceManager, and ends.
 *
 * Heartbeats are folded: one is open at a time, and what comes meanwhile goes with the next one
 * (federation/amrm/relay.h). A failed one is repeated by a timer, with a growing pause, whether the
 * master calls or not. One loop, one thread. Hostile: what the ResourceManager answers. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_SUB_CLUSTER_H
#define SELVEDGE_NODEMANAGER_FEDERATION_SUB_CLUSTER_H

#include "federation/amrm/relay.h"
#include "federation/amrm/uam.h"
#include "federation/store/store.h"
#include "nodemanager/federation/member-line.h"
#include "nodemanager/federation/turns.h"

struct nm_sub_cluster;

/* The application, for all its sub-clusters; outlives them. Fields are set as they become known:
 * `registration` and `queue` before the first start. */
struct nm_sub_application {
    struct yarn_attempt_id attempt;
    const char *text; /* of the attempt, for messages */
    const char *user;
    const char *home; /* the sub-cluster's id */
    const char *queue;
    const Hadoop__Yarn__ApplicationSubmissionContextProto *context; /* NULL: the store has none */
    const Hadoop__Yarn__RegisterApplicationMasterRequestProto *registration;
    const Hadoop__Yarn__FinishApplicationMasterRequestProto *finish; /* before nm_sub_finish() */
};

/* Words of a sub-cluster to its owner; none of them may free it. An arena may be taken
 * (SV_TAKE(*arena)) with the message in it. */
struct nm_sub_owner {
    void (*answered)(void *userdata, struct nm_sub_cluster *s,
                     const Hadoop__Yarn__AllocateResponseProto *m, struct sv_arena **arena);
    /* The last answer of before a restart is here, and .answered follows once this says 0 in the
     * place of FED_MORE; see .registering. */
    int (*recalling)(void *userdata, struct nm_sub_cluster *s,
                     const Hadoop__Yarn__AllocateResponseProto *m, struct fed_relay_at *at,
                     struct fed_budget *b);
    /* An answer to a registration is here, and .registered follows once this says 0 in the place of
     * FED_MORE; for what is known of it at once. `at` is the owner's place in it. */
    int (*registering)(void *userdata, struct nm_sub_cluster *s,
                       const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                       struct fed_relay_at *at, struct fed_budget *b);
    /* For the first time or again; m NULL: it had been, and says no more. */
    void (*registered)(void *userdata, struct nm_sub_cluster *s,
                       const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                       struct sv_arena **arena);
    /* A token to be stored. nm_sub_saved() follows, at once or later; until then it is not used. Of
     * the home: to be kept, no answer follows. */
    void (*token)(void *userdata, struct nm_sub_cluster *s, const Hadoop__Common__TokenProto *m);
    /* It is not reached: its addresses may have changed. */
    void (*absent)(void *userdata, struct nm_sub_cluster *s);
    /* An exception in answer to a heartbeat, which is not repeated, or to the home's registration
     * or end. */
    void (*refused)(void *userdata, struct nm_sub_cluster *s, const char *java_class,
                    const char *text);
    /* The ResourceManager does not know the attempt any more: its containers are gone. */
    void (*lost)(void *userdata, struct nm_sub_cluster *s, const char *java_class,
                 const char *text);
    /* FED_UAM_FINISHED or FED_UAM_FAILED: nm_sub_state(), nm_sub_why(). */
    void (*ended)(void *userdata, struct nm_sub_cluster *s);
};

struct nm_sub_config {
    sd_event *event;
    struct nm_turns *turns;
    const char *id; /* of the sub-cluster; copied */
    size_t member;  /* the owner's number of it */
    const struct nm_sub_application *app;
    const struct nm_member_wire *wire;
    void *wire_userdata;
    const struct nm_sub_owner *owner;
    void *userdata;
    struct fed_uam_settings settings;
    bool home;
};

/* NULL: no memory. */
struct nm_sub_cluster *nm_sub_new(const struct nm_sub_config *c);
/* Silent. Accepts NULL, returns NULL. */
struct nm_sub_cluster *nm_sub_free(struct nm_sub_cluster *s);

size_t nm_sub_member(const struct nm_sub_cluster *s);
const char *nm_sub_id(const struct nm_sub_cluster *s);
int nm_sub_state(const struct nm_sub_cluster *s);       /* enum fed_uam_state */
const char *nm_sub_why(const struct nm_sub_cluster *s); /* of the last failure, "" = none */
/* Time of the last answer to a heartbeat; 0: none yet. */
int64_t nm_sub_answered_ms(const struct nm_sub_cluster *s);
/* As above, of one to a registration too. */
int64_t nm_sub_heard_ms(const struct nm_sub_cluster *s);
/* The master's token is known: unless it runs, nm_sub_start() registers it again. */
bool nm_sub_has_token(const struct nm_sub_cluster *s);
/* It owes an answer: a heartbeat is open, failed and is repeated later, or its answer is being
 * read.
 */
bool nm_sub_owes(const struct nm_sub_cluster *s);
bool nm_sub_has_news(const struct nm_sub_cluster *s); /* it has not been told all */
size_t nm_sub_bytes(const struct nm_sub_cluster *s);  /* that are open there */

/* Addresses as the store has them, NULL: no member any more. -ENOMEM: they are as they were. */
int nm_sub_set_addresses(struct nm_sub_cluster *s, const struct fed_member *m) _must_use_;

/* Launches an unmanaged master where none is, or registers the one whose token is there again; a
 * no-op where one is, or is on its way. */
void nm_sub_start(struct nm_sub_cluster *s);
/* Registers by a stored token; the home always begins so. -ENOMEM. */
int nm_sub_attach(struct nm_sub_cluster *s, const struct yarn_token *t) _must_use_;
/* Before the next nm_sub_attach(), after a restart: the ResourceManager's last answer, which may
 * not have got to the master, is requested once more before a registration makes it forget that.
 * With news in it the registration waits for nm_sub_recorded(). */
void nm_sub_recall(struct nm_sub_cluster *s);
/* The token is stored and used from now on; result < 0: it could not be. */
void nm_sub_saved(struct nm_sub_cluster *s, int result);
/* The home's token has been replaced. -ENOMEM. */
int nm_sub_set_token(struct nm_sub_cluster *s, const struct yarn_token *t) _must_use_;

/* Folds in a part of the master's heartbeat: as fed_relay_take(). */
int nm_sub_take(struct nm_sub_cluster *s, const Hadoop__Yarn__AllocateRequestProto *part,
                struct fed_relay_at *at, struct fed_budget *b, struct sv_error *err) _must_use_;
/* A heartbeat is due: it goes out now, in a later turn of the loop, or with what is open. */
void nm_sub_beat(struct nm_sub_cluster *s);
/* Gives a container back that the master cannot have, and requests another one (struct fed_clash).
 */
int nm_sub_exchange(struct nm_sub_cluster *s, const Hadoop__Yarn__ContainerProto *c) _must_use_;
/* As fed_relay_move(). */
int nm_sub_move(struct nm_sub_cluster *from, struct nm_sub_cluster *to, struct fed_budget *b,
                int32_t *n) _must_use_;
/* While held, no further heartbeat goes out: the owner has enough answers. */
void nm_sub_hold(struct nm_sub_cluster *s, bool held);
/* An answer waits for the master; the next heartbeat, which acknowledges it, waits until each is
 * recorded. */
void nm_sub_keep_back(struct nm_sub_cluster *s);
void nm_sub_recorded(struct nm_sub_cluster *s); /* one of them */
bool nm_sub_keeps_back(const struct nm_sub_cluster *s);

/* The master finishes: app->finish. .ended follows, or has been. */
void nm_sub_finish(struct nm_sub_cluster *s);
/* The application has ended. An unmanaged master is killed; the home says nothing. */
void nm_sub_kill(struct nm_sub_cluster *s);

#endif
