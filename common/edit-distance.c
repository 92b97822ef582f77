/* See edit-distance.h. */
#include "common/edit-distance.h"

#include <string.h>

#include "common/base.h"

size_t sv_edit_distance(const char *a, const char *b)
{
    size_t row[SV_EDIT_NAME_MAX + 1], n = strnlen(b, SV_EDIT_NAME_MAX);

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= SV_EDIT_NAME_MAX && a[i - 1]; i++) {
        size_t diagonal = row[0]; /* previous row, one column to the left */

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = SV_MIN(replaced, SV_MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}
