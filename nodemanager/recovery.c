/* See recovery.h. Store contents are the daemon's own but a disk may have changed them: ids are
 * parsed strictly, requests are decoded with bounds, nothing is used as a path. */
#include "nodemanager/recovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"
#include "wire/methods.h"

struct ctx {
    struct nm *nm;
    int bad; /* records that could not be used */
};

static int recover_app(const struct nm_stored_app *s, void *userdata)
{
    struct ctx *x = userdata;
    struct yarn_app_id id;
    struct nm_app *a;
    int r;

    if (yarn_app_id_parse(s->id, &id) < 0 || !*s->user) {
        x->bad++;
        return 0;
    }
    r = nm_app_new(x->nm, id, s->user, &a);
    if (r < 0)
        return r;
    a->view_acl = strdup(s->view_acl);
    a->modify_acl = strdup(s->modify_acl);
    a->finish_recorded = s->finished;
    nm_app_add(a);
    return 0;
}

/* The token inside a recorded request was verified when it came. */
static int token_of(const struct nm_stored_container *s, struct yarn_container_token *ret)
{
    Hadoop__Yarn__StartContainerRequestProto *m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err;

    m = a ? hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(a),
                                                                s->request_len, s->request)
          : NULL;
    if (!m || !m->container_token || !m->container_token->identifier.data)
        return -EBADMSG;
    return yarn_container_token_decode(m->container_token->identifier.data,
                                       m->container_token->identifier.len, ret, &err);
}

static int recover_container(const struct nm_stored_container *s, void *userdata)
{
    struct ctx *x = userdata;
    struct nm *nm = x->nm;
    struct nm_app *app = nm_app_find(nm, s->app);
    struct yarn_container_token t;
    struct nm_container *c;
    int r;

    if (token_of(s, &t) < 0) {
        x->bad++;
        return 0;
    }
    r = nm_container_new(nm, &t, s->request, s->request_len, &c);
    if (r < 0) {
        x->bad++;
        return r == -ENOMEM ? r : 0;
    }
    if (strcmp(c->text, s->id) != 0 || (!app && !s->done)) {
        nm_container_discard(c);
        x->bad++;
        return 0;
    }
    if (s->updated_len) {
        struct yarn_container_token u;
        struct sv_error err;

        if (yarn_container_token_decode(s->updated, s->updated_len, &u, &err) >= 0 &&
            yarn_container_id_cmp(u.container, c->id) == 0) {
            c->resource = u.resource;
            c->version = u.version;
            c->execution_type = u.execution_type;
        } else {
            x->bad++;
        }
    }
    c->recorded = true;
    c->start_ms = s->start_ms;
    c->launch_ms = s->launch_ms;
    c->finish_ms = s->finish_ms;
    c->local_dir = s->local_dir;
    c->log_dir = s->log_dir;
    c->kill_requested = s->killed;
    c->kill_code = s->kill_code;
    if (!s->completed && nm_assign_again(c, s->assigned) < 0) {
        sv_log(SV_LOG_ERR, c->text, "%s: what it was assigned (\"%s\") is not usable", c->text,
               s->assigned);
        x->bad++;
    }
    if (*s->diagnostics) {
        char *d = strdup(s->diagnostics);

        if (d) {
            free(c->diagnostics);
            c->diagnostics = d;
        }
    }
    if (s->completed) {
        c->recovered = NM_RECOVERED_COMPLETED;
        c->exit_code = s->exit_code;
    } else {
        c->recovered = s->launched ? NM_RECOVERED_LAUNCHED : NM_RECOVERED_REQUESTED;
        c->recovering = true;
    }
    if (s->done) { /* only waits for the ResourceManager to hear of it */
        c->state = NM_CONTAINER_DONE;
        c->arena = sv_arena_free(c->arena);
        c->clc = NULL;
    }
    if (app && nm_app_join(app, c) < 0) {
        nm_container_discard(c);
        return -ENOMEM;
    }
    nm_container_add(c, app);
    return 0;
}

