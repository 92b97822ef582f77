/* Cases of the federation's state store, for every back end: what each operation answers, and
 * random histories that are compared with the store in memory. */
#ifndef SELVEDGE_TESTS_LIB_STORE_CASES_H
#define SELVEDGE_TESTS_LIB_STORE_CASES_H

#include "federation/store/store.h"

/* Makes a call, runs the loop until it is answered, and returns the answer as text without times:
 * "NAME OF THE ERROR" or a line a record. The text is valid until the next call. */
const char *store_do(sd_event *event, struct fed_store *s, const struct fed_request *q);
/* The reason of the last answer. */
const char *store_reason(void);
/* The answer's first time: heartbeat of a member, creation of a home. */
int64_t store_time(void);

/* Each needs an empty store; a failure ends the test by cmocka. */
void store_case_members(sd_event *event, struct fed_store *s);
void store_case_homes(sd_event *event, struct fed_store *s);
void store_case_reservations(sd_event *event, struct fed_store *s);
void store_case_policies(sd_event *event, struct fed_store *s);
void store_case_router(sd_event *event, struct fed_store *s);
void store_case_refusals(sd_event *event, struct fed_store *s);
/* Makes `steps` random calls to both stores, which must answer alike. */
void store_case_random(sd_event *event, struct fed_store *s, struct fed_store *model,
                       unsigned steps, unsigned seed);
/* As store_case_random(), to a store whose connections break: operations are repeated until they
 * are answered. */
void store_case_cut(sd_event *event, struct fed_store *s, struct fed_store *model, unsigned steps,
                    unsigned seed);
/* A request of those cases; srandom() was called. */
struct fed_request store_random_request(void);
void store_ignore(const struct fed_answer *a, void *userdata);

#endif
