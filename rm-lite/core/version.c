/* Comparison of Hadoop versions; see version.h. The text is a NodeManager's. */
#include "rm-lite/core/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int rm_version_cmp(const char *a, const char *b)
{
    while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
        char *ea, *eb;
        long va = strtol(a, &ea, 10), vb = strtol(b, &eb, 10);

        if (va != vb)
            return va < vb ? -1 : 1;
        a = *ea == '.' ? ea + 1 : ea;
        b = *eb == '.' ? eb + 1 : eb;
    }
    if (!*a && !*b)
        return 0;
    if (!*a) /* a release is after its snapshot */
        return 1;
    return *b ? strcmp(a, b) : -1;
}
