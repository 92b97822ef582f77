/* See indexed-meta.h. */
#include "logs/indexed-meta.h"

#include <errno.h>
#include <string.h>

#define CONTROLLER                                                                                 \
    "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile."                                  \
    "LogAggregationIndexedFileController$"

struct parser {
    struct logs_java *j;
    struct sv_error *err;
    struct logs_indexed_meta m;
    uint32_t upload;
};

static int bad(struct parser *p, const char *what)
{
    return sv_error_set(p->err, -EBADMSG, "not an index of aggregated logs: %s", what);
}

/* Reads an object of this class, or null if ret_null is given. */
static int object(struct parser *p, const char *class, const struct logs_java_class **ret)
{
    int r = logs_java_object(p->j, ret, p->err);

    if (r < 0)
        return r;
    return *ret && strcmp((*ret)->name, class) == 0 ? 0 : bad(p, "an object of another class");
}

static int skip_fields(struct parser *p, const struct logs_java_class *c)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < c->n_fields; i++)
        r = logs_java_skip_value(p->j, c->fields[i].type, p->err);
    return r;
}

/* ---- Collections: fields, capacity and size, elements ---- */

static int begin_map(struct parser *p, uint32_t *ret_size)
{
    const struct logs_java_class *c;
    uint8_t head[8];
    int r = object(p, "java.util.HashMap", &c);

    if (r == 0 && !(c->flags & LOGS_JAVA_WRITES))
        r = bad(p, "a map without data");
    if (r == 0)
        r = skip_fields(p, c);
    if (r == 0)
        r = logs_java_block(p->j, head, sizeof(head), p->err);
    if (r == 0)
        *ret_size =
            (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];
    return r;
}

static int begin_list(struct parser *p, uint32_t *ret_size)
{
    const struct logs_java_class *c;
    uint8_t capacity[4];
    int r = object(p, "java.util.ArrayList", &c);

    if (r == 0 && (c->n_fields != 1 || c->fields[0].type != 'I' || !(c->flags & LOGS_JAVA_WRITES)))
        r = bad(p, "a list without a size");
    if (r == 0)
        r = logs_java_u32(p->j, ret_size, p->err);
    return r < 0 ? r : logs_java_block(p->j, capacity, sizeof(capacity), p->err);
}

/* ---- A log ---- */

static int add(struct parser *p, const struct logs_indexed_file *f)
{
    size_t n = p->m.n;

    if (!f->container.p || !f->name.p)
        return bad(p, "a log without a name");
    if ((n & (n - 1)) == 0) { /* 0 or a power of two */
        struct logs_indexed_file *more = reallocarray(p->m.files, n ? 2 * n : 1, sizeof(*more));

        if (!more)
            return sv_error_errno(p->err, -ENOMEM, "index");
        p->m.files = more;
    }
    p->m.files[p->m.n++] = *f;
    return 0;
}

static int log_field(struct parser *p, const struct logs_java_field *field,
                     struct logs_indexed_file *f)
{
    struct logs_java_string other;
    uint64_t *number = strcmp(field->name, "startIndex") == 0           ? &f->start
                       : strcmp(field->name, "fileCompressedSize") == 0 ? &f->size
                       : strcmp(field->name, "fileSize") == 0           ? &f->length
                                                                        : NULL;

    if (number && field->type == 'J')
        return logs_java_u64(p->j, number, p->err);
    if (field->type != 'L')
        return logs_java_skip_value(p->j, field->type, p->err);
    return logs_java_string(p->j,
                            strcmp(field->name, "containerId") == 0 ? &f->container
                            : strcmp(field->name, "fileName") == 0  ? &f->name
                                                                    : &other,
                            p->err);
}

static int log_meta(struct parser *p)
{
    struct logs_indexed_file f = { .upload = p->upload };
    const struct logs_java_class *c;
    int r = object(p, CONTROLLER "IndexedFileLogMeta", &c);

    for (size_t i = 0; r == 0 && i < c->n_fields; i++)
        r = log_field(p, &c->fields[i], &f);
    return r < 0 ? r : add(p, &f);
}

/* ---- An upload: containers and their logs ---- */

static int containers(struct parser *p)
{
    struct logs_java_string id;
    uint32_t n = 0, k = 0;
    int r = begin_map(p, &n);

    for (uint32_t i = 0; r == 0 && i < n; i++) {
        r = logs_java_string(p->j, &id, p->err);
        if (r == 0)
            r = begin_list(p, &k);
        for (uint32_t l = 0; r == 0 && l < k; l++)
            r = log_meta(p);
        if (r == 0)
            r = logs_java_block_end(p->j, p->err);
    }
    return r < 0 ? r : logs_java_block_end(p->j, p->err);
}

