/* See live-links.h. A link that cannot be made is logged, as in Hadoop, and not tried again: the
 * job has put something else in its place. The container may have ended when the answer arrives: it
 * is looked up by name. */
#include "nodemanager/launch/live-links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/launcher.h"
#include "nodemanager/services/container-resources.h"

struct nm_live_link {
    struct nm_live_link *prev, *next;
    struct nm_launcher *launcher;
    char text[YARN_ID_TEXT_MAX];
};

static void link_free(struct nm_live_link *k)
{
    DL_DELETE(k->launcher->links, k);
    free(k);
}

void nm_live_links_free(struct nm_launcher *launcher)
{
    while (launcher->links)
        link_free(launcher->links);
}

static void on_linked(const struct exe_failure *f, void *userdata)
{
    struct nm_live_link *k = userdata;
    struct nm_container *c = nm_container_find(k->launcher->ctx, k->text);

    if (f)
        sv_log(SV_LOG_WARNING, k->text, "%s: links of localized resources: %s", k->text, f->text);
    link_free(k);
    if (!c)
        return;
    c->launch.linking = false;
    nm_live_links(c);
}

static int send(struct nm_container *c, const char *list, size_t len)
{
    struct nm_live_link *k = calloc(1, sizeof(*k));
    int r;

    if (!k)
        return -ENOMEM;
    k->launcher = c->launch.launcher;
    memcpy(k->text, c->text, sizeof(k->text));
    DL_APPEND(k->launcher->links, k);
    r = exe_link(c->ctx->exe, c->id, c->app->run_as, c->app->user, (unsigned)c->launch.local_dir,
                 list, len, on_linked, k);
    if (r < 0)
        link_free(k);
    return r;
}

void nm_live_links(struct nm_container *c)
{
    _cleanup_free_ char *list = NULL;
    size_t len = 0;
    int r;

    if (c->launch.linking || !c->app || !c->launch.pid || c->launch.exit.event || c->kill_requested)
        return;
    r = nm_resources_unlinked(c, EXE_FILE_MAX, &list, &len);
    if (r >= 0 && len)
        r = send(c, list, len);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: links of localized resources cannot be made: %s", c->text,
               strerror(-r));
    c->launch.linking = r >= 0 && len;
}
