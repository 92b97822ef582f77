/* See journal.h. */
#include "service/am/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/definition/definition.h"

#define MAGIC "selvedge-instances 1"
#define LINE_MAX_BYTES (YARN_ID_TEXT_MAX + SVC_NAME_MAX + 2)

int svc_journal_print(const struct svc_containers *c, struct yarn_app_id app, struct sv_buf *out)
{
    char id[YARN_ID_TEXT_MAX];
    int r = sv_buf_printf(out, MAGIC "\n%s\n", yarn_app_id_text(app, id));

    for (const struct svc_container *i = c->table; r == 0 && i; i = i->hh.next)
        if (i->instance)
            r = sv_buf_printf(out, "%s %s\n", i->key, i->instance);
    return r;
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

static int parse_row(struct lines *l, struct yarn_container_id *ret_id, const char **ret_name)
{
    char *blank = strchr(l->line, ' ');

    if (!blank)
        return -EBADMSG;
    *blank = '\0';
    *ret_name = blank + 1;
    return yarn_container_id_parse(l->line, ret_id) == 0 && instance_name(blank + 1) ? 0 : -EBADMSG;
}

static int head(struct lines *l, struct yarn_app_id app, bool *ret_ours)
{
    struct yarn_app_id of;

    if (next_line(l) <= 0 || strcmp(l->line, MAGIC) != 0)
        return -EBADMSG;
    if (next_line(l) <= 0 || yarn_app_id_parse(l->line, &of) < 0)
        return -EBADMSG;
    *ret_ours = yarn_app_id_cmp(of, app) == 0;
    return 0;
}

int svc_journal_parse(const char *text, size_t len, struct yarn_app_id app,
                      int (*row)(void *userdata, struct yarn_container_id id, const char *instance),
                      void *userdata, struct sv_error *err)
{
    struct lines l = { .p = text, .end = text + len };
    struct yarn_container_id id;
    const char *name;
    bool ours = false;
    int r = len > SVC_JOURNAL_MAX ? -EBADMSG : head(&l, app, &ours);

    while (r == 0 && (r = next_line(&l)) > 0) {
        r = parse_row(&l, &id, &name);
        if (r == 0 && ours && yarn_app_id_cmp(id.attempt.app, app) == 0)
            r = row(userdata, id, name);
    }
    if (r == -EBADMSG)
        return sv_error_set(err, r, SVC_JOURNAL_FILE ":%zu: not a line of instances", l.number);
    return r;
}