static int upload(struct parser *p)
{
    const struct logs_java_class *c;
    struct logs_java_string other;
    int r = object(p, CONTROLLER "IndexedPerAggregationLogMeta", &c);

    for (size_t i = 0; r == 0 && i < c->n_fields; i++) {
        const struct logs_java_field *f = &c->fields[i];

        if (f->type != 'L')
            r = logs_java_skip_value(p->j, f->type, p->err);
        else if (strcmp(f->name, "logMetas") == 0)
            r = containers(p);
        else
            r = logs_java_string(p->j, &other, p->err);
    }
    p->upload++;
    return r;
}

/* ---- The index as a whole ---- */

static int uploads(struct parser *p)
{
    uint32_t n = 0;
    int r = begin_list(p, &n);

    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = upload(p);
    return r < 0 ? r : logs_java_block_end(p->j, p->err);
}

static int acls(struct parser *p)
{
    struct logs_java_string list;
    uint32_t n = 0;
    int r = begin_map(p, &n);

    for (uint32_t i = 0; r == 0 && i < n; i++) {
        r = logs_java_skip_key(p->j, p->err);
        if (r == 0)
            r = logs_java_string(p->j, &list, p->err);
    }
    return r < 0 ? r : logs_java_block_end(p->j, p->err);
}

static int codec(struct parser *p)
{
    struct logs_java_string s;
    char name[LOGS_NAME_MAX + 1];
    int r = logs_java_string(p->j, &s, p->err);

    if (r < 0)
        return r;
    if (!s.p || s.n > LOGS_NAME_MAX)
        return bad(p, "no compression");
    memcpy(name, s.p, s.n);
    name[s.n] = 0;
    r = logs_codec_parse(name, &p->m.codec);
    if (r == -EOPNOTSUPP)
        return sv_error_set(p->err, r, "it is compressed with %s, which is not supported", name);
    return r < 0 ? bad(p, "an unknown compression") : 0;
}

static int root(struct parser *p)
{
    const struct logs_java_class *c;
    struct logs_java_string other;
    bool has_codec = false;
    int r = object(p, CONTROLLER "IndexedLogsMeta", &c);

    for (size_t i = 0; r == 0 && i < c->n_fields; i++) {
        const struct logs_java_field *f = &c->fields[i];

        if (f->type != 'L')
            r = logs_java_skip_value(p->j, f->type, p->err);
        else if (strcmp(f->name, "acls") == 0)
            r = acls(p);
        else if (strcmp(f->name, "logMetas") == 0)
            r = uploads(p);
        else if (strcmp(f->name, "compressName") == 0)
            r = codec(p);
        else
            r = logs_java_string(p->j, &other, p->err);
        has_codec |= strcmp(f->name, "compressName") == 0;
    }
    if (r == 0 && (!has_codec || !logs_java_at_end(p->j)))
        r = bad(p, "data after its end");
    return r;
}

static int compare(struct logs_java_string a, struct logs_java_string b)
{
    int c = memcmp(a.p, b.p, SV_MIN(a.n, b.n));

    return c ? c : a.n - b.n;
}

/* Map order is arbitrary; a container's logs keep the order of the file. */
static int by_container(const void *a, const void *b)
{
    const struct logs_indexed_file *x = a, *y = b;
    int c = x->upload < y->upload ? -1 : x->upload > y->upload;

    if (c == 0)
        c = compare(x->container, y->container);
    return c ? c : x->start < y->start ? -1 : x->start > y->start;
}

int logs_indexed_meta_parse(const uint8_t *bytes, size_t n, struct logs_indexed_meta *ret,
                            struct sv_error *err)
{
    _cleanup_(logs_java_freep) struct logs_java *j = NULL;
    struct parser p = { .err = err };
    int r = logs_java_new(bytes, n, &j, err);

    p.j = j;
    if (r == 0)
        r = root(&p);
    if (r < 0) {
        free(p.m.files);
        return r;
    }
    if (p.m.n > 0)
        qsort(p.m.files, p.m.n, sizeof(*p.m.files), by_container);
    *ret = p.m;
    return 0;
}

void logs_indexed_meta_clear(struct logs_indexed_meta *m)
{
    free(m->files);
    *m = (struct logs_indexed_meta){ 0 };
}
