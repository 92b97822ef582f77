/* See name-filter.h. */
#include "rm-lite/requests/name-filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_case(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_letters(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static int (*order(const struct rm_name_filter *f))(const void *, const void *)
{
    return f->letters == RM_NAMES_EXACT ? by_case : by_letters;
}

/* ---- Members ---- */

static int add(struct rm_name_filter *f, const char *name, size_t *bytes, const char *what,
               struct sv_error *err)
{
    *bytes += strlen(name) + 1;
    if (f->n == RM_NAMES_MAX || *bytes > RM_NAMES_BYTES)
        return sv_error_set(err, -EINVAL,
                            "%s: more than %d members or %d bytes; ask in several requests", what,
                            RM_NAMES_MAX, RM_NAMES_BYTES);
    f->names[f->n++] = name;
    return 0;
}

/* With room for n members, of which at most RM_NAMES_MAX are added. */
static int begin(struct rm_name_filter *f, size_t n, enum rm_name_case letters,
                 struct sv_error *err)
{
    *f = (struct rm_name_filter){ .names =
                                      calloc(SV_MIN(n, (size_t)RM_NAMES_MAX), sizeof(*f->names)),
                                  .letters = letters };
    return f->names ? 0 : sv_error_set(err, -ENOMEM, "out of memory");
}

/* Sorts the members, drops those that come twice, and hands the filter over; or frees it. */
static int end(struct rm_name_filter *f, int r, struct rm_name_filter *ret)
{
    size_t kept = 0;

    if (r < 0) {
        rm_name_filter_free(f);
        return r;
    }
    qsort(f->names, f->n, sizeof(*f->names), order(f));
    for (size_t i = 0; i < f->n; i++)
        if (kept == 0 || order(f)(&f->names[kept - 1], &f->names[i]) != 0)
            f->names[kept++] = f->names[i];
    f->n = kept;
    *ret = *f;
    return 0;
}

/* ---- Filters ---- */

/* Ends the member at `p` and returns the next one, or NULL; *ret is the member without blanks. */
static char *cut(char *p, char **ret)
{
    char *comma = strchr(p, ','), *last;

    if (comma)
        *comma = '\0';
    p += strspn(p, " \t");
    for (last = p + strlen(p); last > p && (last[-1] == ' ' || last[-1] == '\t'); last--)
        last[-1] = '\0';
    *ret = p;
    return comma ? comma + 1 : NULL;
}

int rm_name_filter_of_text(struct rm_name_filter *ret, const char *csv, enum rm_name_case letters,
                           const char *what, struct sv_error *err)
{
    struct rm_name_filter f;
    size_t bytes = 0, n = 1;
    char *name;
    int r;

    *ret = (struct rm_name_filter){ .letters = letters };
    if (!csv || !*csv)
        return 0;
    for (const char *p = csv; *p; p++)
        n += *p == ',';
    r = begin(&f, n, letters, err);
    if (r < 0)
        return r;
    f.text = strdup(csv);
    if (!f.text)
        r = sv_error_set(err, -ENOMEM, "out of memory");
    for (char *next = f.text; next && r >= 0;) {
        next = cut(next, &name);
        if (*name)
            r = add(&f, name, &bytes, what, err);
    }
    return end(&f, r, ret);
}

int rm_name_filter_of_list(struct rm_name_filter *ret, char *const *list, size_t n,
                           enum rm_name_case letters, const char *what, struct sv_error *err)
{
    struct rm_name_filter f;
    size_t bytes = 0;
    int r;

    *ret = (struct rm_name_filter){ .letters = letters };
    if (n == 0)
        return 0;
    r = begin(&f, n, letters, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n && r >= 0; i++)
        r = add(&f, list[i], &bytes, what, err);
    return end(&f, r, ret);
}

void rm_name_filter_free(struct rm_name_filter *f)
{
    free(f->names);
    free(f->text);
    *f = (struct rm_name_filter){ .letters = f->letters };
}

bool rm_name_filter_takes(const struct rm_name_filter *f, const char *name)
{
    return f->n == 0 || bsearch(&name, f->names, f->n, sizeof(*f->names), order(f)) != NULL;
}
