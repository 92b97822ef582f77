/* Locations of entries: paths of cache directories, and the 0-9a-z hierarchy that keeps a directory
 * below local-cache.max-files-per-directory. Numbers as in YARN, so that both daemons can use the
 * same tree: 0 is the cache directory itself; n > 0 is n-1 written to the base 36 with one digit
 * per level, where a first digit of several is one less ("0/0" follows "z"). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "localizer/cache-internal.h"

char *loc_hierarchy_path(uint32_t number, char *buf)
{
    static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned value[8], n = 0; /* 36^7 > 2^32 */
    char *p = buf;

    if (number > 0) {
        uint32_t v = number - 1;

        do {
            value[n++] = v % SUB_DIRS;
            v /= SUB_DIRS;
        } while (v > 0);
        if (n > 1)
            value[n - 1]--;
    }
    while (n > 0) {
        *p++ = digit[value[--n]];
        if (n > 0)
            *p++ = '/';
    }
    *p = 0;
    return buf;
}

int loc_cache_dir_path(const char *local_dir, enum loc_visibility v, const char *user,
                       struct yarn_app_id app, char *buf, size_t size)
{
    char id[YARN_ID_TEXT_MAX];
    int n;

    if (v == LOC_PUBLIC)
        n = snprintf(buf, size, "%s/filecache", local_dir);
    else if (v == LOC_PRIVATE)
        n = snprintf(buf, size, "%s/usercache/%s/filecache", local_dir, user);
    else
        n = snprintf(buf, size, "%s/usercache/%s/appcache/%s/filecache", local_dir, user,
                     yarn_app_id_text(app, id));
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int grow(struct cache_hierarchy *h, uint32_t number)
{
    uint32_t *counts;

    if (number < h->n)
        return 0;
    if (number > UINT32_MAX / 16)
        return -EINVAL;
    counts = reallocarray(h->counts, number + 1, sizeof(*counts));
    if (!counts)
        return -ENOMEM;
    memset(counts + h->n, 0, (number + 1 - h->n) * sizeof(*counts));
    h->counts = counts;
    h->n = number + 1;
    return 0;
}

int loc_cache_hierarchy_take(struct cache_hierarchy *h, uint32_t per_dir, uint32_t *ret_number)
{
    uint32_t number = 0;
    int r;

    /* One number covers 8000 entries: this list is short. */
    while (number < h->n && h->counts[number] >= per_dir - SUB_DIRS)
        number++;
    r = grow(h, number);
    if (r < 0)
        return r;
    h->counts[number]++;
    *ret_number = number;
    return 0;
}

int loc_cache_hierarchy_note(struct cache_hierarchy *h, uint32_t number)
{
    int r = number > 1u << 24 ? -EINVAL : grow(h, number);

    if (r == 0)
        h->counts[number]++;
    return r;
}

void loc_cache_hierarchy_release(struct cache_hierarchy *h, uint32_t number)
{
    if (number < h->n && h->counts[number] > 0)
        h->counts[number]--;
}

void loc_cache_hierarchy_free(struct cache_hierarchy *h)
{
    free(h->counts);
    *h = (struct cache_hierarchy){ 0 };
}
