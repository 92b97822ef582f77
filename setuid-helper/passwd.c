/* The accounts of /etc/passwd and /etc/group as one table, sorted by name, for container-executor.
 * Part of container-prepare. The files are root's, so this guards against mistakes: an account
 * whose line is malformed MUST be in the table as root, which no request may use. Also run by unit
 * tests and by a fuzzer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setuid-helper/prepare.h"

struct slice {
    const char *s;
    size_t n;
};

/* Removes the field before the next `mark`, and the mark, from the front of `rest`; false at the
 * end. */
static bool take(struct slice *rest, char mark, struct slice *ret)
{
    if (!rest->s)
        return false;
    const char *end = memchr(rest->s, mark, rest->n);
    *ret = (struct slice){ rest->s, end ? (size_t)(end - rest->s) : rest->n };
    rest->n -= ret->n + (end ? 1 : 0);
    rest->s = end ? end + 1 : NULL;
    return true;
}

static bool is(struct slice a, const char *b)
{
    return strlen(b) == a.n && memcmp(a.s, b, a.n) == 0;
}

/* Parses a decimal id up to HLP_ID_MAX: refuses "", "+1", "01", " 1", "0x1" and -1. */
static bool number(struct slice f, uint32_t *ret)
{
    uint64_t v = 0;
    if (f.n == 0 || f.n > 10 || (f.s[0] == '0' && f.n > 1))
        return false;
    for (size_t i = 0; i < f.n; i++) {
        if (f.s[i] < '0' || f.s[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(f.s[i] - '0');
    }
    *ret = (uint32_t)v;
    return v <= HLP_ID_MAX;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct hlp_user *)a)->name, ((const struct hlp_user *)b)->name);
}

struct hlp_user *hlp_users_find(const struct hlp_users *t, const char *name)
{
    struct hlp_user key = { "", 0, 0, { 0 }, 0 };
    if (strlen(name) >= sizeof(key.name))
        return NULL;
    memcpy(key.name, name, strlen(name));
    return t->n ? bsearch(&key, t->v, t->n, sizeof(key), by_name) : NULL;
}

/* The first of two lines of one name counts, as everywhere; its line number is stored in the place
 * of the groups until then. */
static int by_name_and_line(const void *a, const void *b)
{
    const struct hlp_user *u = a, *v = b;
    int order = by_name(a, b);
    return order ? order : u->groups[0] < v->groups[0] ? -1 : 1;
}

int hlp_users_parse(const char *text, size_t len, struct hlp_users *t)
{
    struct slice rest = { text, len }, line, name, f;
    size_t lines = 1, kept = 0;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    t->n = 0;
    t->v = calloc(lines + HLP_LIST_MAX, sizeof(*t->v));
    if (!t->v)
        return -ENOMEM;
    while (take(&rest, '\n', &line)) {
        struct hlp_user *u = &t->v[t->n];
        bool whole = !memchr(line.s, '\0', line.n);
        (void)take(&line, ':', &name);
        if (!line.s || name.n == 0 || name.n > EXE_USER_MAX || memchr(name.s, '\0', name.n))
            continue; /* no account, or one that no request can name */
        memcpy(u->name, name.s, name.n);
        u->groups[0] = (gid_t)t->n++;
        if (!take(&line, ':', &f) || !take(&line, ':', &f) || !number(f, &u->uid) ||
            !take(&line, ':', &f) || !number(f, &u->gid) || !whole)
            u->uid = u->gid = 0;
    }
    if (t->n)
        qsort(t->v, t->n, sizeof(*t->v), by_name_and_line);
    for (size_t i = 0; i < t->n; i++) {
        t->v[i].groups[0] = 0;
        if (kept == 0 || by_name(&t->v[kept - 1], &t->v[i]) != 0)
            t->v[kept++] = t->v[i];
    }
    t->n = kept;
    return 0;
}

void hlp_users_ban(struct hlp_users *t, const struct hlp_list *banned)
{
    const struct hlp_users known = *t; /* in their order */
    for (uint32_t i = 0; i < banned->n; i++) {
        struct hlp_user *u = hlp_users_find(&known, banned->v[i]);
        if (!u)
            u = &t->v[t->n++];
        memset(u, 0, sizeof(*u));
        memcpy(u->name, banned->v[i], strnlen(banned->v[i], EXE_USER_MAX));
    }
    if (t->n)
        qsort(t->v, t->n, sizeof(*t->v), by_name);
}

/* Parses one line of /etc/group: its name, number and members. */
static bool group_line(struct slice *rest, struct slice *name, uint32_t *gid, struct slice *members,
                       bool *end)
{
    struct slice line, f;
    *end = !take(rest, '\n', &line);
    return !*end && take(&line, ':', name) && take(&line, ':', &f) && take(&line, ':', &f) &&
           number(f, gid) && take(&line, ':', members);
}

bool hlp_group_find(const char *text, size_t len, const char *name, gid_t *ret)
{
    struct slice rest = { text, len }, n, members;
    uint32_t gid;
    for (bool end = false; !end;)
        if (group_line(&rest, &n, &gid, &members, &end) && is(n, name)) {
            *ret = gid;
            return true;
        }
    return false;
}

bool hlp_id_refuse(struct hlp_ids *ids, uint32_t id)
{
    if (hlp_id_refused(ids, id))
        return true;
    if (ids->n == sizeof(ids->v) / sizeof(ids->v[0]))
        return false;
    ids->v[ids->n++] = id;
    return true;
}

int hlp_groups_refuse(struct hlp_policy *p, const struct hlp_list *banned, const char *text,
                      size_t len)
{
    struct slice rest = { text, len }, name, members;
    uint32_t gid;
    bool room = hlp_id_refuse(&p->refused_gids, p->nm_gid);
    for (bool end = false; !end && room;)
        if (group_line(&rest, &name, &gid, &members, &end))
            for (uint32_t i = 0; i < banned->n; i++)
                room = room && (!is(name, banned->v[i]) || hlp_id_refuse(&p->refused_gids, gid));
    return room ? 0 : -E2BIG;
}

void hlp_users_join(const struct hlp_policy *p, const struct hlp_users *t, const char *text,
                    size_t len)
{
    struct slice rest = { text, len }, name, members, member;
    uint32_t gid;
    for (bool end = false; !end;) {
        if (!group_line(&rest, &name, &gid, &members, &end) ||
            hlp_id_refused(&p->refused_gids, gid))
            continue;
        while (take(&members, ',', &member)) {
            char who[EXE_USER_MAX + 1] = "";
            if (member.n > EXE_USER_MAX)
                continue;
            memcpy(who, member.s, member.n);
            struct hlp_user *u = hlp_users_find(t, who);
            if (u && u->gid != gid && u->n_groups < HLP_GROUPS_MAX &&
                (u->n_groups == 0 || u->groups[u->n_groups - 1] != gid))
                u->groups[u->n_groups++] = gid;
        }
    }
}
