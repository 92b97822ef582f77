/* See mysql-bind.h. */
#include "federation/store/mysql-bind.h"

#include <errno.h>
#include <string.h>

/* The largest row: a member's names and capability. */
#define ROW_MAX (8 * 4 * FED_NAME_MAX + FED_CAPABILITY_MAX * 4 + FED_CONTEXT_MAX)

struct fed_binding {
    const struct fed_mysql *lib;
    MYSQL_BIND parameters[FED_SQL_VALUES], columns[FED_SQL_VALUES];
    unsigned long lengths[FED_SQL_VALUES];
    my_bool nulls[FED_SQL_VALUES], cut[FED_SQL_VALUES];
    int64_t numbers[FED_SQL_VALUES];
    char row[ROW_MAX];
};

int fed_binding_new(const struct fed_mysql *lib, struct fed_binding **ret)
{
    struct fed_binding *b = calloc(1, sizeof(*b));

    if (!b)
        return -ENOMEM;
    b->lib = lib;
    *ret = b;
    return 0;
}

struct fed_binding *fed_binding_free(struct fed_binding *b)
{
    if (b)
        explicit_bzero(b, sizeof(*b)); /* a key, a token */
    free(b);
    return NULL;
}

static MYSQL_BIND parameter(struct fed_value *v)
{
    static const enum enum_field_types types[] = {
        [FED_NULL] = MYSQL_TYPE_NULL,
        [FED_NUMBER] = MYSQL_TYPE_LONGLONG,
        [FED_TEXT] = MYSQL_TYPE_STRING,
        [FED_BYTES] = MYSQL_TYPE_BLOB,
    };
    bool number = v->type == FED_NUMBER;

    return (MYSQL_BIND){
        .buffer_type = types[v->type],
        .buffer = number ? (void *)&v->number : (void *)(uintptr_t)v->p,
        .buffer_length = number ? sizeof(v->number) : v->n,
        .length_value = number ? sizeof(v->number) : v->n,
    };
}

bool fed_binding_parameters(struct fed_binding *b, MYSQL_STMT *st, struct fed_sql_run *run)
{
    size_t n = strlen(fed_sql_parameters(run->now));

    if (b->lib->stmt_param_count_(st) != n ||
        b->lib->stmt_field_count_(st) != strlen(fed_sql_columns(run->now)))
        return false;
    for (size_t i = 0; i < n; i++) {
        b->parameters[i] = parameter(&run->values[i]);
        b->lengths[i] = b->parameters[i].buffer_length;
        b->parameters[i].length = &b->lengths[i];
    }
    return n == 0 || b->lib->stmt_bind_param_(st, b->parameters) == 0;
}

bool fed_binding_columns(struct fed_binding *b, MYSQL_STMT *st, const struct fed_sql_run *run)
{
    const char *types = fed_sql_columns(run->now);
    char *at = b->row;

    if (b->lib->stmt_field_count_(st) != strlen(types))
        return false;
    for (size_t i = 0; types[i]; i++) {
        bool number = types[i] == SQL_COLUMN_NUMBER;
        size_t max = number ? sizeof(b->numbers[i]) : fed_sql_column_max(types[i]);

        b->columns[i] = (MYSQL_BIND){
            .buffer_type = number ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_BLOB,
            .buffer = number ? (void *)&b->numbers[i] : at,
            .buffer_length = max,
            .length = &b->lengths[i],
            .is_null = &b->nulls[i],
            .error = &b->cut[i],
        };
        at += number ? 0 : max;
    }
    return b->lib->stmt_bind_result_(st, b->columns) == 0;
}

static struct fed_value column(const struct fed_binding *b, size_t i, char type)
{
    bool bytes = type == SQL_COLUMN_PARAMS || type == SQL_COLUMN_CONTEXT;
    struct fed_value v = { .type = bytes ? FED_BYTES : FED_TEXT, .n = b->lengths[i] };

    if (b->nulls[i])
        return (struct fed_value){ 0 };
    if (type == SQL_COLUMN_NUMBER)
        return (struct fed_value){ .type = b->cut[i] ? FED_NULL : FED_NUMBER,
                                   .number = b->numbers[i] };
    if (v.n <= b->columns[i].buffer_length)
        v.p = b->columns[i].buffer;
    return v;
}

bool fed_binding_row(struct fed_binding *b, struct fed_sql_run *run)
{
    const char *types = fed_sql_columns(run->now);
    struct fed_value values[FED_SQL_VALUES];

    for (size_t i = 0; types[i]; i++)
        values[i] = column(b, i, types[i]);
    return run->row ? run->row(run, values) : fed_sql_row(run, values);
}
