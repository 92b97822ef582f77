/* See log-walk.h. */
#include "client/logs/log-walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "logs/aggregated.h"
#include "logs/indexed-reader.h"
#include "logs/remote.h"

#define READ_SIZE ((size_t)64 << 10)
#define PORT_DIGITS_MAX 5
#define CHECKSUM "-checksum" /* suffix of the checksum file of an IndexedFile */

struct walk {
    const struct cli_log_visitor *v;
    struct logs_remote *remote;
    char node[300];
    bool old;     /* the node's file is too old: its logs are skipped */
    struct part { /* original length of a file to which its NodeManager appends */
        char of[LOGS_CHECKSUM_NAME_MAX + 1];
        uint64_t length;
    } * parts;
    size_t n_parts;
    uint8_t buf[READ_SIZE];
};

static bool is_number(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s);
}

/* Converts the file name "host_port", or for a rolled file "host_port_time", to "host:port". */
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
        uint64_t from = 0;

        if (w->old || !w->v->file(w->v->userdata, w->node, id, name, length, &from))
            continue;
        k = logs_reader_skip(r, from, err);
        if (k < 0)
            break;
        while ((k = logs_reader_get(r, w->buf, sizeof(w->buf), err)) > 0)
            w->v->bytes(w->v->userdata, w->buf, (size_t)k);
        w->v->end(w->v->userdata);
        if (k < 0)
            break;
    }
    return (int)k;
}

static bool enough(const struct walk *w)
{
    return w->v->enough && w->v->enough(w->v->userdata);
}

static int read_containers(struct walk *w, const struct logs_source *source, struct sv_error *err)
{
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    char id[LOGS_ID_MAX + 1];
    int k = logs_reader_new(source, &r, err);

    while (k >= 0 && !enough(w) && (k = logs_reader_container(r, id, err)) > 0)
        if (w->v->container(w->v->userdata, id))
            k = read_file(w, r, id, err);
    return k;
}

static void problem(struct walk *w, const char *dir, const char *name, const char *why)
{
    char text[SV_ERROR_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "%s%s%s: %s", dir, *name ? "/" : "", name, why);
    w->v->problem(w->v->userdata, text);
}

static int open_file(struct walk *w, const char *dir, const char *name,
                     struct logs_remote_file **ret, struct sv_error *err)
{
    char path[2048];

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return sv_error_set(err, -ENAMETOOLONG, "too long a name");
    return logs_remote_file(w->remote, path, ret, err);
}

/* ---- Files being appended to ---- */

static void problem(struct walk *w, const char *dir, const char *name, const char *why);

static int read_checksum(struct walk *w, const char *dir, const char *name, struct part *ret,
                         struct sv_error *err)
{
    _cleanup_(logs_remote_file_freep) struct logs_remote_file *f = NULL;
    int k = open_file(w, dir, name, &f, err);

    return k < 0 ? k : logs_indexed_checksum(logs_remote_source(f), ret->of, &ret->length, err);
}

/* Reads all checksum files in the directory, skipping those removed meanwhile. */
static void read_checksums(struct walk *w, const char *dir, char *const *names)
{
    for (char *const *n = names; *n; n++) {
        struct sv_error err = { 0 };
        struct part part, *more;
        int k = sv_has_suffix(*n, CHECKSUM) ? read_checksum(w, dir, *n, &part, &err) : -ENOENT;

        if (k < 0 && k != -ENOENT)
            problem(w, dir, *n, err.text);
        more = k == 0 ? reallocarray(w->parts, w->n_parts + 1, sizeof(*more)) : NULL;
        if (!more)
            continue;
        w->parts = more;
        w->parts[w->n_parts++] = part;
    }
}

static uint64_t readable(const struct walk *w, const char *name, uint64_t length)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (strcmp(w->parts[i].of, name) == 0)
            return SV_MIN(length, w->parts[i].length);
    return length;
}

static void walk_file(struct walk *w, const char *dir, const char *name)
{
    _cleanup_(logs_remote_file_freep) struct logs_remote_file *f = NULL;
    struct sv_error err = { 0 };
    struct logs_source source;
    int k;

    node_of(name, w->node);
    k = open_file(w, dir, name, &f, &err);
    if (k == 0) {
        w->old = logs_remote_modified_ms(f) < w->v->since_ms;
        source = *logs_remote_source(f);
        source.length = readable(w, name, source.length);
        k = source.length > 0 ? read_containers(w, &source, &err) : 0;
    }
    if (k < 0)
        problem(w, dir, name, f && *logs_remote_problem(f) ? logs_remote_problem(f) : err.text);
}

/* Returns the number of files; 0 if the directory does not exist. */
static int walk_place(struct walk *w, const struct cli_place *place)
{
    _cleanup_strv_ char **names = NULL;
    struct sv_error err = { 0 };
    int k = logs_remote_list(w->remote, place->dir, &names, &err);

    if (k < 0 && k != -ENOENT && k != -ENOTDIR)
        problem(w, place->dir, "", err.text);
    if (k < 0)
        return 0;
    k = 0;
    read_checksums(w, place->dir, names);
    for (char **n = names; *n && !enough(w); n++)
        if (!sv_has_suffix(*n, CHECKSUM)) {
            walk_file(w, place->dir, *n);
            k++;
        }
    free(w->parts);
    w->parts = NULL;
    w->n_parts = 0;
    return k;
}

static bool same_root(const struct fs_url *a, const struct fs_url *b)
{
    return a->scheme == b->scheme && a->port == b->port && strcmp(a->host, b->host) == 0 &&
           strcmp(a->path, b->path) == 0;
}

int cli_log_walk(struct sv_conf *c, const struct fs_identity *who, const struct cli_places *places,
                 const struct cli_log_visitor *v, struct sv_error *err)
{
    struct walk *w = calloc(1, sizeof(*w));
    const struct fs_url *open = NULL;
    int found = 0, r = w ? 0 : sv_error_errno(err, -ENOMEM, "aggregated logs");

    for (size_t i = 0; r == 0 && i < places->n; i++) {
        const struct fs_url *root = &places->v[i].root;

        w->v = v;
        if (!open || !same_root(open, root)) {
            w->remote = logs_remote_free(w->remote);
            r = logs_remote_open(c, root, who, &w->remote, err);
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
