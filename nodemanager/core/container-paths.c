/* See container-paths.h. */
#include "nodemanager/core/container-paths.h"

#include <errno.h>
#include <stdio.h>

#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"

int nm_container_work_dir(const struct nm_container *c, char *buf, size_t size)
{
    const char *top = nm_dirs_local(c->ctx->dirs, c->launch.local_dir);
    int n = top ? snprintf(buf, size, "%s/usercache/%s/appcache/%s/%s", top, c->app->user,
                           c->app->text, c->text)
                : -1;

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int nm_container_log_dir(const struct nm_container *c, char *buf, size_t size)
{
    const char *top = nm_dirs_log(c->ctx->dirs, c->launch.log_dir);
    char app[YARN_ID_TEXT_MAX];
    int n = top ? snprintf(buf, size, "%s/%s/%s", top, yarn_app_id_text(c->id.attempt.app, app),
                           c->text)
                : -1;

    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
