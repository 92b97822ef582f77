/* `selvedge localize`: setup of the node: configuration, account, container-executor,
 * directories. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/localize/localize.h"
#include "common/clock.h"
#include "common/str.h"
#include "nodemanager/services/localization-source.h"
#include "wire/sasl/auth-conf.h"

#define WHO "run this as root or as the NodeManager's account"

static void on_done(const struct exe_failure *f, void *userdata)
{
    struct localize *l = userdata;

    l->answered = true;
    l->failed = f != NULL;
    if (f)
        l->failure = *f;
}

/* Waits for the answer to a request; `r`: the result of sending it. */
static int wait_answer(struct localize *l, int r, struct sv_error *err)
{
    if (r == -EACCES)
        return sv_error_set(err, r, "container-executor may not be started by this account; " WHO);
    while (r >= 0 && !l->answered)
        r = sd_event_run(l->event, UINT64_MAX);
    l->answered = false;
    if (r < 0)
        return sv_error_errno(err, r, "container-executor");
    if (!l->failed)
        return 0;
    if (l->failure.status == EXE_STATUS_CALLER || l->failure.status == EXE_STATUS_SOCKET)
        return sv_error_set(err, -EPERM, "%s; " WHO, l->failure.text);
    return sv_error_set(err, -EIO, "%s", l->failure.text);
}

