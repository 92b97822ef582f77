/* See nm_web_past.h. Filled by node_status_updater.c, read by nm_web.c. */
#include "nodemanager/nm_web_past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "wire/ids.h"

#define KEPT 1024

struct nm_web_past {
    size_t next;
    struct {
        char id[YARN_ID_TEXT_MAX];
        char *text;
    } slots[KEPT];
};

void nm_web_past_add(struct nm_web_past **past, const char *id, json_t *container)
{
    struct nm_web_past *p = *past;
    char *text = container ? json_dumps(container, JSON_COMPACT) : NULL;

    json_decref(container);
    if (!p)
        p = *past = calloc(1, sizeof(*p));
    if (!p || !text) {
        free(text);
        return;
    }
    free(p->slots[p->next].text);
    snprintf(p->slots[p->next].id, sizeof(p->slots[0].id), "%s", id);
    p->slots[p->next].text = text;
    p->next = (p->next + 1) % KEPT;
}

json_t *nm_web_past_find(const struct nm_web_past *past, const char *id)
{
    for (size_t i = 0; past && i < KEPT; i++)
        if (past->slots[i].text && strcmp(past->slots[i].id, id) == 0)
            return json_loads(past->slots[i].text, 0, NULL);
    return NULL;
}

struct nm_web_past *nm_web_past_free(struct nm_web_past *past)
{
    for (size_t i = 0; past && i < KEPT; i++)
        free(past->slots[i].text);
    free(past);
    return NULL;
}
