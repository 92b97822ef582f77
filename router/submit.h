/* submitApplication: to the home that the queue's policy chooses.
 *
 * The home is stored before the member is called, and a repeated submission goes to the stored
 * home. A member that refuses or is absent is left out, and another one becomes the home. */
#ifndef SELVEDGE_ROUTER_SUBMIT_H
#define SELVEDGE_ROUTER_SUBMIT_H

#include "router/call.h"

/* Answers and frees the call. */
void rtr_submit_application(struct rtr_call *x);

#endif