/* Drops root's rights permanently. */
static int become(const char *name, struct sv_error *err)
{
    const struct passwd *pw = getpwnam(name);

    if (!pw)
        return sv_error_set(err, -ENOENT, "%s: no such account; --user names the NodeManager's",
                            name);
    if (pw->pw_uid == 0)
        return sv_error_set(err, -EINVAL, "%s: is root; --user names the NodeManager's account",
                            name);
    if (setgroups(0, NULL) < 0 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
        setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
        return sv_error_errno(err, -errno, "account %s", name);
    return 0;
}

static int take_account(struct localize *l, struct sv_error *err)
{
    const struct passwd *pw;

    if (geteuid() == 0)
        return become(l->options.account ? l->options.account : "yarn", err);
    pw = l->options.account ? getpwnam(l->options.account) : NULL;
    if (l->options.account && (!pw || pw->pw_uid != geteuid()))
        return sv_error_set(err, -EPERM, "--user %s: only root can become another account; " WHO,
                            l->options.account);
    return 0;
}

static uint32_t writable(char *const *dirs)
{
    uint32_t mask = 0;

    for (unsigned i = 0; dirs[i] && i < EXE_DIRS_MAX; i++)
        if (access(dirs[i], W_OK | X_OK) == 0)
            mask |= 1u << i;
    return mask;
}

static int find_dirs(struct localize *l, struct sv_error *err)
{
    l->local_mask = writable(l->conf.local_dirs);
    l->log_mask = writable(l->conf.log_dirs);
    l->log_mask &= -l->log_mask; /* one is enough: it is never written */
    if (!l->local_mask)
        return sv_error_set(err, -EACCES,
                            "yarn.nodemanager.local-dirs: uid %u can write none of them; " WHO,
                            geteuid());
    if (!l->log_mask && l->options.visibility != LOC_PUBLIC)
        return sv_error_set(err, -EACCES,
                            "yarn.nodemanager.log-dirs: uid %u can write none of them; " WHO,
                            geteuid());
    return 0;
}

static int make_executor(struct localize *l, struct sv_error *err)
{
    const char *path = l->conf.executor_path;
    const struct exe_settings s = {
        .helper = path && *path ? path : SELVEDGE_LIBEXECDIR "/container-executor",
        .socket = l->conf.executor_socket,
        .local_dirs = l->conf.local_dirs,
        .log_dirs = l->conf.log_dirs,
        .unenforced_allowed = l->conf.unenforced_allowed,
        .labels = l->conf.selinux_labels,
    };
    int r = exe_new(l->event, &s, &l->exe, err);

    return r < 0 ? r : wait_answer(l, exe_check(l->exe, false, on_done, l), err);
}

/* As for a new application. Its number is derived from the time and this process. */
static int make_app(struct localize *l, struct sv_error *err)
{
    int r;

    l->app = (struct yarn_app_id){ sv_wall_ms(), getpid() };
    if (l->options.visibility == LOC_PUBLIC)
        return 0;
    r = exe_init_app(l->exe, l->app, l->run_as, l->options.submitter, l->local_mask, l->log_mask,
                     NULL, on_done, l);
    if (r == -EINVAL || r == -ENAMETOOLONG)
        return sv_error_set(err, r, "--as %s: not a user's name", l->options.submitter);
    r = wait_answer(l, r, err);
    /* Directories may exist even after a failure, unless the user check failed, which comes
     * first. */
    l->app_made = r >= 0 || (l->failed && (l->failure.status < EXE_STATUS_USER_UNKNOWN ||
                                           l->failure.status > EXE_STATUS_USER_LOOKUP));
    return r;
}

int cli_localize_open(struct localize *l, const char *conf_dir, char *const *overrides,
                      struct sv_error *err)
{
    int r = nm_conf_load(&l->conf, conf_dir, overrides, err);

    if (r < 0)
        return r;
    l->have_conf = true;
    r = yarn_auth_check(l->conf.conf, err);
    if (r < 0)
        return r;
    l->run_as = l->conf.limit_users ? l->conf.local_user : l->options.submitter;
    if (l->conf.selinux_labels && l->options.visibility != LOC_PUBLIC)
        return sv_error_set(err, -ENOTSUP,
                            "selvedge.nodemanager.selinux.labels is true: the running NodeManager "
                            "alone knows the categories of a user's files; only --visibility "
                            "public can be done by hand");
    r = take_account(l, err);
    if (r >= 0)
        r = nm_localization_login(&l->login, err);
    if (r >= 0)
        r = find_dirs(l, err);
    if (r >= 0 && (r = sd_event_new(&l->event)) < 0)
        return sv_error_errno(err, r, "event loop");
    if (r >= 0)
        r = make_executor(l, err);
    return r < 0 ? r : make_app(l, err);
}

static int remove_one(struct localize *l, struct exe_delete_what w, struct sv_error *err)
{
    w.user = l->options.visibility == LOC_PUBLIC ? NULL : l->run_as;
    w.submitter = l->options.visibility == LOC_PUBLIC ? NULL : l->options.submitter;
    w.app = l->app;
    return wait_answer(l, exe_delete(l->exe, &w, on_done, l), err);
}

static int remove_entries(struct localize *l, struct sv_error *err)
{
    int result = 0;

    for (size_t i = 0; i < l->n_entries; i++) {
        const struct localize_entry *e = &l->entries[i];
        int r = remove_one(l,
                           (struct exe_delete_what){
                               .what = EXE_DELETE_RESOURCE,
                               .visibility = l->options.visibility == LOC_PUBLIC
                                                 ? EXE_VISIBILITY_PUBLIC
                                                 : EXE_VISIBILITY_PRIVATE,
                               .resource_id = e->id,
                               .resource_dir = e->dir_number,
                               .local_mask = 1u << e->dir,
                           },
                           err);

        result = r < 0 ? r : result;
    }
    return result;
}

/* The helper empties the log directory; the directory itself is in one of ours. */
static int remove_log_dirs(struct localize *l, struct sv_error *err)
{
    char app[YARN_ID_TEXT_MAX];
    int result = 0;

    for (unsigned i = 0; l->conf.log_dirs[i] && i < EXE_DIRS_MAX; i++) {
        _cleanup_free_ char *path = NULL;

        if (!(l->log_mask >> i & 1))
            continue;
        if (sv_asprintf(&path, "%s/%s", l->conf.log_dirs[i], yarn_app_id_text(l->app, app)) < 0)
            return sv_error_errno(err, -ENOMEM, "log directory");
        if (rmdir(path) < 0 && errno != ENOENT)
            result = sv_error_errno(err, -errno, "%s", path);
    }
    return result;
}

int cli_localize_remove(struct localize *l, struct sv_error *err)
{
    /* The application's entries are in its directories. */
    int result = l->options.visibility == LOC_APPLICATION ? 0 : remove_entries(l, err), r;

    if (!l->app_made)
        return result;
    r = remove_one(
        l, (struct exe_delete_what){ .what = EXE_DELETE_APP, .local_mask = l->local_mask }, err);
    result = r < 0 ? r : result;
    r = remove_log_dirs(l, err);
    return r < 0 ? r : result;
}

void cli_localize_close(struct localize *l)
{
    l->exe = exe_free(l->exe);
    l->event = sd_event_unref(l->event);
    free(l->login);
    if (l->have_conf)
        nm_conf_free(&l->conf);
    for (size_t i = 0; i < l->n_urls; i++)
        free(l->results[i].refused);
    free(l->results);
}
