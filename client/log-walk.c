/* See log-walk.h. */
#include "client/log-walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "logs/aggregated.h"
#include "logs/remote.h"

#define READ_SIZE ((size_t)64 << 10)
#define PORT_DIGITS_MAX 5

struct walk {
    const struct cli_log_visitor *v;
    struct logs_remote *remote;
    char node[300];
    uint8_t buf[READ_SIZE];
};

static bool is_number(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s);
}

/* "host:port" of "host_port" or, of a rolled file, "host_port_time". */
static void node_of(const char *file, char ret[300])
{
    char *last;

    (void)snprintf(ret, 300, "%.290s", file);
    last = strrchr(ret, '_');
    if (last && is_number(last + 1) && strlen(last + 1) > PORT_DIGITS_MAX) {
        *last = 0;
        last = strrchr(ret, '_');
    }
    if (last && is_number(last + 1))
        *last = ':';
}

static int read_file(struct walk *w, struct logs_reader *r, const char *id, struct sv_error *err)
{
    char name[LOGS_FILE_NAME_MAX + 1];
    uint64_t length = 0;
    ssize_t k;

    while ((k = logs_reader_file(r, name, &length, err)) > 0) {
        if (!w->v->file(w->v->userdata, w->node, id, name, length))
            continue;
        while ((k = logs_reader_get(r, w->buf, sizeof w->buf, err)) > 0)
            w->v->bytes(w->v->userdata, w->buf, (size_t)k);
        w->v->end(w->v->userdata);
        if (k < 0)
            break;
    }
    return (int)k;
}

static int read_containers(struct walk *w, const struct logs_source *source, struct sv_error *err)
{
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    char id[LOGS_ID_MAX + 1];
    int k = logs_reader_new(source, &r, err);

    while (k >= 0 && (k = logs_reader_container(r, id, err)) > 0)
        if (w->v->container(w->v->userdata, id))
            k = read_file(w, r, id, err);
    return k;
}

static void problem(struct walk *w, const char *dir, const char *name, const char *why)
{
    char text[SV_ERROR_TEXT_MAX];

    (void)snprintf(text, sizeof text, "%s%s%s: %s", dir, *name ? "/" : "", name, why);
    w->v->problem(w->v->userdata, text);
}

static void walk_file(struct walk *w, const char *dir, const char *name)
{
    _cleanup_(logs_remote_file_freep) struct logs_remote_file *f = NULL;
    struct sv_error err = { 0 };
    char path[2048];
    int k;

    node_of(name, w->node);
    k = snprintf(path, sizeof path, "%s/%s", dir, name);
    k = k >= (int)sizeof path ? sv_error_set(&err, -ENAMETOOLONG, "too long a name")
                              : logs_remote_file(w->remote, path, &f, &err);
    if (k == 0)
        k = read_containers(w, logs_remote_source(f), &err);
    if (k < 0)
        problem(w, dir, name, f && *logs_remote_problem(f) ? logs_remote_problem(f) : err.text);
}

/* The number of files; none where the place does not exist. */
static int walk_place(struct walk *w, const struct cli_place *place)
{
    _cleanup_strv_ char **names = NULL;
    struct sv_error err = { 0 };
    int k = logs_remote_list(w->remote, place->dir, &names, &err);

    if (k < 0 && k != -ENOENT && k != -ENOTDIR)
        problem(w, place->dir, "", err.text);
    if (k < 0)
        return 0;
    for (char **n = names; *n; n++)
        walk_file(w, place->dir, *n);
    return (int)sv_strv_len(names);
}

static bool same_root(const struct loc_url *a, const struct loc_url *b)
{
    return a->scheme == b->scheme && a->port == b->port && strcmp(a->host, b->host) == 0 &&
           strcmp(a->path, b->path) == 0;
}

int cli_log_walk(struct sv_conf *c, const char *user, const struct cli_places *places,
                 const struct cli_log_visitor *v, struct sv_error *err)
{
    struct walk *w = calloc(1, sizeof *w);
    const struct loc_url *open = NULL;
    int found = 0, r = w ? 0 : sv_error_errno(err, -ENOMEM, "aggregated logs");

    for (size_t i = 0; r == 0 && i < places->n; i++) {
        const struct loc_url *root = &places->v[i].root;

        w->v = v;
        if (!open || !same_root(open, root)) {
            w->remote = logs_remote_free(w->remote);
            r = logs_remote_open(c, root, user, &w->remote, err);
            open = root;
        }
        if (r == 0)
            found += walk_place(w, &places->v[i]);
    }
    if (w)
        w->remote = logs_remote_free(w->remote);
    free(w);
    return r < 0 ? r : found;
}
