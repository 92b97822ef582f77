/* See node-labels.h. Hadoop: NodeLabelUtil and the providers of the package nodelabels. */
#include "nodemanager/conf/node-labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

#define LABEL_LINE "NODE_PARTITION:"
#define ATTRIBUTE_LINE "NODE_ATTRIBUTE:"
#define SHOWN 80 /* bytes of a wrong text in a message */

/* A part of the text, without blanks at its ends. */
struct part {
    const char *p;
    size_t n;
};

static struct part part(const char *p, size_t n)
{
    while (n && isspace((unsigned char)*p))
        p++, n--;
    while (n && isspace((unsigned char)p[n - 1]))
        n--;
    return (struct part){ p, n };
}

static int refuse(struct sv_error *err, struct part text, const char *why)
{
    char raw[SHOWN + 1], shown[4 * SHOWN + 1];

    snprintf(raw, sizeof(raw), "%.*s", (int)SV_MIN(text.n, (size_t)SHOWN), text.p);
    sv_escape(shown, sizeof(shown), raw);
    return sv_error_set(err, -EBADMSG, "\"%s\": %s", shown, why);
}

/* A letter or digit, then letters, digits and `more`. */
static bool word_ok(struct part w, const char *more)
{
    if (w.n == 0 || w.n >= NM_LABEL_MAX || !isalnum((unsigned char)*w.p))
        return false;
    for (size_t i = 1; i < w.n; i++)
        if (!isalnum((unsigned char)w.p[i]) && !strchr(more, w.p[i]))
            return false;
    return true;
}

static void copy(char *dst, struct part w)
{
    memcpy(dst, w.p, w.n);
    dst[w.n] = '\0';
}

static int take_label(struct nm_labels *l, struct part text, struct sv_error *err)
{
    if (!word_ok(text, "-_"))
        return refuse(err, text,
                      "a label has 1 to 255 letters, digits, - and _, and begins with one of the "
                      "first two");
    copy(l->list[0].name, text);
    l->n = 1;
    return 0;
}

/* NAME,STRING,VALUE; a prefix is not the node's to choose. */
static int take_attribute(struct nm_labels *l, struct part text, struct sv_error *err)
{
    struct part words[3];
    const char *p = text.p, *end = text.p + text.n;
    size_t n = 0;

    for (; n < SV_ARRAY_LEN(words) && p <= end; n++) {
        const char *comma = memchr(p, ',', (size_t)(end - p)) ?: end;

        words[n] = part(p, (size_t)(comma - p));
        p = comma + 1;
    }
    if (n < SV_ARRAY_LEN(words) || p <= end)
        return refuse(err, text, "an attribute is NAME,STRING,VALUE");
    if (words[1].n != strlen("STRING") || strncmp(words[1].p, "STRING", words[1].n) != 0)
        return refuse(err, text, "the type of an attribute is STRING");
    if (!word_ok(words[0], "-_."))
        return refuse(err, text,
                      "an attribute's name has 1 to 255 letters, digits, -, _ and ., begins with "
                      "one of the first two, and has no prefix");
    if (!word_ok(words[2], "-_."))
        return refuse(err, text,
                      "an attribute's value has 1 to 255 letters, digits, -, _ and ., and begins "
                      "with one of the first two");
    for (size_t i = 0; i < l->n; i++)
        if (strlen(l->list[i].name) == words[0].n &&
            strncmp(l->list[i].name, words[0].p, words[0].n) == 0)
            return refuse(err, text, "the attribute is there twice");
    if (l->n == NM_ATTRIBUTES_MAX)
        return refuse(err, text, "a node has at most 64 attributes here");
    copy(l->list[l->n].name, words[0]);
    copy(l->list[l->n].value, words[2]);
    l->n++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct nm_label *)a)->name, ((const struct nm_label *)b)->name);
}

static int take_entry(enum nm_described kind, struct nm_labels *l, struct part text,
                      struct sv_error *err)
{
    return kind == NM_LABELS ? take_label(l, text, err) : take_attribute(l, text, err);
}

/* Takes the entries between `separator`s that begin with `head`, which an entry does not have. */
static int take_all(enum nm_described kind, const char *text, char separator, const char *head,
                    struct nm_labels *ret, struct sv_error *err)
{
    struct nm_labels *l = calloc(1, sizeof(*l));
    int r = l ? 0 : sv_error_errno(err, -ENOMEM, "labels");

    for (const char *p = text; r >= 0 && p && *p;) {
        const char *end = strchrnul(p, separator);
        struct part entry = part(p, (size_t)(end - p));

        p = *end ? end + 1 : end;
        if (entry.n == 0 || entry.n < strlen(head) || strncmp(entry.p, head, strlen(head)) != 0)
            continue;
        entry = part(entry.p + strlen(head), entry.n - strlen(head));
        r = take_entry(kind, l, entry, err);
    }
    if (r >= 0) {
        qsort(l->list, l->n, sizeof(*l->list), by_name);
        *ret = *l;
    }
    free(l);
    return r;
}

int nm_labels_of_text(enum nm_described kind, const char *text, struct nm_labels *ret,
                      struct sv_error *err)
{
    return take_all(kind, text, kind == NM_LABELS ? '\n' : ':', "", ret, err);
}

int nm_labels_of_output(enum nm_described kind, const char *output, struct nm_labels *ret,
                        struct sv_error *err)
{
    return take_all(kind, output, '\n', kind == NM_LABELS ? LABEL_LINE : ATTRIBUTE_LINE, ret, err);
}

bool nm_labels_equal(const struct nm_labels *a, const struct nm_labels *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, b->list[i].name) != 0 ||
            strcmp(a->list[i].value, b->list[i].value) != 0)
            return false;
    return true;
}
