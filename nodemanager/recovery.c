/* See recovery.h. The daemon wrote the store, but a disk may have changed it: ids are parsed
 * strictly, requests are decoded with bounds, nothing is used as a path. */
#include "nodemanager/recovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
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
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/set-limit.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"

struct recovery_progress {
    const struct nm_recovery *services;
    int bad; /* unusable records */
};

static int recover_app(const struct nm_stored_app *s, void *userdata)
{
    struct recovery_progress *x = userdata;
    struct yarn_app_id id;
    struct nm_app *a;
    int r;

    if (yarn_app_id_parse(s->id, &id) < 0 || !*s->user) {
        x->bad++;
        return 0;
    }
    r = nm_app_new(x->services->ctx, id, s->user, &a);
    if (r < 0)
        return r;
    a->view_acl = strdup(s->view_acl);
    a->modify_acl = strdup(s->modify_acl);
    a->finish_recorded = s->finished;
    nm_app_add(a);
    return 0;
}

static int recover_container(const struct nm_stored_container *s, void *userdata)
{
    struct recovery_progress *x = userdata;
    struct nm_context *ctx = x->services->ctx;
    struct nm_app *app = nm_app_find(ctx, s->app);
    struct nm_container *c;
    int r = nm_container_restore(ctx, s, &c);

    if (r < 0 || (!app && !s->done)) {
        x->bad++;
        if (r >= 0)
            nm_container_free(c);
        return r == -ENOMEM ? r : 0;
    }
    x->bad += r; /* its update */
    if (!s->completed && nm_assign_again(x->services->assignments, c, s->assigned) < 0) {
        sv_log(SV_LOG_ERR, c->text, "%s: its recorded assignment (\"%s\") is not usable", c->text,
               s->assigned);
        x->bad++;
    }
    if (app && nm_app_join(app, c) < 0) {
        nm_assign_release(x->services->assignments, c);
        nm_container_free(c);
        return -ENOMEM;
    }
    nm_container_add(c, app);
    if (app)
        nm_scheduler_restore(x->services->scheduler, c);
    return 0;
}

typedef void (*entry_fn)(const struct nm_recovery *services, DIR *dir, const char *name, int disk);

/* Calls fn for the entries of directory `name` on each local directory that its check can read,
 * except hidden ones. */
