/* `selvedge node decommission|recommission HOST…`: makes the ResourceManager reload its list of
 * excluded hosts. That list is a file on its machine; it is edited here if this user may, else the
 * message names the line to add. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands/hosts-file.h"
#include "client/core/options.h"
#include "common/fd.h"
#include "common/str.h"

#define LIST_MAX ((size_t)16 << 20)
#define EXCLUDE "yarn.resourcemanager.nodes.exclude-path"

static const struct sv_conf_key exclude_key = { .name = EXCLUDE, .type = SV_CONF_STRING };

struct decommission {
    struct cli_ctx *ctx;
    const char *path;
    char **hosts;
    bool add;
};

static void on_refreshed(int status, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (!ctx->json && !ctx->output.quiet)
        puts("the ResourceManager has read its list; selvedge node list -a shows the states");
    cli_stop(ctx, 0);
}

/* Checks a host name as the ResourceManager knows it: without the port of a node id. */
static int check_host(const struct cli_ctx *ctx, char *host)
{
    char *colon = strchr(host, ':');

    if (colon && !strchr(colon + 1, ':'))
        *colon = '\0';
    if (*host &&
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:_") ==
            strlen(host))
        return 0;
    (void)cli_fail("%s: %s: not a host", ctx->command->name, host);
    return 2;
}

/* Returns why the file cannot be edited here; NULL if it can. */
static const char *foreign(const char *path, int text_error, char buf[128])
{
    const struct passwd *pw;
    struct stat st;

    if (text_error == -ENOENT)
        return "it is not on this machine";
    if (text_error < 0 || lstat(path, &st) < 0)
        return strerror(text_error < 0 ? -text_error : errno);
    if (!S_ISREG(st.st_mode))
        return "it is no regular file";
    if (st.st_uid == geteuid() && st.st_nlink == 1)
        return NULL;
    pw = getpwuid(st.st_uid);
    snprintf(buf, 128, "it is %s's", pw ? pw->pw_name : "somebody else");
    return buf;
}

/* Writes a new file and renames it over the old one, which is unchanged on failure. */
static int replace(const char *path, const char *text)
{
    _cleanup_free_ char *temporary = NULL;
    _cleanup_close_ int fd = -1;
    struct stat st;
    int r = sv_asprintf(&temporary, "%s.selvedge-XXXXXX", path);

    if (r < 0)
        return r;
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    r = stat(path, &st) < 0 || fchmod(fd, st.st_mode & 0777) < 0 ? -errno : 0;
    if (r == 0)
        r = sv_write_all(fd, text, strlen(text));
    if (r == 0 && (fsync(fd) < 0 || rename(temporary, path) < 0))
        r = -errno;
    if (r < 0)
        (void)unlink(temporary); /* best effort, ignoring */
    return r;
}

/* Returns 0, or the exit code after an error message. */
static int edit(const struct decommission *d)
{
    _cleanup_free_ char *text = NULL;
    char buf[128];
    size_t len;
    int r = sv_read_file_at(AT_FDCWD, d->path, LIST_MAX, &text, &len);
    const char *why = foreign(d->path, r, buf);
    bool changed = false;

    for (char **host = d->hosts; *host; host++) {
        char *after;

        if (text && cli_hosts_have(text, *host) == d->add)
            continue;
        if (why)
            return cli_fail("%s: %s, the ResourceManager's exclude list, must have %s line %s; %s: "
                            "edit it there, then add --refresh",
                            d->ctx->command->name, d->path, d->add ? "the" : "no", *host, why);
        r = cli_hosts_edit(text, *host, d->add, &after);
        if (r < 0)
            return cli_fail("%s: %s: %s", d->ctx->command->name, d->path, strerror(-r));
        free(text);
        text = after;
        changed = true;
    }
    if (!changed)
        return 0;
    r = replace(d->path, text);
    if (r < 0)
        return cli_fail("%s: %s: %s", d->ctx->command->name, d->path, strerror(-r));
    if (!d->ctx->json && !d->ctx->output.quiet)
        printf("%s changed\n", d->path);
    return 0;
}

struct choice { /* from the command line */
    bool graceful, refresh;
    int32_t timeout_s; /* -1: the cluster's default */
};

static int take_options(struct cli_ctx *ctx, int argc, char **argv, struct choice *ret)
{
    int64_t ms;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'g')
            ret->graceful = true;
        else if (c == 'r')
            ret->refresh = true;
        else if (sv_parse_duration_ms(optarg, 1000, &ms) == 0 && ms > 0 && ms / 1000 <= INT32_MAX)
            ret->timeout_s = (int32_t)((ms + 999) / 1000);
        else
            return cli_fail("%s: --timeout %s: expected a time, such as 30m", ctx->command->name,
                            optarg) +
                   1;
    }
    if (ret->timeout_s >= 0 && !ret->graceful) {
        (void)cli_fail("%s: --timeout requires --graceful", ctx->command->name);
        return 2;
    }
    return optind < argc ? 0 : cli_usage(ctx);
}

static int change_list(struct cli_ctx *ctx, int argc, char **argv, bool add)
{
    struct decommission d = { .ctx = ctx, .add = add };
    struct choice choice = { .timeout_s = -1 };
    int code = take_options(ctx, argc, argv, &choice), r;

    d.hosts = argv + optind;
    for (char **host = d.hosts; code == 0 && *host; host++)
        code = check_host(ctx, *host);
    if (code == 0)
        code = cli_connect_admin(ctx);
    if (code != 0)
        return code;
    if (sv_conf_string(ctx->conf, &exclude_key, &d.path, NULL) < 0 || !d.path || !*d.path)
        return cli_fail("%s: " EXCLUDE " is not set: name a file there in yarn-site.xml of the "
                        "ResourceManager's machine and of this one",
                        ctx->command->name);
    code = choice.refresh ? 0 : edit(&d);
    if (code != 0)
        return code;
    r = cli_rm_refresh_nodes(ctx->rm, choice.graceful, choice.timeout_s, on_refreshed, ctx);
    return r < 0 ? cli_fail("%s: %s", ctx->command->name, strerror(-r)) : cli_loop(ctx);
}

int cli_cmd_node_decommission(struct cli_ctx *ctx, int argc, char **argv)
{
    return change_list(ctx, argc, argv, true);
}

int cli_cmd_node_recommission(struct cli_ctx *ctx, int argc, char **argv)
{
    return change_list(ctx, argc, argv, false);
}