/* nmPrivate/<application> directories that no recovered application knows. */
static void sweep_private(struct nm *nm)
{
    for (int i = 0; i < nm_dirs_n_local(nm->dirs); i++) {
        _cleanup_close_ int top =
            open(nm_dirs_local(nm->dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fd = top >= 0
                     ? openat(top, "nmPrivate", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                     : -1;
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *e;

        if (!d) {
            sv_close(fd);
            continue;
        }
        while ((e = readdir(d))) {
            struct yarn_app_id id;
            int r;

            if (yarn_app_id_parse(e->d_name, &id) < 0 || nm_app_find(nm, e->d_name))
                continue;
            sv_log_info("%s/nmPrivate/%s: left behind, removing", nm_dirs_local(nm->dirs, i),
                        e->d_name);
            r = sv_remove_tree_at(dirfd(d), e->d_name);
            if (r < 0)
                sv_log_warning("nmPrivate/%s stays: %s", e->d_name, strerror(-r));
        }
        closedir(d);
    }
}

/* Applications below one user's cache: the directory is the user's, the names in it are only
 * parsed. */
static void sweep_user(struct nm *nm, int usercache, const char *user)
{
    char path[NAME_MAX + 16];
    struct dirent *e;
    DIR *d;
    int fd;

    snprintf(path, sizeof(path), "%s/appcache", user);
    fd = sv_open_beneath(usercache, path, O_RDONLY | O_DIRECTORY, 0);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        sv_close(fd);
        return;
    }
    while ((e = readdir(d))) {
        struct yarn_app_id id;

        if (yarn_app_id_parse(e->d_name, &id) < 0 || nm_app_find(nm, e->d_name))
            continue;
        sv_log_info("%s of %s: left behind, removing", e->d_name, user);
        nm_deletion_left_app(nm, id, user);
    }
    closedir(d);
}

static void sweep_usercache(struct nm *nm)
{
    for (int i = 0; i < nm_dirs_n_local(nm->dirs); i++) {
        _cleanup_close_ int top =
            open(nm_dirs_local(nm->dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fd = top >= 0
                     ? openat(top, "usercache", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                     : -1;
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *e;

        if (!d) {
            sv_close(fd);
            continue;
        }
        while ((e = readdir(d)))
            if (e->d_name[0] != '.' && strlen(e->d_name) <= EXE_USER_MAX)
                sweep_user(nm, dirfd(d), e->d_name);
        closedir(d);
    }
}

static void on_group_removed(const struct sv_error *failed, void *userdata)
{
    (void)userdata;
    if (failed)
        sv_log_warning("left-behind cgroup stays: %s", failed->text);
}

/* Container groups that no live record knows: whatever is in them is killed. */
static void sweep_cgroups(struct nm *nm)
{
    _cleanup_strv_ char **names = NULL;

    if (cg_root_list(nm->cgroups, &names) < 0)
        return;
    for (char **n = names; n && *n; n++) {
        struct nm_container *c = nm_container_find(nm, *n);
        struct yarn_container_id id;
        struct cg_leaf *leaf;

        if ((c && !nm_container_is_done(c)) || yarn_container_id_parse(*n, &id) < 0)
            continue;
        sv_log(SV_LOG_WARNING, *n, "%s: cgroup left behind, removing", *n);
        if (cg_leaf_open(nm->cgroups, *n, &leaf) < 0)
            continue;
        if (cg_leaf_kill(leaf) < 0)
            sv_log_warning("%s: cgroup.kill failed; the removal tries again", *n);
        if (cg_leaf_remove(leaf, nm->event, 10000, on_group_removed, NULL) < 0)
            sv_log_warning("%s: cgroup stays", *n);
    }
}

void nm_recover_sweep(struct nm *nm)
{
    sweep_private(nm);
    sweep_usercache(nm);
    sweep_cgroups(nm);
}

/* Without recovery: users' caches and logs of the last life, deleted as their owners. */
static void clear_last_life(struct nm *nm)
{
    for (int i = 0; i < nm_dirs_n_local(nm->dirs); i++) {
        _cleanup_close_ int top =
            open(nm_dirs_local(nm->dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fd = top >= 0
                     ? openat(top, "usercache", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                     : -1;
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *e;

        if (!d) {
            sv_close(fd);
            continue;
        }
        while ((e = readdir(d)))
            if (e->d_name[0] != '.' && strlen(e->d_name) <= EXE_USER_MAX)
                nm_deletion_user(nm, e->d_name);
        closedir(d);
    }
    nm_deletion_user(nm, NULL);
}

int nm_recover(struct nm *nm, struct sv_error *err)
{
    struct ctx x = { .nm = nm };
    struct nm_app *app, *tmp;
    int r;

    if (!nm->conf.recovery) {
        clear_last_life(nm);
        return 0;
    }
    r = nm_secrets_recover(nm->secrets);
    if (r >= 0)
        r = nm_store_each_app(nm->store, recover_app, &x);
    if (r >= 0)
        r = nm_store_each_container(nm->store, recover_container, &x);
    if (r >= 0)
        r = nm_deletion_recover(nm->deletion);
    if (r >= 0)
        r = nm_log_handler_recover(nm->logs);
    if (r < 0)
        return sv_error_errno(err, r, "state store: recovery");
    r = nm_localization_recover(nm->localization, err);
    if (r < 0)
        return r;
    if (x.bad)
        sv_log_err("state store: %d records could not be used; what they stood for is removed",
                   x.bad);
    sv_log_info("recovered %u applications and %u containers", HASH_COUNT(nm->apps),
                HASH_COUNT(nm->containers));
    for (struct nm_app *a = nm->apps; a; a = a->hh.next)
        if (!a->finish_recorded) /* else its directories are only to be deleted */
            nm_post_app(a, NM_APP_EV_INIT_APPLICATION, NULL);
    /* One that may have to be launched waits for its application, which may be without directories.
     */
    for (struct nm_container *c = nm->containers; c; c = c->hh.next)
        if (c->state == NM_CONTAINER_NEW &&
            (c->recovered != NM_RECOVERED_REQUESTED || c->app->finish_recorded))
            nm_post_container(c, NM_CONTAINER_EV_INIT, 0, NULL);
    HASH_ITER (hh, nm->apps, app, tmp)
        if (app->finish_recorded)
            nm_app_finish(app, "Application killed by ResourceManager");
    return 0;
}
