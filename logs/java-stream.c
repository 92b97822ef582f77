/* See java-stream.h. Grammar and handle order follow Java's Object Serialization Stream
 * Protocol. */
#include "logs/java-stream.h"

#include <errno.h>
#include <string.h>

#define MAGIC 0xaced0005u
#define FIRST_HANDLE 0x7e0000u
#define SUPER_MAX 4

enum {
    TC_NULL = 0x70,
    TC_REFERENCE,
    TC_CLASSDESC,
    TC_OBJECT,
    TC_STRING,
    TC_BLOCKDATA = 0x77,
    TC_ENDBLOCKDATA,
    TC_ENUM = 0x7e,
};

/* The referent of a handle; objects and enum constants cannot be referenced. */
struct handle {
    const struct logs_java_class *class;
    struct logs_java_string string;
};

struct logs_java {
    struct sv_buf b;
    struct logs_java_class classes[LOGS_JAVA_CLASSES_MAX];
    size_t n_classes;
    struct handle *handles;
    size_t n_handles;
};

static int bad(const struct logs_java *j, struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "not an index of aggregated logs: %s at byte %zu", what,
                        j->b.pos);
}

int logs_java_new(const uint8_t *p, size_t n, struct logs_java **ret, struct sv_error *err)
{
    _cleanup_(logs_java_freep) struct logs_java *j = calloc(1, sizeof(*j));
    uint32_t magic;

    if (!j)
        return sv_error_errno(err, -ENOMEM, "index");
    j->b = SV_BUF_VIEW(p, n);
    if (sv_buf_get_u32(&j->b, &magic) < 0 || magic != MAGIC)
        return bad(j, err, "no object stream");
    *ret = SV_TAKE(j);
    return 0;
}

struct logs_java *logs_java_free(struct logs_java *j)
{
    if (!j)
        return NULL;
    free(j->handles);
    free(j);
    return NULL;
}

static int add_handle(struct logs_java *j, struct handle h, struct sv_error *err)
{
    if ((j->n_handles & (j->n_handles - 1)) == 0) { /* 0 or a power of two */
        size_t cap = j->n_handles ? 2 * j->n_handles : 1;
        struct handle *more = reallocarray(j->handles, cap, sizeof(*more));

        if (!more)
            return sv_error_errno(err, -ENOMEM, "index");
        j->handles = more;
    }
    j->handles[j->n_handles++] = h;
    return 0;
}

/* Called after the tag was read. */
static int reference(struct logs_java *j, const struct handle **ret, struct sv_error *err)
{
    uint32_t n;

    if (sv_buf_get_u32(&j->b, &n) < 0 || n < FIRST_HANDLE || n - FIRST_HANDLE >= j->n_handles)
        return bad(j, err, "a reference to nothing");
    *ret = &j->handles[n - FIRST_HANDLE];
    return 0;
}

/* ---- Strings ---- */

static int utf(struct logs_java *j, struct logs_java_string *ret, struct sv_error *err)
{
    if (sv_buf_get_u16(&j->b, &ret->n) < 0 || sv_buf_get_ref(&j->b, &ret->p, ret->n) < 0)
        return bad(j, err, "a string that is too short");
    return 0;
}

static int name(struct logs_java *j, char ret[LOGS_JAVA_NAME_MAX + 1], struct sv_error *err)
{
    struct logs_java_string s = { 0 };
    int r = utf(j, &s, err);

    if (r < 0)
        return r;
    if (s.n > LOGS_JAVA_NAME_MAX || memchr(s.p, 0, s.n))
        return bad(j, err, "too long a name");
    memcpy(ret, s.p, s.n);
    ret[s.n] = 0;
    return 0;
}

static int string_of(struct logs_java *j, uint8_t tag, struct logs_java_string *ret,
                     struct sv_error *err)
{
    const struct handle *h;
    int r;

    *ret = (struct logs_java_string){ 0 };
    if (tag == TC_NULL)
        return 0;
    if (tag == TC_STRING) {
        r = utf(j, ret, err);
        return r < 0 ? r : add_handle(j, (struct handle){ .string = *ret }, err);
    }
    if (tag != TC_REFERENCE)
        return bad(j, err, "no string");
    r = reference(j, &h, err);
    if (r < 0)
        return r;
    if (!h->string.p)
        return bad(j, err, "a reference to no string");
    *ret = h->string;
    return 0;
}

int logs_java_string(struct logs_java *j, struct logs_java_string *ret, struct sv_error *err)
{
    uint8_t tag;

    return sv_buf_get_u8(&j->b, &tag) < 0 ? bad(j, err, "no string") : string_of(j, tag, ret, err);
}

/* ---- Classes ---- */

static int field(struct logs_java *j, struct logs_java_field *f, struct sv_error *err)
{
    struct logs_java_string type;
    uint8_t code;
    int r;

    if (sv_buf_get_u8(&j->b, &code) < 0 || !code || !strchr("BCDFIJSZL", code))
        return bad(j, err, "a field of another type");
    f->type = (char)code;
    r = name(j, f->name, err);
    return r < 0 || code != 'L' ? r : logs_java_string(j, &type, err);
}

