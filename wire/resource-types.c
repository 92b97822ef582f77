/* See resource-types.h. */
#include "wire/resource-types.h"

#include <errno.h>
#include <string.h>

static struct yarn_types current;

void yarn_types_set(const struct yarn_types *t)
{
    current = *t;
}

const struct yarn_types *yarn_types(void)
{
    return &current;
}

int yarn_types_index(const struct yarn_types *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->types[i].name, name) == 0)
            return (int)i;
    return -1;
}

int yarn_types_add(const char *name, const char *unit)
{
    int i = yarn_types_index(&current, name);

    if (*name == '\0' || strlen(name) >= YARN_TYPE_NAME_MAX || !yarn_unit_ok(unit))
        return -EINVAL;
    if (i < 0 && current.n == YARN_TYPES_MAX)
        return -ENOSPC;
    if (i < 0) {
        i = (int)current.n++;
        current.types[i] = (struct yarn_type){ 0 };
        memcpy(current.types[i].name, name, strlen(name) + 1);
    }
    memcpy(current.types[i].unit, unit, strlen(unit) + 1);
    return i;
}

/* A unit as a fraction. */
struct unit {
    char name[YARN_UNIT_MAX];
    int64_t num, den;
};

static const struct unit *unit(const char *name)
{
    static const struct unit units[] = {
        { "", 1, 1 },
        { "m", 1, 1000 },
        { "u", 1, 1000000 },
        { "n", 1, 1000000000 },
        { "p", 1, INT64_C(1000000000000) },
        { "k", 1000, 1 },
        { "M", 1000000, 1 },
        { "G", 1000000000, 1 },
        { "T", INT64_C(1000000000000), 1 },
        { "P", INT64_C(1000000000000000), 1 },
        { "Ki", INT64_C(1) << 10, 1 },
        { "Mi", INT64_C(1) << 20, 1 },
        { "Gi", INT64_C(1) << 30, 1 },
        { "Ti", INT64_C(1) << 40, 1 },
        { "Pi", INT64_C(1) << 50, 1 },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(units); i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool yarn_unit_ok(const char *name)
{
    return unit(name);
}

static unsigned __int128 common_divisor(unsigned __int128 a, unsigned __int128 b)
{
    while (b) {
        unsigned __int128 rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

int yarn_unit_convert(int64_t value, const char *from, const char *to, int64_t *ret)
{
    const struct unit *f = unit(from), *t = unit(to);
    unsigned __int128 num, den, divisor, result;

    if (!f || !t || value < 0)
        return -EINVAL;
    num = (unsigned __int128)f->num * (unsigned __int128)t->den; /* below 2^90, as its fellow */
    den = (unsigned __int128)f->den * (unsigned __int128)t->num;
    divisor = common_divisor(num, den);
    num /= divisor;
    den /= divisor;
    /* Fractions with so large a numerator have the denominator 1: the result is as large. */
    if (value && num > ~(unsigned __int128)0 / (unsigned __int128)value)
        return -ERANGE;
    result = num * (unsigned __int128)value / den;
    if (result > INT64_MAX)
        return -ERANGE;
    *ret = (int64_t)result;
    return 0;
}
