/* `selvedge doctor`: what this node can enforce, what it cannot, and what to do about it. Needs no
 * ResourceManager and changes nothing. Run as root or as the NodeManager's account it asks
 * container-executor itself. */
#include "client/doctor.h"

#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <utlist.h>

#include "client/cmd.h"
#include "common/fd.h"
#include "common/str.h"

struct doctor_finding {
    struct doctor_finding *prev, *next;
    enum doctor_state state;
    const char *area; /* a literal */
    char *text, *remedy;
};

static const char *const state_words[] = { "ok", "note", "weak", "BAD" };

void doctor_say(struct doctor *d, enum doctor_state state, const char *area, const char *remedy,
                const char *fmt, ...)
{
    struct doctor_finding *f = calloc(1, sizeof(*f));
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    d->counts[state]++;
    if (!f)
        return; /* still counted */
    f->state = state;
    f->area = area;
    f->text = strdup(text);
    f->remedy = remedy ? strdup(remedy) : NULL;
    DL_APPEND(d->findings, f);
}

const char *doctor_line(const char *path, char *buf, size_t size)
{
    _cleanup_free_ char *text = NULL;
    size_t len = 0;

    buf[0] = '\0';
    if (sv_read_file_at(AT_FDCWD, path, 65536, &text, &len) >= 0)
        (void)snprintf(buf, size, "%.*s", (int)strcspn(text, "\n"), text);
    return buf;
}

const char *doctor_unsafe(const char *path, uid_t owner, char *buf, size_t size)
{
    struct stat st;
    size_t len = strlen(path);

    if (len >= size)
        return path;
    memcpy(buf, path, len + 1);
    for (bool last = true;; last = false) {
        if (lstat(buf, &st) == 0 && !S_ISLNK(st.st_mode) &&
            ((st.st_uid != 0 && st.st_uid != owner) ||
             (st.st_mode & 022 && !(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX && !last))))
            return buf;
        char *slash = strrchr(buf, '/');
        if (!slash || strcmp(buf, "/") == 0)
            return NULL;
        slash[slash == buf ? 1 : 0] = '\0';
    }
}

static void print_json(const struct doctor *d, int code)
{
    static const char *const words[] = { "ok", "note", "weak", "bad" };
    json_t *list = json_array(), *all;
    const struct doctor_finding *f;

    DL_FOREACH (d->findings, f)
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "state",
                                                    words[f->state], "area", f->area, "text",
                                                    f->text ? f->text : "", "remedy", f->remedy));
    all = json_pack("{s:i, s:o}", "exitCode", code, "findings", list);
    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
}

static void print_text(const struct doctor *d)
{
    const struct doctor_finding *f;
    char line[2048];

    DL_FOREACH (d->findings, f) {
        sv_escape(line, sizeof(line), f->text ? f->text : "");
        printf("%-4s  %-13s  %s\n", state_words[f->state], f->area, line);
        if (f->remedy)
            printf("%19s  -> %s\n", "", f->remedy);
    }
    if (d->counts[DOCTOR_BAD])
        printf("%u of these keep containers from starting here, or break a promise.\n",
               d->counts[DOCTOR_BAD]);
    else if (d->counts[DOCTOR_WEAK])
        printf("Containers run here, with %u of the above short of what could be had.\n",
               d->counts[DOCTOR_WEAK]);
    else
        puts("Containers run here, and every limit is enforced.");
}

static void doctor_free(struct doctor *d)
{
    struct doctor_finding *f, *next;

    DL_FOREACH_SAFE (d->findings, f, next) {
        free(f->text);
        free(f->remedy);
        free(f);
    }
    sv_strv_free(d->policy.local_dirs);
    sv_strv_free(d->policy.log_dirs);
    sv_strv_free(d->policy.profiles);
    sv_strv_free(d->policy.networks);
    free(d->policy.cgroup_root);
    free(d->policy.user);
    nm_conf_free(&d->conf);
}

int cli_cmd_doctor(struct cli_ctx *ctx, int argc, char **argv)
{
    static const struct option options[] = { { "user", required_argument, NULL, 'u' }, { 0 } };
    struct doctor d = { 0 };
    int c, code;

    optind = 1;
    while ((c = getopt_long(argc, argv, "u:", options, NULL)) != -1) {
        if (c != 'u')
            return cli_usage("doctor");
        d.daemon = optarg;
    }
    if (argc != optind)
        return cli_usage("doctor");
    doctor_configuration(&d, ctx->conf_dir, ctx->overrides);
    doctor_accounts(&d);
    doctor_helper(&d);
    doctor_files(&d);
    doctor_directories(&d);
    doctor_cgroups(&d);
    doctor_kernel(&d);
    doctor_network(&d);
    doctor_services(&d);
    code = d.counts[DOCTOR_BAD] ? 2 : d.counts[DOCTOR_WEAK] ? 1 : 0;
    if (ctx->json)
        print_json(&d, code);
    else
        print_text(&d);
    doctor_free(&d);
    return code;
}
