/* Fuzzes libarchive → policy → a file system in memory. First byte: Z zip, T tar, G tar.gz; the
 * rest is the archive. The model acts like the disk and aborts when an object would be created
 * outside the root, created twice, or when a link could be followed out of the root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "localizer/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LONGEST 1024 /* the limits */
#define DEPTH_MAX 64
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

enum node_kind { NODE_FILE = 1, NODE_DIR, NODE_LINK };

struct node {
    char *path;
    enum node_kind kind;
    char *target;
    UT_hash_handle hh;
};

struct model {
    struct node *nodes;
    char dir[LONGEST + 1];
    bool open;
    uint64_t size, total;
    uint8_t sum; /* checksum of all content, to force the reads */
};

static struct node *find(struct model *m, const char *path)
{
    struct node *n = NULL;

    HASH_FIND_STR(m->nodes, path, n);
    return n;
}

static void add(struct model *m, const char *path, enum node_kind kind, const char *target)
{
    struct node *n = calloc(1, sizeof(*n));

    MUST(n && !find(m, path));
    n->path = strdup(path);
    n->kind = kind;
    n->target = target ? strdup(target) : NULL;
    HASH_ADD_KEYPTR(hh, m->nodes, n->path, strlen(n->path), n);
}

/* A path as guaranteed by the policy: relative, clean, bounded. */
static void check_path(const char *path)
{
    size_t depth = 0;

    MUST(strlen(path) <= LONGEST);
    while (*path) {
        size_t n = strcspn(path, "/");

        MUST(n > 0 && n <= LOC_COMPONENT_MAX && ++depth <= DEPTH_MAX);
        MUST(!(n == 1 && path[0] == '.') && !(n == 2 && path[0] == '.' && path[1] == '.'));
        for (size_t i = 0; i < n; i++)
            MUST((unsigned char)path[i] >= 0x20 && path[i] != 0x7f);
        path += n;
        if (*path)
            MUST(*++path != 0);
    }
}

static void full_path(const struct model *m, const char *name, char out[2 * LONGEST])
{
    MUST(!strchr(name, '/') && name[0]);
    MUST(snprintf(out, 2 * LONGEST, "%s%s%s", m->dir, m->dir[0] ? "/" : "", name) <= LONGEST);
    check_path(out);
}

static int sink_enter(void *userdata, const char *dir, struct sv_error *err)
{
    struct model *m = userdata;
    char path[LONGEST + 1];
    int made = 0;

    check_path(dir);
    for (size_t i = 1; dir[0] && i <= strlen(dir); i++) {
        struct node *n;

        if (dir[i] != '/' && dir[i] != 0)
            continue;
        memcpy(path, dir, i);
        path[i] = 0;
        n = find(m, path);
        if (n && n->kind != NODE_DIR)
            return sv_error_set(err, -EPERM, "through a link or a file");
        if (!n) {
            add(m, path, NODE_DIR, NULL);
            made++;
        }
    }
    memcpy(m->dir, dir, strlen(dir) + 1);
    return made;
}

static int make(struct model *m, const char *name, enum node_kind kind, const char *target)
{
    char path[2 * LONGEST];
    struct node *n;

    full_path(m, name, path);
    n = find(m, path);
    if (n)
        return kind == NODE_DIR && n->kind == NODE_DIR ? 0 : -EPERM;
    add(m, path, kind, target);
    return 0;
}

static int sink_dir(void *userdata, const char *name, struct sv_error *err)
{
    (void)err;
    return make(userdata, name, NODE_DIR, NULL);
}

static int sink_file(void *userdata, const char *name, struct sv_error *err)
{
    struct model *m = userdata;
    int r = make(m, name, NODE_FILE, NULL);

    (void)err;
    MUST(!m->open);
    m->open = r == 0;
    m->size = 0;
    return r;
}

static int sink_write(void *userdata, const void *p, size_t n, uint64_t offset,
                      struct sv_error *err)
{
    struct model *m = userdata;
    uint8_t sum = 0;

