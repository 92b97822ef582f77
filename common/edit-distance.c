/* See edit-distance.h. */
#include "common/edit-distance.h"

#include <string.h>

#include "common/base.h"

size_t sv_edit_distance(const char *a, const char *b)
{
    size_t rows[3][SV_EDIT_NAME_MAX + 1], n = strnlen(b, SV_EDIT_NAME_MAX);
    size_t *older = rows[0], *old = rows[1], *row = rows[2], *free_row;

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= SV_EDIT_NAME_MAX && a[i - 1]; i++) {
        free_row = older;
        older = old;
        old = row;
        row = free_row;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = SV_MIN(old[j - 1] + (a[i - 1] != b[j - 1]), SV_MIN(old[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = SV_MIN(row[j], older[j - 2] + 1);
        }
    }
    return row[n];
}
