/* See fs-steps.h. */
#include "tests/lib/fs-steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 8
#define CHILD_TEXT_MAX 300

const char *const step_names[STEP_NAMES] = { "a", "b c", "%41+&=?#'\xc3\xa9", "closed" };

static const char *const op_texts[STEP_OPS] = { [STEP_STATUS] = "status of",
                                                [STEP_LIST] = "list",
                                                [STEP_READ] = "read",
                                                [STEP_CREATE] = "create",
                                                [STEP_APPEND] = "append to",
                                                [STEP_RENAME] = "rename",
                                                [STEP_REMOVE] = "remove",
                                                [STEP_REMOVE_TREE] = "remove tree",
                                                [STEP_MKDIR] = "mkdir",
                                                [STEP_MODE] = "set mode of",
                                                [STEP_REPLICATION] = "replicate" };

const char *step_cause(int cause)
{
    static const char *const names[] = {
        [FS_CAUSE_OTHER] = "other",
        [FS_CAUSE_NOT_FOUND] = "not found",
        [FS_CAUSE_DENIED] = "denied",
        [FS_CAUSE_SAFE_MODE] = "safe mode",
        [FS_CAUSE_QUOTA] = "quota",
        [FS_CAUSE_NO_SPACE] = "no space",
        [FS_CAUSE_STANDBY] = "standby",
        [FS_CAUSE_CHECKSUM] = "checksum",
        [FS_CAUSE_AUTH] = "authentication",
        [FS_CAUSE_PROTOCOL] = "protocol",
        [FS_CAUSE_TIMEOUT] = "timeout",
        [FS_CAUSE_CHANGED] = "changed",
        [FS_CAUSE_UNSUPPORTED] = "unsupported",
        [FS_CAUSE_EXISTS] = "exists",
        [STEP_OK] = "ok",
    };

    return names[cause];
}

const char *step_text(const struct step *s, char ret[3 * STEP_PATH_MAX])
{
    (void)snprintf(ret, 3 * STEP_PATH_MAX, "%s %s%s%s, mode %o, %u bytes, offset %u",
                   op_texts[s->op], s->path, *s->to ? " to " : "", s->to, s->mode, s->size,
                   s->offset);
    return ret;
}

/* ---- The next step ---- */

uint32_t step_random(struct steps *s, uint32_t below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->random >> 33) % below;
}

static bool is_closed(const char *path)
{
    return strcmp(path, step_names[STEP_NAMES - 1]) == 0;
}

static void random_path(struct steps *s, bool closed, char ret[STEP_PATH_MAX])
{
    unsigned a = step_random(s, s->depth), b = step_random(s, s->depth), n = 1 + SV_MIN(a, b);
    size_t at = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned k = step_random(s, i == 0 && n > 1 ? 2 * STEP_NAMES : STEP_NAMES);

        at += (size_t)snprintf(ret + at, STEP_PATH_MAX - at, "%s%s", i ? "/" : "",
                               step_names[SV_MIN(k, STEP_NAMES - 1u)]);
    }
    if (s->close && step_random(s, 50) == 0)
        (void)snprintf(ret + at, STEP_PATH_MAX - at, "/%0*d", FS_NAME_MAX + 1, 0);
    if (!closed && is_closed(ret))
        (void)snprintf(ret, STEP_PATH_MAX, "%s", step_names[0]);
}

/* 0200: a new file that cannot be read. Every file can be written, since HDFS does not replace one
 * that cannot. No directory can be written but not read: file: could not sync it. */
static uint32_t random_mode(struct steps *s, const struct step *step)
{
    static const uint32_t files[] = { 0600, 0640, 0644, 0755, 0200 },
                          others[] = { 0700, 0755, 0711 }, closed[] = { 0700, 0700, 0500, 0600, 0 };

    if (step->op == STEP_CREATE)
        return files[step_random(s, SV_ARRAY_LEN(files) - !s->close)];
    if (step->op == STEP_MODE && s->close && is_closed(step->path))
        return closed[step_random(s, SV_ARRAY_LEN(closed))];
    return others[step_random(s, SV_ARRAY_LEN(others))];
}

