/* See journal.h. */
#include "service/am/facts/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/definition/definition.h"

#define MAGIC "selvedge-instances 2"
#define UPGRADE "upgrade "
#define HEAD_LINES 2
#define LINE_MAX_BYTES (sizeof(UPGRADE) + 32 + SVC_JOURNAL_VERSION_MAX)

static_assert(LINE_MAX_BYTES > YARN_ID_TEXT_MAX + SVC_NAME_MAX + 16, "a container's row fits");

static const char *const upgrades[SVC_N_UPGRADES] = {
    [SVC_UPGRADE_MANUAL] = "manual",
    [SVC_UPGRADE_AUTO_FINALIZE] = "auto-finalize",
    [SVC_UPGRADE_EXPRESS] = "express",
    [SVC_UPGRADE_CANCELLED] = "cancelled",
};

static int print_table(const struct svc_journal_head *h, const struct svc_containers *c,
                       struct sv_buf *out)
{
    int r = 0;

    for (const struct svc_container *i = c->table; r == 0 && i; i = i->hh.next) {
        bool of_upgrade = h->upgrade != SVC_NO_UPGRADE && i->upgrade == h->number;

        if (i->instance)
            r = sv_buf_printf(out, "%s %s%s\n", i->key, i->instance,
                              !of_upgrade  ? ""
                              : i->turning ? " turning"
                                           : " new");
    }
    return r;
}

int svc_journal_print(const struct svc_journal_head *head, const struct svc_containers *c,
                      const struct svc_containers *expected, struct sv_buf *out)
{
    char id[YARN_ID_TEXT_MAX];
    int r = sv_buf_printf(out, MAGIC "\n%s\n", yarn_app_id_text(head->app, id));

    if (r == 0 && head->upgrade != SVC_NO_UPGRADE)
        r = sv_buf_printf(out, UPGRADE "%s %s\n", upgrades[head->upgrade], head->version);
    if (r == 0)
        r = print_table(head, c, out);
    return r < 0 ? r : print_table(head, expected, out);
}

/* "<component>-<number>", of the bytes of such a name. */
static bool instance_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n > 0 && n <= SVC_NAME_MAX && name[n] == '\0' && name[0] != '-';
}

struct lines {
    const char *p, *end;
    size_t number;
    char line[LINE_MAX_BYTES + 1];
};

/* 1 and the next line; 0: there is none; -EBADMSG: it has no end, a NUL, or is too long. */
static int next_line(struct lines *l)
{
    const char *end;
    size_t n;

    if (l->p == l->end)
        return 0;
    l->number++;
    end = memchr(l->p, '\n', (size_t)(l->end - l->p));
    n = end ? (size_t)(end - l->p) : 0;
    if (!end || n > LINE_MAX_BYTES || memchr(l->p, '\0', n))
        return -EBADMSG;
    memcpy(l->line, l->p, n);
    l->line[n] = '\0';
    l->p = end + 1;
    return 1;
}

static int parse_row(struct lines *l, struct svc_journal_row *ret)
{
    char *rest = l->line, *id = strsep(&rest, " "), *name = strsep(&rest, " ");

    *ret = (struct svc_journal_row){ .instance = name };
    if (!name || !instance_name(name) || yarn_container_id_parse(id, &ret->id) < 0)
        return -EBADMSG;
    ret->new = rest &&strcmp(rest, "new") == 0;
    ret->turning = rest && strcmp(rest, "turning") == 0;
    return !rest || ret->new || ret->turning ? 0 : -EBADMSG;
}

/* "upgrade express 2.0.0": the version is a file's name, and may have blanks. */
static int parse_upgrade(struct lines *l, struct svc_journal_head *h)
{
    char *rest = l->line + strlen(UPGRADE), *kind = strsep(&rest, " ");
    enum svc_journal_upgrade u = SVC_UPGRADE_MANUAL;

    while (u < SVC_N_UPGRADES && strcmp(kind, upgrades[u]) != 0)
        u++;
    if (!rest || !*rest || strlen(rest) > SVC_JOURNAL_VERSION_MAX || u == SVC_N_UPGRADES)
        return -EBADMSG;
    h->upgrade = u;
    (void)snprintf(h->version, sizeof(h->version), "%s", rest);
    return 0;
}

static int head(struct lines *l, struct svc_journal_head *ret)
{
    if (next_line(l) <= 0 || strcmp(l->line, MAGIC) != 0)
        return -EBADMSG;
    return next_line(l) <= 0 || yarn_app_id_parse(l->line, &ret->app) < 0 ? -EBADMSG : 0;
}

/* A line behind the head's two. */
static int line(struct lines *l, struct yarn_app_id app, struct svc_journal_head *h,
                int (*row)(void *userdata, const struct svc_journal_row *row), void *userdata)
{
    struct svc_journal_row one;
    int r;

    if (l->number == HEAD_LINES + 1 && strncmp(l->line, UPGRADE, strlen(UPGRADE)) == 0)
        return parse_upgrade(l, h);
    r = parse_row(l, &one);
    if (r < 0 || yarn_app_id_cmp(h->app, app) != 0 || yarn_app_id_cmp(one.id.attempt.app, app) != 0)
        return r;
    return row(userdata, &one);
}

int svc_journal_parse(const char *text, size_t len, struct yarn_app_id app,
                      struct svc_journal_head *ret,
                      int (*row)(void *userdata, const struct svc_journal_row *row), void *userdata,
                      struct sv_error *err)
{
    struct lines l = { .p = text, .end = text + len };
    struct svc_journal_head h = { 0 };
    int r = len > SVC_JOURNAL_MAX ? -EBADMSG : head(&l, &h);

    *ret = (struct svc_journal_head){ .app = app };
    while (r == 0 && (r = next_line(&l)) > 0)
        r = line(&l, app, &h, row, userdata);
    if (r == -EBADMSG)
        return sv_error_set(err, r, SVC_JOURNAL_FILE ":%zu: not a line of instances", l.number);
    if (r == 0 && yarn_app_id_cmp(h.app, app) == 0)
        *ret = h;
    return r;
}
