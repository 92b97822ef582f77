/* The parts of member.h. */
#ifndef SELVEDGE_RM_LITE_FEDERATION_MEMBER_INTERNAL_H
#define SELVEDGE_RM_LITE_FEDERATION_MEMBER_INTERNAL_H

#include "federation/store/store.h"
#include "rm-lite/federation/member.h"

/* Applications whose rows wait for their turn; those beyond are found at the next start. */
#define RM_HOMES_MAX 100000
/* A row that is younger than this at the start may be of a submission under way. */
#define RM_HOME_YOUNG_MS 600000

struct rm_member {
    struct rm *rm;
    struct fed_store *store;
    rm_member_figures figures;
    sd_event_source *timer; /* the next step: registration or heartbeat */
    uint64_t call;          /* open one of registration and heartbeat; 0: none */
    char am[FED_NAME_MAX + 1], client[FED_NAME_MAX + 1], admin[FED_NAME_MAX + 1],
        web[FED_NAME_MAX + 1];
    int64_t attempts; /* to register, that the store was away for */
    bool checked;     /* the store's version */
    bool registered;
    bool away; /* the last heartbeat did not arrive */

    struct yarn_app_id *homes; /* whose rows are to be deleted, a ring */
    size_t n_homes, first_home, homes_size;
    bool homes_listed; /* the rows of earlier lives have been looked through */
    bool home_open;    /* a call about a row is open */
    int64_t home_attempts;
    sd_event_source *home_timer;
};

/* "host:port" with a numeric host, never a wildcard: that of the machine's name. Looks names up and
 * may block: only before the loop runs. */
int rm_member_address(const struct rm_address *a, uint16_t port, char *buf, size_t size,
                      struct sv_error *err) _must_use_;

/* Goes on deleting rows, if none is being deleted. */
void rm_homes_run(struct rm_member *m);
void rm_homes_push(struct rm_member *m, struct yarn_app_id id);
void rm_homes_free(struct rm_member *m);

#endif