static uint32_t random_size(struct steps *s)
{
    static const uint32_t sizes[] = { 0, 1, 511, 512, 513, 70000, STEP_SIZE_MAX };
    uint32_t size = sizes[step_random(s, SV_ARRAY_LEN(sizes))];

    return SV_MIN(size, s->max_size);
}

void step_next(struct steps *s, struct step *ret)
{
    static const enum step_op ops[] = {
        STEP_STATUS, STEP_LIST,   STEP_LIST,   STEP_READ,   STEP_READ,        STEP_CREATE,
        STEP_CREATE, STEP_CREATE, STEP_APPEND, STEP_RENAME, STEP_RENAME,      STEP_RENAME,
        STEP_RENAME, STEP_REMOVE, STEP_REMOVE, STEP_MKDIR,  STEP_MKDIR,       STEP_MKDIR,
        STEP_MKDIR,  STEP_MODE,   STEP_MODE,   STEP_MODE,   STEP_REMOVE_TREE, STEP_REPLICATION,
    };
    bool closed;

    memset(ret, 0, sizeof(*ret));
    ret->op = ops[step_random(s, SV_ARRAY_LEN(ops))];
    closed = ret->op != STEP_CREATE && ret->op != STEP_RENAME && ret->op != STEP_REMOVE_TREE;
    random_path(s, closed, ret->path);
    if (ret->op == STEP_RENAME)
        random_path(s, false, ret->to);
    if (((ret->op == STEP_MODE && s->close) || ret->op == STEP_MKDIR) && step_random(s, 2))
        (void)snprintf(ret->path, sizeof(ret->path), "%s", step_names[STEP_NAMES - 1]);
    ret->mode = random_mode(s, ret);
    ret->size = random_size(s);
    ret->seed = step_random(s, 1u << 16);
    ret->offset = step_random(s, 1u << 30);
}

uint8_t step_byte(const struct step *s, uint32_t i)
{
    return (uint8_t)((s->seed + i) * 2654435761u >> 24);
}

/* ---- Answers ---- */

void answer_set(struct answer *a, int result, const char *fmt, ...)
{
    va_list ap;

    a->cause = result < 0 ? (int)fs_cause(result) : STEP_OK;
    va_start(ap, fmt);
    if (result < 0)
        (void)snprintf(a->text, sizeof(a->text), "%s", step_cause(a->cause));
    else
        (void)vsnprintf(a->text, sizeof(a->text), fmt, ap);
    va_end(ap);
}

void answer_status(struct answer *a, const char *name, enum fs_kind kind, uint32_t mode,
                   uint64_t length)
{
    answer_set(a, 0, "%s%s%s %o %llu", name, *name ? " " : "",
               kind == FS_FILE        ? "file"
               : kind == FS_DIRECTORY ? "directory"
                                      : "neither",
               mode, (unsigned long long)length);
}

void answer_bytes(struct answer *a, const uint8_t *p, uint64_t offset, size_t n)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 1099511628211u;
    answer_set(a, 0, "%zu bytes from %llu: %016llx", n, (unsigned long long)offset,
               (unsigned long long)hash);
}

struct children {
    char texts[CHILDREN_MAX][CHILD_TEXT_MAX];
    size_t n;
};

