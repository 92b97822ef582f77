/* Calls that the home of one application answers: its member's answer or exception passes as it
 * is. */
#ifndef SELVEDGE_ROUTER_BY_HOME_H
#define SELVEDGE_ROUTER_BY_HOME_H

#include "router/call.h"

/* Forwards the call to the application's home; answers and frees it. */
void rtr_by_home(struct rtr_call *x, struct yarn_app_id app);

#endif
