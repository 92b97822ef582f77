/* The machine list; see resolver.h. Hostile: the file's lines and the names that are looked up. */
#include "federation/policy/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/arena.h"
#include "common/fd.h"
#include "federation/hash.h"
#include "federation/store/store.h"

#define ARENA_MAX (512u << 20)
#define NAME_MAX_BYTES 255 /* of a node or a rack */

struct cluster {
    uint16_t number;
    UT_hash_handle hh;
    char id[];
};
struct node {
    uint16_t cluster;
    UT_hash_handle hh;
    char name[];
};
struct rack {
    size_t n, room;
    uint16_t *clusters;
    UT_hash_handle hh;
    char name[];
};
struct link { /* one a rack and sub-cluster, so that none is listed twice */
    struct link_key {
        const struct rack *rack;
        size_t cluster;
    } key;
    UT_hash_handle hh;
};

struct fed_resolver {
    struct sv_arena *arena;
    struct cluster *by_id;
    const char *ids[FED_MEMBERS_MAX];
    size_t n_ids;
    struct node *nodes;
    struct rack *racks;
    struct link *links;
};

/* ---- Words of a line ---- */

struct word {
    const char *p;
    size_t n;
};

/* Java's trim(): everything up to the blank goes. */
static struct word trimmed(struct word w)
{
    while (w.n && (unsigned char)*w.p <= ' ') {
        w.p++;
        w.n--;
    }
    while (w.n && (unsigned char)w.p[w.n - 1] <= ' ')
        w.n--;
    return w;
}

/* Three words between two commas; false: another number of them, or an empty one. */
static bool split_line(struct word line, struct word words[3])
{
    for (size_t i = 0; i < 3; i++) {
        const char *comma = memchr(line.p, ',', line.n);
        size_t n = comma ? (size_t)(comma - line.p) : line.n;

        if (!comma != (i == 2))
            return false;
        words[i] = trimmed((struct word){ line.p, n });
        if (words[i].n == 0 || words[i].n > NAME_MAX_BYTES || memchr(words[i].p, '\0', words[i].n))
            return false;
        line = (struct word){ line.p + n + (i < 2), line.n - n - (i < 2) };
    }
    return true;
}

/* Host names and racks are ASCII; other bytes are compared as they are. */
static void put_upper(char *dst, struct word w)
{
    for (size_t i = 0; i < w.n; i++)
        dst[i] = (char)(w.p[i] >= 'a' && w.p[i] <= 'z' ? w.p[i] - 'a' + 'A' : w.p[i]);
    dst[w.n] = '\0';
}

/* ---- Tables ---- */

static int find_cluster(struct fed_resolver *r, struct word id, uint16_t *ret, struct sv_error *err)
{
    struct cluster *c;

    HASH_FIND(hh, r->by_id, id.p, id.n, c);
    if (!c) {
        if (r->n_ids == FED_MEMBERS_MAX)
            return sv_error_set(err, -EINVAL, "more than %d sub-clusters", FED_MEMBERS_MAX);
        c = sv_arena_alloc(r->arena, sizeof(*c) + id.n + 1);
        if (!c)
            return -ENOMEM;
        memcpy(c->id, id.p, id.n);
        c->number = (uint16_t)r->n_ids;
        HASH_ADD_KEYPTR(hh, r->by_id, c->id, id.n, c);
        if (!c->hh.tbl)
            return -ENOMEM;
        r->ids[r->n_ids++] = c->id;
    }
    *ret = c->number;
    return 0;
}

static int put_node(struct fed_resolver *r, struct word name, uint16_t cluster)
{
    char upper[NAME_MAX_BYTES + 1];
    struct node *n;

    put_upper(upper, name);
    HASH_FIND(hh, r->nodes, upper, name.n, n);
    if (!n) {
        n = sv_arena_alloc(r->arena, sizeof(*n) + name.n + 1);
        if (!n)
            return -ENOMEM;
        memcpy(n->name, upper, name.n + 1);
        HASH_ADD_KEYPTR(hh, r->nodes, n->name, name.n, n);
        if (!n->hh.tbl)
            return -ENOMEM;
    }
    n->cluster = cluster;
    return 0;
}

static struct rack *get_rack(struct fed_resolver *r, struct word name)
{
    char upper[NAME_MAX_BYTES + 1];
    struct rack *k;

    put_upper(upper, name);
    HASH_FIND(hh, r->racks, upper, name.n, k);
    if (k)
        return k;
    k = sv_arena_alloc(r->arena, sizeof(*k) + name.n + 1);
    if (!k)
        return NULL;
    memcpy(k->name, upper, name.n + 1);
    HASH_ADD_KEYPTR(hh, r->racks, k->name, name.n, k);
    return k->hh.tbl ? k : NULL;
}

static int append_cluster(struct fed_resolver *r, struct rack *k, uint16_t cluster)
{
    if (k->n == k->room) {
        size_t room = k->room ? 2 * k->room : 2;
        uint16_t *grown = sv_newn(r->arena, uint16_t, room);

        if (!grown)
            return -ENOMEM;
        if (k->n)
            memcpy(grown, k->clusters, k->n * sizeof(*grown));
        k->clusters = grown;
        k->room = room;
    }
    k->clusters[k->n++] = cluster;
    return 0;
}