    (void)err;
    MUST(m->open && offset >= m->size && n <= UINT64_MAX - offset);
    for (size_t i = 0; i < n; i++)
        sum += ((const uint8_t *)p)[i]; /* readable, all of it */
    m->size = offset + n;
    m->sum += sum;
    return 0;
}

static int sink_close(void *userdata, uint64_t size, struct sv_error *err)
{
    struct model *m = userdata;

    (void)err;
    MUST(m->open && size >= m->size);
    m->open = false;
    m->total += size;
    return 0;
}

static int sink_symlink(void *userdata, const char *name, const char *target, struct sv_error *err)
{
    (void)err;
    return make(userdata, name, NODE_LINK, target);
}

static int sink_hardlink(void *userdata, const char *name, const char *to, struct sv_error *err)
{
    struct model *m = userdata;
    struct node *n;

    (void)err;
    check_path(to);
    n = find(m, to);
    if (!n || n->kind != NODE_FILE)
        return -EPERM;
    return make(m, name, NODE_FILE, NULL);
}

static const struct loc_sink sink = { sink_enter, sink_dir,     sink_file,    sink_write,
                                      sink_close, sink_symlink, sink_hardlink };

/* Walks `path` from the directory `at` like the kernel, following every link; aborts if it leads
 * above the root. `at` becomes the final directory. */
static bool walk(struct model *m, char *at, const char *path, int links)
{
    while (*path) {
        size_t n = strcspn(path, "/"), len = strlen(at);
        struct node *next;

        if (n == 2 && path[0] == '.' && path[1] == '.') {
            char *slash = strrchr(at, '/');

            MUST(at[0] != 0); /* out of the root */
            *(slash ? slash : at) = 0;
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            if (len + n + 2 > 2 * LONGEST)
                return false;
            if (len)
                at[len++] = '/';
            memcpy(at + len, path, n);
            at[len + n] = 0;
            next = find(m, at);
            if (!next)
                return false; /* dangling inside */
            if (next->kind == NODE_LINK) {
                char *slash = strrchr(at, '/');

                MUST(next->target[0] != '/');
                *(slash ? slash : at) = 0;
                if (links == 0 || !walk(m, at, next->target, links - 1))
                    return false;
            }
        }
        path += n;
        path += *path ? 1 : 0;
    }
    return true;
}

static void check_links(struct model *m)
{
    struct node *n, *next;

    HASH_ITER (hh, m->nodes, n, next) {
        char at[2 * LONGEST];
        char *slash;

        if (n->kind != NODE_LINK)
            continue;
        memcpy(at, n->path, strlen(n->path) + 1);
        slash = strrchr(at, '/');
        *(slash ? slash : at) = 0;
        (void)walk(m, at, n->target, 10);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model m = { 0 };
    struct sv_error err = { 0 };
    struct loc_unpack u = { .fd = -1,
                            .sink = &sink,
                            .userdata = &m,
                            .policy = { .limits = { 8u << 20, 300, 200, LONGEST, DEPTH_MAX, 0 },
                                        .what = "archive" } };
    struct node *n, *next;
    int r;

    if (size == 0)
        return 0;
    u.format = data[0] == 'Z'   ? LOC_FORMAT_ZIP
               : data[0] == 'G' ? LOC_FORMAT_TAR_GZ
                                : LOC_FORMAT_TAR;
    u.data = data + 1;
    u.len = u.packed = size - 1;
    r = loc_unpack(&u, &err);
    MUST(r == 0 || (err.code != 0 && err.text[0]) || r == -EPERM);
    for (const char *p = err.text; *p; p++)
        MUST((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
    MUST(m.total <= u.policy.limits.bytes && u.policy.entries <= u.policy.limits.entries);
    check_links(&m);
    HASH_ITER (hh, m.nodes, n, next) {
        HASH_DEL(m.nodes, n);
        free(n->path);
        free(n->target);
        free(n);
    }
    return 0;
}