static int on_child(void *userdata, const struct fs_child *c)
{
    struct children *all = userdata;
    struct answer one;

    if (all->n == CHILDREN_MAX)
        return -E2BIG;
    answer_status(&one, c->name, c->st.kind, c->st.mode, c->st.length);
    (void)snprintf(all->texts[all->n++], CHILD_TEXT_MAX, "%.*s", CHILD_TEXT_MAX - 1, one.text);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int list(struct fs *fs, const struct step *s, struct answer *ret, struct sv_error *err)
{
    struct children all = { .n = 0 };
    int r = fs_list(fs, s->path, on_child, &all, err);
    size_t at = 0;

    if (r < 0)
        return r;
    qsort(all.texts, all.n, CHILD_TEXT_MAX, by_text);
    answer_set(ret, 0, "%zu children", all.n);
    at = strlen(ret->text);
    for (size_t i = 0; i < all.n && at < sizeof(ret->text); i++)
        at += (size_t)snprintf(ret->text + at, sizeof(ret->text) - at, "; %s", all.texts[i]);
    return 0;
}

static int status(struct fs *fs, const struct step *s, struct answer *ret, struct sv_error *err)
{
    struct fs_status st;
    struct fs_owner owner;
    int r = fs_status(fs, s->path, &st, &owner, err);

    if (r < 0)
        return r;
    answer_status(ret, "", st.kind, st.mode, st.length);
    return owner.own && !owner.acl ? 0 : sv_error_set(err, -EPROTO, "the owner is another one");
}

static int read_rest(struct fs *fs, const struct step *s, struct answer *ret, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    _cleanup_free_ uint8_t *p = NULL;
    struct fs_status st;
    uint64_t offset;
    int r = fs_open_file(fs, s->path, &f, &st, err);

    if (r < 0)
        return r;
    offset = s->offset % SV_MAX(st.length, 1u);
    p = malloc(st.length + 1);
    r = p ? fs_read(f, offset, p, st.length - offset, err) : -ENOMEM;
    if (r < 0)
        return r;
    answer_bytes(ret, p, offset, st.length - offset);
    return 0;
}

/* In two parts of different sizes. */
static int write_file(struct fs *fs, const struct step *s, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    _cleanup_free_ uint8_t *p = malloc(s->size + 1);
    int r = s->op == STEP_APPEND ? fs_append(fs, s->path, &f, err)
                                 : fs_create(fs, s->path, s->mode, &f, err);

    for (uint32_t i = 0; p && i < s->size; i++)
        p[i] = step_byte(s, i);
    if (r >= 0)
        r = p ? fs_write(f, p, s->size / 3, err) : -ENOMEM;
    if (r >= 0)
        r = fs_write(f, p + s->size / 3, s->size - s->size / 3, err);
    return r < 0 ? r : fs_finish(f, err);
}

static int run(struct fs *fs, const struct step *s, struct answer *ret, struct sv_error *err)
{
    answer_set(ret, 0, "ok");
    switch (s->op) {
    case STEP_STATUS:
        return status(fs, s, ret, err);
    case STEP_LIST:
        return list(fs, s, ret, err);
    case STEP_READ:
        return read_rest(fs, s, ret, err);
    case STEP_CREATE:
    case STEP_APPEND:
        return write_file(fs, s, err);
    case STEP_RENAME:
        return fs_rename(fs, s->path, s->to, err);
    case STEP_REMOVE:
        return fs_remove(fs, s->path, err);
    case STEP_REMOVE_TREE:
        return fs_remove_tree(fs, s->path, err);
    case STEP_MKDIR:
        return fs_mkdir(fs, s->path, s->mode, err);
    case STEP_MODE:
        return fs_set_mode(fs, s->path, s->mode, err);
    case STEP_REPLICATION:
        return fs_set_replication(fs, s->path, 1, err);
    case STEP_OPS:
        break;
    }
    return -EINVAL;
}

void step_run(struct fs *fs, const struct step *s, struct answer *ret)
{
    struct sv_error err = { 0 };
    int r = run(fs, s, ret, &err);

    if (r < 0 && (err.code != r || !err.text[0]))
        r = sv_error_set(&err, -EPROTO, "the error %d has the code %d", r, err.code);
    if (r < 0)
        answer_set(ret, r, "%s", "");
    (void)snprintf(ret->why, sizeof(ret->why), "%s", err.text);
}
