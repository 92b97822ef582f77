/* See app-use.h. */
#include "rm-lite/core/app-use.h"

#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"

void rm_app_use_sum(const struct rm_app *app, struct rm_app_use *ret)
{
    size_t walked = 0;

    *ret = (struct rm_app_use){ 0 };
    for (const struct rm_container *c = app->containers; c && walked < RM_APP_USE_WALK;
         c = c->p_next, walked++) {
        if (!c->use.told)
            continue;
        ret->told++;
        ret->bytes += c->use.bytes;
        ret->cores += (double)c->use.cores;
    }
}
