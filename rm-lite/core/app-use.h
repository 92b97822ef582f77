/* Usage of the containers of an application, by the reports of their nodes. */
#ifndef SELVEDGE_RM_LITE_CORE_APP_USE_H
#define SELVEDGE_RM_LITE_CORE_APP_USE_H

#include "common/base.h"

struct rm_app;

#define RM_APP_USE_WALK 20000 /* containers that one call looks at */

struct rm_app_use {
    int64_t bytes; /* memory */
    double cores;  /* processors in use */
    int32_t told;  /* containers whose nodes report it: those of ours */
};
void rm_app_use_sum(const struct rm_app *app, struct rm_app_use *ret);

#endif
