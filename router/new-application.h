/* getNewApplication: an id of any active member. */
#ifndef SELVEDGE_ROUTER_NEW_APPLICATION_H
#define SELVEDGE_ROUTER_NEW_APPLICATION_H

#include "router/call.h"

/* Answers and frees the call. */
void rtr_new_application(struct rtr_call *x);

#endif