static void each_entry(const struct nm_recovery *services, const char *name, entry_fn fn)
{
    const struct nm_dirs *dirs = services->ctx->dirs;

    for (int i = 0; i < nm_dirs_n_local(dirs); i++) {
        _cleanup_close_ int top =
            nm_dirs_local_mask(dirs) & 1u << i
                ? open(nm_dirs_local(dirs, i), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                : -1;
        int fd = top >= 0 ? openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *e;

        if (!d) {
            sv_close(fd);
            continue;
        }
        while ((e = readdir(d)))
            if (e->d_name[0] != '.')
                fn(services, d, e->d_name, i);
        closedir(d);
    }
}

/* Removes a directory of nmPrivate without a recovered application. */
static void sweep_private(const struct nm_recovery *services, DIR *dir, const char *name, int disk)
{
    const struct nm_context *ctx = services->ctx;
    struct yarn_app_id id;
    int r;

    if (yarn_app_id_parse(name, &id) < 0 || nm_app_find(ctx, name))
        return;
    sv_log_info("%s/nmPrivate/%s: left behind, removing", nm_dirs_local(ctx->dirs, disk), name);
    r = sv_remove_tree_at(dirfd(dir), name);
    if (r < 0)
        sv_log_warning("cannot delete nmPrivate/%s: %s", name, strerror(-r));
}

/* Deletes log directories without a recovered application, except those of the daemon's own
 * account, for which the helper does not act. */
static void sweep_logs_of(const struct nm_recovery *services, DIR *dir)
{
    const struct dirent *e;

    while ((e = readdir(dir))) {
        struct passwd pw, *found = NULL;
        struct yarn_app_id id;
        struct stat st;
        char buf[4096];

        if (yarn_app_id_parse(e->d_name, &id) < 0 || nm_app_find(services->ctx, e->d_name) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
            continue;
        if (getpwuid_r(st.st_uid, &pw, buf, sizeof(buf), &found) == 0 && found &&
            st.st_uid != geteuid() && exe_name_ok(pw.pw_name, EXE_USER_MAX))
            nm_log_handler_left(services->logs, id, pw.pw_name);
    }
}

static void sweep_logs(const struct nm_recovery *services)
{
    const struct nm_dirs *dirs = services->ctx->dirs;

    for (int i = 0; i < nm_dirs_n_log(dirs); i++) {
        DIR *d = nm_dirs_log_mask(dirs) & 1u << i ? opendir(nm_dirs_log(dirs, i)) : NULL;

        if (d) {
            sweep_logs_of(services, d);
            closedir(d);
        }
    }
}

/* The owner of usercache/<submitter>: the account that ran the submitter's applications when it was
 * created, perhaps by another configuration. False: the daemon did not create the directory. */
static bool owner_of(const struct nm_recovery *services, DIR *usercache, const char *submitter,
                     char owner[EXE_USER_MAX + 1])
{
    const char *account = nm_account_of(services->ctx->conf, submitter);
    struct passwd pw, *found = NULL;
    struct stat st;
    char buf[4096];

    if (!exe_name_ok(submitter, EXE_SUBMITTER_MAX) ||
        fstatat(dirfd(usercache), submitter, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
        return false;
    if (getpwuid_r(st.st_uid, &pw, buf, sizeof(buf), &found) == 0 && found)
        account = found->pw_name;
    snprintf(owner, EXE_USER_MAX + 1, "%s", account);
    return exe_name_ok(account, EXE_USER_MAX);
}

static bool has_apps(const struct nm_context *ctx, const char *submitter)
{
    for (const struct nm_app *a = ctx->apps; a; a = a->hh.next)
        if (!strcmp(a->user, submitter))
            return true;
    return false;
}

/* Another account runs the submitter's applications since limit-users or local-user was changed,
 * and the helper would refuse the directory. */
static bool sweep_foreign(const struct nm_recovery *services, const char *submitter,
                          const char *owner)
{
    const char *account = nm_account_of(services->ctx->conf, submitter);

    if (!strcmp(owner, account))
        return false;
    if (has_apps(services->ctx, submitter)) {
        sv_log_warning("usercache/%s belongs to %s, new applications of %s run as %s: they fail "
                       "until his running ones have ended and the NodeManager is restarted",
                       submitter, owner, submitter, account);
        return false;
    }
    sv_log_info("usercache/%s belongs to %s, applications of %s run as %s now: removing", submitter,
                owner, submitter, account);
    nm_deletion_user(services->deletion, owner, submitter);
    return true;
}

/* Handles the applications below one submitter's cache: the directory is the account's, the names
 * in it are only parsed. */
static void sweep_user(const struct nm_recovery *services, DIR *usercache, const char *submitter,
                       int disk)
{
    char path[NAME_MAX + 16], owner[EXE_USER_MAX + 1];
    struct dirent *e;
    DIR *d;
    int fd;

    (void)disk;
    if (!owner_of(services, usercache, submitter, owner) ||
        sweep_foreign(services, submitter, owner))
        return;
    snprintf(path, sizeof(path), "%s/appcache", submitter);
    fd = sv_open_beneath(dirfd(usercache), path, O_RDONLY | O_DIRECTORY, 0);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        sv_close(fd);
        return;
    }
    while ((e = readdir(d))) {
        struct yarn_app_id id;

        if (yarn_app_id_parse(e->d_name, &id) < 0 || nm_app_find(services->ctx, e->d_name))
            continue;
        sv_log_info("%s of %s: left behind, removing", e->d_name, submitter);
        nm_deletion_left_app(services->deletion, id, owner, submitter);
    }
    closedir(d);
}

static void on_group_removed(const struct sv_error *failed, void *userdata)
{
    (void)userdata;
    if (failed)
        sv_log_warning("cannot remove left-behind cgroup: %s", failed->text);
}

/* Kills the processes of container cgroups that no container is to be adopted with. */
static void sweep_cgroups(const struct nm_context *ctx)
{
    _cleanup_strv_ char **names = NULL;

    if (cg_root_list(ctx->cgroups, &names) < 0)
        return;
    for (char **n = names; n && *n; n++) {
        struct nm_container *c = nm_container_find(ctx, *n);
        struct yarn_container_id id;
        struct cg_leaf *leaf;

        if ((c && !nm_container_is_done(c) && c->recovered != NM_RECOVERED_COMPLETED) ||
            yarn_container_id_parse(*n, &id) < 0)
            continue;
        sv_log(SV_LOG_WARNING, *n, "%s: cgroup left behind, removing", *n);
        if (cg_leaf_open(ctx->cgroups, *n, &leaf) < 0)
            continue;
        if (cg_leaf_kill(leaf) < 0)
            sv_log_warning("%s: cgroup.kill failed; retried by the removal", *n);
        if (cg_leaf_remove(leaf, ctx->event, 10000, on_group_removed, NULL) < 0)
            sv_log_warning("%s: cannot remove left-behind cgroup", *n);
    }
}

void nm_recover_sweep(const struct nm_recovery *services)
{
    each_entry(services, "nmPrivate", sweep_private);
    each_entry(services, "usercache", sweep_user);
    sweep_logs(services);
    sweep_cgroups(services->ctx);
}

static void clear_user(const struct nm_recovery *services, DIR *usercache, const char *submitter,
                       int disk)
{
    char owner[EXE_USER_MAX + 1];

    (void)disk;
    if (owner_of(services, usercache, submitter, owner))
        nm_deletion_user(services->deletion, owner, submitter);
}

/* Apache's public cache belongs to the daemon's account; ours to one for which the helper acts. */
static void clear_public(const struct nm_recovery *services, DIR *filecache, const char *name,
                         int disk)
{
    struct stat st;
    int r;

    if (fstatat(dirfd(filecache), name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
        return;
    r = sv_remove_tree_at(dirfd(filecache), name);
    if (r < 0)
        sv_log_warning("cannot delete %s/filecache/%s: %s",
                       nm_dirs_local(services->ctx->dirs, disk), name, strerror(-r));
}

/* Deletes caches from the last run, of which the store has no records; those of users as their
 * owners (ResourceLocalizationService.cleanUpLocalDirs). */
static void clear_last_run(const struct nm_recovery *services)
{
    each_entry(services, "usercache", clear_user);
    each_entry(services, "filecache", clear_public);
    nm_deletion_user(services->deletion, NULL, NULL);
    if (nm_store_not_new(services->ctx->store) < 0) /* with the records of the deletions */
        sv_log_warning("state store: the next start clears the local directories once more");
}

static int restore_records(struct recovery_progress *x)
{
    const struct nm_recovery *services = x->services;
    struct nm_store *store = services->ctx->store;
    int r = nm_secrets_recover(services->ctx->secrets);

    if (r >= 0)
        r = nm_store_each_app(store, recover_app, x);
    if (r >= 0)
        r = nm_store_each_container(store, recover_container, x);
    if (r >= 0)
        r = nm_limit_recover(services->ctx);
    if (r >= 0)
        r = nm_deletion_recover(services->deletion);
    if (r >= 0)
        r = nm_log_handler_recover(services->logs);
    if (r >= 0)
        r = nm_aggregation_recover(services->aggregation);
    return r;
}

/* Posts the events that adopt, launch or finish. */
static void resume(const struct nm_context *ctx)
{
    struct nm_app *app, *tmp;

    for (struct nm_app *a = ctx->apps; a; a = a->hh.next)
        if (!a->finish_recorded) /* otherwise only its directories are deleted */
            nm_app_post(a, NM_APP_EV_INIT_APPLICATION, NULL);
    /* A container that may need a launch waits for the directories of its application. */
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next)
        if (c->state == NM_CONTAINER_NEW &&
            (c->recovered != NM_RECOVERED_REQUESTED || c->app->finish_recorded))
            nm_container_post(c, NM_CONTAINER_EV_INIT, NULL);
    HASH_ITER (hh, ctx->apps, app, tmp)
        if (app->finish_recorded)
            nm_app_finish(app, "Application killed by ResourceManager");
}

int nm_recover(const struct nm_recovery *services, struct sv_error *err)
{
    const struct nm_context *ctx = services->ctx;
    struct recovery_progress x = { .services = services };
    int r;

    if (!ctx->conf->recovery || nm_store_is_new(ctx->store)) {
        clear_last_run(services);
        return 0;
    }
    r = restore_records(&x);
    if (r < 0)
        return sv_error_errno(err, r, "state store: recovery");
    r = nm_localization_recover(services->localization, err);
    if (r < 0)
        return r;
    if (x.bad)
        sv_log_err(
            "state store: %d records are unusable; their containers and directories are removed",
            x.bad);
    sv_log_info("recovered %u applications and %u containers", HASH_COUNT(ctx->apps),
                HASH_COUNT(ctx->containers));
    resume(ctx);
    return 0;
}