static int put_rack(struct fed_resolver *r, struct word name, uint16_t cluster)
{
    struct rack *k = get_rack(r, name);
    struct link_key key = { k, cluster };
    struct link *l;

    if (!k)
        return -ENOMEM;
    HASH_FIND(hh, r->links, &key, sizeof(key), l);
    if (l)
        return 0;
    l = sv_new(r->arena, struct link);
    if (!l)
        return -ENOMEM;
    l->key = key;
    HASH_ADD(hh, r->links, key, sizeof(key), l);
    return l->hh.tbl ? append_cluster(r, k, cluster) : -ENOMEM;
}

/* ---- Lines ---- */

static int take_line(struct fed_resolver *r, struct word line, struct fed_resolver_notes *notes,
                     struct sv_error *err)
{
    struct word words[3];
    uint16_t cluster;
    int e;

    if (!split_line(line, words))
        return -EBADMSG;
    e = find_cluster(r, words[1], &cluster, err);
    if (e == 0)
        e = put_node(r, words[0], cluster);
    if (e == 0)
        e = put_rack(r, words[2], cluster);
    if (e == 0)
        notes->n_machines++;
    return e;
}

/* The end of the line that begins at `at`: \n, \r, or both, which is one. */
static size_t line_end(const char *text, size_t n, size_t at, size_t *ret_next)
{
    size_t end = at;

    while (end < n && text[end] != '\n' && text[end] != '\r')
        end++;
    *ret_next = end + 1 + (end + 1 < n && text[end] == '\r' && text[end + 1] == '\n');
    return end;
}

static int take_lines(struct fed_resolver *r, const char *text, size_t n,
                      struct fed_resolver_notes *notes, struct sv_error *err)
{
    size_t number = 0, next;

    for (size_t at = 0; at < n; at = next) {
        size_t end = line_end(text, n, at, &next);
        int e;

        if (++number > FED_MACHINES_MAX)
            return sv_error_set(err, -EINVAL, "more than %d lines", FED_MACHINES_MAX);
        e = take_line(r, (struct word){ text + at, end - at }, notes, err);
        if (e == -EBADMSG) {
            if (notes->n_malformed++ == 0)
                notes->first_malformed = number;
        } else if (e < 0) {
            return e;
        }
    }
    return 0;
}

int fed_resolver_parse(const char *text, size_t n, struct fed_resolver **ret,
                       struct fed_resolver_notes *ret_notes, struct sv_error *err)
{
    _cleanup_(fed_resolver_freep) struct fed_resolver *r = calloc(1, sizeof(*r));
    struct fed_resolver_notes notes = { 0 };
    int e;

    if (n > FED_MACHINE_LIST_MAX)
        return sv_error_set(err, -EINVAL, "machine list: %zu bytes are more than %u", n,
                            FED_MACHINE_LIST_MAX);
    if (r)
        r->arena = sv_arena_new(ARENA_MAX);
    e = r && r->arena ? take_lines(r, text, n, &notes, err) : -ENOMEM;
    if (e == -ENOMEM)
        return sv_error_set(err, e, "machine list: out of memory");
    if (e < 0) {
        (void)sv_error_wrap(err, "machine list");
        return e;
    }
    *ret = SV_TAKE(r);
    *ret_notes = notes;
    return 0;
}

int fed_resolver_load(const char *path, struct fed_resolver **ret,
                      struct fed_resolver_notes *ret_notes, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    int e = sv_read_file_at(AT_FDCWD, path, FED_MACHINE_LIST_MAX, &text, &n);

    if (e < 0)
        return sv_error_errno(err, e, "machine list %s (yarn.federation.machine-list)", path);
    e = fed_resolver_parse(text, n, ret, ret_notes, err);
    if (e < 0)
        (void)sv_error_wrap(err, "%s (yarn.federation.machine-list)", path);
    return e;
}

struct fed_resolver *fed_resolver_free(struct fed_resolver *r)
{
    if (r) {
        HASH_CLEAR(hh, r->by_id);
        HASH_CLEAR(hh, r->nodes);
        HASH_CLEAR(hh, r->racks);
        HASH_CLEAR(hh, r->links);
        sv_arena_free(r->arena);
    }
    free(r);
    return NULL;
}

/* ---- Look-ups ---- */

size_t fed_resolver_count(const struct fed_resolver *r)
{
    return r ? r->n_ids : 0;
}

const char *fed_resolver_id(const struct fed_resolver *r, size_t number)
{
    return r->ids[number];
}

int fed_resolver_node(const struct fed_resolver *r, const char *node)
{
    char upper[NAME_MAX_BYTES + 1];
    size_t n = strnlen(node, sizeof(upper));
    struct node *found = NULL;

    if (!r || n == sizeof(upper))
        return -ENOENT;
    put_upper(upper, (struct word){ node, n });
    HASH_FIND(hh, r->nodes, upper, n, found);
    return found ? found->cluster : -ENOENT;
}

size_t fed_resolver_rack(const struct fed_resolver *r, const char *rack, const uint16_t **ret)
{
    char upper[NAME_MAX_BYTES + 1];
    size_t n = strnlen(rack, sizeof(upper));
    struct rack *found = NULL;

    if (!r || n == sizeof(upper))
        return 0;
    put_upper(upper, (struct word){ rack, n });
    HASH_FIND(hh, r->racks, upper, n, found);
    if (!found)
        return 0;
    *ret = found->clusters;
    return found->n;
}