static int fields(struct logs_java *j, struct logs_java_class *c, struct sv_error *err)
{
    uint16_t n;
    int r = 0;

    if (sv_buf_get_u8(&j->b, &c->flags) < 0 || sv_buf_get_u16(&j->b, &n) < 0 ||
        n > LOGS_JAVA_FIELDS_MAX)
        return bad(j, err, "too many fields");
    for (; r == 0 && c->n_fields < n; c->n_fields++)
        r = field(j, &c->fields[c->n_fields], err);
    return r < 0 ? r : logs_java_block_end(j, err);
}

static int class_of(struct logs_java *j, int depth, const struct logs_java_class **ret,
                    struct sv_error *err);

/* Called after the tag was read. The class's handle precedes those of its fields. */
static int new_class(struct logs_java *j, int depth, const struct logs_java_class **ret,
                     struct sv_error *err)
{
    const struct logs_java_class *super = NULL;
    struct logs_java_class *c;
    uint64_t uid;
    int r;

    if (j->n_classes == LOGS_JAVA_CLASSES_MAX || depth == SUPER_MAX)
        return bad(j, err, "too many classes");
    c = &j->classes[j->n_classes++];
    r = name(j, c->name, err);
    if (r == 0 && sv_buf_get_u64(&j->b, &uid) < 0)
        r = bad(j, err, "a class that is too short");
    if (r == 0)
        r = add_handle(j, (struct handle){ .class = c }, err);
    if (r == 0)
        r = fields(j, c, err);
    if (r == 0)
        r = class_of(j, depth + 1, &super, err);
    if (r < 0)
        return r;
    c->has_super =
        super && (super->n_fields > 0 || super->flags & LOGS_JAVA_WRITES || super->has_super);
    *ret = c;
    return 0;
}

static int class_of(struct logs_java *j, int depth, const struct logs_java_class **ret,
                    struct sv_error *err)
{
    const struct handle *h;
    uint8_t tag;
    int r;

    if (sv_buf_get_u8(&j->b, &tag) < 0)
        return bad(j, err, "no class");
    *ret = NULL;
    if (tag == TC_NULL)
        return 0;
    if (tag == TC_CLASSDESC)
        return new_class(j, depth, ret, err);
    r = tag == TC_REFERENCE ? reference(j, &h, err) : bad(j, err, "no class");
    if (r < 0)
        return r;
    *ret = h->class;
    return h->class ? 0 : bad(j, err, "a reference to no class");
}

static int class_and_handle(struct logs_java *j, const struct logs_java_class **ret,
                            struct sv_error *err)
{
    int r = class_of(j, 0, ret, err);

    if (r == 0 && !*ret)
        r = bad(j, err, "an object without a class");
    return r < 0 ? r : add_handle(j, (struct handle){ 0 }, err);
}

int logs_java_object(struct logs_java *j, const struct logs_java_class **ret, struct sv_error *err)
{
    uint8_t tag;
    int r;

    if (sv_buf_get_u8(&j->b, &tag) < 0 || (tag != TC_OBJECT && tag != TC_NULL))
        return bad(j, err, "no object");
    *ret = NULL;
    if (tag == TC_NULL)
        return 0;
    r = class_and_handle(j, ret, err);
    if (r == 0 && (*ret)->has_super)
        r = bad(j, err, "an object of a derived class");
    return r;
}

int logs_java_skip_key(struct logs_java *j, struct sv_error *err)
{
    const struct logs_java_class *c;
    struct logs_java_string s;
    uint8_t tag;
    int r;

    if (sv_buf_get_u8(&j->b, &tag) < 0)
        return bad(j, err, "no key");
    if (tag != TC_ENUM)
        return string_of(j, tag, &s, err);
    r = class_and_handle(j, &c, err);
    return r < 0 ? r : logs_java_string(j, &s, err);
}

/* ---- Values ---- */

int logs_java_u32(struct logs_java *j, uint32_t *ret, struct sv_error *err)
{
    return sv_buf_get_u32(&j->b, ret) < 0 ? bad(j, err, "no number") : 0;
}

int logs_java_u64(struct logs_java *j, uint64_t *ret, struct sv_error *err)
{
    return sv_buf_get_u64(&j->b, ret) < 0 ? bad(j, err, "no number") : 0;
}

int logs_java_skip_value(struct logs_java *j, char type, struct sv_error *err)
{
    size_t n = strchr("BZ", type) ? 1 : strchr("CS", type) ? 2 : strchr("IF", type) ? 4 : 8;
    const uint8_t *p;

    if (!strchr("BZCSIFJD", type) || sv_buf_get_ref(&j->b, &p, n) < 0)
        return bad(j, err, "no number");
    return 0;
}

int logs_java_block(struct logs_java *j, void *p, size_t n, struct sv_error *err)
{
    uint8_t tag, length;

    if (sv_buf_get_u8(&j->b, &tag) < 0 || tag != TC_BLOCKDATA ||
        sv_buf_get_u8(&j->b, &length) < 0 || length != n || sv_buf_get(&j->b, p, n) < 0)
        return bad(j, err, "no block of data");
    return 0;
}

int logs_java_block_end(struct logs_java *j, struct sv_error *err)
{
    uint8_t tag;

    return sv_buf_get_u8(&j->b, &tag) < 0 || tag != TC_ENDBLOCKDATA
               ? bad(j, err, "no end of a block of data")
               : 0;
}

bool logs_java_at_end(const struct logs_java *j)
{
    return sv_buf_left(&j->b) == 0;
}
